// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/layout.hpp"
#include "model/workload.hpp"

// Which operators of a layer backward computes again. Selective recomputation is attention alone
// (Korthikanti et al. 2022, section 5), or, where the software says so, every other product and
// all that only moves memory, while attention is kept (docs/model.md, 4).

namespace payoff {

class RunsAgain {
 public:
  RunsAgain(Recompute policy, const Software& software)
      : policy_(policy), products_(software.recomputes_products) {}

  // Asked once of each operator of a layer, in forward order.
  bool operator()(const Operator& op) {
    if (policy_ != Recompute::selective) {
      return policy_ == Recompute::full;
    }
    if (!products_) {
      return op.kind == OperatorKind::attention;
    }
    if (op.kind == OperatorKind::gemm) {
      return ++seen_ % 2 == 0;
    }
    return op.kind == OperatorKind::memory;
  }

 private:
  Recompute policy_;
  bool products_;
  int seen_{};
};

// Empty: nothing.
[[nodiscard]] inline std::vector<Operator> computed_again(const Layer& layer, Recompute policy,
                                                          const Software& software) {
  std::vector<Operator> again;
  if (!layer.recomputable) {
    return again;
  }
  RunsAgain runs_again(policy, software);
  for (const Operator& op : layer.forward) {
    if (runs_again(op)) {
      again.push_back(op);
    }
  }
  return again;
}

}  // namespace payoff
