// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace payoff {

// FIPS 180-4, as `sha256sum` prints it: results name the files they rest on.
[[nodiscard]] std::string sha256(std::string_view text);

}  // namespace payoff
