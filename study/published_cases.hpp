// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "profiles/import/finding.hpp"
#include "profiles/import/split.hpp"
#include "profiles/library.hpp"
#include "study/validate.hpp"
#include "study/validation_cases.hpp"

// Measurements in the published schemas (tables of nccl-tests, training rows) and what we predict
// for them: those that came with the program, or any file or folder.

namespace payoff {

struct PublishedCases {
  std::vector<ValidationCase> cases;  // by kind, in the order of the files
  Findings findings;                  // entries that contradict themselves, and doubts
  std::vector<std::string> unread;    // what is wrong with whole files: no YAML, no such file
  std::vector<std::string> skipped;   // files of a folder that hold neither schema
};

// `paths`: files, or folders with everything below them. A half is found where the split knows the
// source and the system.
[[nodiscard]] PublishedCases published_cases(const Library& library, const Split& split,
                                             const std::vector<std::filesystem::path>& paths,
                                             const std::set<CaseKind>& kinds,
                                             const ValidationOptions& options = {});

}  // namespace payoff
