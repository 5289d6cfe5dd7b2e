// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "profiles/import/training_rows.hpp"
#include "study/row_experiment.hpp"

// What a published run most likely had where its row is silent: major fields (shape of the model,
// length of a sequence, batch, precision, links, network) by rules on what the row does state,
// never on what was measured and never on its source. The likely value makes the prediction; others
// that such a run may as well have had widen its interval (docs/validation.md). No law is fitted to
// rows that were filled in: study/compute_calibration reads them as they are.
//
// One field is filled in without alternatives and counts as minor: the number of micro-batches of a
// compressed run that shards weights (ZeRO-3, FSDP). Each micro-batch gathers the weights and
// reduces the gradients anew, so the speedup of its step does not depend on their number but for
// the optimiser's share. Of all other rows that number is major.

namespace payoff {

// With more fields than that to fill in, a row counts as unsupported.
inline constexpr std::size_t most_filled_fields = 2;

struct RowAlternative {
  TrainingRow row;           // the likely one, but for one field
  std::size_t assumption{};  // what it varies: an index into `assumptions`
  std::string value;         // of that, in words
};

struct RowPrior {
  TrainingRow likely;
  std::vector<RowAlternative> others;
  std::vector<std::string> assumptions;  // one for each major field that was filled in
  std::vector<std::string> minor;        // what else was read into the row

  [[nodiscard]] bool filled_in() const { return !assumptions.empty() || !minor.empty(); }
  [[nodiscard]] bool supported() const { return assumptions.size() <= most_filled_fields; }
};

// The collection names the precision of the row, and says that the source does not.
[[nodiscard]] bool doubts_precision(const TrainingRow& row);

// A field that no rule fills in stays empty, and is row_experiment's to refuse.
// The catalogue says of which architecture the row's GPU is, and what memory it has.
[[nodiscard]] RowPrior row_prior(const TrainingRow& row, const RowCatalogue& catalogue);

}  // namespace payoff
