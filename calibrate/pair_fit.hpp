// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/hardware.hpp"
#include "model/units.hpp"

// The law of kernels that share a GPU (model/interference.hpp) from kernels that were measured
// beside each other in a steady state. For each kind of pair the law says how much longer work
// takes; what is fitted is the share of that slow-down that was seen, (seen - 1) / (law - 1): its
// mean and its standard deviation from pair to pair, which takes the place of the prior from 1 to
// 2. Pairs that the memory slows, and not the units, are not fitted but judged, as are three and
// more kernels at once and what copy engines do: they are what shows whether the law adds up.

namespace payoff {

enum class PairRole { compute, codec, message, copies };
inline constexpr std::array<std::string_view, 4> pair_role_names{"compute", "codec", "message",
                                                                 "copies"};

struct PairMember {
  std::string title;
  PairRole role{};
  double memory_share{};  // of the bandwidth, alone
  std::int64_t blocks{};  // one a compute unit; 0: not known
  int held{};             // compute units, by a message all its life
  Seconds alone{};        // of one run
  Seconds together{};

  [[nodiscard]] double slowdown() const { return together / alone; }
};
// All that ran at once: at most one of each role.
using PairRun = std::vector<PairMember>;

enum class PairKind {
  compute_beside_codec,
  codec_beside_compute,
  compute_beside_message,
  codec_beside_message
};
// As PairLaws and profiles have it.
[[nodiscard]] std::string_view name(PairKind kind);
// Beside a message, whose units say how much longer work takes.
[[nodiscard]] bool is_beside_message(PairKind kind);

// One member of one run, and what the law says of it.
struct PairObservation {
  std::string title;             // "gemm m=4096 beside quantize_group elements=1048576"
  std::optional<PairKind> kind;  // that it was fitted to; none: it only judges
  double seen{};                 // slow-down
  double by_law{};               // with nothing measured
  double fitted{};               // with what was measured

  [[nodiscard]] double error() const { return fitted / seen - 1.0; }
};

struct PairFit {
  PairKind kind{};
  std::size_t pairs{};
  double share{};
  double share_sd{};        // of the mean
  double spread{};          // from pair to pair
  FitRange<double> beside;  // as PairLaw has it
};

inline constexpr std::size_t fewest_pairs = 3;

struct PairFits {
  std::vector<PairFit> fits;  // of kinds with enough pairs
  std::vector<PairObservation> observations;

  [[nodiscard]] PairLaws laws() const;
};

// `units`: the GPU's.
[[nodiscard]] PairFits fit_pairs(std::span<const PairRun> runs, int units);

}  // namespace payoff
