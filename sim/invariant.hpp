// SPDX-License-Identifier: Apache-2.0
#pragma once

// What must hold whatever the user writes. A broken invariant is a bug of ours: it is checked in
// every build, says so, and aborts. Wrong input is never an invariant; it is a Problem.

namespace payoff::detail {
[[noreturn]] void broken_invariant(const char* condition, const char* text);
}  // namespace payoff::detail

// A macro, because the text of the condition belongs in the message.
#define PAYOFF_INVARIANT(condition, text) \
  ((condition) ? static_cast<void>(0) : ::payoff::detail::broken_invariant(#condition, text))
