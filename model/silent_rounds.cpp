// SPDX-License-Identifier: Apache-2.0
#include "model/silent_rounds.hpp"

#include <cstddef>

namespace payoff {
namespace {

void put_before(const Work& first, Work& work) {
  extend(work, first.alone, first.memory_share);
  work.bucket_copy += first.bucket_copy;
}

}  // namespace

void merge_silent_rounds(BucketKind& kind) {
  if (uses_host(kind)) {
    return;
  }
  for (std::size_t i = 0; i < kind.rounds.size();) {
    if (kind.rounds[i].message.alone > 0_s) {
      ++i;
      continue;
    }
    const bool last = i + 1 == kind.rounds.size();
    put_before(kind.rounds[i].encode, last ? kind.decode : kind.rounds[i + 1].encode);
    kind.rounds.erase(kind.rounds.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace payoff
