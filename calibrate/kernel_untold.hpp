// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "calibrate/kernel_fit.hpp"

// The rank report of a law: what its points cannot tell, and what to measure so that they do. A law
// that holds for its points may do so because they are all alike: small sizes take the same time,
// and one rank says nothing of another.

namespace payoff {

struct UntoldConstant {
  std::string name;     // as of KernelConstant
  std::string measure;  // "larger sizes"
};

// Constants of the form that the points leave open, and those of the kernel that the form does
// without because the points do not vary in what they stand for. Each once.
[[nodiscard]] std::vector<UntoldConstant> untold_constants(std::span<const KernelPoint> points,
                                                           const KernelFit& fit);

}  // namespace payoff
