// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "sim/invariant.hpp"
#include "sim/tree_packing.hpp"

// What no packing of trees exceeds, and what rings reach, by counting all cases of small meshes.

namespace payoff::sim {
namespace {

constexpr std::size_t most_counted = 10;

// Of the narrower direction, between every two vertices.
std::vector<double> both_ways(const LinkGraph& mesh) {
  const std::size_t n = mesh.vertices().size();
  PAYOFF_INVARIANT(n <= most_counted, "all cases of a mesh are counted that is too large for it");
  std::vector<double> capacity(n * n);
  for (const Edge& edge : mesh.edges()) {
    const auto back = mesh.find(edge.to, edge.from);
    capacity[edge.from * n + edge.to] =
        back ? std::min(edge.capacity, mesh.edges()[*back].capacity).si : 0.0;
  }
  return capacity;
}

// Partitions of 0 .. n - 1 as numbers of parts, in restricted growth.
template <class Visit>
void each_partition(std::vector<std::size_t>& part, std::size_t at, std::size_t parts,
                    Visit&& visit) {
  if (at == part.size()) {
    visit(parts);
    return;
  }
  for (part[at] = 0; part[at] <= parts; ++part[at]) {
    each_partition(part, at + 1, std::max(parts, part[at] + 1), visit);
  }
}

class RingSearch {
 public:
  RingSearch(const LinkGraph& mesh, Bandwidth unit) : n_(mesh.vertices().size()) {
    for (const double capacity : both_ways(mesh)) {
      room_.push_back(static_cast<int>(std::floor(capacity / unit.si + 1e-6)));
    }
    std::vector<std::size_t> order(n_);
    std::iota(order.begin(), order.end(), std::size_t{0});
    do {
      // Each circle once: it begins at 0, and one of its two directions.
      if (order[1] < order[n_ - 1] && fits(order)) {
        rings_.push_back(order);
      }
    } while (std::next_permutation(order.begin() + 1, order.end()));
  }

  [[nodiscard]] std::vector<std::vector<Rank>> most() {
    add(0);
    std::vector<std::vector<Rank>> orders;
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

Bandwidth all_reduce_bound(const LinkGraph& mesh) {
  const std::vector<double> capacity = both_ways(mesh);
  const std::size_t n = mesh.vertices().size();
  std::vector<std::size_t> part(n);
  double least = std::numeric_limits<double>::infinity();
  each_partition(part, 0, 0, [&](std::size_t parts) {
    double cut = 0;
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        cut += part[a] != part[b] ? capacity[a * n + b] : 0.0;
      }
    }
    least = parts > 1 ? std::min(least, cut / static_cast<double>(parts - 1)) : least;
  });
  return {least};
}

std::vector<std::vector<Rank>> rings(const LinkGraph& mesh, Bandwidth unit) {
  return mesh.vertices().size() < 3 ? std::vector<std::vector<Rank>>{}
                                    : RingSearch(mesh, unit).most();
}

int ring_count(const LinkGraph& mesh, Bandwidth unit) {
  return static_cast<int>(rings(mesh, unit).size());
}

}  // namespace payoff::sim
