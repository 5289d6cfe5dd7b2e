// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/program/benchmark.hpp"
#include "kernels/program/neighbours.hpp"

// The families of benchmarks, one source each.

namespace payoff::kernels {

[[nodiscard]] std::vector<Benchmark> memory_benchmarks(const Plan& plan);
[[nodiscard]] std::vector<Benchmark> cast_benchmarks(const Plan& plan);
[[nodiscard]] std::vector<Benchmark> natural_benchmarks(const Plan& plan);
[[nodiscard]] std::vector<Benchmark> block_benchmarks(const Plan& plan);
[[nodiscard]] std::vector<Benchmark> block_decoding_benchmarks(const Plan& plan);
[[nodiscard]] std::vector<Benchmark> sign_benchmarks(const Plan& plan);
[[nodiscard]] std::vector<Benchmark> group_benchmarks(const Plan& plan);
[[nodiscard]] std::vector<Benchmark> group_operator_benchmarks(const Plan& plan);
[[nodiscard]] std::vector<Benchmark> selection_benchmarks(const Plan& plan);
[[nodiscard]] std::vector<Benchmark> selection_operator_benchmarks(const Plan& plan);
[[nodiscard]] std::vector<Benchmark> threshold_benchmarks(const Plan& plan);
[[nodiscard]] std::vector<Benchmark> threshold_operator_benchmarks(const Plan& plan);
[[nodiscard]] std::vector<Benchmark> sparse_benchmarks(const Plan& plan);
[[nodiscard]] std::vector<Benchmark> sketch_benchmarks(const Plan& plan);
[[nodiscard]] std::vector<Benchmark> transform_benchmarks(const Plan& plan);
[[nodiscard]] std::vector<Benchmark> low_rank_benchmarks(const Plan& plan);
[[nodiscard]] std::vector<Benchmark> power_sgd_benchmarks(const Plan& plan);
[[nodiscard]] std::vector<Benchmark> layer_benchmarks(const Plan& plan);
[[nodiscard]] std::vector<Benchmark> element_wise_benchmarks(const Plan& plan);
[[nodiscard]] std::vector<Benchmark> product_benchmarks(const Plan& plan);

[[nodiscard]] std::vector<Benchmark> transfer_benchmarks(const Plan& plan);
[[nodiscard]] std::vector<Benchmark> collective_benchmarks(const Plan& plan);

// A kernel that stands for a collective's, alone.
[[nodiscard]] std::vector<Benchmark> message_benchmarks(const Plan& plan);
// Kernels of the families beside each other, and beside a message.
[[nodiscard]] std::vector<Neighbours> neighbour_benchmarks(const Plan& plan);

[[nodiscard]] std::vector<Benchmark> all_benchmarks(const Plan& plan);

}  // namespace payoff::kernels
