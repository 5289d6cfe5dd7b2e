// SPDX-License-Identifier: Apache-2.0
#include "model/packed_trees.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace payoff {
namespace {

class TreeLinks {
 public:
  TreeLinks(std::span<const int> links, int gpus)
      : links_(links), gpus_(static_cast<std::size_t>(gpus)), part_of_(gpus_) {}

  // Every partition once: a GPU joins a part of those before it, or opens the next one.
  double least_of_partitions() {
    least_ = std::numeric_limits<double>::infinity();
    divide(0, 0, 0);
    return least_;
  }

  [[nodiscard]] double least_of_sets() const {
    double least = std::numeric_limits<double>::infinity();
    const unsigned all = (1U << gpus_) - 1;
    for (unsigned set = 1; set < all; ++set) {
      int into = 0;
      int outside = 0;
      for (std::size_t from = 0; from < gpus_; ++from) {
        if ((set >> from & 1U) == 0) {
          ++outside;
          into += links_to(from, set);
        }
      }
      least = std::min(least, static_cast<double>(into) * static_cast<double>(gpus_) / outside);
    }
    return least;
  }

 private:
  [[nodiscard]] int links_to(std::size_t gpu, unsigned set) const {
    int links = 0;
    for (std::size_t other = 0; other < gpus_; ++other) {
      links += (set >> other & 1U) != 0 ? links_[gpu * gpus_ + other] : 0;
    }
    return links;
  }

  // `between`: links between parts, of the GPUs before this one.
  void divide(std::size_t gpu, int parts, int between) {
    if (gpu == gpus_) {
      least_ = parts > 1 ? std::min(least_, static_cast<double>(between) / (parts - 1)) : least_;
      return;
    }
    for (int part = 0; part <= parts; ++part) {
      part_of_[gpu] = part;
      int more = 0;
      for (std::size_t before = 0; before < gpu; ++before) {
        more += part_of_[before] != part ? links_[gpu * gpus_ + before] : 0;
      }
      divide(gpu + 1, std::max(parts, part + 1), between + more);
    }
  }

  std::span<const int> links_;
  std::size_t gpus_;
  std::vector<int> part_of_;
  double least_{};
};

}  // namespace

TreeRates tree_rates(std::span<const int> links, int gpus) {
  TreeLinks mesh(links, gpus);
  return {mesh.least_of_partitions(), mesh.least_of_sets()};
}

}  // namespace payoff
