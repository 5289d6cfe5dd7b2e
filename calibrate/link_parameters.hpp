// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "calibrate/relative_fit.hpp"
#include "model/hardware.hpp"

// The parameters of a LinkLaw as a fit sees them: numbers in which a time is linear, or nearly so.
// A share s becomes its cost 1/s >= 1, a bandwidth its microseconds per kilobyte, the ramp its
// square root, the chunk one over its square root.

namespace payoff {

enum class LinkClass {
  nvlink,        // NVLink and Infinity Fabric
  pcie,          // under one root complex or switch
  pcie_sockets,  // across CPU sockets
  rdma,
  rdma_staged,  // without GPUDirect: through host memory
  tcp,
  tcp_gpudirect  // the kernel's TCP, but data goes to GPU memory without a copy by a CPU
};

inline constexpr std::array link_classes{
    LinkClass::nvlink,      LinkClass::pcie, LinkClass::pcie_sockets, LinkClass::rdma,
    LinkClass::rdma_staged, LinkClass::tcp,  LinkClass::tcp_gpudirect};
[[nodiscard]] constexpr bool is_of_fabrics(LinkClass link_class) {
  return link_class <= LinkClass::pcie_sockets;
}

[[nodiscard]] LinkClass class_of(const Fabric& fabric);
[[nodiscard]] LinkClass class_of(const Network& network);
[[nodiscard]] std::string_view name(LinkClass link_class);

enum class LinkUnit { microseconds, share, ramp, chunk, bandwidth, ratio };

struct LinkParameter {
  std::string_view key;  // of LinkLaw and of profiles/fitted/network.yaml
  LinkUnit unit{};
  Seconds LinkLaw::*time{};
  double LinkLaw::*number{};
  Bandwidth LinkLaw::*rate{};
  Bytes LinkLaw::*bytes{};
  // Belongs to hosts, not to the link: every system has its own, and a link has what hosts of its
  // class have, whichever of them it was measured on.
  bool of_hosts{};
};

inline constexpr std::size_t link_parameter_count = 16;
[[nodiscard]] std::span<const LinkParameter> link_parameters();

// What is known before any measurement: NCCL's tuner constants, and shares and widths by judgement.
// A parameter that the class does not have gets sd 0.
[[nodiscard]] std::vector<Prior> prior_of(LinkClass link_class);

// Members of a class differ from its mean: fabrics little, networks by their whole latency.
[[nodiscard]] std::vector<Prior> around(std::span<const double> mean, LinkClass link_class);

[[nodiscard]] LinkLaw law_from(std::span<const double> coefficients);

// A coefficient in the unit of its key, and its standard deviation as a share of the value.
[[nodiscard]] double value_of(const LinkParameter& parameter, double coefficient);
[[nodiscard]] double relative_sd_of(const LinkParameter& parameter, double coefficient, double sd);

}  // namespace payoff
