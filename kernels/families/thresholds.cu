// SPDX-License-Identifier: Apache-2.0
// Thresholds that are looked for by counting: MSTopK's bisection, and Gaussian-K's quantile with
// its corrections. Counts stay on the device. As operators: threshold_operators.cu.
#include "kernels/families/families.hpp"
#include "kernels/families/searching.cuh"

namespace payoff::kernels {
namespace {

void count_reaching(Stream s, const float* in, ThresholdSearch* search, std::size_t n) {
  launch(s, striding_blocks(n, 4UL * block_threads), block_threads, count_reaching_threshold, in,
         search, n);
}

Benchmark topk_bisect(const Shape& shape, double ratio) {
  const Word k = kept(shape, ratio);
  const auto elements = static_cast<double>(shape.elements);
  // Mean, largest, a count for each step, compaction.
  const Traffic traffic{bytes_of(4.0 * (3 + bisections) * elements),
                        bytes_of(8.0 * k),
                        {},
                        0.0,
                        levels_of_tiles(shape.elements) + 4 + 2 * bisections,
                        0};
  Benchmark b{point_of("topk_bisect", "selection", "fused", shape,
                       {{"ratio", ratio}, {"iterations", bisections}}, traffic),
              bytes_of(4.1 * elements + 8.0 * k),
              {}};
  b.make = [shape, k] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    auto largest = array_of<Word>(1);
    auto search = array_of<ThresholdSearch>(1);
    const SumRoom room(n);
    const SparseArrays out(k);
    return Work{[=](Stream s) {
                  begin_bisection(s, in->data(), room, largest->data(), search->data(), n);
                  for (int i = 0; i < bisections; ++i) {
                    count_reaching(s, in->data(), search->data(), n);
                    launch(s, 1, warp_lanes, halve_bisection, search->data(), k);
                  }
                  launch(s, striding_blocks(n, round_values), block_threads, compact_bisected,
                         in->data(), search->data(), out.output(), k, n);
                },
                [=] { return bisected_mismatch(out, in->read(), k); },
                [=] { return checksum_of(*search); }};
  };
  return b;
}

Benchmark topk_gaussian(const Shape& shape, double ratio) {
  const Word k = kept(shape, ratio);
  const auto elements = static_cast<double>(shape.elements);
  // Sum, sum of squares, a count for each correction, compaction.
  const Traffic traffic{bytes_of(4.0 * (3 + corrections) * elements),
                        bytes_of(8.0 * k),
                        {},
                        0.0,
                        2 * levels_of_tiles(shape.elements) + 3 + 2 * corrections,
                        0};
  Benchmark b{point_of("topk_gaussian", "selection", "fused", shape,
                       {{"ratio", ratio}, {"corrections", corrections}}, traffic),
              bytes_of(12.1 * elements),
              {}};
  b.make = [shape, ratio, k] {
    const std::size_t n = shape.elements;
    const auto deviations = static_cast<float>(normal_deviations(ratio));
    auto in = drawn_on_device(shape);
    auto search = array_of<ThresholdSearch>(1);
    auto length = array_of<Word>(1);
    const SumRoom room(n);
    const SparseArrays out(n);
    return Work{[=](Stream s) {
                  begin_normal(s, in->data(), room, search->data(), n, deviations);
                  for (int i = 0; i < corrections; ++i) {
                    count_reaching(s, in->data(), search->data(), n);
                    launch(s, 1, warp_lanes, correct_threshold, search->data(), k);
                  }
                  compact(s, in->data(), &search->data()->threshold, out, length->data(), n);
                },
                [=] {
                  return normal_mismatch(search, out, length->read().front(), in->read(), k,
                                         deviations);
                },
                [=] { return checksum_of(*length); }};
  };
  return b;
}

}  // namespace

std::vector<Benchmark> threshold_benchmarks(const Plan& plan) {
  return searches_of(plan, topk_bisect, topk_gaussian);
}

}  // namespace payoff::kernels
