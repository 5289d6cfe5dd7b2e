// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "profiles/library.hpp"
#include "profiles/read_hardware.hpp"
#include "profiles/section.hpp"

// What profiles of hardware and software have in common: the name of their file, a description,
// sourced values.

namespace payoff {

inline constexpr IntegerRules gpus_of_a_node{.fallback = 1, .min = 1, .max = 1024};

template <class Q>
Q sourced(const Value& value) {
  return value.sourced().quantity<Q>({.fallback = Q{}, .sign = Sign::positive});
}

// The name under `key`. Shipped files are found by their name, so it must be the one that they
// carry.
[[nodiscard]] std::string read_name(const Section& root, std::string_view key,
                                    std::string_view asked);

// Whether this is no profile but the laws of kernels alone, which is then reported, once.
[[nodiscard]] bool has_laws_alone(const Node& root, ProfileKind kind, Diagnostics& diagnostics);

// Loads, reads and finishes one profile; empty when anything in it was wrong.
template <class T, class Read>
std::optional<Profile<T>> read_profile(ProfileKind kind, std::string_view name,
                                       std::optional<Span> asked, const ReadContext& context,
                                       Read read) {
  const std::size_t errors = context.diagnostics.error_count();
  const auto document =
      context.library.load(kind, name, asked, context.sources, context.diagnostics);
  if (!document || has_laws_alone(document->root, kind, context.diagnostics)) {
    return std::nullopt;
  }
  Reader reader(document->root, context.sources, context.diagnostics);
  const Section root = reader.root();
  Profile<T> profile;
  if (root) {
    profile.value.name = read_name(root, folder_of(kind), name);
    profile.description = root.required("description").text();
    read(root, profile.value, profile.facts);
    reader.finish();
  }
  if (context.diagnostics.error_count() > errors) {
    return std::nullopt;
  }
  const Facts& own = reader.facts();
  profile.facts.insert(profile.facts.begin(), own.begin(), own.end());
  return profile;
}

}  // namespace payoff
