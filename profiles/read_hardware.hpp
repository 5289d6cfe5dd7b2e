// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "model/hardware.hpp"
#include "profiles/check_topology.hpp"
#include "profiles/library.hpp"

// GPUs, fabrics, networks and clusters from their profiles, each with the fitted law that belongs
// to it. What is wrong is reported; the result is empty when the value cannot be used.

namespace payoff {

struct ReadContext {
  const Library& library;
  SourceMap& sources;
  Diagnostics& diagnostics;
  bool with_laws = true;                // false: what a fit needs, which is about to write the laws
  FindInLinks find_in_links = nullptr;  // nothing: topologies are checked without their links
};

[[nodiscard]] std::optional<Profile<Gpu>> read_gpu(std::string_view name, std::optional<Span> asked,
                                                   const ReadContext& context);
[[nodiscard]] std::optional<Profile<Fabric>> read_fabric(std::string_view name,
                                                         std::optional<Span> asked,
                                                         const ReadContext& context);
[[nodiscard]] std::optional<Profile<Network>> read_network(std::string_view name,
                                                           std::optional<Span> asked,
                                                           const ReadContext& context);

// A cluster with everything it is made of; facts of the parts are prefixed "gpu.", "fabric." and
// "network.". `nodes` is 1.
[[nodiscard]] std::optional<Profile<Cluster>> read_cluster(std::string_view name,
                                                           std::optional<Span> asked,
                                                           const ReadContext& context);

// Where its GPUs do not write to each other over its PCIe tree: the fabric of the same slots across
// sockets, which is the way through host memory, in place of it and of its facts in `facts`, where
// `path` stands before "fabric." (copies_through_host() of model/hardware.hpp).
void take_way_through_host(Cluster& cluster, const ReadContext& context, const std::string& path,
                           Facts& facts);

}  // namespace payoff
