// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "profiles/import/training_rows.hpp"

// What the figures of one training row say about each other (internal to the importer).

namespace payoff::import_detail {

// Step time as global batch / throughput; nothing where the two do not count the same things: a
// batch in `tokens-max` is an upper limit, and a batch in tokens says nothing about samples.
[[nodiscard]] std::optional<Seconds> step_from_throughput(const TrainingRow& row);

// Reasons to leave the row out, and reasons to doubt a field of it.
[[nodiscard]] std::vector<std::string> contradictions(const TrainingRow& row);
[[nodiscard]] std::vector<std::string> doubts(const TrainingRow& row);

// What rows say of their baselines. A baseline that is not there (`ids`: of all rows, those that
// were rejected too) takes the speedup from its row, not the row itself. A row whose stated speedup
// is not what the two rows' figures give (steps, else throughputs, else operations, else whole
// times, whichever both have first) is rejected.
void check_baselines(const std::set<std::string>& ids, TrainingImport& result);

// Fills a step time that is not printed, unless the row itself names step_s as missing: its source
// then says that throughput and batch do not belong together.
void derive_step(TrainingRow& row);

}  // namespace payoff::import_detail
