// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <iterator>

#include "kernels/families/families.hpp"

namespace payoff::kernels {

// What every prediction takes comes first, variants and chains of operators last: where time ends
// early, they go.
std::vector<Benchmark> all_benchmarks(const Plan& plan) {
  constexpr std::array families{memory_benchmarks,
                                product_benchmarks,
                                transfer_benchmarks,
                                collective_benchmarks,
                                layer_benchmarks,
                                element_wise_benchmarks,
                                message_benchmarks,
                                cast_benchmarks,
                                natural_benchmarks,
                                block_benchmarks,
                                sign_benchmarks,
                                group_benchmarks,
                                selection_benchmarks,
                                threshold_benchmarks,
                                power_sgd_benchmarks,
                                transform_benchmarks,
                                sparse_benchmarks,
                                sketch_benchmarks,
                                low_rank_benchmarks,
                                block_decoding_benchmarks,
                                group_operator_benchmarks,
                                selection_operator_benchmarks,
                                threshold_operator_benchmarks};
  std::vector<Benchmark> all;
  for (const auto family : families) {
    std::vector<Benchmark> of_family = family(plan);
    all.insert(all.end(), std::make_move_iterator(of_family.begin()),
               std::make_move_iterator(of_family.end()));
  }
  return all;
}

}  // namespace payoff::kernels
