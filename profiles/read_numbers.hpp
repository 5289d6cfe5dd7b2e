// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "model/job_numbers.hpp"
#include "model/layout.hpp"
#include "profiles/section.hpp"

// The keys of an experiment that say its JobNumbers: one function for each rule, for whoever reads
// whole experiments and for whoever reads one number of many.

namespace payoff {

// 0: what stands there was refused, or nothing does.
[[nodiscard]] int read_positive(const Value& value);

[[nodiscard]] int read_nodes(const Value& value);
[[nodiscard]] int read_nics(const Value& value);
[[nodiscard]] Bandwidth read_nic_rate(const Value& value, Bandwidth fallback);
[[nodiscard]] Bandwidth read_fabric_rate(const Value& value, Bandwidth fallback);
[[nodiscard]] Bytes read_bucket(const Value& value, Bytes fallback);

// What `key: text` says, in its own place among the numbers; nullopt where the experiment's reader
// has something to say about it.
[[nodiscard]] std::optional<JobNumbers> read_number(std::string_view key, std::string_view text,
                                                    const SourceMap& sources);

}  // namespace payoff
