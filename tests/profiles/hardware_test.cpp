// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "model/units_text.hpp"
#include "profiles/read_hardware.hpp"
#include "tests/catch.hpp"
#include "tests/profiles/profile_folder.hpp"

using namespace payoff;
using test::ProfileFolder;
using test::ProfileReading;
using test::shipped;

namespace {

using Reader = std::function<std::optional<Facts>(const std::string&, const ReadContext&)>;

template <class T>
std::optional<Facts> facts_of(const std::optional<Profile<T>>& profile) {
  return profile ? std::optional(profile->facts) : std::nullopt;
}

struct Kind {
  ProfileKind kind;
  Reader read;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {ProfileKind::gpu,
       [](const std::string& name, const ReadContext& context) {
         return facts_of(read_gpu(name, std::nullopt, context));
       }},
      {ProfileKind::fabric,
       [](const std::string& name, const ReadContext& context) {
         return facts_of(read_fabric(name, std::nullopt, context));
       }},
      {ProfileKind::network,
       [](const std::string& name, const ReadContext& context) {
         return facts_of(read_network(name, std::nullopt, context));
       }},
      {ProfileKind::cluster,
       [](const std::string& name, const ReadContext& context) {
         return facts_of(read_cluster(name, std::nullopt, context));
       }},
  };
  return all;
}

// The paths of all values that are numbers, with or without a unit.
void collect_numbers(const Node& node, const std::string& path, std::set<std::string>& numbers) {
  if (node.kind == Node::Kind::map && node.find("value") != nullptr) {
    numbers.insert(path);
    return;
  }
  if (node.kind == Node::Kind::scalar && !node.text.empty() &&
      std::isdigit(static_cast<unsigned char>(node.text.front())) != 0) {
    numbers.insert(path);
  }
  for (const Entry& entry : node.entries) {
    if (!path.empty() || entry.key != "citations") {
      collect_numbers(entry.value, join_path(path, entry.key), numbers);
    }
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    collect_numbers(node.items[i], join_path(path, std::to_string(i)), numbers);
  }
}

template <class T>
std::string errors_of(const ProfileFolder& folder, const std::string& name,
                      std::optional<Profile<T>> (*read)(std::string_view, std::optional<Span>,
                                                        const ReadContext&)) {
  ProfileReading reading(folder.library());
  const bool usable = read(name, std::nullopt, reading.context()).has_value();
  CHECK(usable != reading.diagnostics.has_errors());
  return reading.errors();
}

}  // namespace

TEST_CASE("every shipped GPU, fabric, network and cluster reads without a diagnostic") {
  for (const auto& [kind, read] : kinds()) {
    CHECK_FALSE(shipped().names(kind).empty());
    for (const std::string& name : shipped().names(kind)) {
      INFO(folder_of(kind) << " " << name);
      ProfileReading reading(shipped());
      CHECK(read(name, reading.context()));
      CHECK(reading.errors().empty());
    }
  }
}

TEST_CASE("every number of a shipped piece of hardware has a fact with a citation") {
  for (const auto& [kind, read] : kinds()) {
    for (const std::string& name : shipped().names(kind)) {
      INFO(folder_of(kind) << " " << name);
      ProfileReading reading(shipped());
      const auto facts = read(name, reading.context());
      REQUIRE(facts);
      std::set<std::string> sourced;
      for (const Fact& fact : *facts) {
        CHECK_FALSE(fact.citation.empty());
        CHECK((fact.kind == Provenance::assumed || !fact.date.empty()));
        CHECK(sourced.insert(fact.path).second);
      }
      auto document =
          shipped().load(kind, name, std::nullopt, reading.sources, reading.diagnostics);
      REQUIRE(document);
      std::set<std::string> numbers;
      collect_numbers(document->root, {}, numbers);
      numbers.erase("pcie");  // the name of a generation
      CHECK_FALSE(numbers.empty());
      for (const std::string& number : numbers) {
        INFO(number);
        CHECK(sourced.contains(number));
      }
    }
  }
}

TEST_CASE("a cluster hands on the facts of its parts and of their laws") {
  ProfileReading reading(shipped());
  const auto cluster = read_cluster("dgx-h100", std::nullopt, reading.context());
  REQUIRE(cluster);
  for (const char* path : {"gpus_per_node", "gpu.peak.fp16", "gpu.law.launch", "fabric.bandwidth",
                           "fabric.law.ramp", "network.tuner_latency", "network.law.launch"}) {
    INFO(path);
    CHECK(std::count_if(cluster->facts.begin(), cluster->facts.end(),
                        [&](const Fact& fact) { return fact.path == path; }) == 1);
  }
}

TEST_CASE("a link of a shipped cluster has a rate that its network is sold with") {
  for (const std::string& name : shipped().names(ProfileKind::cluster)) {
    INFO(name);
    ProfileReading reading(shipped());
    const auto cluster = read_cluster(name, std::nullopt, reading.context());
    REQUIRE(cluster);
    const auto facts = cluster->facts;
    const auto rates = std::find_if(facts.begin(), facts.end(),
                                    [](const Fact& fact) { return fact.path == "network.rates"; });
    REQUIRE(rates != facts.end());
    CHECK_THAT(rates->value_text,
               Catch::Matchers::ContainsSubstring(exact_link_rate_text(cluster->value.nic)));
  }
}

TEST_CASE("four V100 of a p3.8xlarge have the links of half a cube, a p3.2xlarge has none") {
  ProfileReading reading(shipped());
  const auto four = read_cluster("p3-8xlarge", std::nullopt, reading.context());
  REQUIRE(four);
  CHECK(four->value.fabric.max_gpus == 4);
  CHECK(four->value.fabric.per_gpu == 100_GBps);
  const auto one = read_cluster("p3-2xlarge", std::nullopt, reading.context());
  REQUIRE(one);
  CHECK(one->value.gpus_per_node == 1);
  CHECK(one->value.fabric.kind == FabricKind::none);
  CHECK(one->value.network.kind == NetworkKind::tcp);
}

TEST_CASE("an unknown name is answered with the nearest one, at the place where it was asked for") {
  ProfileReading reading(shipped());
  const std::size_t source = reading.sources.add_argument(3, "h100-smx");
  CHECK_FALSE(read_gpu("h100-smx", Span{source, 0, 8}, reading.context()));
  CHECK(reading.errors() ==
        "argument 3:1:1 no gpu `h100-smx` | did you mean `h100-sxm`? | `payoff profiles list gpu` "
        "shows them all\n");
}

TEST_CASE("numbers of hardware are positive and carry their unit") {
  const ProfileFolder folder;
  folder.replace("gpu/t4.yaml", "{value: 70 W,", "{value: 70,");
  folder.replace("gpu/t4.yaml", "{value: 40,", "{value: 0,");
  CHECK(errors_of<Gpu>(folder, "t4", read_gpu) ==
        "t4.yaml:16:24 `compute_units` is too small | must be at least 1\n"
        "t4.yaml:23:16 `power` has no unit | a bare number is ambiguous | for example `power: 70 "
        "W`\n");
}

TEST_CASE("a profile that carries another name than its file is refused") {
  const ProfileFolder folder;
  folder.replace("gpu/t4.yaml", "gpu: t4\n", "gpu: t5\n");
  CHECK_THAT(errors_of<Gpu>(folder, "t4", read_gpu),
             Catch::Matchers::StartsWith(
                 "t4.yaml:2:6 `gpu` is not the name of its file | the file is `t4`\n"));
}

TEST_CASE("a pair of GPUs cannot have more bandwidth than all links of one") {
  const ProfileFolder folder;
  folder.replace("fabric/xgmi.yaml", "{value: 64 GB/s", "{value: 449 GB/s");
  CHECK_THAT(errors_of<Fabric>(folder, "xgmi", read_fabric),
             Catch::Matchers::ContainsSubstring(
                 "`pair_bandwidth` is more than all links of a GPU together"));
}

TEST_CASE("a pair of GPUs is not held against a bandwidth that was refused") {
  const ProfileFolder folder;
  folder.replace("fabric/xgmi.yaml", "\nbandwidth: {value: ", "\nbandwidth: {value: many ");
  const std::string errors = errors_of<Fabric>(folder, "xgmi", read_fabric);
  CHECK_THAT(errors, Catch::Matchers::ContainsSubstring("`bandwidth` "));
  CHECK_THAT(errors, !Catch::Matchers::ContainsSubstring("more than all links"));
}

TEST_CASE("a mesh must say what joins a pair") {
  const ProfileFolder folder;
  folder.replace("fabric/xgmi.yaml", "pair_bandwidth: {value: 64 GB/s, from: az_mi}\n", "");
  CHECK_THAT(errors_of<Fabric>(folder, "xgmi", read_fabric),
             Catch::Matchers::ContainsSubstring("missing key `pair_bandwidth`"));
}

TEST_CASE("a twin is a shipped profile of the same kind, and not everything has one") {
  const ProfileFolder folder;
  folder.replace("network/ib-nogdr.yaml", "twin: ib\n", "twin: ibb\n");
  CHECK_THAT(errors_of<Network>(folder, "ib-nogdr", read_network),
             Catch::Matchers::ContainsSubstring("did you mean `ib`?"));
  folder.replace("network/ib.yaml", "gpudirect: true\n", "gpudirect: true\ntwin: roce\n");
  CHECK_THAT(errors_of<Network>(folder, "ib", read_network),
             Catch::Matchers::ContainsSubstring("only a transport without GPUDirect has one"));
  folder.replace("fabric/pcie4.yaml", "crosses_sockets: false\n",
                 "crosses_sockets: false\ntwin: pcie3\n");
  CHECK_THAT(errors_of<Fabric>(folder, "pcie4", read_fabric),
             Catch::Matchers::ContainsSubstring("only links across sockets have one"));
}

TEST_CASE("more GPUs in a node than its fabric joins are refused") {
  const ProfileFolder folder;
  folder.replace("cluster/p3-8xlarge.yaml", "{value: 4, from", "{value: 8, from");
  CHECK_THAT(errors_of<Cluster>(folder, "p3-8xlarge", read_cluster),
             Catch::Matchers::ContainsSubstring("`fabric` joins at most 4 GPUs, the node has 8"));
  folder.replace("cluster/p3-8xlarge.yaml", "fabric: nvlink-mesh-v2-half", "fabric: none");
  CHECK_THAT(errors_of<Cluster>(folder, "p3-8xlarge", read_cluster),
             Catch::Matchers::ContainsSubstring("only nodes of 1 GPU have none"));
}

// The same slots across sockets: what NCCL takes where the driver refuses copies between cards.
TEST_CASE("cards that do not write to each other meet in host memory, NVLink or not") {
  const ProfileFolder folder;
  ProfileReading reading(folder.library());
  const auto fabric_of = [&](const std::string& gpu, const std::string& fabric) {
    std::string name = gpu;
    name += "-desk-" + fabric;
    folder.write("cluster/" + name + ".yaml",
                 "cluster: " + name +
                     "\ndescription: one machine\ncitations: {mine: {kind: assumed, text: "
                     "desk}}\ngpu: " +
                     gpu + "\ngpus_per_node: {value: 2, from: mine}\nfabric: " + fabric +
                     "\nnetwork: none\ncpu: amd\n");
    const auto cluster = read_cluster(name, std::nullopt, reading.context());
    REQUIRE(cluster);
    const bool said = std::any_of(cluster->facts.begin(), cluster->facts.end(), [](const Fact& f) {
      return f.citation.find("do not write to each other") != std::string::npos;
    });
    CHECK(said == (cluster->value.fabric.name != fabric));
    const auto used = read_fabric(cluster->value.fabric.name, std::nullopt, reading.context());
    REQUIRE(used);
    for (const Fact& own : used->facts) {
      INFO(own.path);
      CHECK(std::count_if(cluster->facts.begin(), cluster->facts.end(), [&](const Fact& f) {
              return f.path == "fabric." + own.path && f.value_text == own.value_text;
            }) == 1);
    }
    return cluster->value.fabric.name;
  };
  CHECK(fabric_of("t4", "pcie3") == "pcie3");
  CHECK(fabric_of("rtx2080ti", "pcie3") == "pcie3-numa");
  CHECK(fabric_of("rtx3090", "pcie4") == "pcie4-numa");
  CHECK(fabric_of("rtx4090", "pcie4") == "pcie4-numa");
  CHECK(fabric_of("rtx2080ti", "nvlink-bridge-turing") == "nvlink-bridge-turing");
}

TEST_CASE("a single node needs no network") {
  const ProfileFolder folder;
  folder.write("cluster/desk.yaml",
               "cluster: desk\ndescription: one machine\ncitations: {mine: {kind: assumed, text: "
               "desk}}\ngpu: t4\ngpus_per_node: {value: 2, from: mine}\nfabric: pcie3\nnetwork: "
               "none\ncpu: amd\n");
  ProfileReading reading(folder.library());
  const auto cluster = read_cluster("desk", std::nullopt, reading.context());
  CHECK(reading.errors().empty());
  REQUIRE(cluster);
  CHECK(cluster->value.network.kind == NetworkKind::none);
  CHECK(cluster->value.nics_per_node == 0);
}

TEST_CASE("a part that is misspelt is reported in the cluster that names it") {
  const ProfileFolder folder;
  folder.replace("cluster/dgx-h100.yaml", "fabric: nvswitch4", "fabric: nvswich4");
  CHECK_THAT(errors_of<Cluster>(folder, "dgx-h100", read_cluster),
             Catch::Matchers::Contains("dgx-h100.yaml:") &&
                 Catch::Matchers::Contains("no fabric `nvswich4` | did you mean `nvswitch4`?"));
}

TEST_CASE("hardware of one's own needs no sources and names its parts by path") {
  const ProfileFolder folder;
  folder.write("my_gpu.yaml",
               "gpu: ours\ndescription: bench sample\narchitecture: hopper\ncompute_units: 132\n"
               "memory: 80 GB\nmemory_bandwidth: 3 TB/s\nl2: 50 MB\npeak: {fp32: 60 TFLOP/s}\n"
               "law_of: h100-sxm\n");
  folder.write("my_cluster.yaml",
               "cluster: ours\ndescription: a rack\ngpu: my_gpu.yaml\ngpus_per_node: 8\nfabric: "
               "nvswitch4\nnetwork: roce\nnics_per_node: 4\nnic_bandwidth: 100 Gb/s\ncpu: amd\n");
  ProfileReading reading(folder.library());
  const std::string file = (folder.path() / "my_cluster.yaml").string();
  const auto cluster = read_cluster(file, std::nullopt, reading.context());
  CHECK(reading.errors().empty());
  REQUIRE(cluster);
  CHECK(cluster->value.gpu.name == "ours");
  CHECK(cluster->value.gpu.memory == 80_GB);
  const auto memory = std::find_if(cluster->facts.begin(), cluster->facts.end(),
                                   [](const Fact& fact) { return fact.path == "gpu.memory"; });
  REQUIRE(memory != cluster->facts.end());
  CHECK(memory->kind == Provenance::assumed);
  CHECK_THAT(memory->citation,
             Catch::Matchers::Contains("given in") && Catch::Matchers::Contains("my_gpu.yaml:5:9"));
}

TEST_CASE("a path that cannot be read is an error of the user's") {
  ProfileReading reading(shipped());
  CHECK_FALSE(read_gpu("nowhere/mine.yaml", std::nullopt, reading.context()));
  CHECK_THAT(reading.errors(), Catch::Matchers::StartsWith("cannot read `nowhere/mine.yaml`"));
}
