// SPDX-License-Identifier: Apache-2.0
#include "cli/profile_library.hpp"

#include <filesystem>
#include <system_error>

namespace payoff {

Library find_library() {
  std::error_code unknown;  // without /proc the program's folder is not known, $PAYOFF_PROFILES is
  return Library::find(std::filesystem::read_symlink("/proc/self/exe", unknown));
}

}  // namespace payoff
