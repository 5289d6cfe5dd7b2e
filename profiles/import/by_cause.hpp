// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "profiles/diagnostics.hpp"
#include "profiles/source_map.hpp"

// What is wrong with many records of a file alike is one error, at the first of them, which says
// where the others are (internal to the importers).

namespace payoff::import_detail {

class ByCause {
 public:
  explicit ByCause(const SourceMap& sources) : sources_(&sources) {}

  // `record`: which one this is about, for those after the first; may be empty. What is told twice
  // of one place counts once.
  void add(const std::string& cause, Diagnostic diagnostic, const std::string& record = {});
  // In the order in which the first of each came; afterwards there is none.
  void tell(Diagnostics& diagnostics);

 private:
  struct Cause {
    Diagnostic diagnostic;
    std::vector<std::string> others;  // the places of a few
    std::size_t count{1};
    std::set<std::pair<std::size_t, std::size_t>> places;  // sources and offsets
  };

  const SourceMap* sources_;
  std::vector<Cause> causes_;
  std::map<std::string, std::size_t> places_;  // in `causes_`
};

}  // namespace payoff::import_detail
