// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/bridge_chart.hpp"
#include "cli/diff_report.hpp"

namespace payoff {

// The causes of `payoff diff` as a picture: from the step of A to that of B.
[[nodiscard]] Bridge diff_picture(const DiffReport& report);

}  // namespace payoff
