// SPDX-License-Identifier: Apache-2.0
#include "study/published_cases.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "profiles/import/nccl_tables.hpp"
#include "profiles/import/training_rows.hpp"
#include "study/collective_cases.hpp"
#include "study/row_catalogue.hpp"
#include "study/row_compression.hpp"

namespace payoff {
namespace {

namespace fs = std::filesystem;

template <class T>
void append(std::vector<T>& to, std::vector<T> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

bool is_of_another_schema(const Findings& findings) {
  return findings.size() == 1 && findings.front().message.starts_with("has no list");
}

bool concerns_the_file(const Finding& finding) {
  return finding.effect == Effect::rejected && finding.entry.empty();
}

// Everything that is read, before anything is predicted.
class Reading {
 public:
  explicit Reading(PublishedCases& result) : result_(result) {}

  void read(const fs::path& path) {
    if (!fs::is_directory(path)) {
      read_file(path, false);
      return;
    }
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
      const std::string extension = entry.path().extension().string();
      if (entry.is_regular_file() && (extension == ".yaml" || extension == ".yml")) {
        files.push_back(entry.path());
      }
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
      read_file(file, true);
    }
  }

  std::vector<NcclTable> tables;
  std::vector<TrainingRow> rows;

 private:
  void read_file(const fs::path& file, bool of_folder) {
    NcclImport collectives = read_nccl_tables(file);
    TrainingImport training = read_training_rows(file);
    const bool has_tables = !is_of_another_schema(collectives.findings);
    const bool has_rows = !is_of_another_schema(training.findings);
    if (!has_tables && !has_rows) {
      (of_folder ? result_.skipped : result_.unread)
          .push_back(file.string() + ": holds neither `tables:` nor `rows:`");
      return;
    }
    keep(has_tables ? std::move(collectives.findings) : std::move(training.findings));
    append(tables, std::move(collectives.tables));
    append(rows, std::move(training.rows));
  }

  void keep(Findings findings) {
    for (Finding& finding : findings) {
      if (concerns_the_file(finding)) {
        result_.unread.push_back(to_text(finding));
      } else {
        result_.findings.push_back(std::move(finding));
      }
    }
  }

  PublishedCases& result_;
};

}  // namespace

PublishedCases published_cases(const Library& library, const Split& split,
                               const std::vector<fs::path>& paths, const std::set<CaseKind>& kinds,
                               const ValidationOptions& options) {
  PublishedCases result;
  Reading reading(result);
  for (const fs::path& path : paths) {
    reading.read(path);
  }
  if (kinds.contains(CaseKind::collective)) {
    append(result.cases, collective_cases(reading.tables, split, library));
  }
  const RowCatalogue catalogue = read_row_catalogue(library, true);
  if (kinds.contains(CaseKind::step)) {
    append(result.cases, step_cases(reading.rows, split, catalogue, options));
  }
  if (kinds.contains(CaseKind::compression)) {
    append(result.cases, compression_cases(reading.rows, split, catalogue,
                                           read_method_catalogue(library), options));
  }
  return result;
}

}  // namespace payoff
