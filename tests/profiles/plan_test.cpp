// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "profiles/read_method.hpp"
#include "tests/catch.hpp"
#include "tests/profiles/profile_folder.hpp"

using namespace payoff;
using test::ProfileFolder;
using test::ProfileReading;
using test::shipped;

namespace {

struct Outcome {
  std::optional<ReadPlan> plan;
  std::string errors;
};

// As the first argument of a command.
Outcome read(const std::string& text) {
  ProfileReading reading(shipped());
  const std::size_t source = reading.sources.add_argument(1, text);
  auto plan = read_plan({source, 0, text.size()}, reading.context());
  CHECK(plan.has_value() != reading.diagnostics.has_errors());
  return {std::move(plan), reading.errors()};
}

double parameter(const std::string& text, const std::string& name) {
  const Outcome outcome = read(text);
  INFO(text << "\n" << outcome.errors);
  REQUIRE(outcome.plan);
  REQUIRE(outcome.plan->plan.method);
  return outcome.plan->plan.method->parameters.at(name);
}

}  // namespace

TEST_CASE("a plan is a method, or a method with parameters") {
  CHECK(parameter("powersgd", "rank") == 4);
  CHECK(parameter("powersgd:rank=16", "rank") == 16);
  CHECK(parameter("powersgd:rank=1024,min_compression_rate=0.5", "min_compression_rate") == 0.5);
  CHECK(parameter("topk:index_bytes=4,ratio=0.1", "index_bytes") == 4);
  const Outcome outcome = read("powersgd:rank=8");
  CHECK(outcome.plan->plan.label == "powersgd:rank=8");
  CHECK(outcome.plan->plan.placement == Placement::compute_stream);
  CHECK(outcome.plan->plan.overlap);
  CHECK(outcome.plan->plan.activations.empty());
  CHECK_FALSE(outcome.plan->facts.empty());
}

TEST_CASE("a ratio and its percentage are the same") {
  CHECK(parameter("topk:ratio=1 %", "ratio") == parameter("topk:ratio=0.01", "ratio"));
  CHECK(parameter("topk:ratio=1%", "ratio") == 0.01);
}

TEST_CASE("a plan says where it runs and whether it overlaps") {
  const Outcome outcome = read("powersgd:rank=4,placement=side_stream,overlap=false");
  REQUIRE(outcome.plan);
  CHECK(outcome.plan->plan.placement == Placement::side_stream);
  CHECK_FALSE(outcome.plan->plan.overlap);
  CHECK(read("fp16:placement=after_backward").plan->plan.placement == Placement::after_backward);
  CHECK_FALSE(read("oktopk:traffic=tp_activations").plan);  // made for gradients
}

TEST_CASE("a plan says which buckets of gradients it compresses") {
  const Outcome outcome = read("topk:ratio=0.01,buckets=9-/0-2/4/5");
  REQUIRE(outcome.plan);
  const BucketSet& buckets = outcome.plan->plan.buckets;
  CHECK(buckets.ranges == std::vector<BlockRange>{{0, 2}, {4, 5}, {9}});
  for (const auto& [bucket, held] : std::vector<std::pair<std::size_t, bool>>{
           {0, true}, {2, true}, {3, false}, {5, true}, {6, false}, {9, true}, {1000, true}}) {
    CHECK(buckets.holds(bucket) == held);
  }
  CHECK(buckets_text(buckets) == "0-2/4-5/9-");
  CHECK(read("topk").plan->plan.buckets.is_all());
}

TEST_CASE("a plan may have a method for each of several sets of buckets") {
  const Outcome outcome = read("topk:buckets=0-3 + fp16:buckets=6- + qsgd:bits=8,buckets=4");
  REQUIRE(outcome.plan);
  const CompressionPlan& plan = outcome.plan->plan;
  CHECK(plan.method->name == "topk");
  REQUIRE(plan.others.size() == 2);
  CHECK(plan.others[0].method.name == "fp16");
  CHECK(plan.gradient_methods().size() == 3);
  CHECK(plan.methods() == plan.gradient_methods());
  CHECK(plan.buckets_of(2).ranges == std::vector<BlockRange>{{4, 4}});
}

TEST_CASE("sets of buckets that are none, overlap or run elsewhere are refused") {
  for (const char* text :
       {"topk:buckets=3-1", "topk:buckets=", "topk:buckets=1//2", "topk:buckets=1/1",
        "topk:buckets=0-/3", "topk:buckets=-1", "topk:buckets=a", "topk:buckets=0,buckets=1",
        "autoencoder:dim=50,traffic=tp_activations,buckets=1"}) {
    INFO(text);
    CHECK_FALSE(read(text).plan);
  }
  CHECK_THAT(read("topk:buckets=0-3 + fp16:buckets=3-").errors,
             Catch::Matchers::Contains("a second time"));
  CHECK_THAT(read("topk:buckets=0-3 + fp16").errors, Catch::Matchers::Contains("a second time"));
  CHECK_THAT(read("topk:buckets=0 + fp16:buckets=1,placement=side_stream").errors,
             Catch::Matchers::Contains("another `placement`"));
}

TEST_CASE("a plan says which activations it compresses, which way and in which layers") {
  const Outcome outcome = read("autoencoder:dim=100,traffic=tp_activations,layers=12-23");
  REQUIRE(outcome.plan);
  CHECK_FALSE(outcome.plan->plan.method);
  REQUIRE(outcome.plan->plan.activations.size() == 1);
  const ActivationCompression& of = outcome.plan->plan.activations.front();
  CHECK(of.method.parameters.at("dim") == 100);
  CHECK(of.traffic == Traffic::tp_activations);
  CHECK(of.blocks == BlockRange{12, 23});
  // As MCBench does it: sums forward only, sends both ways.
  CHECK(of.forward);
  CHECK_FALSE(of.backward);
  const auto activations = [](const char* text) { return read(text).plan->plan.activations.at(0); };
  CHECK(activations("autoencoder:traffic=pp_activations").backward);
  CHECK_FALSE(activations("activation_quantization:traffic=pp_activations").backward);
  CHECK(activations("activation_quantization:traffic=pp_activations,directions=both").backward);
  CHECK(activations("autoencoder:traffic=tp_activations,layers=12-").blocks == BlockRange{12});
  CHECK(activations("autoencoder:traffic=tp_activations,layers=7").blocks == BlockRange{7, 7});
  CHECK(activations("autoencoder:traffic=tp_activations").blocks == BlockRange{});
}

TEST_CASE("a plan compresses several kinds of traffic, by one method or by several") {
  const Outcome one = read("autoencoder:traffic=tp_activations+pp_activations");
  REQUIRE(one.plan);
  REQUIRE(one.plan->plan.activations.size() == 2);
  CHECK(one.plan->plan.activations[1].traffic == Traffic::pp_activations);
  CHECK(one.plan->plan.activations[1].backward);
  const std::string text = "powersgd:rank=8 + autoencoder:dim=50,traffic=tp_activations";
  const Outcome several = read(text);
  INFO(several.errors);
  REQUIRE(several.plan);
  CHECK(several.plan->plan.label == text);
  REQUIRE(several.plan->plan.method);
  CHECK(several.plan->plan.method->parameters.at("rank") == 8);
  CHECK(several.plan->plan.activations.at(0).method.name == "autoencoder");
  CHECK(read("powersgd + topk").errors ==
        "argument 1:1:12 compresses dp_gradients a second time | one method for each kind of "
        "traffic, or `buckets=` of its own for each\n");
  CHECK(read("powersgd + none").errors == "argument 1:1:12 `none` is a plan of its own\n");
}

TEST_CASE("a list in a file is one plan of several methods") {
  const std::string text =
      "compress:\n- [powersgd, {autoencoder: {dim: 50, traffic: tp_activations}}]\n";
  ProfileReading reading(shipped());
  const auto document = load_yaml_text("e.yaml", text, reading.sources, reading.diagnostics);
  REQUIRE(document);
  Reader reader(document->root, reading.sources, reading.diagnostics);
  const auto items = reader.root().required("compress").list();
  const auto plan = read_plan(items.at(0), reading.context());
  INFO(reading.errors());
  REQUIRE(plan);
  CHECK(plan->plan.label == "powersgd + autoencoder:dim=50,traffic=tp_activations");
  CHECK(plan->plan.method);
  CHECK(plan->plan.activations.size() == 1);
}

TEST_CASE("options that mean nothing for what is compressed are mistakes") {
  CHECK(read("autoencoder").errors ==
        "argument 1:1:1 `autoencoder` does not compress dp_gradients | it compresses: "
        "tp_activations, pp_activations; write `traffic=` and which\n");
  CHECK(read("powersgd:layers=3").errors ==
        "argument 1:1:17 `layers` is of activations, and only gradients of data parallelism are "
        "compressed | add `traffic=`: tp_activations, pp_activations, ep_dispatch, ep_combine or "
        "embeddings\n");
  CHECK(read("autoencoder:traffic=tp_activations,overlap=false").errors ==
        "argument 1:1:44 `overlap` is of gradients of data parallelism: activations are waited "
        "for | leave it out\n");
  CHECK(read("autoencoder:traffic=tp_activations,layers=9-3").errors ==
        "argument 1:1:43 `layers` is no range of blocks: `9-3` | write `layers=12-23`, "
        "`layers=12-` or `layers=12`\n");
  CHECK(read("autoencoder:traffic=tp_activations+pp").errors ==
        "argument 1:1:36 `traffic` has the unknown value `pp` | one of: dp_gradients, "
        "dp_weights, tp_activations, pp_activations, ep_dispatch, ep_combine, embeddings\n");
}

TEST_CASE("blanks around the parts of a plan mean nothing") {
  CHECK(parameter(" powersgd : rank = 8 , overlap = false ", "rank") == 8);
}

TEST_CASE("none is the uncompressed baseline") {
  const Outcome outcome = read("none");
  REQUIRE(outcome.plan);
  CHECK_FALSE(outcome.plan->plan.method);
  CHECK(outcome.plan->plan.label == "none");
  CHECK(read("none:rank=4").errors == "argument 1:1:1 `none` has no parameters\n");
}

TEST_CASE("an unknown method is answered with the nearest one") {
  CHECK(read("power_sgd:rank=4").errors ==
        "argument 1:1:1 no compression `power_sgd` | did you mean `powersgd`? | `payoff profiles "
        "list compression` shows them all\n");
}

TEST_CASE("an unknown parameter is answered with the nearest one, at its place") {
  CHECK(read("powersgd:rnak=4").errors ==
        "argument 1:1:10 powersgd has no parameter `rnak` | did you mean `rank`? | it has: "
        "min_compression_rate, rank, placement, overlap, traffic, directions, layers, "
        "buckets, among, smallest, copy_in_node\n");
  CHECK(read("powersgd:rank=4,plaement=side_stream").errors ==
        "argument 1:1:17 powersgd has no parameter `plaement` | did you mean `placement`? | it "
        "has: min_compression_rate, rank, placement, overlap, traffic, directions, layers, "
        "buckets, among, smallest, copy_in_node\n");
}

TEST_CASE("values of parameters are checked against their ranges") {
  CHECK_THAT(read("powersgd:rank=0").errors,
             Catch::Matchers::StartsWith("argument 1:1:15 `rank` of powersgd is too small"));
  CHECK_THAT(read("powersgd:rank=4096").errors,
             Catch::Matchers::StartsWith("argument 1:1:15 `rank` of powersgd is too large"));
  CHECK_THAT(read("powersgd:rank=4.5").errors,
             Catch::Matchers::StartsWith("argument 1:1:15 `rank` of powersgd is not a whole"));
  CHECK_THAT(read("topk:ratio=2").errors,
             Catch::Matchers::StartsWith("argument 1:1:12 `ratio` of topk is too large"));
  CHECK_THAT(read("topk:ratio=150 %").errors,
             Catch::Matchers::StartsWith("argument 1:1:12 `ratio` of topk is too large"));
  CHECK_THAT(read("topk:ratio=nan").errors,
             Catch::Matchers::StartsWith("argument 1:1:12 `ratio` of topk"));
}

TEST_CASE("gradients are compressed between nodes alone where a plan says so") {
  const auto between = read("topk:ratio=0.01,among=nodes");
  CHECK(between.errors.empty());
  REQUIRE(between.plan);
  const Method& method = between.plan->plan.method.value();
  CHECK(method.name == "topk");
  CHECK(method.among_nodes);
  CHECK(method.rounds.front().among == Among::node);
  CHECK(read("topk:among=all").plan->plan.method.value().rounds.front().among == Among::all);
  CHECK(read("topk:among=node").errors ==
        "argument 1:1:12 `among` has the unknown value `node` | did you mean `nodes`? | one of: "
        "all, nodes\n");
  CHECK(read("qgz:among=nodes").errors ==
        "argument 1:1:11 `qgz` says itself which of its rounds are in a node | leave `among` "
        "out\n");
  CHECK_THAT(read("activation_topk:traffic=tp_activations,among=nodes").errors,
             Catch::Matchers::ContainsSubstring("`among` is of gradients of data parallelism"));
}

TEST_CASE("a plan compresses gradients from a size on, and weights with a copy in every node") {
  const auto from = read("topk:smallest=64 KiB,among=nodes");
  CHECK(from.errors.empty());
  REQUIRE(from.plan);
  CHECK(from.plan->plan.method.value().smallest == 64_KiB);
  CHECK(from.plan->plan.method.value().among_nodes);
  CHECK(read("topk:smallest=64").errors ==
        "argument 1:1:15 `smallest` has no unit | a bare number is ambiguous | write "
        "`smallest=64 KiB`\n");
  CHECK_THAT(read("topk:smallest=0 B").errors, Catch::Matchers::Contains("`smallest` "));
  const auto weights = read("qwz:traffic=dp_weights,copy_in_node=true");
  REQUIRE(weights.plan);
  CHECK(weights.plan->plan.weights.value().copy_in_node);
  CHECK_FALSE(read("qwz:traffic=dp_weights").plan->plan.weights.value().copy_in_node);
  CHECK(read("topk:copy_in_node=true").errors ==
        "argument 1:1:19 `copy_in_node` is of weights that are gathered, and none are compressed | "
        "add `traffic=dp_weights`\n");
}

TEST_CASE("all mistakes of a plan are found at once") {
  CHECK(read("topk:ratio,ratio=,index_bytes=4,index_bytes=8,overlap=no,placement=side").errors ==
        "argument 1:1:6 `ratio` has no value | write it as `ratio=VALUE`\n"
        "argument 1:1:12 `ratio` is given twice\n"
        "argument 1:1:33 `index_bytes` is given twice\n"
        "argument 1:1:55 `overlap` has the unknown value `no` | one of: true, false\n"
        "argument 1:1:68 `placement` has the unknown value `side` | did you mean `side_stream`? | "
        "one of: compute_stream, side_stream, after_backward, low_priority_stream, "
        "high_priority_stream\n");
  CHECK_THAT(read("topk:").errors,
             Catch::Matchers::StartsWith("argument 1:1:6 topk has no parameter ``"));
}

TEST_CASE("a plan written in a file is read with and without quotes, and wrong at its place") {
  const std::string text = "compress: [\"topk:ratio=2\", 'topk:ratio=1 %', topk:ratio=3 %]\n";
  ProfileReading reading(shipped());
  const auto document = load_yaml_text("e.yaml", text, reading.sources, reading.diagnostics);
  REQUIRE(document);
  const auto& items = document->root.find("compress")->value.items;
  REQUIRE(items.size() == 3);
  CHECK_FALSE(read_plan(items[0].span, reading.context()));
  CHECK_THAT(reading.errors(), Catch::Matchers::StartsWith("e.yaml:1:24 `ratio` of topk"));
  const auto quoted = read_plan(items[1].span, reading.context());
  REQUIRE(quoted);
  CHECK(quoted->plan.label == "topk:ratio=1 %");
  const auto plain = read_plan(items[2].span, reading.context());
  REQUIRE(plain);
  CHECK(plain->plan.method->parameters.at("ratio") == 0.03);
}

TEST_CASE("a plan names a method of one's own by its path, relative to the file that names it") {
  const ProfileFolder folder;
  std::string method = folder.read("compression/topk.yaml");
  method.replace(method.find("method: topk"), 12, "method: mine");
  folder.write("mine.yaml", method);
  const std::string text = "compress: [mine.yaml:ratio=0.5]\n";
  ProfileReading reading(folder.library());
  const auto document = load_yaml_text((folder.path() / "e.yaml").string(), text, reading.sources,
                                       reading.diagnostics);
  REQUIRE(document);
  const auto plan =
      read_plan(document->root.find("compress")->value.items[0].span, reading.context());
  CHECK(reading.errors().empty());
  REQUIRE(plan);
  CHECK(plan->plan.method->name == "mine");
  CHECK(plan->plan.method->parameters.at("ratio") == 0.5);
  CHECK(read("missing.yaml:ratio=0.5")
            .errors.starts_with("argument 1:1:1 cannot read `missing.yaml`"));
}

TEST_CASE("parameters that make a formula negative are refused with the plan") {
  const ProfileFolder folder;
  folder.write("mine.yaml",
               "method: less\ndescription: less than nothing\nimplementation: fused\n"
               "granularity: bucket\nsums_in_collective: true\n"
               "parameters: {less: {default: 0, min: 0, max: 9}}\nrounds:\n"
               "- {encode: {}, collective: all_reduce, message: \"v * n * (1 - less)\"}\n"
               "wire: {as_published: \"v * n * (1 - less)\", as_implemented: \"0\", used: "
               "as_published}\n");
  ProfileReading reading(folder.library());
  const std::string text = (folder.path() / "mine.yaml").string() + ":less=2";
  const std::size_t source = reading.sources.add_argument(1, text);
  CHECK_FALSE(read_plan({source, 0, text.size()}, reading.context()));
  CHECK_THAT(reading.errors(), Catch::Matchers::Contains("cannot be priced with these parameters"));
}

TEST_CASE("a plan of gossip names its graph") {
  const auto graph = [](const std::string& text) {
    const Outcome outcome = read(text);
    INFO(text << "\n" << outcome.errors);
    REQUIRE(outcome.plan);
    return outcome.plan->plan.method->graph;
  };
  CHECK_FALSE(graph("gossip"));
  CHECK(graph("gossip:graph=ring")->shape == ExchangeShape::ring);
  CHECK(graph("gossip_u8:graph=torus")->shape == ExchangeShape::torus);
  const auto random = graph("gossip:graph=random,neighbours=4,graph_seed=9");
  CHECK(random == ExchangeGraph{ExchangeShape::random, 4, 9, {}, {}});
  // A triangle of which one side goes one way.
  const auto own = graph("gossip:graph=0-1/1-2/2>0");
  CHECK(own->shape == ExchangeShape::own);
  CHECK(own->own == Neighbours{{1}, {0, 2}, {0, 1}});
}

TEST_CASE("mistakes in a graph are told at the edge") {
  CHECK_THAT(read("gossip:graph=rign").errors,
             Catch::Matchers::ContainsSubstring(
                 "`graph` has the unknown value `rign` | did you mean `ring`?"));
  const std::string edges = read("gossip:graph=0-1/2-2/1-0/x-3/4").errors;
  CHECK_THAT(edges,
             Catch::Matchers::ContainsSubstring("1:18 `graph`: `2-2` joins node 2 to itself"));
  CHECK_THAT(edges, Catch::Matchers::ContainsSubstring(
                        "1:22 `graph`: `1-0` is there twice: nodes 1 and 0"));
  CHECK_THAT(edges, Catch::Matchers::ContainsSubstring(
                        "1:26 `graph`: `x-3` is no edge between two nodes"));
  CHECK_THAT(edges, Catch::Matchers::ContainsSubstring("1:30 `graph`: `4` is no edge"));
  CHECK_THAT(read("gossip:graph=ring,neighbours=2").errors,
             Catch::Matchers::ContainsSubstring("`neighbours` follow from the graph"));
  CHECK_THAT(read("gossip:graph=ring,graph_seed=2").errors,
             Catch::Matchers::ContainsSubstring("`graph_seed` is of `graph=random`"));
  CHECK_THAT(read("gossip:graph_seed=2").errors,
             Catch::Matchers::ContainsSubstring("and there is none"));
  CHECK_THAT(read("topk:graph=ring").errors,
             Catch::Matchers::ContainsSubstring("`topk` has no neighbours: all send to all"));
  CHECK_THAT(read("gossip:graph=nowhere.yaml").errors,
             Catch::Matchers::ContainsSubstring("nowhere.yaml"));
}
