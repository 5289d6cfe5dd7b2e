// SPDX-License-Identifier: Apache-2.0
#include "study/layout_space.hpp"

#include <algorithm>
#include <cmath>

#include "profiles/read_layout.hpp"

namespace payoff {
namespace {

// In ascending order.
std::vector<int> divisors(std::int64_t number) {
  std::vector<int> found;
  for (std::int64_t d = 1; d * d <= number; ++d) {
    if (number % d == 0) {
      found.push_back(static_cast<int>(d));
      if (d * d != number) {
        found.push_back(static_cast<int>(number / d));
      }
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<int> powers_of_two(std::int64_t most) {
  std::vector<int> powers;
  for (std::int64_t power = 1; power <= most; power *= 2) {
    powers.push_back(static_cast<int>(power));
  }
  return powers;
}

template <typename T>
void add_given(std::vector<T>& values, T given) {
  if (std::find(values.begin(), values.end(), given) == values.end()) {
    values.insert(values.begin(), given);
  }
}

std::int64_t batch_of(const ParallelLayout& layout) { return std::llround(layout.global_batch()); }

// A table of layers is not divided, and recomputes nothing.
LayoutSpace undivided(const ParallelLayout& given) {
  LayoutSpace space;
  space.given = given;
  space.tp = {given.tp};
  space.pp = {given.pp};
  space.cp = {given.cp};
  space.ep = {given.ep};
  space.chunks = {given.virtual_stages};
  space.micro_batch = divisors(batch_of(given));
  space.zero = {0, 1, 2, 3};
  space.sequence_parallel = {given.sequence_parallel};
  space.schedules = {given.schedule};
  space.recompute = {given.recompute};
  return space;
}

void keep_axis(LayoutSpace& space, LayoutAxis axis) {
  const ParallelLayout& given = space.given;
  switch (axis) {
    case LayoutAxis::tp:
      space.tp = {given.tp};
      break;
    case LayoutAxis::pp:
      space.pp = {given.pp};
      break;
    case LayoutAxis::cp:
      space.cp = {given.cp};
      break;
    case LayoutAxis::ep:
      space.ep = {given.ep};
      break;
    case LayoutAxis::virtual_stages:
      space.chunks = {given.virtual_stages};
      break;
    case LayoutAxis::micro_batch:
      space.micro_batch = {given.micro_batch};
      break;
    case LayoutAxis::zero:
      space.zero = {given.zero};
      break;
    case LayoutAxis::sequence_parallel:
      space.sequence_parallel = {given.sequence_parallel};
      break;
    case LayoutAxis::schedule:
      space.schedules = {given.schedule};
      break;
    case LayoutAxis::recompute:
      space.recompute = {given.recompute};
      break;
  }
}

// The chunks of a stage that a schedule may have.
std::vector<int> chunks_of(const LayoutSpace& space, PipelineSchedule schedule, int pp) {
  if (is_v_shaped(schedule)) {
    return {2};
  }
  return schedule == PipelineSchedule::one_f_one_b && pp > 1 ? space.chunks : std::vector<int>{1};
}

class Visitor {
 public:
  Visitor(const LayoutSpace& space, const ModelParts& parts,
          const std::function<void(const LayoutChoice&)>& visit)
      : space_(space), visit_(visit), batch_(batch_of(space.given)) {
    choice_.tp = parts.tp;
    choice_.cp = parts.cp;
    choice_.ep = parts.ep;
    choice_.sequence_parallel = parts.sequence_parallel;
  }

  void run() {
    const int gpus = space_.given.ranks();
    for (const int pp : space_.pp) {
      const std::int64_t replica = std::int64_t{choice_.tp} * choice_.cp * pp;
      if (gpus % replica != 0) {
        continue;
      }
      choice_.pp = pp;
      choice_.dp = static_cast<int>(gpus / replica);
      for (const int samples : space_.micro_batch) {
        const std::int64_t once = std::int64_t{choice_.dp} * samples;
        if (batch_ % once == 0) {
          choice_.micro_batch = samples;
          choice_.micro_batches = static_cast<int>(batch_ / once);
          vary_schedule();
        }
      }
    }
  }

 private:
  void vary_schedule() {
    for (const PipelineSchedule schedule : space_.schedules) {
      if (choice_.pp == 1 && schedule != space_.schedules.front()) {
        continue;  // without a pipeline there is nothing to schedule
      }
      choice_.schedule = choice_.pp == 1 ? PipelineSchedule::one_f_one_b : schedule;
      for (const int chunks : chunks_of(space_, choice_.schedule, choice_.pp)) {
        choice_.chunks = chunks;
        vary_memory();
      }
    }
  }

  void vary_memory() {
    for (const Recompute recompute : space_.recompute) {
      choice_.recompute = recompute;
      for (const int zero : space_.zero) {
        if (zero == 0 || choice_.dp * choice_.cp > 1) {
          choice_.zero = static_cast<std::uint8_t>(zero);
          visit_(choice_);
        }
      }
    }
  }

  const LayoutSpace& space_;
  const std::function<void(const LayoutChoice&)>& visit_;
  std::int64_t batch_;
  LayoutChoice choice_;
};

}  // namespace

std::string_view name(LayoutAxis axis) {
  constexpr std::array<std::string_view, 10> names{"tp",
                                                   "pp",
                                                   "cp",
                                                   "ep",
                                                   "virtual_stages",
                                                   "micro_batch",
                                                   "zero",
                                                   "sequence_parallel",
                                                   "schedule",
                                                   "recompute"};
  return names.at(static_cast<std::size_t>(axis));
}

LayoutSpace layout_space(const Experiment& experiment, const std::vector<LayoutAxis>& keep) {
  const ParallelLayout& given = experiment.layout;
  LayoutSpace space = undivided(given);
  space.given.stage_layers.clear();
  if (const auto* shape = std::get_if<TransformerShape>(&experiment.model)) {
    constexpr std::int64_t most_context = 64;
    space.tp = divisors(given.ranks());
    space.pp = divisors(given.ranks());
    std::erase_if(space.pp, [&](int pp) { return pp > shape->layers; });
    space.cp = powers_of_two(std::min<std::int64_t>(most_context, given.ranks()));
    space.ep = shape->experts.count > 0 ? divisors(shape->experts.count) : std::vector<int>{1};
    space.chunks = divisors(shape->layers);
    space.sequence_parallel = {false, true};
    space.schedules = {PipelineSchedule::one_f_one_b, PipelineSchedule::gpipe,
                       PipelineSchedule::zb_h1,       PipelineSchedule::zb_h2,
                       PipelineSchedule::zb_v,        PipelineSchedule::dualpipe_v,
                       PipelineSchedule::dualpipe};
    space.recompute = {Recompute::none, Recompute::selective, Recompute::full};
    if (shape->decoder.layers > 0) {
      space.pp = {given.pp};  // the first stage of a pipeline has other work than one alone
    }
    add_given(space.cp, given.cp);
  }
  for (const LayoutAxis axis : keep) {
    keep_axis(space, axis);
  }
  return space;
}

LayoutChoice choice_of(const ParallelLayout& layout) {
  return {layout.dp,
          layout.tp,
          layout.pp,
          layout.cp,
          layout.ep,
          layout.virtual_stages,
          layout.micro_batch,
          layout.micro_batches,
          static_cast<std::uint8_t>(layout.zero),
          layout.sequence_parallel,
          layout.schedule,
          layout.recompute};
}

ParallelLayout layout_of(const LayoutChoice& choice, const ParallelLayout& given) {
  ParallelLayout layout =
      with_parts(given, {choice.tp, choice.cp, choice.ep, choice.sequence_parallel});
  layout.dp = choice.dp;
  layout.pp = choice.pp;
  layout.virtual_stages = choice.chunks;
  layout.micro_batch = choice.micro_batch;
  layout.micro_batches = choice.micro_batches;
  layout.zero = choice.zero;
  layout.shard = choice.zero > 0 ? given.shard : 0;
  layout.reshard = choice.zero != 3 || given.reshard;
  layout.schedule = choice.schedule;
  layout.pair_overlap = has_pairs(given.schedule) && has_pairs(choice.schedule)
                            ? given.pair_overlap && choice.zero != 3
                            : usual_pair_overlap(layout);
  layout.recompute = choice.recompute;
  layout.stage_layers.clear();
  return layout;
}

std::vector<ModelParts> model_parts(const LayoutSpace& space) {
  std::vector<ModelParts> all;
  for (const int tp : space.tp) {
    for (const int cp : space.cp) {
      for (const int ep : space.ep) {
        for (const bool sequence : space.sequence_parallel) {
          const bool meant = tp > 1 || !sequence;
          if (meant && space.given.ranks() % (std::int64_t{tp} * cp) == 0) {
            all.push_back({tp, cp, ep, sequence});
          }
        }
      }
    }
  }
  return all;
}

ParallelLayout with_parts(ParallelLayout layout, const ModelParts& parts) {
  layout.tp = parts.tp;
  layout.cp = parts.cp;
  layout.ep = parts.ep;
  layout.sequence_parallel = parts.sequence_parallel;
  layout.tp_overlap = parts.sequence_parallel ? layout.tp_overlap : 1;
  // The busiest of few ranks has at most as many times the mean as there are ranks.
  layout.expert_imbalance = std::min(layout.expert_imbalance, static_cast<double>(parts.ep));
  return layout;
}

void for_each_choice(const LayoutSpace& space, const ModelParts& parts,
                     const std::function<void(const LayoutChoice&)>& visit) {
  Visitor(space, parts, visit).run();
}

Complexity complexity_of(const LayoutChoice& choice) {
  const auto used = [](bool it_is) { return it_is ? 1 : 0; };
  return {used(choice.tp > 1) + used(choice.pp > 1) + used(choice.cp > 1) + used(choice.ep > 1) +
              used(choice.chunks > 1) + used(choice.zero > 0) + used(choice.zero > 2) +
              used(choice.sequence_parallel) + used(choice.recompute != Recompute::none) +
              used(choice.schedule != PipelineSchedule::one_f_one_b),
          choice.tp * choice.pp * choice.cp * choice.ep * choice.chunks};
}

}  // namespace payoff
