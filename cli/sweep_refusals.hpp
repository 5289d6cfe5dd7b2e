// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "cli/session.hpp"

// What of a sweep has no prediction, and why: each result says it for itself, and nobody reads a
// million of them to see that nothing was predicted.

namespace payoff {

class SweepRefusals {
 public:
  // The results of a job, one JSON object a line.
  void add(const std::string& lines);
  // A warning where some were refused; an error where all were.
  void report(Session& session) const;
  [[nodiscard]] bool all() const { return results_ > 0 && refused_ == results_; }

 private:
  struct Reason {
    std::string first;  // as one of the results says it
    std::uint64_t count{};
  };

  void add_reason(std::string_view line);

  std::map<std::string, Reason> reasons_;  // by the reason without its numbers
  std::uint64_t results_{};
  std::uint64_t refused_{};
};

}  // namespace payoff
