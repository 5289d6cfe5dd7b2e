// SPDX-License-Identifier: Apache-2.0
#include "profiles/named_profile.hpp"

#include "profiles/suggest.hpp"

namespace payoff {

std::string read_name(const Section& root, std::string_view key, std::string_view asked) {
  const Value value = root.required(key);
  std::string name = value.text();
  if (!is_own_file(asked) && !name.empty() && name != asked) {
    value.error("is not the name of its file", "the file is " + backquoted(asked));
  }
  return name;
}

bool has_laws_alone(const Node& root, ProfileKind kind, Diagnostics& diagnostics) {
  const bool may_be = kind == ProfileKind::gpu && root.kind == Node::Kind::map;
  const Entry* laws = may_be ? root.find("kernels_of") : nullptr;
  if (laws == nullptr || root.find(folder_of(kind)) != nullptr) {
    return false;
  }
  diagnostics.error(laws->key_span, "this file has laws alone, and is no GPU for predictions",
                    "fitted without a data sheet",
                    "fit the samples again with the GPU that they are of: `payoff calibrate fit "
                    "SAMPLES.json --gpu NAME -o NAME.yaml`");
  return true;
}

}  // namespace payoff
