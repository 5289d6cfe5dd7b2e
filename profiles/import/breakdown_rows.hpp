// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "profiles/import/training_rows.hpp"
#include "profiles/import/yaml_fields.hpp"

// Logged runs of one reducer after another, as timers of vineeths96/Gradient-Compression print them
// (`run`, `arch`, `reducer`, `workers`, `iter_ms` and times of parts), read as training rows
// (internal to the importer of those). What the logs' owner says once of all of them is filled in:
// V100 of AWS, CIFAR-10, 128 images a GPU, fp32, everything reduced after backward in one vector.

namespace payoff::import_detail {

[[nodiscard]] bool is_breakdown_row(const Fields& fields);
[[nodiscard]] TrainingRow breakdown_row(Fields& fields, const Source& source,
                                        const std::string& citation);

// Compressed rows get the uncompressed one of their run, network and number of workers.
void set_breakdown_baselines(std::vector<TrainingRow>& rows);

}  // namespace payoff::import_detail
