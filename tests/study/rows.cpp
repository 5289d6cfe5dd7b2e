// SPDX-License-Identifier: Apache-2.0
#include "tests/study/rows.hpp"

#include <filesystem>

#include "tests/catch.hpp"

namespace payoff::test {

namespace {

const std::filesystem::path& source_folder() {
  static const std::filesystem::path folder = PAYOFF_SOURCE_DIR;
  return folder;
}

}  // namespace

const RowCatalogue& catalogue() {
  static const RowCatalogue loaded =
      read_row_catalogue(Library(source_folder() / "profiles"), true);
  return loaded;
}

std::vector<TrainingRow> rows_of(const std::string& source) {
  return read_training_rows(source_folder() / "tests/validation/training" / (source + ".yaml"))
      .rows;
}

TrainingRow shipped_row(const std::string& source, const std::string& id) {
  for (const TrainingRow& row : rows_of(source)) {
    if (row.id == id) {
      return row;
    }
  }
  FAIL("no row " << id);
  return {};
}

}  // namespace payoff::test
