// SPDX-License-Identifier: Apache-2.0
#include "study/published_cases.hpp"

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

#include "study/collective_cases.hpp"
#include "study/row_catalogue.hpp"
#include "study/row_compression.hpp"
#include "study/unstated_gpu.hpp"

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

class Reading {
 public:
  explicit Reading(PublishedRows& result) : result_(result) {}

  void read(const fs::path& path) {
    std::error_code unknown;
    if (!fs::is_directory(path, unknown)) {
      read_file(path, false);
      return;
    }
    for (const fs::path& file : yaml_files_below(path)) {
      read_file(file, true);
    }
  }

 private:
  // In order. A folder in it that cannot be read is an error of that path: what it holds is not
  // known.
  std::vector<fs::path> yaml_files_below(const fs::path& path) {
    std::vector<fs::path> files;
    std::error_code error;
    fs::recursive_directory_iterator entries(path, error);
    for (const fs::recursive_directory_iterator end; !error && entries != end;
         entries.increment(error)) {
      const std::string extension = entries->path().extension().string();
      std::error_code unknown;  // a link in a circle: who reads it says so
      if ((extension == ".yaml" || extension == ".yml") &&
          (entries->is_regular_file(unknown) || unknown)) {
        files.push_back(entries->path());
      }
    }
    if (error) {
      result_.unread.push_back({path.string(), 0, 0, "",
                                "not all of it can be read: " + error.message(), Effect::rejected});
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  void read_file(const fs::path& file, bool of_folder) {
    NcclImport collectives = read_nccl_tables(file);
    TrainingImport training = read_training_rows(file);
    const bool has_tables = !is_of_another_schema(collectives.findings);
    const bool has_rows = !is_of_another_schema(training.findings);
    if (!has_tables && !has_rows) {
      const std::string problem = "holds neither `tables:` nor `rows:`";
      if (of_folder) {
        result_.skipped.push_back(file.string() + ": " + problem);
      } else {
        result_.unread.push_back({file.string(), 0, 0, "", problem, Effect::rejected});
      }
      return;
    }
    keep(has_tables ? std::move(collectives.findings) : std::move(training.findings));
    append(result_.tables, std::move(collectives.tables));
    append(result_.rows, std::move(training.rows));
  }

  void keep(Findings findings) {
    for (Finding& finding : findings) {
      Findings& kept = concerns_the_file(finding) ? result_.unread : result_.findings;
      kept.push_back(std::move(finding));
    }
  }

  PublishedRows& result_;
};

}  // namespace

PublishedRows read_published(const std::vector<fs::path>& paths) {
  PublishedRows result;
  Reading reading(result);
  for (const fs::path& path : paths) {
    reading.read(path);
  }
  return result;
}

std::vector<ValidationCase> published_cases(const Library& library, const Split& split,
                                            const PublishedRows& published,
                                            const std::set<CaseKind>& kinds,
                                            const ValidationOptions& options) {
  std::vector<ValidationCase> cases;
  if (kinds.contains(CaseKind::collective)) {
    append(cases, collective_cases(published.tables, split, library));
  }
  RowCatalogue catalogue = read_row_catalogue(library, true);
  tell_unstated_gpus(published.rows, catalogue);
  if (kinds.contains(CaseKind::step)) {
    append(cases, step_cases(published.rows, split, catalogue, options));
  }
  if (kinds.contains(CaseKind::compression)) {
    append(cases, compression_cases(published.rows, split, catalogue,
                                    read_method_catalogue(library), options));
  }
  return cases;
}

}  // namespace payoff
