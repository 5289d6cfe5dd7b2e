// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "profiles/library.hpp"
#include "profiles/read_experiment.hpp"

// The jobs that benchmarks predict, simulate and search.

namespace payoff::bench {

// `file`: within the tree; `texts` as after `--set`. Ends the program where it cannot be read.
inline ReadExperiment read_job(const std::string& file,
                               const std::vector<std::string>& texts = {}) {
  const std::filesystem::path source(PAYOFF_SOURCE_DIR);
  const Library library(source / "profiles");
  SourceMap sources;
  Diagnostics diagnostics;
  std::vector<Setting> settings;
  settings.reserve(texts.size());
  for (const std::string& text : texts) {
    settings.push_back({static_cast<int>(settings.size()) + 1, text});
  }
  auto read = read_experiment(source / file, settings, {library, sources, diagnostics});
  if (!read) {
    fmt::print(stderr, "{}", render_text(diagnostics, sources));
    std::_Exit(1);
  }
  return std::move(*read);
}

}  // namespace payoff::bench
