// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "model/experiment.hpp"
#include "study/layout_space.hpp"

// Layouts and compression plans together: the fastest uncompressed and the fastest compressed steps
// of a job on its own GPUs with its own global batch, within the memory. Candidates are a layout of
// the space with "none" or with one of the experiment's plans. Each is refused, or does not fit, or
// is ruled out by a bound of its layout (study/step_bound.hpp), or is priced by the analytical
// engine; in the order of the bounds, so that few are priced. The answer is that of pricing all of
// them, and the same with any number of threads.

namespace payoff {

struct SearchCounts {
  std::uint64_t layouts{};
  std::uint64_t considered{};  // layouts x (1 + plans), and the sum of those below
  std::uint64_t invalid{};     // refused: degrees that do not divide, plans without use there
  std::uint64_t no_memory{};
  std::uint64_t pruned{};  // their bound is above what was found
  std::uint64_t priced{};

  SearchCounts& operator+=(const SearchCounts& other);
  bool operator==(const SearchCounts&) const = default;
};

struct Candidate {
  LayoutChoice layout;
  std::size_t plan{};  // of the experiment; 0: none
  Seconds step{};
  Bytes memory;
  std::uint64_t order{};  // of its layout in the space

  bool operator==(const Candidate&) const = default;
};

// The shorter step; of equal ones the simpler layout, then the first in the space.
[[nodiscard]] bool goes_before(const Candidate& a, const Candidate& b);

struct SearchOptions {
  std::vector<LayoutAxis> keep;
  std::size_t finalists{4};         // of either kind
  unsigned threads{};               // 0: as many as the machine runs at once
  const std::atomic<bool>* stop{};  // ends the search with what there is
  // Called now and then, by one thread at a time: candidates that are decided, and all known of.
  std::function<void(std::uint64_t, std::uint64_t)> progress = {};
};

struct SearchResult {
  SearchCounts counts;
  // The best ones in order, of every layout its best plan.
  std::vector<Candidate> uncompressed;
  std::vector<Candidate> compressed;
  bool is_complete{};  // false: stopped; counts are of what was decided until then
};

// Requires check() empty.
[[nodiscard]] SearchResult search_layouts(const Experiment& experiment,
                                          const SearchOptions& options = {});

}  // namespace payoff
