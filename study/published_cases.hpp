// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "profiles/import/finding.hpp"
#include "profiles/import/nccl_tables.hpp"
#include "profiles/import/split.hpp"
#include "profiles/import/training_rows.hpp"
#include "profiles/library.hpp"
#include "study/validate.hpp"
#include "study/validation_cases.hpp"

// Measurements in the published schemas (tables of nccl-tests, training rows) and what we predict
// for them: those that came with the program, or any file or folder.

namespace payoff {

struct PublishedRows {
  std::vector<NcclTable> tables;
  std::vector<TrainingRow> rows;
  Findings findings;                 // entries that are unreadable or contradict themselves; doubts
  Findings unread;                   // what is wrong with whole files: no YAML, no such file
  std::vector<std::string> skipped;  // files of a folder that hold neither schema
};

// `paths`: files, or folders with everything below them.
[[nodiscard]] PublishedRows read_published(const std::vector<std::filesystem::path>& paths);

// By kind, in the order of the files. A half is found where the split knows the source and the
// system.
[[nodiscard]] std::vector<ValidationCase> published_cases(const Library& library,
                                                          const Split& split,
                                                          const PublishedRows& published,
                                                          const std::set<CaseKind>& kinds,
                                                          const ValidationOptions& options = {});

}  // namespace payoff
