// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What differs between two fitted profiles, value by value: the one that is shipped and the one
// that a fit writes now. Numbers are equal within one unit of their third significant digit: some
// profiles print no more, and another compiler may round the last one the other way;
// everything else is equal to the letter, remarks left out. Reads the block form that the fits
// write (a key or a list item a line), not YAML in general.

namespace payoff {

struct ProfileDifference {
  std::string path;                    // "gpu.a100-sxm-80.gemm_efficiency.bf16"
  std::string shipped;                 // what stands there; empty: only the fit has it
  std::string fitted;                  // empty: only the shipped one has it
  std::optional<double> change_ratio;  // of the first number that differs: fitted / shipped - 1
};

// Within one unit of the third significant digit of either, and the rounding of decimal texts.
[[nodiscard]] bool are_close(double a, double b);

// In the order of the shipped profile; what only the fit has comes last.
[[nodiscard]] std::vector<ProfileDifference> profile_differences(std::string_view shipped,
                                                                 std::string_view fitted);

}  // namespace payoff
