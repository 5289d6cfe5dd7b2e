// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "profiles/import/element_types.hpp"
#include "profiles/import/nccl_debug.hpp"

// From communicators, one for each rank of each group, to the shapes of groups (internal to the
// reader of NCCL's debug logs).

namespace payoff::import_detail {

// One size of one communicator.
struct CallKey {
  Collective collective{};
  std::string_view type;
  double bytes{};

  auto operator<=>(const CallKey&) const = default;
};

struct Communicator {
  std::string host;
  std::string process;
  std::string id;  // of the group; empty: not stated
  int rank{-1};    // -1: it is known by its calls alone
  int ranks{};
  int device{-1};
  int nodes{};  // as stated; 0: not
  std::map<CallKey, std::int64_t> calls;
};

// Between neighbours of sorted ranks; 0: uneven, or one rank alone.
[[nodiscard]] int stride_of(const std::vector<int>& ranks);

// Fills in nodes, groups, messages and ranks.
void describe_groups(const std::vector<Communicator>& communicators, NcclDebugLog& log);

}  // namespace payoff::import_detail
