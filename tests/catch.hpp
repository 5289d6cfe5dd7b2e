// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one place that knows which Catch2 is installed. Tests are written in the vocabulary of
// version 3: Catch::Matchers::WithinRel and WithinAbs, never Approx; no reporter or macro that
// only one of the two has.

#if __has_include(<catch2/catch_test_macros.hpp>)  // Catch2 3
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <catch2/matchers/catch_matchers_vector.hpp>
#else  // Catch2 2 (Debian 12)
#include <catch2/catch.hpp>

// Version 3 renamed the text matcher; the new name compiles with version 2 as well.
namespace Catch::Matchers {
inline auto ContainsSubstring(const std::string& text) { return Contains(text); }
}  // namespace Catch::Matchers
#endif
