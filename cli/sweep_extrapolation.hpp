// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "cli/priced_uses.hpp"
#include "cli/session.hpp"
#include "model/job_numbers.hpp"

// What of a sweep is priced beyond what was measured: each result says it for itself, and the sweep
// says once how many do.

namespace payoff {

// The last keys of a line, with a comma before them.
[[nodiscard]] std::string extrapolated_text(const ExtrapolatedKinds& kinds);

// The same of jobs that differ in their numbers alone: asked for once where what decides it is the
// same. For one thread.
class ExtrapolatedTexts {
 public:
  // The strategies to come are of this job, that of the series.
  void change(const JobNumbers& numbers, const PreparedExperiment& prepared,
              const StepPlan& uncompressed);
  // Of a plan of the experiment, by its place there: what the job does by it, and what its codecs
  // cost.
  [[nodiscard]] const std::string& of(std::size_t place, const PreparedExperiment& prepared,
                                      const StepPlan& plan, std::span<const CallCost> codec_costs);

 private:
  // Sizes of messages and kernels, and how many ranks a group has: all numbers of a job but rates
  // of links. Those decide how much of a GPU a message holds, which matters where that was
  // measured.
  using Key = std::tuple<int, int, int, int, double, double, int, double, double>;
  struct OfJob {
    std::size_t kernels{};           // of its own
    std::vector<std::string> texts;  // of each plan, once it was asked for
  };

  [[nodiscard]] static Key key_of(const JobNumbers& numbers, const Cluster& cluster);

  std::map<Key, OfJob> jobs_;
  std::map<int, std::size_t> layers_;  // kernels of layers, by samples of a micro-batch
  GroupModels models_;
  OfJob* now_{};
};

// Of the results of a sweep.
class SweepExtrapolation {
 public:
  // The results of a job, one JSON object a line.
  void add(std::string_view lines);
  // A note where there are any; `resumed`: of what was kept nothing is said.
  void report(Session& session, bool resumed) const;

 private:
  std::uint64_t results_{};   // with a prediction
  std::uint64_t messages_{};  // of them
  std::uint64_t kernels_{};
  std::uint64_t pairs_{};
};

}  // namespace payoff
