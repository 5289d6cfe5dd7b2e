// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiles/library.hpp"
#include "study/row_experiment.hpp"

// Everything that published rows may refer to, read from the library.

namespace payoff {

// Without compute laws for a fit that is about to write them. Throws std::runtime_error with the
// diagnostics when a shipped profile cannot be read.
[[nodiscard]] RowCatalogue read_row_catalogue(const Library& library, bool with_compute_laws);

}  // namespace payoff
