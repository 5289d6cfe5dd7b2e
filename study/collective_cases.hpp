// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "profiles/import/nccl_tables.hpp"
#include "profiles/import/split.hpp"
#include "profiles/library.hpp"
#include "study/validate.hpp"

// Every message size of the published tables of nccl-tests as a case, priced by the shipped laws,
// with NCCL's own estimate beside it. What a table pins is pinned; the interval is the spread of
// the law. Sizes at which other things than the collective were measured (CUDA graphs, one process
// that launches for many GPUs, symmetric memory) are unsupported with that reason.

namespace payoff {

[[nodiscard]] std::vector<ValidationCase> collective_cases(const std::vector<NcclTable>& tables,
                                                           const Split& split,
                                                           const Library& library);

}  // namespace payoff
