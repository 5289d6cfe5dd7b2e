// SPDX-License-Identifier: Apache-2.0
#include "cli/pair_use.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace payoff {
namespace {

// By plan, one use for each kind of pair; stages with the same law are one.
class Counter {
 public:
  explicit Counter(std::string plan) : plan_(std::move(plan)) {}

  void add(std::string_view pair, bool of_units, const PairLaw& law, double amount) {
    if (!law.measured || amount <= 0.0) {
      return;
    }
    auto use = std::find_if(uses.begin(), uses.end(), [&](const PairUse& known) {
      return known.pair == pair && known.measured == law.beside;
    });
    if (use == uses.end()) {
      uses.push_back({plan_, std::string(pair), of_units, {}, law.beside});
      use = uses.end() - 1;
    }
    use->used.include(amount);
  }

  std::vector<PairUse> uses;

 private:
  std::string plan_;
};

void add_messages(const StepPlan& plan, std::size_t stage, const PairLaws& laws, Counter& counter) {
  const double gradients = plan.overlap ? plan.reserved_on(stage) : 0.0;
  for (const double held : {gradients, plan.sends_on(stage), plan.exchanges_on(stage)}) {
    counter.add("compute beside message", true, laws.compute_beside_message, held);
  }
  if (plan.compresses_gradients) {
    counter.add("codec beside message", true, laws.codec_beside_message, gradients);
  }
}

// Streams of unequal priority do not take turns, and have no law of pairs.
void add_codecs(const StepPlan& plan, std::size_t stage, const PairLaws& laws, Counter& counter) {
  if (plan.placement != Placement::side_stream || !plan.overlap) {
    return;
  }
  const auto add = [&](const Work& work) {
    if (work.codec() > 0_s) {
      counter.add("compute beside codec", false, laws.compute_beside_codec, work.memory_share);
      counter.add("codec beside compute", false, laws.codec_beside_compute, work.memory_share);
    }
  };
  for (const Bucket& bucket : plan.buckets(stage)) {
    const BucketKind& kind = plan.kind(bucket);
    for (const BucketRound& round : kind.rounds) {
      add(round.encode);
    }
    add(kind.decode);
  }
}

std::string percent_range(const FitRange<double>& range) {
  const auto percent = [](double share) { return fmt::format("{:.1f} %", 100.0 * share); };
  return range.smallest == range.largest
             ? percent(range.smallest)
             : fmt::format("{} to {}", percent(range.smallest), percent(range.largest));
}

}  // namespace

std::vector<PairUse> pairs_of_plan(const StepPlan& plan, const std::string& label) {
  Counter counter(label);
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
    const PairLaws laws = plan.pairs_on(stage).laws;
    add_messages(plan, stage, laws, counter);
    add_codecs(plan, stage, laws, counter);
  }
  return std::move(counter.uses);
}

std::string sentence(const PairUse& use) {
  return fmt::format(
      "{} of {}: {} {}; measured on this GPU: {}", use.pair, use.plan, percent_range(use.used),
      use.of_units ? "of the compute units are held" : "of the memory bandwidth goes to the codec",
      percent_range(use.measured));
}

nlohmann::ordered_json to_json(const PairUse& use) {
  return {{"plan", use.plan},
          {"pair", use.pair},
          {"of", use.of_units ? "units_held" : "memory_share"},
          {"smallest_ratio", use.used.smallest},
          {"largest_ratio", use.used.largest},
          {"measured_smallest_ratio", use.measured.smallest},
          {"measured_largest_ratio", use.measured.largest}};
}

}  // namespace payoff
