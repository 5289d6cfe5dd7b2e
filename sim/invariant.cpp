// SPDX-License-Identifier: Apache-2.0
#include "sim/invariant.hpp"

#include <cstdio>
#include <cstdlib>

namespace payoff::detail {

void broken_invariant(const char* condition, const char* text) {
  std::fputs("error: this is a bug in payoff, please report it: ", stderr);
  std::fputs(text, stderr);
  std::fputs("\n  expected: ", stderr);
  std::fputs(condition, stderr);
  std::fputs("\n", stderr);
  std::abort();
}

}  // namespace payoff::detail
