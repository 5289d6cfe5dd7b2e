// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "profiles/import/finding.hpp"
#include "profiles/import/nccl_run.hpp"

// Whether the text of a run of nccl-tests is all that it printed (internal to the importers).

namespace payoff::import_detail {

// The sizes that a remark announces, "minBytes 8 maxBytes 1024 step: 2(factor)", or takes back,
// "Reducing maxBytes to 512 due to memory limitation"; and the sums behind the last row.
void read_sizes(const std::string& line, NcclRun& run);

// Whether nccl-tests says in this line that it gives up.
[[nodiscard]] bool tells_failure(const std::string& line);

// That the last size announced never came, or that nothing tells whether the last row is the last.
// Nothing for a run that failed, which is told as that.
[[nodiscard]] std::optional<Finding> doubt_of_ending(const NcclRun& run, const std::string& file,
                                                     const std::string& id);

}  // namespace payoff::import_detail
