// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "calibrate/profile_digits.hpp"

// What the samples of a GPU give to a part of its profile, and what they do not.

namespace payoff {

// A number that predictions take and that the samples leave as it was.
struct UntoldNumber {
  std::string path;       // in the profile: "law.memory_efficiency"
  std::string why;        // "no size of `copy` lies beyond the L2 cache of 52.4 MB"
  std::string measure;    // "larger sizes"; empty: what was measured cannot be
  bool is_wrong = false;  // they tell it, and it cannot be so
};

struct MeasuredPart {
  std::string text;
  std::vector<UntoldNumber> untold;
  std::set<std::string> kernels;  // whose times are in `text`: "copy (fused)"
  std::string notes;              // lines on what `text` is worth

  void add(MeasuredPart other) {
    text += other.text;
    untold.insert(untold.end(), std::make_move_iterator(other.untold.begin()),
                  std::make_move_iterator(other.untold.end()));
    kernels.merge(other.kernels);
    notes += other.notes;
  }
  void uses(const std::string& kernel, const std::string& implementation) {
    kernels.insert(fmt::format("{} ({})", kernel, implementation));
  }
};

// Of the data sheet's bandwidth, beyond which no kernel can stream: clocks are boosted, and sheets
// are rounded.
inline constexpr double most_of_a_peak = 1.1;

// "{value: 0.899, sd: 0.00158, from: samples}"; the deviation is relative, the unit begins with a
// blank.
[[nodiscard]] inline std::string sourced_text(double value, std::string_view unit,
                                              double relative_sd) {
  return fmt::format("{{value: {:.4g}{}, sd: {:.3g}, from: samples}}", value, unit,
                     std::max(relative_sd, 1e-4));
}

}  // namespace payoff
