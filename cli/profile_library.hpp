// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "profiles/library.hpp"

namespace payoff {

inline constexpr std::array all_profile_kinds = {  // in the order in which they are listed
    ProfileKind::cluster, ProfileKind::gpu,      ProfileKind::fabric,     ProfileKind::network,
    ProfileKind::model,   ProfileKind::software, ProfileKind::compression};

// The library that belongs to the running program: $PAYOFF_PROFILES, the installed folder or that
// of the source tree. Throws std::runtime_error when there is none.
[[nodiscard]] Library find_library();

}  // namespace payoff
