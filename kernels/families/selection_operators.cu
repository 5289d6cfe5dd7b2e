// SPDX-License-Identifier: Apache-2.0
// Sparse messages as a framework's operators make them: magnitudes to memory, a selection or a
// comparison there, places, and the values at them.
#include "kernels/families/families.hpp"
#include "kernels/families/masks.cuh"

namespace payoff::kernels {
namespace {

[[nodiscard]] Point chain(const char* kernel, const Shape& shape, Parameters parameters,
                          const Traffic& traffic) {
  return point_of(kernel, "selection", "framework_ops", shape, std::move(parameters), traffic);
}

// Magnitudes, the k largest of them with their places, the values at these: three operators, of
// which the selection is the same as the fused one's.
Benchmark topk_by_operators(const Shape& shape, double ratio) {
  const Word k = kept(shape, ratio);
  const auto elements = static_cast<double>(shape.elements);
  const Traffic traffic{bytes_of(12.0 * elements + 4.0 * k),
                        bytes_of(4.0 * elements + 12.0 * k),
                        {},
                        static_cast<double>(k),
                        10,
                        0};
  Benchmark b{chain("topk_radix", shape, {{"ratio", ratio}}, traffic),
              bytes_of(24.0 * elements + 12.0 * k),
              {}};
  b.make = [shape, k] {
    auto in = drawn_on_device(shape);
    auto magnitudes = array_of<float>(shape.elements);
    const Selecting selecting(shape.elements);
    const SparseArrays found(k);
    const SparseArrays out(k);
    return work_of_top_k(in, out, k, [=](Stream s) {
      map<4>(s, in->data(), magnitudes->data(), shape.elements, Magnitude{});
      selecting.run(s, magnitudes->data(), shape.elements, k,
                    {out.indices->data(), found.values->data()});
      launch_threads(s, k, gather_places, in->data(), out.indices->data(), out.values->data(),
                     std::size_t{k});
    });
  };
  return b;
}

// Comparison, count of what is set, its places, the values there: what `mask.nonzero()` and
// indexing with it do. There the host waits for the count, which sizes the result; here there is
// room for all, and nobody waits.
struct Masking {
  Masks masks;
  Shared<Word> total = array_of<Word>(1);
  Shared<Word> length = array_of<Word>(1);
  SparseArrays out;

  explicit Masking(std::size_t count) : masks(count), out(count) {}

  // Of the magnitudes, which an operator before wrote.
  void run(Stream s, const float* in, const float* threshold, std::size_t n) const {
    masks.compare(s, threshold, n);
    fill_in_stream(s, total->data(), 0, sizeof(Word));
    masks.count(s, total->data(), n);
    masks.entries(s, in, out, length->data(), n);
  }

  [[nodiscard]] std::string counted() const { return differs("count", *total, length->read()); }
};

// Past the magnitudes: 4 read and 1 written by the comparison, 1 read by the count and by the
// places each; then 4 written a place, 4 read and 4 written a value.
[[nodiscard]] Traffic masked_traffic(double n, double k, double read, double accesses,
                                     int launches) {
  return {bytes_of((10.0 + read) * n + 4.0 * k),
          bytes_of(5.0 * n + 8.0 * k),
          {},
          k + accesses,
          launches,
          0};
}

Benchmark threshold_by_operators(const Shape& shape, double ratio) {
  const Word k = kept(shape, ratio);
  const auto elements = static_cast<double>(shape.elements);
  Benchmark b{
      chain("topk_threshold", shape, {{"ratio", ratio}}, masked_traffic(elements, k, 0.0, 0.0, 7)),
      bytes_of(32.0 * elements),
      {}};
  b.make = [shape, k] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    const auto threshold = exact_threshold(*in, k);
    const Masking masking(n);
    return Work{[=](Stream s) {
                  masking.masks.take_magnitudes(s, in->data(), n);
                  masking.run(s, in->data(), threshold->data(), n);
                },
                [=] {
                  const std::vector<float> tensor = in->read();
                  return first_of(masking.counted(),
                                  same_selection(masking.out, masking.length->read().front(),
                                                 tensor, above(tensor, threshold->read().front())));
                },
                [=] { return checksum_of(*masking.length); }};
  };
  return b;
}

Benchmark sample_by_operators(const Shape& shape, double ratio) {
  const Word k = kept(shape, ratio);
  const auto elements = static_cast<double>(shape.elements);
  Benchmark b{chain("topk_sample", shape, {{"ratio", ratio}},
                    masked_traffic(elements, k, 0.12, elements / sample_stride, 16)),
              bytes_of(17.1 * elements),
              {}};
  b.make = [shape, k] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    const Sampling sampling(n);
    const Masking masking(n);
    return Work{[=](Stream s) {
                  masking.masks.take_magnitudes(s, in->data(), n);
                  sampling.run(s, masking.masks.magnitudes->data(), k);
                  masking.run(s, in->data(), sampling.threshold->data(), n);
                },
                [=] {
                  return first_of(masking.counted(),
                                  sampled_mismatch(sampling, masking.out,
                                                   masking.length->read().front(), in->read(), k));
                },
                [=] { return checksum_of(*masking.length); }};
  };
  return b;
}

// Magnitudes, the largest of each chunk with their places, the values there.
template <int chunk>
Benchmark chunks_by_operators(const Shape& shape, int each) {
  const auto elements = static_cast<double>(shape.elements);
  const double taken = elements * each / chunk;
  const Traffic traffic{bytes_of(8.0 * elements + 4.0 * taken),
                        bytes_of(4.0 * elements + 12.0 * taken),
                        {},
                        taken,
                        3,
                        0};
  Benchmark b{
      chain("topk_chunk", shape, {{"chunk", chunk}, {"kept", static_cast<double>(each)}}, traffic),
      bytes_of(8.0 * elements + 16.0 * taken),
      {}};
  b.make = [shape, each] {
    const std::size_t n = shape.elements;
    const std::size_t chunks = divided_up(n, static_cast<std::size_t>(chunk));
    const auto of_chunk = static_cast<std::size_t>(each);
    // A short last chunk may have less than is kept of the others.
    const std::size_t in_last = n - (chunks - 1) * static_cast<std::size_t>(chunk);
    const std::size_t entries = (chunks - 1) * of_chunk + std::min(of_chunk, in_last);
    auto in = drawn_on_device(shape);
    auto magnitudes = array_of<float>(n);
    const SparseArrays found(chunks * of_chunk);
    const SparseArrays out(chunks * of_chunk);
    return Work{
        [=](Stream s) {
          map<4>(s, in->data(), magnitudes->data(), n, Magnitude{});
          launch_threads(s, chunks * warp_lanes, top_of_each_chunk<chunk>, magnitudes->data(), each,
                         SparseOutput{out.indices->data(), found.values->data()}, n);
          launch_threads(s, entries, gather_places, in->data(), out.indices->data(),
                         out.values->data(), entries);
        },
        [=] {
          const std::vector<float> tensor = in->read();
          return same_selection(out, entries, tensor, top_of_chunks(tensor, chunk, of_chunk));
        },
        [=] { return checksum_of(*out.values); }};
  };
  return b;
}

// Places to memory, then the values at them. Places drawn as a framework draws them, by sorting
// random keys of the whole tensor, cost a sort more: topk_sort's.
Benchmark random_k_by_operators(const Shape& shape, double ratio) {
  const Word k = kept(shape, ratio);
  const Traffic traffic{bytes_of(4.0 * k), bytes_of(8.0 * k), {}, static_cast<double>(k), 2, 0};
  Benchmark b{chain("random_k", shape, {{"ratio", ratio}}, traffic),
              bytes_of(4.0 * static_cast<double>(shape.elements) + 8.0 * k),
              {}};
  b.make = [shape, k] {
    constexpr Word seed = 77;
    auto in = drawn_on_device(shape);
    const SparseArrays out(k);
    return Work{
        [=](Stream s) {
          launch_threads(s, k, draw_places,
                         SharedPermutation(static_cast<Word>(shape.elements), seed),
                         out.indices->data(), k);
          launch_threads(s, k, gather_places, in->data(), out.indices->data(), out.values->data(),
                         std::size_t{k});
        },
        [=] { return differs("values", *out.values, random_k(in->read(), k, seed).values); },
        [=] { return checksum_of(*out.values); }};
  };
  return b;
}

}  // namespace

std::vector<Benchmark> selection_operator_benchmarks(const Plan& plan) {
  std::vector<Benchmark> all;
  for (const double ratio : plan.ratios) {
    for (const Shape& shape : shapes_of(plan, ratio == plan.ratios.front())) {
      all.push_back(topk_by_operators(shape, ratio));
      all.push_back(threshold_by_operators(shape, ratio));
      if (can_be_sampled(shape, ratio)) {
        all.push_back(sample_by_operators(shape, ratio));
      }
      all.push_back(random_k_by_operators(shape, ratio));
    }
  }
  for (const Shape& shape : plan.shapes) {
    all.push_back(chunks_by_operators<64>(shape, 1));
  }
  return all;
}

}  // namespace payoff::kernels
