// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "model/experiment.hpp"
#include "study/draws.hpp"
#include "study/interval_set.hpp"
#include "study/remedy.hpp"

// A job along one axis (bandwidth, GPUs): prepared once at every value that is asked for, and timed
// with the most likely parameters for every plan and for the uncompressed rival at the same value:
// the job as given there, or the best remedy there, which is searched anew at every value.

namespace payoff {

// Values of an axis, each once.
[[nodiscard]] std::vector<double> ascending(std::vector<double> values);

class JobAxis {
 public:
  // The experiment at a value of the axis; nullopt where there is none. Its plans are not asked
  // for: of those of the axis the ones that check() refuses there have no value, the others have
  // theirs.
  using Make = std::function<std::optional<Experiment>(double)>;

  // `plans`: the same at every value; they outlive the axis. `rivals`: how far the best remedy may
  // go; none: the job as given.
  JobAxis(Make make, const std::vector<CompressionPlan>& plans, std::optional<RemedyLimits> rivals,
          Latents mean);

  // Of the rival over the plan, minus one; -1 where the job or its compression does not exist or
  // does not fit the memory.
  [[nodiscard]] double gain(std::size_t plan, double x);
  [[nodiscard]] std::optional<Seconds> step(std::size_t plan, double x);
  // For one batch of the plans' step.
  [[nodiscard]] std::optional<Seconds> rival_step(double x);
  // Of that step, the communication that nothing hides.
  [[nodiscard]] std::optional<Seconds> exposed(std::size_t plan, double x);
  [[nodiscard]] std::optional<Seconds> rival_exposed(double x);
  // Where there is such a job: whether it fits the memory.
  [[nodiscard]] bool fits(std::size_t plan, double x);
  // Whether there is such a job, and whether it can have this plan.
  [[nodiscard]] bool is_possible(std::size_t plan, double x) const;

 private:
  struct Timed {
    Seconds step{};
    Seconds exposed{};
    bool fits{};
  };
  struct At {
    std::unique_ptr<PreparedExperiment> prepared;  // null where there is no such job, and below
    std::optional<Timed> rival;
    std::map<std::size_t, std::optional<Timed>> steps;  // of what was asked for
  };
  At& at(double x);
  // Everything that can be asked for, and then not the job any longer: many thousand layers at
  // every value of an axis would be gigabytes.
  void time_all(At& here);
  [[nodiscard]] std::optional<Timed> timed(std::size_t plan, const PreparedExperiment& job) const;
  [[nodiscard]] Timed timed_remedy(const PreparedExperiment& job) const;
  [[nodiscard]] std::optional<Timed> timed(std::size_t plan, double x);
  [[nodiscard]] std::optional<Timed> timed_rival(double x);

  Make make_;
  const std::vector<CompressionPlan>* plans_;
  std::optional<RemedyLimits> rivals_;
  Latents mean_;
  std::map<double, At> cache_;
};

// The two axes of every experiment.
// x: line rate of a NIC in SI.
[[nodiscard]] JobAxis::Make bandwidth_axis(const Experiment& experiment);
// The line rate beyond which no message takes another time (by 0.1 %), because something else
// limits a node (sockets, PCIe) and the library's choices by line rate have ended: where the axis
// ends. Judged by the job's gradient messages and by others of 64 KiB to 1 GiB. nullopt where NICs
// up to `highest` make a difference.
[[nodiscard]] std::optional<Bandwidth> useful_bandwidth(const Experiment& experiment,
                                                        Bandwidth highest);
// What limits a node whose NICs are faster than the useful bandwidth.
enum class NodeLimit { sockets, pcie_slots };
[[nodiscard]] NodeLimit limit_beyond(const Experiment& experiment, Bandwidth useful);
// x: how many scaling steps (study/scaled_job.hpp) of nodes.
[[nodiscard]] JobAxis::Make replica_axis(const Experiment& experiment);

// NCCL's choices for all gradient messages of the plans at a line rate.
[[nodiscard]] Signature bandwidth_choices(const Experiment& experiment);

}  // namespace payoff
