// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "profiles/import/training_rows.hpp"
#include "study/row_catalogue.hpp"
#include "study/row_prior.hpp"

// The training rows and the profiles in the repository.

namespace payoff::test {

[[nodiscard]] const RowCatalogue& catalogue();

[[nodiscard]] std::vector<TrainingRow> rows_of(const std::string& source);
[[nodiscard]] TrainingRow shipped_row(const std::string& source, const std::string& id);

// What the prior leaves of the likely row's fields, at another value.
template <typename Field>
[[nodiscard]] bool varies(const RowPrior& prior, Field field) {
  return std::any_of(prior.others.begin(), prior.others.end(), [&](const RowAlternative& other) {
    return field(other.row) != field(prior.likely);
  });
}

}  // namespace payoff::test
