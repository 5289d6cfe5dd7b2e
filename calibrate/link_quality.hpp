// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "calibrate/network_fit.hpp"
#include "calibrate/relative_fit.hpp"

// What a fit of a link rests on and how far it may be off: its tables, systems and residuals, and
// the spread between systems, which no residual shows (calibrate/link_held_out.hpp).

namespace payoff {

// `fit.errors` are those of the points of `tables`, in order.
void describe_rows(std::span<const MeasuredCollective> tables, const RelativeFit& fit,
                   LinkFit& link);

// relative_sd_* of the laws, from what was held out of the fit: for a size that a link's own tables
// have, how far such a link is off on a further system, and no less than its own tables scatter;
// else how far a link is off of which nobody measured this. Where no link of the class has tables,
// nothing tells how far its prior is off, so the width of the prior counts too; where no machine
// could be held out, the widths that are assumed between members of a class stand in.
// Beside them, what a family of collectives adds that the link's own tables do not have at a size,
// and more ranks than they have.
void set_spreads(NetworkFit& fit);

}  // namespace payoff
