// SPDX-License-Identifier: Apache-2.0
#include "profiles/hf_sizes.hpp"

#include <string_view>

namespace payoff {

std::string_view first_present(const JsonObject& config, std::string_view keys) {
  const std::size_t bar = keys.find('|');
  const std::string_view first = keys.substr(0, bar);
  if (bar == std::string_view::npos || !config.lacks(first)) {
    return first;
  }
  const std::string_view second = keys.substr(bar + 1);
  return config.lacks(second) ? first : second;
}

std::int64_t size_of(const JsonObject& config, std::string_view keys, std::int64_t largest) {
  return config.count(first_present(config, keys), largest);
}

}  // namespace payoff
