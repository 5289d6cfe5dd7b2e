// SPDX-License-Identifier: Apache-2.0
#include "model/mesh_circles.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

namespace payoff {
namespace {

class RingSearch {
 public:
  RingSearch(std::vector<int> links, std::size_t gpus) : n_(gpus), room_(std::move(links)) {
    std::vector<std::size_t> order(n_);
    std::iota(order.begin(), order.end(), std::size_t{0});
    do {
      // Each circle once: it begins at 0, and one of its two directions.
      if (order[1] < order[n_ - 1] && fits(order)) {
        rings_.push_back(order);
      }
    } while (std::next_permutation(order.begin() + 1, order.end()));
  }

  [[nodiscard]] std::vector<std::vector<int>> most() {
    add(0);
    std::vector<std::vector<int>> orders;
    orders.reserve(most_.size());
    for (const std::size_t ring : most_) {
      orders.emplace_back(rings_[ring].begin(), rings_[ring].end());
    }
    return orders;
  }

 private:
  template <class Visit>
  void each_link(const std::vector<std::size_t>& ring, Visit visit) const {
    for (std::size_t i = 0; i < n_; ++i) {
      visit(ring[i], ring[(i + 1) % n_]);
    }
  }

  [[nodiscard]] bool fits(const std::vector<std::size_t>& ring) const {
    bool free = true;
    each_link(ring, [&](std::size_t a, std::size_t b) { free = free && room_[a * n_ + b] > 0; });
    return free;
  }

  void take(const std::vector<std::size_t>& ring, int count) {
    each_link(ring, [&](std::size_t a, std::size_t b) {
      room_[a * n_ + b] -= count;
      room_[b * n_ + a] -= count;
    });
  }

  // Every further ring takes two links of every GPU.
  [[nodiscard]] int further_at_most() const {
    int least = std::numeric_limits<int>::max();
    for (std::size_t a = 0; a < n_; ++a) {
      const auto row = room_.begin() + static_cast<std::ptrdiff_t>(a * n_);
      least = std::min(least, std::accumulate(row, row + static_cast<std::ptrdiff_t>(n_), 0) / 2);
    }
    return least;
  }

  void add(std::size_t first) {
    if (taken_.size() > most_.size()) {
      most_ = taken_;
    }
    const auto reaches_more = [&] {
      return static_cast<int>(taken_.size()) + further_at_most() > static_cast<int>(most_.size());
    };
    for (std::size_t i = first; i < rings_.size() && reaches_more(); ++i) {
      if (fits(rings_[i])) {
        take(rings_[i], 1);
        taken_.push_back(i);
        add(i);
        taken_.pop_back();
        take(rings_[i], -1);
      }
    }
  }

  std::size_t n_;
  std::vector<int> room_;
  std::vector<std::vector<std::size_t>> rings_;
  std::vector<std::size_t> taken_;
  std::vector<std::size_t> most_;
};

}  // namespace

std::vector<std::vector<int>> mesh_circles(std::vector<int> links, int gpus) {
  return gpus < 3 ? std::vector<std::vector<int>>{}
                  : RingSearch(std::move(links), static_cast<std::size_t>(gpus)).most();
}

}  // namespace payoff
