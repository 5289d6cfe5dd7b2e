// SPDX-License-Identifier: Apache-2.0
#include "sim/beyond_clock.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/place.hpp"
#include "sim/sim_time.hpp"
#include "sim/stage_messages.hpp"

namespace payoff::sim {
namespace {

Problem beyond(std::string_view path, const std::string& because) {
  Problem problem = beyond_clock(path);
  problem.message += because;
  return problem;
}

std::string_view name(Traffic traffic) {
  switch (traffic) {
    case Traffic::activations:
      return "activation messages";
    case Traffic::gradients:
      return "gradient messages";
    case Traffic::weights:
      return "gathers of weights";
    case Traffic::forward_sends:
    case Traffic::backward_sends:
      break;
  }
  return "sends between stages";
}

Direction direction_of(Traffic traffic) {
  return traffic == Traffic::forward_sends    ? Direction::forward
         : traffic == Traffic::backward_sends ? Direction::backward
                                              : Direction::inside;
}

// Work and messages that run one after the other.
class Sequence {
 public:
  explicit Sequence(Seconds work = {}) : work_(work) {}

  struct Part {
    Traffic traffic{};
    std::string_view key;  // that makes it so long
    Seconds time;          // of all such messages
    std::string link;      // the narrowest, if that is why
  };
  void add(const Part& part) {
    messages_ += part.time;
    if (part.time > longest_.time) {
      longest_ = part;
    }
  }
  [[nodiscard]] Seconds time() const { return work_ + messages_; }
  [[nodiscard]] bool is_mostly_work() const { return work_ > messages_; }
  [[nodiscard]] const Part& longest() const { return longest_; }

 private:
  Seconds work_;
  Seconds messages_;
  Part longest_;
};

// Of one GPU in a step, but for the codecs of activations, which are work of its pieces.
struct Codecs {
  Seconds gpu;     // filling and emptying of buckets included
  Seconds own;     // of that, what is not
  Seconds copies;  // between the GPU and its host
  Seconds cores;

  void add(const payoff::Work& work, double times) {
    gpu += work.alone * times;
    own += work.codec() * times;
  }
  void add(const HostWork& host, double times) {
    copies += host.copy * times;
    cores += host.work * times;
  }
  void add(const BucketKind& kind, std::uint64_t times) {
    for (const BucketRound& round : kind.rounds) {
      add(round.encode, static_cast<double>(times));
      add(round.host, static_cast<double>(times));
    }
    add(kind.decode, static_cast<double>(times));
    add(kind.host_decode, static_cast<double>(times));
  }
};

Codecs codecs_of(const StepPlan& plan, std::size_t stage) {
  Codecs codecs;
  for (const Bucket& bucket : plan.buckets(stage)) {
    codecs.add(plan.kind(bucket), reductions_of(plan));
  }
  const StagePlan& of = plan.stages[stage];
  for (const auto* gathers : {&of.forward_gathers, &of.backward_gathers}) {
    for (const WeightGather& gather : *gathers) {
      codecs.add(plan.kinds[gather.kind], gathers_of(plan));
    }
  }
  return codecs;
}

class ShortestStep {
 public:
  ShortestStep(const StepPlan& plan, const Platform& platform)
      : plan_(plan), platform_(platform), places_(places_of(plan, platform)) {}

  // Beyond the clock, under the key that makes it so long where there is one.
  [[nodiscard]] std::optional<Problem> problem() const {
    std::vector<bool> seen(plan_.stages.size());
    for (std::size_t p = 0; p < places_.places.size(); ++p) {
      const Place& place = places_.places[p];
      const Codecs codecs = codecs_of(plan_, place.stage);
      const Seconds computed = work_of(place.stage);
      const Seconds work = computed + (has_own_stream(plan_.placement) ? 0_s : codecs.gpu);
      if (auto problem = of_work(place.stage, computed, codecs)) {
        return problem;
      }
      if (!to_sim_time(std::max(work, codecs.gpu) * place.slowdown)) {
        return beyond("cluster.slow_gpus", ", by the work of the slowest GPU alone");
      }
      if (!seen[place.stage]) {
        seen[place.stage] = true;
        if (auto problem = of_messages(p, work)) {
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
  // What it computes, and its codecs: after that, beside it on a stream of their own, or on its
  // host's.
  [[nodiscard]] std::optional<Problem> of_work(std::size_t s, Seconds computed,
                                               const Codecs& codecs) const {
    const bool beside = has_own_stream(plan_.placement);
    if (!to_sim_time(beside ? std::max(computed, codecs.gpu) : computed + codecs.gpu)) {
      const StageCompute& compute = *plan_.stages[s].compute;
      const Seconds of_activations =
          (compute.forward_codec.total() + compute.backward_codec.total()) *
          static_cast<double>(plan_.layout.passes());
      const Seconds own = codecs.own + of_activations;
      return 2.0 * own > computed + codecs.gpu
                 ? beyond("compress", ", by the encoders and decoders of one GPU alone")
                 : beyond(key_of_work(plan_), ", by the work of one GPU alone");
    }
    if (!to_sim_time(std::max(codecs.copies, codecs.cores))) {
      return beyond("compress", ", by the encoders and decoders of one GPU's host alone");
    }
    return std::nullopt;
  }

  [[nodiscard]] Seconds work_of(std::size_t s) const {
    const StagePlan& stage = plan_.stages[s];
    Seconds micro_batch;
    for (const auto* pieces : {&stage.compute->forward, &stage.compute->backward}) {
      for (const Piece& piece : *pieces) {
        micro_batch += piece.work.alone;
      }
    }
    return micro_batch * static_cast<double>(plan_.layout.passes()) + stage.optimizer.alone +
           plan_.host;
  }

  [[nodiscard]] std::optional<Problem> of_messages(std::size_t p, Seconds work) const {
    const std::size_t stage = places_.places[p].stage;
    Sequence compute(work);
    Sequence gradients;
    std::map<std::size_t, Sequence> loads;  // on each link, of sends
    std::array<Sequence, 2> sends;          // to the next stage, to the previous
    for (const StageMessage& message : messages_of_stage(plan_, stage)) {
      if (is_between_stages(message.traffic)) {
        const bool forward = message.traffic == Traffic::forward_sends;
        sends[forward ? 0 : 1].add(alone(message, stage));
        add_loads(message, p, loads);
      } else {
        (message.traffic == Traffic::activations ? compute : gradients).add(of_group(message, p));
      }
    }
    for (const Sequence* sequence : {&compute, &gradients}) {
      if (!to_sim_time(sequence->time())) {
        return sequence->is_mostly_work()
                   ? beyond(key_of_work(plan_), ", by the work and the messages of one GPU alone")
                   : by(sequence->longest());
      }
    }
    for (const auto& [link, sequence] : loads) {
      if (!to_sim_time(sequence.time())) {
        return by(sequence.longest());
      }
    }
    for (const Sequence& sequence : sends) {
      if (!to_sim_time(sequence.time())) {
        return by(sequence.longest());
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] Sequence::Part alone(const StageMessage& message, std::size_t stage) const {
    const bool known = !platform_.links().empty();
    return {message.traffic,
            known ? platform_.price_key(*message.message, stage, direction_of(message.traffic))
                  : key_between_nodes,
            message.message->alone * static_cast<double>(message.times),
            {}};
  }

  // As long as its price says, or as the narrowest link of its route takes. Send by send a program
  // may load a link less than the flow that the route is of.
  [[nodiscard]] Sequence::Part of_group(const StageMessage& message, std::size_t p) const {
    const Place& place = places_.places[p];
    const auto times = static_cast<double>(message.times);
    Sequence::Part part = alone(message, place.stage);
    if (platform_.send_network() != nullptr) {
      return part;
    }
    const std::size_t group = place.group_of(message.message->kind);
    for (const LinkLoad& load : platform_.route(*message.message, group, Direction::inside).loads) {
      const Link& link = platform_.links()[load.link];
      const Seconds time = load.bytes * load.count / link.capacity * times;
      if (time > part.time) {
        part = {message.traffic, link.key, time, link.name};
      }
    }
    return part;
  }

  // Those in opposite directions do not wait for each other, but what they load on a link adds up.
  void add_loads(const StageMessage& message, std::size_t p,
                 std::map<std::size_t, Sequence>& loads) const {
    for (const LinkLoad& load :
         platform_.route(*message.message, p, direction_of(message.traffic)).loads) {
      const Link& link = platform_.links()[load.link];
      const Seconds time =
          load.bytes * load.count / link.capacity * static_cast<double>(message.times);
      loads[load.link].add({message.traffic, link.key, time, link.name});
    }
  }

  [[nodiscard]] Problem by(const Sequence::Part& part) const {
    const int micro_batches = plan_.layout.passes();
    std::string because = ", by " + std::string(name(part.traffic));
    if (micro_batches > 1 && part.traffic != Traffic::gradients) {
      because += " of " + std::to_string(micro_batches) + " micro-batches";
    }
    return beyond(part.key,
                  because + " alone" + (part.link.empty() ? "" : " on `" + part.link + "`"));
  }

  const StepPlan& plan_;
  const Platform& platform_;
  Places places_;
};

}  // namespace

std::string_view key_of_work(const StepPlan& plan) {
  return plan.layout.micro_batches > 1 ? "layout.micro_batches" : "model";
}

std::optional<Problem> beyond_clock(const StepPlan& plan, const Platform& platform) {
  return ShortestStep(plan, platform).problem();
}

// Not every message had ended, but those that had tell which link held them up most.
void name_cause(std::optional<Problem>& problem, const StepPlan& plan,
                const std::vector<LinkUse>& links) {
  if (!problem) {
    return;
  }
  const auto worst = std::max_element(
      links.begin(), links.end(),
      [](const LinkUse& a, const LinkUse& b) { return a.max_delay < b.max_delay; });
  const bool is_known = worst != links.end() && worst->max_delay > 0_s;
  problem = is_known
                ? beyond(worst->key, ", while it ran; `" + worst->name + "` held messages up most")
                : beyond(key_of_work(plan), ", while it ran");
}

}  // namespace payoff::sim
