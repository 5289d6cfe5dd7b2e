// SPDX-License-Identifier: Apache-2.0
#include "calibrate/link_parameters.hpp"

#include <algorithm>

namespace payoff {
namespace {

constexpr LinkParameter time_of(std::string_view key, Seconds LinkLaw::*member) {
  return {key, LinkUnit::microseconds, member, nullptr, nullptr, nullptr};
}

constexpr LinkParameter share_of(std::string_view key, double LinkLaw::*member) {
  return {key, LinkUnit::share, nullptr, member, nullptr, nullptr};
}

constexpr std::array<LinkParameter, link_parameter_count> parameters{
    time_of("launch", &LinkLaw::launch),
    time_of("step_ll", &LinkLaw::step_ll),
    time_of("step_ll128", &LinkLaw::step_ll128),
    time_of("step_simple", &LinkLaw::step_simple),
    time_of("step_nvls", &LinkLaw::step_nvls),
    share_of("share_ll", &LinkLaw::share_ll),
    share_of("share_ll128", &LinkLaw::share_ll128),
    share_of("share_simple", &LinkLaw::share_simple),
    share_of("share_nvls", &LinkLaw::share_nvls),
    time_of("rendezvous", &LinkLaw::rendezvous),
    LinkParameter{"switched_hosts", LinkUnit::ratio, nullptr, &LinkLaw::switched_hosts, nullptr,
                  nullptr},
    LinkParameter{"channel", LinkUnit::bandwidth, nullptr, nullptr, &LinkLaw::channel, nullptr},
    LinkParameter{"node_limit", LinkUnit::bandwidth, nullptr, nullptr, &LinkLaw::node_limit,
                  nullptr, true},
    LinkParameter{"ramp", LinkUnit::ramp, &LinkLaw::ramp, nullptr, nullptr, nullptr},
    LinkParameter{"chunk", LinkUnit::chunk, nullptr, nullptr, nullptr, &LinkLaw::chunk},
    LinkParameter{"congestion_per_doubling", LinkUnit::ratio, nullptr,
                  &LinkLaw::congestion_per_doubling, nullptr, nullptr},
};

// Where the tables below differ from one another.
constexpr std::size_t share_simple_at = 7;
constexpr std::size_t node_limit_at = 12;
static_assert(parameters[share_simple_at].key == "share_simple");
static_assert(parameters[node_limit_at].key == "node_limit");

constexpr Prior none{0, 0, 0};
constexpr Prior unscaled{1, 0, 0};
constexpr double packet_headers = 1.03;  // of a 4 KiB packet; NCCL counts 1 / 0.96

// In the order of the parameters. Steps are those of NCCL's tuner (model/nccl_constants.hpp).
constexpr std::array<Prior, link_parameter_count> nvlink{{
    {6.6, 2.0, 0},    // launch
    {0.6, 0.3, 0},    // step_ll
    {1.9, 1.0, 0},    // step_ll128
    {3.4, 1.0, 1.5},  // step_simple
    {20, 8, 0},       // step_nvls
    {1.1, 0.3, 1},    // 1 / share_ll
    {1.15, 0.2, 1},   // 1 / share_ll128
    {1.25, 0.2, 1},   // 1 / share_simple
    {1.4, 0.3, 1},    // 1 / share_nvls
    none,             // rendezvous
    unscaled,
    {0.06, 0.03, 0},  // us/KB of a channel: 17 GB/s
    none,             // node_limit
    {1.5, 1.0, 0},    // square root of ramp
    none,             // chunk
    none,             // congestion
}};
constexpr std::array<Prior, link_parameter_count> pcie{{
    {6.6, 2.0, 0},
    {1.0, 0.7, 0},
    {2.5, 1.2, 0},
    {5.7, 3.0, 0},
    none,
    {1.2, 0.4, 1},
    {1.3, 0.3, 1},
    {1.4, 0.3, 1},
    none,
    none,
    unscaled,
    none,
    none,
    {1.5, 1.0, 0},
    none,
    none,
}};
// Across sockets only the share of long messages is another.
constexpr std::array<Prior, link_parameter_count> pcie_sockets = [] {
  std::array<Prior, link_parameter_count> priors = pcie;
  priors.at(share_simple_at) = {2.0, 0.6, 1};
  return priors;
}();
constexpr std::array<Prior, link_parameter_count> rdma{{
    {6.6, 0.7, 0},
    {5.0, 8.0, 0},
    {8.5, 8.0, 0},
    {14, 14, 4},
    none,
    {1.5, 1.0, 1},
    {1.15, 0.3, packet_headers},
    {1.06, 0.04, packet_headers},
    {1.05, 0.05, 1},  // share_nvls: what the network leaves of it
    {5.0, 5.0, 0},    // rendezvous
    {1.5, 1.0, 1},    // switched_hosts
    none,
    none,
    {3.0, 3.0, 0},
    {1.0, 0.5, 0},  // 1 / square root of the chunk in MiB
    {0.02, 0.05, 0},
}};
constexpr std::array<Prior, link_parameter_count> rdma_staged{{
    {6.6, 0.7, 0},
    {5.0, 8.0, 0},
    {8.5, 8.0, 0},
    {20, 15, 4},
    none,
    {1.5, 1.0, 1},
    {1.15, 0.3, 1},
    {1.5, 0.5, 1},
    none,
    none,
    unscaled,
    none,
    none,
    {3.0, 3.0, 0},
    {1.0, 0.5, 0},
    {0.02, 0.05, 0},
}};
constexpr std::array<Prior, link_parameter_count> tcp{{
    {6.6, 0.7, 0},
    {30, 20, 0},
    {30, 20, 0},
    {40, 30, 0},
    none,
    {1.5, 1.0, 1},
    {1.15, 0.3, 1},
    {1.03, 0.03, 1},
    none,
    none,
    unscaled,
    none,
    {0.25, 0.2, 0},  // us/KB: 4 GB/s for a node
    {6.0, 6.0, 0},
    {1.0, 0.5, 0},
    {0.02, 0.05, 0},
}};

// No published table. Steps are the kernel's; nothing is copied by a CPU, so that no socket limits
// a node and long messages go as over RDMA, as far as anybody knows.
constexpr std::array<Prior, link_parameter_count> tcp_gpudirect = [] {
  std::array<Prior, link_parameter_count> priors = tcp;
  priors.at(share_simple_at) = {1.15, 0.3, packet_headers};
  priors.at(node_limit_at) = none;
  return priors;
}();

const std::array<Prior, link_parameter_count>& table_of(LinkClass link_class) {
  switch (link_class) {
    case LinkClass::nvlink:
      return nvlink;
    case LinkClass::pcie:
      return pcie;
    case LinkClass::pcie_sockets:
      return pcie_sockets;
    case LinkClass::rdma:
      return rdma;
    case LinkClass::rdma_staged:
      return rdma_staged;
    case LinkClass::tcp_gpudirect:
      return tcp_gpudirect;
    case LinkClass::tcp:
      break;
  }
  return tcp;
}

// One standard deviation between links of a class, as a share of the class's mean.
double width_of(const LinkParameter& parameter, LinkClass link_class) {
  const bool fabric = is_of_fabrics(link_class);
  if (parameter.key == "launch" && !fabric) {
    return 0.1;  // the GPU launches, not the network: two nodes alone cannot tell it from a step
  }
  switch (parameter.unit) {
    case LinkUnit::share:
      return fabric ? 0.1 : 0.3;
    case LinkUnit::bandwidth:
      return fabric ? 0.3 : 0.5;
    case LinkUnit::microseconds:
      return fabric ? 0.3 : 1.5;
    case LinkUnit::ramp:
      return fabric ? 0.3 : 1.0;
    case LinkUnit::chunk:
      return 0.3;  // of NCCL, not of the network
    case LinkUnit::ratio:
      break;
  }
  return parameter.key == "switched_hosts" ? 0.3 : 1.0;
}

}  // namespace

LinkClass class_of(const Fabric& fabric) {
  if (fabric.kind != FabricKind::pcie_tree) {
    return LinkClass::nvlink;
  }
  return fabric.crosses_sockets ? LinkClass::pcie_sockets : LinkClass::pcie;
}

LinkClass class_of(const Network& network) {
  if (network.kind == NetworkKind::tcp) {
    return network.gpudirect ? LinkClass::tcp_gpudirect : LinkClass::tcp;
  }
  return network.gpudirect ? LinkClass::rdma : LinkClass::rdma_staged;
}

std::string_view name(LinkClass link_class) {
  constexpr std::array<std::string_view, link_classes.size()> names{
      "nvlink", "pcie", "pcie_sockets", "rdma", "rdma_staged", "tcp", "tcp_gpudirect"};
  return names.at(static_cast<std::size_t>(link_class));
}

std::span<const LinkParameter> link_parameters() { return parameters; }

std::vector<Prior> prior_of(LinkClass link_class) {
  const auto& table = table_of(link_class);
  return {table.begin(), table.end()};
}

std::vector<Prior> around(std::span<const double> mean, LinkClass link_class) {
  std::vector<Prior> priors = prior_of(link_class);
  for (std::size_t j = 0; j < priors.size(); ++j) {
    if (priors[j].sd > 0) {
      priors[j].mean = mean[j];
      priors[j].sd = std::max(width_of(parameters[j], link_class) * mean[j], 0.1 * priors[j].sd);
    }
  }
  return priors;
}

double value_of(const LinkParameter& parameter, double coefficient) {
  switch (parameter.unit) {
    case LinkUnit::share:
      return coefficient > 0 ? 1 / coefficient : 0;
    case LinkUnit::bandwidth:
      return coefficient > 0 ? 1e9 / coefficient : 0;  // us/KB to B/s
    case LinkUnit::ramp:
      return coefficient * coefficient;
    case LinkUnit::chunk:
      return coefficient > 0 ? 1 / (coefficient * coefficient) : 0;
    case LinkUnit::microseconds:
    case LinkUnit::ratio:
      break;
  }
  return coefficient;
}

double relative_sd_of(const LinkParameter& parameter, double coefficient, double sd) {
  if (coefficient <= 0) {
    return 0;
  }
  const bool squared = parameter.unit == LinkUnit::ramp || parameter.unit == LinkUnit::chunk;
  return (squared ? 2.0 : 1.0) * sd / coefficient;
}

LinkLaw law_from(std::span<const double> coefficients) {
  LinkLaw law;
  for (std::size_t j = 0; j < parameters.size(); ++j) {
    const LinkParameter& parameter = parameters[j];
    const double value = value_of(parameter, coefficients[j]);
    if (parameter.time != nullptr) {
      law.*parameter.time = value * 1_us;
    } else if (parameter.rate != nullptr) {
      law.*parameter.rate = Bandwidth{value};
    } else if (parameter.bytes != nullptr) {
      law.*parameter.bytes = value * 1_MiB;
    } else {
      law.*parameter.number = value;
    }
  }
  return law;
}

}  // namespace payoff
