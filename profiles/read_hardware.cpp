// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_hardware.hpp"

#include <array>
#include <string>
#include <utility>

#include "profiles/read_fitted.hpp"
#include "profiles/section.hpp"

namespace payoff {
namespace {

constexpr std::array<std::pair<std::string_view, Architecture>, 8> architectures{{
    {"pascal", Architecture::pascal},
    {"volta", Architecture::volta},
    {"turing", Architecture::turing},
    {"ampere", Architecture::ampere},
    {"ada", Architecture::ada},
    {"hopper", Architecture::hopper},
    {"blackwell", Architecture::blackwell},
    {"cdna3", Architecture::cdna3},
}};

constexpr std::array<std::pair<std::string_view, Precision>, precision_count> precisions{{
    {"fp32", Precision::fp32},
    {"tf32", Precision::tf32},
    {"fp16", Precision::fp16},
    {"bf16", Precision::bf16},
    {"fp8", Precision::fp8},
}};

constexpr std::array<std::pair<std::string_view, FabricKind>, 5> fabric_kinds{{
    {"switch", FabricKind::switched},
    {"full_mesh", FabricKind::full_mesh},
    {"hybrid_cube", FabricKind::hybrid_cube},
    {"pcie_tree", FabricKind::pcie_tree},
    {"bridge", FabricKind::bridge},
}};

constexpr std::array<std::pair<std::string_view, LinkGeneration>, 9> generations{{
    {"nvlink1", LinkGeneration::nvlink1},
    {"nvlink2", LinkGeneration::nvlink2},
    {"nvlink3", LinkGeneration::nvlink3},
    {"nvlink4", LinkGeneration::nvlink4},
    {"nvlink5", LinkGeneration::nvlink5},
    {"pcie3", LinkGeneration::pcie3},
    {"pcie4", LinkGeneration::pcie4},
    {"pcie5", LinkGeneration::pcie5},
    {"xgmi3", LinkGeneration::xgmi3},
}};

constexpr std::array<std::pair<std::string_view, NetworkKind>, 2> network_kinds{{
    {"rdma", NetworkKind::rdma},
    {"tcp", NetworkKind::tcp},
}};

constexpr std::array<std::pair<std::string_view, CpuVendor>, 4> cpus{{
    {"intel", CpuVendor::intel},
    {"amd", CpuVendor::amd},
    {"arm", CpuVendor::arm},
    {"power", CpuVendor::power},
}};

constexpr int most_gpus_in_a_node = 1024;
constexpr int most_compute_units = 4096;

void prefix(Facts& into, std::string_view part, const Facts& facts) {
  for (Fact fact : facts) {
    fact.path = std::string(part) + "." + fact.path;
    into.push_back(std::move(fact));
  }
}

// Loads, reads and finishes one profile; empty when anything in it was wrong.
template <class T, class Read>
std::optional<Profile<T>> read_profile(ProfileKind kind, std::string_view name,
                                       std::optional<Span> asked, const ReadContext& context,
                                       Read read) {
  const std::size_t errors = context.diagnostics.error_count();
  const auto document =
      context.library.load(kind, name, asked, context.sources, context.diagnostics);
  if (!document) {
    return std::nullopt;
  }
  Reader reader(document->root, context.sources, context.diagnostics);
  const Section root = reader.root();
  Profile<T> profile;
  profile.value.name = root.required(folder_of(kind)).text();
  profile.description = root.required("description").text();
  read(root, profile.value, profile.facts);
  reader.finish();
  if (context.diagnostics.error_count() > errors) {
    return std::nullopt;
  }
  const Facts& own = reader.facts();
  profile.facts.insert(profile.facts.begin(), own.begin(), own.end());
  return profile;
}

}  // namespace

std::optional<Profile<Gpu>> read_gpu(std::string_view name, std::optional<Span> asked,
                                     const ReadContext& context) {
  return read_profile<Gpu>(
      ProfileKind::gpu, name, asked, context, [&](const Section& root, Gpu& gpu, Facts& facts) {
        gpu.architecture = root.required("architecture").choice(architectures);
        gpu.compute_units = root.required("compute_units")
                                .sourced()
                                .integer<int>({.fallback = 1, .min = 1, .max = most_compute_units});
        gpu.memory = root.required("memory").sourced().quantity<Bytes>();
        gpu.memory_bandwidth = root.required("memory_bandwidth").sourced().quantity<Bandwidth>();
        gpu.l2 = root.required("l2").sourced().quantity<Bytes>();
        const Section peak = root.required("peak").section();
        for (const auto& [key, precision] : precisions) {
          if (const Value value = peak.optional(key)) {
            gpu.peak[precision] = value.sourced().quantity<FlopRate>();
          }
        }
        // Of the hardware, but no law uses them yet.
        (void)root.optional("pcie").integer();
        (void)root.optional("power").sourced().text();
        if (context.with_laws) {
          gpu.law = read_compute_law(gpu, context, facts);
        }
      });
}

std::optional<Profile<Fabric>> read_fabric(std::string_view name, std::optional<Span> asked,
                                           const ReadContext& context) {
  return read_profile<Fabric>(
      ProfileKind::fabric, name, asked, context,
      [&](const Section& root, Fabric& fabric, Facts& facts) {
        fabric.kind = root.required("kind").choice(fabric_kinds, FabricKind::switched);
        fabric.generation = root.required("generation").choice(generations, LinkGeneration::none);
        fabric.per_gpu = root.required("bandwidth").sourced().quantity<Bandwidth>();
        fabric.pair = fabric.per_gpu;
        if (const Value pair = root.optional("pair_bandwidth")) {
          fabric.pair = pair.sourced().quantity<Bandwidth>();
        }
        fabric.max_gpus =
            root.required("max_gpus").integer<int>({.fallback = 1, .min = 1, .max = most_gpus_in_a_node});
        fabric.nvls = root.required("nvls").boolean();
        fabric.crosses_sockets = root.required("crosses_sockets").boolean();
        if (const Value spans = root.optional("spans_nodes")) {
          fabric.spans_nodes = spans.boolean();
        }
        if (context.with_laws) {
          fabric.law = read_fabric_law(fabric, context, facts);
        }
      });
}

std::optional<Profile<Network>> read_network(std::string_view name, std::optional<Span> asked,
                                             const ReadContext& context) {
  return read_profile<Network>(
      ProfileKind::network, name, asked, context,
      [&](const Section& root, Network& network, Facts& facts) {
        network.kind = root.required("kind").choice(network_kinds, NetworkKind::rdma);
        network.gpudirect = root.required("gpudirect").boolean();
        for (const Value& rate : root.required("rates").list()) {
          (void)rate.quantity<Bandwidth>();  // what it is sold with, for people
        }
        network.tuner_latency = root.required("tuner_latency").sourced().quantity<Seconds>();
        if (const Value limit = root.optional("node_limit")) {
          network.node_limit = limit.sourced().quantity<Bandwidth>();
        }
        if (context.with_laws) {
          network.law = read_network_law(network, context, facts);
        }
      });
}

std::optional<Profile<Cluster>> read_cluster(std::string_view name, std::optional<Span> asked,
                                             const ReadContext& context) {
  return read_profile<Cluster>(
      ProfileKind::cluster, name, asked, context,
      [&](const Section& root, Cluster& cluster, Facts& facts) {
        cluster.gpus_per_node =
            root.required("gpus_per_node")
                .sourced()
                .integer<int>({.fallback = 1, .min = 1, .max = most_gpus_in_a_node});
        cluster.nics_per_node = root.required("nics_per_node").sourced().integer<int>({.min = 0});
        cluster.nic = root.required("nic_bandwidth").sourced().quantity<Bandwidth>();
        cluster.cpu = root.required("cpu").choice(cpus);
        (void)root.optional("max_nodes").sourced().integer();
        (void)root.optional("oversubscription").sourced().ratio({.max = 1000.0});
        const Value gpu = root.required("gpu");
        const Value fabric = root.required("fabric");
        const Value network = root.required("network");
        if (auto part = read_gpu(gpu.text(), gpu.span(), context)) {
          cluster.gpu = std::move(part->value);
          prefix(facts, "gpu", part->facts);
        }
        if (auto part = read_fabric(fabric.text(), fabric.span(), context)) {
          cluster.fabric = std::move(part->value);
          prefix(facts, "fabric", part->facts);
        }
        if (auto part = read_network(network.text(), network.span(), context)) {
          cluster.network = std::move(part->value);
          prefix(facts, "network", part->facts);
        }
      });
}

}  // namespace payoff
