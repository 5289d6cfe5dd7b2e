// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "study/break_even.hpp"
#include "study/payoff.hpp"

// Where each plan pays, axis by axis, as a table, as JSON, and as a clause of the verdict.

namespace payoff {

[[nodiscard]] std::string break_even_table(const std::vector<BreakEven>& break_evens,
                                           const Payoff& payoff);

// " (possible up to 1656)" after the GPUs on which it pays, where the job or its plan ends before
// the scan does: that end is no break-even. Else empty.
[[nodiscard]] std::string possible_text(const BreakEven& entry);

[[nodiscard]] nlohmann::ordered_json break_even_json(const BreakEven& entry);

// Where the scan of bandwidths ended because NICs are not what limits a node; else empty.
[[nodiscard]] std::string useful_bandwidth_sentence(const std::vector<BreakEven>& break_evens,
                                                    const Experiment& experiment);

// "up to 31 Gb/s per NIC, and with up to 4.1 ms of encoding and decoding (now 2.3 ms)": for the
// last line.
[[nodiscard]] std::string break_even_clause(const BreakEven& entry);

}  // namespace payoff
