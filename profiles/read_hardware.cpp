// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_hardware.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "profiles/named_profile.hpp"
#include "profiles/node_ranges.hpp"
#include "profiles/precision_names.hpp"
#include "profiles/read_fitted.hpp"
#include "profiles/read_measured.hpp"

namespace payoff {
namespace {

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

constexpr IntegerRules compute_units{.fallback = 1, .min = 1, .max = 4096};

// Nothing without a name, which is reported already, and for a fit.
std::optional<LawEntry> law_entry(const Section& root, const std::string& name,
                                  const ReadContext& context) {
  const Value borrowed = root.optional("law_of");
  const LawEntry entry{borrowed.text(name), static_cast<bool>(borrowed)};
  return context.with_laws && !entry.name.empty() ? std::optional(entry) : std::nullopt;
}

void read_gpu_root(const Section& root, const ReadContext& context, Gpu& gpu, Facts& facts) {
  if (is_measured_gpu(root)) {
    read_measured_gpu(root, context, gpu, facts);
    return;
  }
  gpu.architecture = root.required("architecture").choice(architecture_names);
  gpu.compute_units = root.required("compute_units").sourced().integer<int>(compute_units);
  gpu.memory = sourced<Bytes>(root.required("memory"));
  gpu.memory_bandwidth = sourced<Bandwidth>(root.required("memory_bandwidth"));
  gpu.l2 = sourced<Bytes>(root.required("l2"));
  const Section peak = root.required("peak").section();
  for (const auto& [key, precision] : precision_names) {
    const Value value = precision == Precision::fp32 ? peak.required(key) : peak.optional(key);
    gpu.peak[precision] = sourced<FlopRate>(value);
  }
  gpu.power = root.optional("power").sourced().quantity<Watts>(
      {.sign = Sign::positive, .range = &gpu_powers});
  if (const Value card = root.optional("card")) {
    gpu.card = card.boolean();
  }
  if (const Value copies = root.optional("peer_to_peer")) {
    gpu.peer_to_peer = copies.sourced().boolean();
  }
  if (const auto entry = law_entry(root, gpu.name, context)) {
    gpu.law = read_compute_law(*entry, gpu, context, facts);
  }
}

// The name of a shipped profile that shares part of its law with this one.
std::string read_twin(const Value& value, ProfileKind kind, bool may_have_one,
                      std::string_view who_has, const ReadContext& context) {
  std::string name = value.text();
  if (!may_have_one) {
    value.error("has no twin", "", std::string(who_has));
  } else if (!name.empty() && !context.library.has(kind, name)) {
    context.library.report_unknown(kind, name, value.span(), context.diagnostics);
  }
  return name;
}

void read_fabric_root(const Section& root, const ReadContext& context, Fabric& fabric,
                      Facts& facts) {
  fabric.kind = root.required("kind").choice(fabric_kinds, FabricKind::switched);
  fabric.generation = root.required("generation").choice(generations, LinkGeneration::none);
  fabric.per_gpu = sourced<Bandwidth>(root.required("bandwidth"));
  fabric.pair = fabric.per_gpu;
  const bool meshed =
      fabric.kind == FabricKind::full_mesh || fabric.kind == FabricKind::hybrid_cube;
  if (const Value pair =
          meshed ? root.required("pair_bandwidth") : root.optional("pair_bandwidth")) {
    fabric.pair = sourced<Bandwidth>(pair);
    if (fabric.per_gpu > Bandwidth{} && fabric.pair > fabric.per_gpu) {
      pair.error("is more than all links of a GPU together", "", "they have `bandwidth`");
    }
  }
  fabric.max_gpus = root.required("max_gpus").sourced().integer<int>(gpus_of_a_node);
  fabric.nvls = root.required("nvls").boolean();
  fabric.spans_nodes = root.optional("spans_nodes").boolean();
  fabric.crosses_sockets = root.required("crosses_sockets").boolean();
  if (const Value twin = root.optional("twin")) {
    fabric.twin = read_twin(twin, ProfileKind::fabric, fabric.crosses_sockets,
                            "only links across sockets have one", context);
  }
  if (const auto entry = law_entry(root, fabric.name, context)) {
    fabric.law = read_fabric_law(*entry, context, facts);
  }
}

void read_network_root(const Section& root, const ReadContext& context, Network& network,
                       Facts& facts) {
  network.kind = root.required("kind").choice(network_kinds, NetworkKind::rdma);
  network.gpudirect = root.required("gpudirect").boolean();
  network.sums = root.optional("sums").boolean();
  for (const Value& rate : root.optional("rates").sourced().list()) {
    (void)rate.quantity<Bandwidth>({.fallback = {}, .sign = Sign::positive});  // for people
  }
  network.tuner_latency = root.required("tuner_latency").sourced().quantity<Seconds>();
  if (const Value twin = root.optional("twin")) {
    network.twin = read_twin(twin, ProfileKind::network, !network.gpudirect,
                             "only a transport without GPUDirect has one", context);
  }
  if (const Value limit = root.optional("node_limit")) {
    network.node_limit = sourced<Bandwidth>(limit);
  }
  if (const Value eager = root.optional("eager")) {
    network.eager = sourced<Bytes>(eager);
  }
  if (const Value gathers = root.optional("gathers")) {
    network.gathers = sourced<Bandwidth>(gathers);
  }
  if (const auto entry = law_entry(root, network.name, context)) {
    network.law = read_network_law(*entry, context, facts);
  }
}

}  // namespace

std::optional<Profile<Gpu>> read_gpu(std::string_view name, std::optional<Span> asked,
                                     const ReadContext& context) {
  return read_profile<Gpu>(ProfileKind::gpu, name, asked, context,
                           [&](const Section& root, Gpu& gpu, Facts& facts) {
                             read_gpu_root(root, context, gpu, facts);
                           });
}

std::optional<Profile<Fabric>> read_fabric(std::string_view name, std::optional<Span> asked,
                                           const ReadContext& context) {
  return read_profile<Fabric>(ProfileKind::fabric, name, asked, context,
                              [&](const Section& root, Fabric& fabric, Facts& facts) {
                                read_fabric_root(root, context, fabric, facts);
                              });
}

std::optional<Profile<Network>> read_network(std::string_view name, std::optional<Span> asked,
                                             const ReadContext& context) {
  return read_profile<Network>(ProfileKind::network, name, asked, context,
                               [&](const Section& root, Network& network, Facts& facts) {
                                 read_network_root(root, context, network, facts);
                               });
}

}  // namespace payoff
