// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/experiment.hpp"
#include "study/draws.hpp"
#include "study/interval_set.hpp"
#include "study/payoff.hpp"
#include "study/remedy.hpp"

// Where each plan pays, axis by axis, everything else as given: each answer is a set of intervals
// within the range that was scanned, "never" and "always" included (study/interval_set.hpp). By the
// most likely parameters; the rival changes along with the axis. A gain within the band of noise is
// none, and a job that does not fit the memory pays nowhere.

namespace payoff {

struct BreakEven {
  std::string label;
  // Line rate of one NIC; nullopt where the replicas share one node and no NIC is used.
  std::optional<IntervalSet<Bandwidth>> bandwidth;
  // Beyond this line rate nothing changes, and the scan ends: something else limits a node.
  std::optional<Bandwidth> useful_bandwidth;
  // Encode and decode of one GPU in one step: all passes take the same share more or less. nullopt
  // where the plan compresses the gather of updated weights (zero 1, 2), whose codec is part of the
  // optimizer's work, and for a codec of activations that takes no time.
  std::optional<IntervalSet<Seconds>> codec_time;
  Seconds codec_time_now{};
  // Bytes of the dense gradients over the bytes that one worker contributes, of weights of those
  // that it gathers: all messages of the plan larger or smaller by the same factor, its codec
  // unchanged. nullopt for updated weights, as above.
  std::optional<IntervalSet<double>> wire_ratio;
  double wire_ratio_now{};
  // Whole nodes, the number of replicas along with them; nullopt where one step of it is beyond the
  // scan, and for nodes of several kinds.
  std::optional<IntervalSet<int>> gpus;
  // On more GPUs there is no such job, or it cannot have this plan: the scan ends there.
  std::optional<int> most_gpus;
};

struct BreakEvenOptions {
  // What must be beaten: the best remedy within these limits, searched anew at every value of an
  // axis; none: the job as given.
  std::optional<RemedyLimits> rivals{};
  Latents mean{};  // of the most likely parameters, after an observation
  double band{noise_band};
  Bandwidth lowest_bandwidth{0.1_Gbps};
  Bandwidth highest_bandwidth{1600_Gbps};
  double highest_wire_ratio{10000};
  int most_gpus{65536};
  int points_per_decade{12};
  double resolution{1e-4};  // relative, of the ends
};

// One for each plan that compresses, in order. Requires check() empty.
[[nodiscard]] std::vector<BreakEven> break_evens(const Experiment& experiment,
                                                 const BreakEvenOptions& options = {});

}  // namespace payoff
