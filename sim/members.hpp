// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

// Lists of members, one for each of many owners, in two arrays.

namespace payoff::sim {

template <class Member>
class Members {
 public:
  // `visit(add)` calls add(owner, member) for every member, the same ones each time.
  template <class Visit>
  Members(std::size_t owners, Visit visit) : first_(owners + 1) {
    visit([&](std::size_t owner, const Member&) { ++first_[owner + 1]; });
    for (std::size_t o = 0; o < owners; ++o) {
      first_[o + 1] += first_[o];
    }
    members_.resize(first_.back());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    visit([&](std::size_t owner, const Member& member) { members_[next[owner]++] = member; });
  }

  [[nodiscard]] std::span<const Member> of(std::size_t owner) const {
    return std::span(members_).subspan(first_[owner], first_[owner + 1] - first_[owner]);
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<Member> members_;
};

}  // namespace payoff::sim
