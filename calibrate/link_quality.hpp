// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "calibrate/network_fit.hpp"
#include "calibrate/relative_fit.hpp"

// What a fit of a link rests on and how far it may be off: its tables, systems and residuals, and
// the spread between systems, which no residual shows.

namespace payoff {

// `fit.errors` are those of the points of `tables`, in order.
void describe_rows(std::span<const MeasuredCollective> tables, const RelativeFit& fit,
                   LinkFit& link);

// relative_sd_* of the law. Where no link of the class has tables, nothing tells how far its prior
// is off, so `class_sd` (relative, of what long messages achieve) counts too; else 0.
void set_spread(LinkFit& link, double class_sd);

}  // namespace payoff
