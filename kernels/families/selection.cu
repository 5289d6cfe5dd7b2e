// SPDX-License-Identifier: Apache-2.0
// Sparse messages: exact Top-K by radix select, by sorting everything, thresholds from samples,
// thresholds given, the largest of each chunk, and Random-K.
#include "kernels/device/selection.cuh"
#include "kernels/device/sparse.cuh"
#include "kernels/families/common.cuh"
#include "kernels/families/families.hpp"
#include "kernels/families/sorting.hpp"
#include "kernels/reference/quantized.hpp"
#include "kernels/reference/sparse.hpp"

namespace payoff::kernels {
namespace {

[[nodiscard]] Word kept(const Shape& shape, double ratio) {
  const double k = static_cast<double>(shape.elements) * ratio;
  return k < 1.0 ? 1U : static_cast<Word>(k);
}

struct SparseArrays {
  Shared<Word> indices;
  Shared<float> values;
  explicit SparseArrays(std::size_t capacity)
      : indices(array_of<Word>(capacity)), values(array_of<float>(capacity)) {}
  [[nodiscard]] SparseOutput output() const { return {indices->data(), values->data()}; }
};

// Whatever order they are in, the entries are places of the tensor with their values, each once,
// and their magnitudes are those of the reference's message.
[[nodiscard]] std::string same_selection(const SparseArrays& found, std::size_t length,
                                         const std::vector<float>& tensor,
                                         const SparseMessage& expected) {
  if (!found.indices->guard_is_whole() || !found.values->guard_is_whole()) {
    return "entries: written past their end";
  }
  if (length != expected.indices.size()) {
    return "entries: " + std::to_string(length) + " instead of " +
           std::to_string(expected.indices.size());
  }
  const std::vector<Word> indices = found.indices->read_first(length);
  const std::vector<float> values = found.values->read_first(length);
  std::vector<bool> taken(tensor.size());
  std::vector<Word> keys;
  std::vector<Word> expected_keys;
  for (std::size_t i = 0; i < length; ++i) {
    if (indices[i] >= tensor.size() || taken[indices[i]] ||
        bits_of(tensor[indices[i]]) != bits_of(values[i])) {
      return "entry " + std::to_string(i) + " is no value of its place, or there twice";
    }
    taken[indices[i]] = true;
    keys.push_back(magnitude_key(values[i]));
    expected_keys.push_back(magnitude_key(expected.values[i]));
  }
  std::sort(keys.begin(), keys.end());
  std::sort(expected_keys.begin(), expected_keys.end());
  return first_difference("magnitudes", as_bytes(keys), as_bytes(expected_keys));
}

struct Selecting {
  Shared<SelectState> state = array_of<SelectState>(1);
  SparseArrays first;
  SparseArrays second;
  explicit Selecting(std::size_t count) : first(count), second(count) {}

  void run(Stream s, const float* in, std::size_t n, Word k, SparseOutput out) const {
    launch(s, 1, block_threads, start_selection, state->data(), k);
    launch(s, striding_blocks(n, 4UL * block_threads), block_threads, count_first_digit, in,
           state->data(), n);
    CandidateSource source{in, nullptr, n};
    for (int pass = 0; pass < select_passes; ++pass) {
      const SparseArrays& target = pass == 1 ? second : first;
      launch(s, 1, block_threads, narrow_selection, state->data(), pass);
      launch(s, striding_blocks(n, round_values), block_threads, filter_candidates, source,
             state->data(), pass, target.output(), out);
      source = {target.values->data(), target.indices->data(), n};
    }
  }
};

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
    return Work{[=](Stream s) { selecting.run(s, in->data(), shape.elements, k, out.output()); },
                [=] {
                  const std::vector<float> tensor = in->read();
                  return same_selection(out, k, tensor, top_k(tensor, k));
                },
                [=] { return checksum_of(*out.values); }};
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
    return Work{[=](Stream s) { sorting->largest(s, in->data(), k, out.output()); },
                [=] {
                  const std::vector<float> tensor = in->read();
                  return same_selection(out, k, tensor, top_k(tensor, k));
                },
                [=] { return checksum_of(*out.values); }};
  };
  return b;
}

void compact(Stream s, const float* in, const float* threshold, const SparseArrays& out,
             Word* length, std::size_t n) {
  fill_in_stream(s, length, 0, sizeof(Word));
  launch(s, striding_blocks(n, round_values), block_threads, compact_above, in, threshold,
         out.output(), length, static_cast<Word>(out.indices->count()), n);
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
    auto threshold = array_of<float>(1);
    auto length = array_of<Word>(1);
    const SparseArrays out(n);
    {
      const Selecting selecting(n);
      const SparseArrays exact(k);
      selecting.run(Stream{}, in->data(), n, k, exact.output());
      launch(Stream{}, 1, warp_lanes, selected_value, selecting.state->data(), threshold->data());
      wait_for(Stream{});
    }
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
  constexpr Word stride = 100;
  const Word k = kept(shape, ratio);
  const auto elements = static_cast<double>(shape.elements);
  const Traffic traffic{
      bytes_of(4.0 * elements + 0.12 * elements), bytes_of(8.0 * k), {}, elements / stride, 11, 0};
  Benchmark b{point_of("topk_sample", "selection", "fused", shape, {{"ratio", ratio}}, traffic),
              bytes_of(12.1 * elements),
              {}};
  b.make = [shape, k] {
    const std::size_t n = shape.elements;
    const std::size_t sampled = divided_up(n, std::size_t{stride});
    auto in = drawn_on_device(shape);
    auto sample = array_of<float>(sampled);
    auto state = array_of<SelectState>(1);
    auto threshold = array_of<float>(1);
    auto length = array_of<Word>(1);
    const SparseArrays out(n);
    return Work{[=](Stream s) {
                  const Word in_sample = k / stride > 0 ? k / stride : 1U;
                  launch_threads(s, sampled, take_sample, in->data(), sample->data(),
                                 std::size_t{stride}, sampled);
                  launch(s, 1, block_threads, start_selection, state->data(), in_sample);
                  for (int pass = 0; pass < select_passes; ++pass) {
                    launch(s, striding_blocks(sampled, block_threads), block_threads,
                           count_next_digit, sample->data(), state->data(), pass, sampled);
                    launch(s, 1, block_threads, narrow_selection, state->data(), pass);
                  }
                  launch(s, 1, warp_lanes, selected_value, state->data(), threshold->data());
                  compact(s, in->data(), threshold->data(), out, length->data(), n);
                },
                [=] {
                  const std::vector<float> tensor = in->read();
                  const float expected = sampled_threshold(tensor, k, stride);
                  return first_of(
                      differs("threshold", *threshold, std::vector<float>{expected}),
                      same_selection(out, length->read().front(), tensor, above(tensor, expected)));
                },
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

}  // namespace

std::vector<Benchmark> selection_benchmarks(const Plan& plan) {
  std::vector<Benchmark> all;
  for (const Shape& shape : plan.shapes) {
    for (const double ratio : plan.ratios) {
      all.push_back(topk_radix(shape, ratio));
      all.push_back(topk_sort(shape, ratio));
      all.push_back(topk_threshold(shape, ratio));
      // A sample needs a hundred values for each of its own.
      if (static_cast<double>(shape.elements) * ratio >= 100.0) {
        all.push_back(topk_sample(shape, ratio));
      }
      all.push_back(random_k_gather(shape, ratio));
    }
    all.push_back(topk_chunk<64>(shape, 1));
    if (plan.every_variant) {
      all.push_back(topk_chunk<32>(shape, 1));
      all.push_back(topk_chunk<64>(shape, 2));
      all.push_back(topk_chunk<256>(shape, 4));
    }
  }
  return all;
}

}  // namespace payoff::kernels
