// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "model/compute.hpp"
#include "model/matrix_product.hpp"

// The price of an operator kernel by kernel, with the numbers that were put in: what `payoff
// explain` shows. The prices themselves are those of model/compute.hpp.

namespace payoff {

// time = max(arithmetic, traffic / memory) + launches * launch, where the arithmetic is that of a
// tiling, or of fused attention `waves * wave / rate`, or none.
struct KernelTime {
  double count{1};  // of equal ones
  std::optional<Product> product{};
  Tiling tiling{};  // of the product
  double waves{};   // of fused attention
  Flops wave{};     // arithmetic of all units in one wave
  FlopRate rate{};  // of all units on a large product
  Bytes traffic{};
  double launches{};
  Seconds time{};
};

struct OperatorTime {
  Seconds gpu{};
  double kernels{};
  std::vector<KernelTime> parts;
};

[[nodiscard]] OperatorTime forward_operator(const Operator& op, double samples,
                                            const ComputeContext& context);
[[nodiscard]] OperatorTime backward_operator(const Operator& op, double samples,
                                             const ComputeContext& context,
                                             BackwardPart part = BackwardPart::both);

}  // namespace payoff
