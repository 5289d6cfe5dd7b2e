// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <iterator>
#include <utility>

#include "kernels/families/families.hpp"

namespace payoff::kernels {

std::vector<Benchmark> all_benchmarks(const Plan& plan) {
  constexpr std::array families{
      memory_benchmarks,     cast_benchmarks,           natural_benchmarks,
      block_benchmarks,      block_decoding_benchmarks, sign_benchmarks,
      group_benchmarks,      group_operator_benchmarks, sparse_benchmarks,
      sketch_benchmarks,     selection_benchmarks,      selection_operator_benchmarks,
      transform_benchmarks,  low_rank_benchmarks,       power_sgd_benchmarks,
      layer_benchmarks,      product_benchmarks,        transfer_benchmarks,
      collective_benchmarks, message_benchmarks};
  std::vector<Benchmark> all;
  for (const auto family : families) {
    std::vector<Benchmark> of_family = family(plan);
    all.insert(all.end(), std::make_move_iterator(of_family.begin()),
               std::make_move_iterator(of_family.end()));
  }
  return all;
}

}  // namespace payoff::kernels
