// SPDX-License-Identifier: Apache-2.0
#include "model/sharded_check.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace payoff {
namespace {

bool gathers_weights_as_they_are(const Method& method, Bytes element) {
  constexpr int workers = 8;
  const ParameterTensor tensor{std::int64_t{1} << 24, 1, true, false};
  const CallCost cost = compress(method, {&tensor, 1}, element, workers, 1);
  return cost.rounds.size() == 1 && cost.rounds[0].encode == PassCost{} &&
         cost.rounds[0].message * workers == static_cast<double>(tensor.elements()) * element;
}

// One plan.
class ShardedPlanCheck {
 public:
  ShardedPlanCheck(const CompressionPlan& plan, const ParallelLayout& layout,
                   const std::string& path)
      : plan_(plan), layout_(layout), path_(path) {}

  void weights(const WeightCompression& weights, Bytes element) {
    if (layout_.zero == 0 || layout_.shard_ranks() == 1) {
      add("compresses weights, and none are gathered",
          "set layout.zero to 1, 2 or 3, with more than one rank of data");
    } else if (weights.copy_in_node && layout_.zero < 3) {
      add("keeps a copy of weights in every node, from which only zero 3 gathers",
          "set layout.zero to 3");
    } else if (!weights.copy_in_node && gathers_weights_as_they_are(weights.method, element)) {
      add("gathers weights as they are: it is the copy in every node that saves",
          "add `copy_in_node=true`");
    }
    if (!gathers_parts(weights.method, element)) {
      add("compresses weights by the rounds of a sum: they are gathered, each rank encodes its "
          "part",
          "use a method whose rounds are all-gathers of parts, as qwz");
    }
  }

  void gradients(const Method& method) {
    if (method.scatters && layout_.zero == 0) {
      add("leaves each rank the sum of its own part, and with zero 0 every rank wants all of it",
          "set layout.zero to 1, 2 or 3");
    }
    if (method.scatters && layout_.zero > 0 && layout_.replicas() > 1) {
      add("scatters the sum over all ranks of data, and layout.shard leaves copies",
          "leave layout.shard out");
    }
    if (layout_.zero > 0 && !method.elementwise && !method.scatters) {
      add("needs the whole gradient, which zero >= 1 leaves scattered",
          "set layout.zero to 0, or use a cast");
    }
    if (layout_.expert_ranks() > 1 && has_rounds_among_some(method)) {
      add("has rounds among the ranks of a node, and gradients of experts go among the ranks that "
          "hold the same ones",
          "use a method whose rounds are among all ranks, or set ep and etp to 1");
    }
  }

  [[nodiscard]] Problems take() && { return std::move(problems_); }

 private:
  void add(const std::string& what, std::string help) {
    problems_.push_back({path_, "`" + plan_.label + "` " + what, std::move(help)});
  }

  const CompressionPlan& plan_;
  const ParallelLayout& layout_;
  const std::string& path_;
  Problems problems_;
};

}  // namespace

bool has_rounds_among_some(const Method& method) {
  return std::any_of(method.rounds.begin(), method.rounds.end(),
                     [](const RoundFormula& round) { return round.among != Among::all; });
}

bool gathers_parts(const Method& method, Bytes element) {
  constexpr std::int64_t elements = std::int64_t{1} << 24;
  constexpr int workers = 8;
  constexpr double rounding = 1e-3;  // whole groups of a part
  const auto cost = [&](std::int64_t of, int among) {
    const ParameterTensor tensor{of, 1, true, false};
    return compress(method, {&tensor, 1}, element, among, 1).rounds;
  };
  const std::vector<RoundCost> rounds = cost(elements, workers);
  const std::vector<RoundCost> larger = cost(2 * elements, workers);
  const std::vector<RoundCost> wider = cost(elements, 2 * workers);
  if (larger.size() != rounds.size() || wider.size() != rounds.size()) {
    return false;
  }
  Bytes gathered;
  Bytes gathered_wider;
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    const bool gathers = rounds[r].collective == Collective::all_gather;
    const bool agrees =
        rounds[r].collective == Collective::all_reduce && larger[r].message <= rounds[r].message;
    if (rounds[r].among != Among::all || (!gathers && !agrees)) {
      return false;
    }
    gathered += gathers ? workers * rounds[r].message : 0_B;
    gathered_wider += gathers ? 2 * workers * wider[r].message : 0_B;
  }
  return rounds.empty() || (gathered > 0_B && gathered_wider <= (1 + rounding) * gathered);
}

Problems check_sharded(const CompressionPlan& plan, const ParallelLayout& layout, Bytes weight,
                       const std::string& path) {
  ShardedPlanCheck check(plan, layout, path);
  if (plan.weights) {
    check.weights(*plan.weights, weight);
  }
  for (const Method* method : plan.gradient_methods()) {
    check.gradients(*method);
  }
  return std::move(check).take();
}

}  // namespace payoff
