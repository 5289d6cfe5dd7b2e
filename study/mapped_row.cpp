// SPDX-License-Identifier: Apache-2.0
#include "study/mapped_row.hpp"

#include <utility>

#include "study/row_prior.hpp"

namespace payoff {

MappedRow map_row(const TrainingRow& row, const RowCatalogue& catalogue) {
  RowPrior prior = row_prior(row, catalogue);
  if (!prior.supported()) {
    return {row_experiment(row, catalogue), {}};
  }
  const PeakCheck check_peak = prior.filled_in() ? PeakCheck::none : PeakCheck::measured_step;
  MappedRow mapped{row_experiment(prior.likely, catalogue, check_peak), {}};
  for (const RowAlternative& other : prior.others) {
    RowExperiment each = row_experiment(other.row, catalogue, check_peak);
    if (each.experiment) {
      mapped.others.push_back(std::move(*each.experiment));
    } else if (mapped.likely.experiment) {
      prior.assumptions[other.assumption] +=
          " (without " + other.value + ": " + each.reasons.front() + ")";
    }
  }
  for (const auto* assumed : {&prior.assumptions, &prior.minor}) {
    mapped.likely.assumptions.insert(mapped.likely.assumptions.end(), assumed->begin(),
                                     assumed->end());
  }
  return mapped;
}

}  // namespace payoff
