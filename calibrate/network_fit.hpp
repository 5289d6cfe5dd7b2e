// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "calibrate/link_held_out.hpp"
#include "calibrate/link_parameters.hpp"
#include "model/hardware.hpp"
#include "model/measured_collective.hpp"
#include "model/spread_band.hpp"
#include "model/units.hpp"

// The laws of links (model/hardware.hpp, LinkLaw) from measured collectives. NCCL's tuner says
// which algorithm and protocol ran, so every time is (nearly) linear in a link's parameters:
//   1. every class of fabric (NVLink, PCIe), from groups in one domain: the mean of its links;
//   2. every fabric, around its class;
//   3. the same for networks, with the fabrics' laws given.
// What belongs to hosts (LinkParameter::of_hosts) is solved for with each system's own tables; a
// link then has what a further system of its class has (calibrate/between_hosts.hpp).
// A link that nobody measured has its class's law, marked `assumed`. Tables count by table and size
// band, not by the number of their rows: sizes of one run are not independent. How far a law may be
// off comes from machines and links that are held out and predicted (calibrate/link_held_out.hpp).
//
// Left out: CUDA graphs, symmetric memory, shared hosts, and where one process launches the kernels
// of several GPUs, sizes at which the launches take longer than the collective: those tell what a
// launch takes (calibrate/launch_fit.hpp).

namespace payoff {

// What the spread of a law at some sizes rests on.
enum class SpreadFrom { held_out, own_scatter, priors };

struct BandError {
  std::size_t points{};
  double median{};  // of |predicted / measured - 1|
  double bias{};    // median of predicted / measured - 1
  SpreadFrom spread_from{SpreadFrom::priors};
};

struct LinkCoefficient {
  const LinkParameter* parameter{};
  double value{};  // as solved for (calibrate/link_parameters.hpp)
  double sd{};
  bool fitted{};  // the measurements say more about it than the class does
};

struct LinkFit {
  std::string name;
  LinkClass link_class{};
  LinkLaw law;
  std::vector<LinkCoefficient> coefficients;    // those that the link has
  std::vector<LinkCoefficient> of_hosts;        // of its own tables' hosts, not in the law
  std::vector<std::vector<double>> covariance;  // of them
  std::vector<std::string> tables;              // ids, sorted; empty: nobody measured it
  std::size_t systems{};
  std::array<BandError, spread_band_count> errors;
  // Rows of its tables, by family of collectives and band.
  std::array<std::array<std::size_t, spread_band_count>, collective_family_count> rows{};
  Bytes smallest{};
  Bytes largest{};
  int fewest_ranks{};
  int most_ranks{};
};

// Of one process that drives several GPUs (calibrate/launch_fit.hpp).
struct LaunchFit {
  HostLaw law;
  double relative_sd{};             // of the fit
  std::vector<std::string> tables;  // ids, sorted; empty: nobody measured it
  std::size_t systems{};
  int fewest_gpus{};
  int most_gpus{};
};

struct NetworkFit {
  std::vector<LinkFit> fabrics;  // in the order given
  std::vector<LinkFit> networks;
  LaunchFit launches;
  std::vector<HeldOut> systems_held_out;
  std::vector<HeldOut> links_held_out;
  std::vector<HeldOut> scales_held_out;
  std::vector<HeldOut> families_held_out;
};

[[nodiscard]] NetworkFit fit_network(std::span<const MeasuredCollective> tables,
                                     std::span<const Fabric> fabrics,
                                     std::span<const Network> networks);

// Those that laws are fitted to: what a source itself says to have run over another GPU's NIC tells
// how far machines may be off, and nothing about the link.
[[nodiscard]] std::vector<MeasuredCollective> well_placed(std::vector<MeasuredCollective> tables);

// Whether a point is of the kind that the model prices (see above).
[[nodiscard]] bool is_comparable(const MeasuredCollective& table, const CollectivePoint& point);

// profiles/fitted/network.yaml. `citations` names the source of every table id.
[[nodiscard]] std::string network_profile(const NetworkFit& fit,
                                          const std::map<std::string, std::string>& citations);

}  // namespace payoff
