// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <iterator>
#include <utility>

#include "kernels/families/families.hpp"

namespace payoff::kernels {

std::vector<Benchmark> all_benchmarks(const Plan& plan) {
  constexpr std::array families{memory_benchmarks,    cast_benchmarks,      block_benchmarks,
                                sign_benchmarks,      group_benchmarks,     sparse_benchmarks,
                                selection_benchmarks, transform_benchmarks, low_rank_benchmarks,
                                layer_benchmarks,     transfer_benchmarks,  collective_benchmarks,
                                message_benchmarks};
  std::vector<Benchmark> all;
  for (const auto family : families) {
    std::vector<Benchmark> of_family = family(plan);
    all.insert(all.end(), std::make_move_iterator(of_family.begin()),
               std::make_move_iterator(of_family.end()));
  }
  return all;
}

}  // namespace payoff::kernels
