// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "model/layout.hpp"
#include "model/workload.hpp"

// Which operators of a layer backward computes again. Selective recomputation is attention alone
// (Korthikanti et al. 2022, section 5), or, where the software says so, every other product and
// all that only moves memory, while attention is kept (docs/model.md, 4).

namespace payoff {

// In forward order; empty: nothing.
[[nodiscard]] inline std::vector<Operator> computed_again(const Layer& layer, Recompute policy,
                                                          const Software& software) {
  if (!layer.recomputable || policy == Recompute::none) {
    return {};
  }
  if (policy == Recompute::full) {
    return layer.forward;
  }
  std::vector<Operator> again;
  int products = 0;
  const auto runs_again = [&](const Operator& op) {
    if (!software.recomputes_products) {
      return op.kind == OperatorKind::attention;
    }
    return op.kind == OperatorKind::gemm ? ++products % 2 == 0 : op.kind == OperatorKind::memory;
  };
  std::copy_if(layer.forward.begin(), layer.forward.end(), std::back_inserter(again), runs_again);
  return again;
}

}  // namespace payoff
