// SPDX-License-Identifier: Apache-2.0
// Thresholds that are looked for, as a framework's operators do it: magnitudes to memory, for each
// step a mask and its count, then places of masks and the values there. A framework's host waits
// for every count and chooses the next threshold; here nobody waits, and a kernel of one warp does.
#include "kernels/families/families.hpp"
#include "kernels/families/masks.cuh"
#include "kernels/families/searching.cuh"

namespace payoff::kernels {
namespace {

// What fills up a bisection's message.
struct FillsUp {
  const Bisection* bisection;
  Bisection limits = {};
  [[nodiscard]] __device__ FillsUp at(std::size_t /*first*/) const {
    return {bisection, *bisection};
  }
  [[nodiscard]] __device__ std::uint8_t operator()(float value, unsigned /*i*/) const {
    return bisected_side(value, limits) == 0 ? 1 : 0;
  }
};

// The places of what fills up follow those of what is kept: as many as there is room for are taken.
Benchmark bisect_by_operators(const Shape& shape, double ratio) {
  const Word k = kept(shape, ratio);
  const auto elements = static_cast<double>(shape.elements);
  // Magnitudes, mean, largest; for each step a mask and its count; two masks and their places.
  const Traffic traffic{bytes_of((12.0 + 5.0 * bisections + 10.0) * elements + 4.0 * k),
                        bytes_of((4.0 + bisections + 2.0) * elements + 8.0 * k),
                        {},
                        static_cast<double>(k),
                        levels_of_tiles(shape.elements) + 4 + 3 * bisections + 6,
                        0};
  Benchmark b{point_of("topk_bisect", "selection", "framework_ops", shape,
                       {{"ratio", ratio}, {"iterations", bisections}}, traffic),
              bytes_of(13.1 * elements + 4.0 * k),
              {}};
  b.make = [shape, k] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    auto largest = array_of<Word>(1);
    auto length = array_of<Word>(1);
    auto places = array_of<Word>(n);
    auto values = array_of<float>(k);
    auto search = array_of<ThresholdSearch>(1);
    const Masks masks(n);
    const SumRoom room(n);
    return Work{[=](Stream s) {
                  const float* magnitudes = masks.magnitudes->data();
                  masks.take_magnitudes(s, in->data(), n);
                  begin_bisection(s, magnitudes, room, largest->data(), search->data(), n);
                  for (int i = 0; i < bisections; ++i) {
                    masks.compare(s, &search->data()->threshold, n);
                    masks.count(s, &search->data()->count, n);
                    launch(s, 1, warp_lanes, halve_bisection, search->data(), k);
                  }
                  fill_in_stream(s, length->data(), 0, sizeof(Word));
                  masks.compare(s, &search->data()->bisection.few, n);
                  masks.places(s, places->data(), length->data(), n);
                  map<4>(s, magnitudes, masks.mask->data(), n, FillsUp{&search->data()->bisection});
                  masks.places(s, places->data(), length->data(), n);
                  launch_threads(s, k, gather_places, in->data(), places->data(), values->data(),
                                 std::size_t{k});
                },
                [=] {
                  return bisected_mismatch({places, values}, in->read(), k);
                },
                [=] { return checksum_of(*search); }};
  };
  return b;
}

Benchmark gaussian_by_operators(const Shape& shape, double ratio) {
  const Word k = kept(shape, ratio);
  const auto elements = static_cast<double>(shape.elements);
  // Mean, deviation, magnitudes; for each correction a mask and its count; a mask, its places.
  const Traffic traffic{bytes_of((12.0 + 5.0 * corrections + 5.0) * elements + 4.0 * k),
                        bytes_of((4.0 + corrections + 1.0) * elements + 8.0 * k),
                        {},
                        static_cast<double>(k),
                        2 * levels_of_tiles(shape.elements) + 2 + 3 * corrections + 4,
                        0};
  Benchmark b{point_of("topk_gaussian", "selection", "framework_ops", shape,
                       {{"ratio", ratio}, {"corrections", corrections}}, traffic),
              bytes_of(17.1 * elements),
              {}};
  b.make = [shape, ratio, k] {
    const std::size_t n = shape.elements;
    const auto deviations = static_cast<float>(normal_deviations(ratio));
    auto in = drawn_on_device(shape);
    auto length = array_of<Word>(1);
    auto search = array_of<ThresholdSearch>(1);
    const Masks masks(n);
    const SumRoom room(n);
    const SparseArrays out(n);
    return Work{[=](Stream s) {
                  begin_normal(s, in->data(), room, search->data(), n, deviations);
                  masks.take_magnitudes(s, in->data(), n);
                  for (int i = 0; i < corrections; ++i) {
                    masks.compare(s, &search->data()->threshold, n);
                    masks.count(s, &search->data()->count, n);
                    launch(s, 1, warp_lanes, correct_threshold, search->data(), k);
                  }
                  masks.compare(s, &search->data()->threshold, n);
                  masks.entries(s, in->data(), out, length->data(), n);
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

std::vector<Benchmark> threshold_operator_benchmarks(const Plan& plan) {
  return searches_of(plan, bisect_by_operators, gaussian_by_operators);
}

}  // namespace payoff::kernels
