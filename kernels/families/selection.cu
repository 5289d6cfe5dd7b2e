// SPDX-License-Identifier: Apache-2.0
// Sparse messages: exact Top-K by radix select, by sorting everything, thresholds from samples,
// thresholds given, the largest of each chunk, and Random-K. As operators: selection_operators.cu.
#include "kernels/families/families.hpp"
#include "kernels/families/selecting.cuh"
#include "kernels/families/sorting.hpp"

namespace payoff::kernels {
namespace {

Benchmark topk_radix(const Shape& shape, double ratio) {
  const Word k = kept(shape, ratio);
  const auto elements = static_cast<double>(shape.elements);
  // What is known beforehand: candidates depend on the values.
  const Traffic traffic{bytes_of(8.0 * elements), bytes_of(8.0 * k), {}, 0.0, 8, 0};
  Benchmark b{point_of("topk_radix", "selection", "fused", shape, {{"ratio", ratio}}, traffic),
              bytes_of(20.0 * elements + 8.0 * k),
              {}};
  b.make = [shape, k] {
    auto in = drawn_on_device(shape);
    const Selecting selecting(shape.elements);
    const SparseArrays out(k);
    return work_of_top_k(in, out, k, [=](Stream s) {
      selecting.run(s, in->data(), shape.elements, k, out.output());
    });
  };
  return b;
}

// A library's way: magnitudes as keys, sort all of them with their places, keep the first.
Benchmark topk_sort(const Shape& shape, double ratio) {
  const Word k = kept(shape, ratio);
  const auto elements = static_cast<double>(shape.elements);
  const Traffic traffic{bytes_of(4.0 * elements), bytes_of(8.0 * k), {}, 0.0, 8, 0};
  Benchmark b{point_of("topk_sort", "selection", "library", shape, {{"ratio", ratio}}, traffic),
              bytes_of(40.0 * elements),
              {}};
  b.needs = "cub";
  b.make = [shape, k] {
    auto in = drawn_on_device(shape);
    auto sorting = std::make_shared<Sorting>(shape.elements);
    const SparseArrays out(k);
    return work_of_top_k(in, out, k,
                         [=](Stream s) { sorting->largest(s, in->data(), k, out.output()); });
  };
  return b;
}

// A library's selection, where it has one: magnitudes and places to memory, the selection reads
// them again and then candidates, as topk_radix does; the values at the places.
Benchmark topk_library(const Shape& shape, double ratio) {
  const Word k = kept(shape, ratio);
  const auto elements = static_cast<double>(shape.elements);
  const Traffic traffic{bytes_of(12.0 * elements + 4.0 * k),
                        bytes_of(8.0 * elements + 12.0 * k),
                        {},
                        static_cast<double>(k),
                        8,
                        0};
  Benchmark b{point_of("topk_select", "selection", "library", shape, {{"ratio", ratio}}, traffic),
              bytes_of(28.0 * elements + 16.0 * k),
              {}};
  b.needs = "cub 3.2";
  b.make = [shape, k] {
    auto in = drawn_on_device(shape);
    auto selecting = std::make_shared<LibrarySelection>(shape.elements, k);
    const SparseArrays out(k);
    return work_of_top_k(in, out, k,
                         [=](Stream s) { selecting->largest(s, in->data(), out.output()); });
  };
  return b;
}

// The threshold is given, as methods have it that keep one from step to step.
Benchmark topk_threshold(const Shape& shape, double ratio) {
  const Word k = kept(shape, ratio);
  const auto elements = static_cast<double>(shape.elements);
  const Traffic traffic{bytes_of(4.0 * elements), bytes_of(8.0 * k), {}, 0.0, 2, 0};
  Benchmark b{point_of("topk_threshold", "selection", "fused", shape, {{"ratio", ratio}}, traffic),
              bytes_of(32.0 * elements),
              {}};
  b.make = [shape, k] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    auto threshold = exact_threshold(*in, k);
    auto length = array_of<Word>(1);
    const SparseArrays out(n);
    return Work{
        [=](Stream s) { compact(s, in->data(), threshold->data(), out, length->data(), n); },
        [=] {
          const std::vector<float> tensor = in->read();
          return same_selection(out, length->read().front(), tensor,
                                above(tensor, threshold->read().front()));
        },
        [=] { return checksum_of(*length); }};
  };
  return b;
}

// Deep Gradient Compression: every hundredth value, the threshold of their largest, compaction.
Benchmark topk_sample(const Shape& shape, double ratio) {
  const Word k = kept(shape, ratio);
  const auto elements = static_cast<double>(shape.elements);
  const Traffic traffic{bytes_of(4.0 * elements + 0.12 * elements),
                        bytes_of(8.0 * k),
                        {},
                        elements / sample_stride,
                        11,
                        0};
  Benchmark b{point_of("topk_sample", "selection", "fused", shape, {{"ratio", ratio}}, traffic),
              bytes_of(12.1 * elements),
              {}};
  b.make = [shape, k] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    const Sampling sampling(n);
    auto length = array_of<Word>(1);
    const SparseArrays out(n);
    return Work{
        [=](Stream s) {
          sampling.run(s, in->data(), k);
          compact(s, in->data(), sampling.threshold->data(), out, length->data(), n);
        },
        [=] { return sampled_mismatch(sampling, out, length->read().front(), in->read(), k); },
        [=] { return checksum_of(*length); }};
  };
  return b;
}

template <int chunk>
Benchmark topk_chunk(const Shape& shape, int each) {
  const auto elements = static_cast<double>(shape.elements);
  const Traffic traffic{
      bytes_of(4.0 * elements), bytes_of(8.0 * elements * each / chunk), {}, 0.0, 1, 0};
  Benchmark b{point_of("topk_chunk", "selection", "fused", shape,
                       {{"chunk", chunk}, {"kept", static_cast<double>(each)}}, traffic),
              traffic.read + traffic.written,
              {}};
  b.make = [shape, each] {
    const std::size_t n = shape.elements;
    const std::size_t chunks = divided_up(n, static_cast<std::size_t>(chunk));
    auto in = drawn_on_device(shape);
    const SparseArrays out(chunks * static_cast<std::size_t>(each));
    return Work{[=](Stream s) {
                  launch_threads(s, chunks * warp_lanes, top_of_each_chunk<chunk>, in->data(), each,
                                 out.output(), n);
                },
                [=] {
                  const std::vector<float> tensor = in->read();
                  const SparseMessage expected =
                      top_of_chunks(tensor, chunk, static_cast<std::size_t>(each));
                  return same_selection(out, expected.indices.size(), tensor, expected);
                },
                [=] { return checksum_of(*out.values); }};
  };
  return b;
}

Benchmark random_k_gather(const Shape& shape, double ratio) {
  const Word k = kept(shape, ratio);
  const Traffic traffic{{}, bytes_of(4.0 * k), {}, static_cast<double>(k), 1, 0};
  Benchmark b{point_of("random_k", "selection", "fused", shape, {{"ratio", ratio}}, traffic),
              bytes_of(4.0 * static_cast<double>(shape.elements) + 8.0 * k),
              {}};
  b.make = [shape, k] {
    constexpr Word seed = 77;
    auto in = drawn_on_device(shape);
    auto values = array_of<float>(k);
    return Work{[=](Stream s) {
                  launch_threads(s, k, gather_random, in->data(),
                                 SharedPermutation(static_cast<Word>(shape.elements), seed),
                                 values->data(), static_cast<Word*>(nullptr), k);
                },
                [=] { return differs("values", *values, random_k(in->read(), k, seed).values); },
                [=] { return checksum_of(*values); }};
  };
  return b;
}

// Radix selection and sampling depend on how values are spread.
[[nodiscard]] std::vector<Shape> spread_shapes(const Plan& plan, bool is_usual) {
  std::vector<Shape> shapes = shapes_of(plan, is_usual);
  if (is_usual) {
    shapes.insert(shapes.end(), plan.spreads.begin(), plan.spreads.end());
  }
  return shapes;
}

}  // namespace

std::vector<Benchmark> selection_benchmarks(const Plan& plan) {
  std::vector<Benchmark> all;
  for (const double ratio : plan.ratios) {
    for (const Shape& shape : spread_shapes(plan, ratio == plan.ratios.front())) {
      all.push_back(topk_radix(shape, ratio));
      all.push_back(topk_sort(shape, ratio));
      all.push_back(topk_library(shape, ratio));
      all.push_back(topk_threshold(shape, ratio));
      if (can_be_sampled(shape, ratio)) {
        all.push_back(topk_sample(shape, ratio));
      }
    }
    for (const Shape& shape : shapes_of(plan, ratio == plan.ratios.front())) {
      all.push_back(random_k_gather(shape, ratio));
    }
  }
  for (const Shape& shape : plan.shapes) {
    all.push_back(topk_chunk<64>(shape, 1));
  }
  for (const Shape& shape : few_shapes(plan)) {
    if (plan.every_variant) {
      all.push_back(topk_chunk<32>(shape, 1));
      all.push_back(topk_chunk<64>(shape, 2));
      all.push_back(topk_chunk<256>(shape, 4));
    }
  }
  return all;
}

}  // namespace payoff::kernels
