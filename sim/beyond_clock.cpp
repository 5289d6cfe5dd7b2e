// SPDX-License-Identifier: Apache-2.0
#include "sim/beyond_clock.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sim/place.hpp"
#include "sim/sim_time.hpp"

namespace payoff::sim {
namespace {

// The link that a message alone takes longest on, and how long.
struct Narrowest {
  const Link* link{};
  Seconds time{};
};

Narrowest narrowest(const Platform& platform, const Message& message, std::size_t group) {
  Narrowest found;
  for (const LinkLoad& load : platform.route(message, group, Direction::inside).loads) {
    const Link& link = platform.links()[load.link];
    const Seconds time = load.bytes * load.count / link.capacity;
    if (found.link == nullptr || time > found.time) {
      found = {&link, time};
    }
  }
  return found;
}

Problem beyond(std::string_view path, const std::string& because) {
  Problem problem = beyond_clock(path);
  problem.message += because;
  return problem;
}

// A step is not shorter than the work of one GPU and its gradient messages, each one after the
// other. What interference and other messages add is found on the way.
class ShortestStep {
 public:
  ShortestStep(const StepPlan& plan, const Platform& platform)
      : plan_(plan),
        platform_(platform),
        places_(platform.places().places.empty() ? one_place_per_stage(plan.stages.size())
                                                 : platform.places()) {}

  // Beyond the clock, under the key that makes it so long where there is one.
  [[nodiscard]] std::optional<Problem> problem() const {
    std::vector<bool> seen(plan_.stages.size());
    for (const Place& place : places_.places) {
      const Seconds work = work_of(place.stage);
      if (!to_sim_time(work)) {
        return beyond(plan_.layout.micro_batches > 1 ? "layout.micro_batches" : "model",
                      ", by the work of one GPU alone");
      }
      if (!to_sim_time(work * place.slowdown)) {
        return beyond("cluster.slow_gpus", ", by the work of the slowest GPU alone");
      }
      if (!seen[place.stage]) {
        seen[place.stage] = true;
        if (auto problem = of_messages(place)) {
          return problem;
        }
      }
    }
    const CheckpointTimes& checkpoint = plan_.overheads.checkpoint;
    return to_sim_time(checkpoint.copy + checkpoint.write)
               ? std::nullopt
               : std::optional(beyond("training.checkpoint", ", by one checkpoint alone"));
  }

 private:
  [[nodiscard]] Seconds work_of(std::size_t s) const {
    const StagePlan& stage = plan_.stages[s];
    Seconds micro_batch;
    for (const auto* pieces : {&stage.compute->forward, &stage.compute->backward}) {
      for (const Piece& piece : *pieces) {
        micro_batch += piece.work.alone;
      }
    }
    return micro_batch * static_cast<double>(plan_.layout.micro_batches) + stage.optimizer.alone +
           plan_.host;
  }

  [[nodiscard]] std::optional<Problem> of_messages(const Place& place) const {
    const StagePlan& stage = plan_.stages[place.stage];
    Seconds alone;
    Seconds on_links;
    Narrowest worst;
    const auto add = [&](const Message& message, double times) {
      if (message.alone <= 0_s) {
        return;
      }
      const std::size_t group = place.group[static_cast<std::size_t>(group_kind(message.kind))];
      const Narrowest on_link = narrowest(platform_, message, group);
      alone += message.alone * times;
      // Send by send a program may load a link less than the flow that this is of.
      const bool is_flow = platform_.send_network() == nullptr;
      on_links += (is_flow ? std::max(message.alone, on_link.time) : message.alone) * times;
      worst = on_link.time > worst.time ? on_link : worst;
    };
    const double reductions = plan_.reduces_every_micro_batch ? plan_.layout.micro_batches : 1;
    for (const Bucket& bucket : plan_.buckets(place.stage)) {
      for (const BucketRound& round : plan_.kind(bucket).rounds) {
        add(round.message, reductions);
      }
    }
    const std::string on = worst.link != nullptr ? " on `" + worst.link->name + "`" : "";
    if (!to_sim_time(alone)) {
      // Of a cluster without a topology: sim/platform names these links.
      const bool inside = worst.link != nullptr && !worst.link->name.starts_with("NICs");
      return beyond(inside ? "cluster.intra.bandwidth" : "cluster.inter.bandwidth",
                    ", by gradient messages alone" + on);
    }
    if (!to_sim_time(on_links)) {
      return beyond("cluster.topology", ", by gradient messages alone" + on);
    }
    Seconds longest = std::max(stage.send_forward.alone, stage.send_backward.alone);
    for (const auto* pieces : {&stage.compute->forward, &stage.compute->backward}) {
      for (const Piece& piece : *pieces) {
        longest = std::max(longest, piece.message.alone);
      }
    }
    return to_sim_time(longest) ? std::nullopt
                                : std::optional(beyond("cluster", ", by one message alone"));
  }

  const StepPlan& plan_;
  const Platform& platform_;
  Places places_;
};

}  // namespace

std::optional<Problem> beyond_clock(const StepPlan& plan, const Platform& platform) {
  return ShortestStep(plan, platform).problem();
}

// Not every message had ended, but those that had tell which link held them up most.
void name_cause(std::optional<Problem>& problem, const std::vector<LinkUse>& links) {
  if (!problem) {
    return;
  }
  const auto worst = std::max_element(
      links.begin(), links.end(),
      [](const LinkUse& a, const LinkUse& b) { return a.max_delay < b.max_delay; });
  const bool is_known = worst != links.end() && worst->max_delay > 0_s;
  problem = is_known ? beyond("cluster.topology",
                              ", while it ran; `" + worst->name + "` held messages up most")
                     : beyond("layout.micro_batches", ", while it ran");
}

}  // namespace payoff::sim
