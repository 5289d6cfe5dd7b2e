// SPDX-License-Identifier: Apache-2.0
#include "profiles/named_profile.hpp"

#include "profiles/suggest.hpp"

namespace payoff {

std::string read_name(const Section& root, ProfileKind kind, std::string_view asked) {
  const Value value = root.required(folder_of(kind));
  std::string name = value.text();
  if (!is_own_file(asked) && !name.empty() && name != asked) {
    value.error("is not the name of its file", "the file is " + backquoted(asked));
  }
  return name;
}

}  // namespace payoff
