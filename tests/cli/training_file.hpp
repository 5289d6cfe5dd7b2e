// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace payoff::test {

// Published steps of one source.
inline std::string training_file(const std::string& source) {
  return PAYOFF_SOURCE_DIR "/tests/validation/training/" + source + ".yaml";
}

}  // namespace payoff::test
