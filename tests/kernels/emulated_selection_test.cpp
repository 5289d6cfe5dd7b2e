// SPDX-License-Identifier: Apache-2.0
// Selection, sparse messages and transforms on the emulated grid, against the host reference.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "kernels/device/selection.cuh"
#include "kernels/device/sparse.cuh"
#include "kernels/device/transforms.cuh"
#include "kernels/reference/quantized.hpp"
#include "kernels/reference/sparse.hpp"
#include "kernels/reference/transforms.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/emulated.hpp"
#include "tests/kernels/tensors.hpp"

using namespace payoff::kernels;
using namespace payoff::kernels::test;

namespace {

struct SparseBuffer {
  explicit SparseBuffer(std::size_t capacity) : indices(capacity), values(capacity) {}
  std::vector<std::uint32_t> indices;
  std::vector<float> values;
  [[nodiscard]] SparseOutput output() { return {indices.data(), values.data()}; }
};

// In the order of the indices.
SparseMessage sorted(const SparseBuffer& buffer, std::size_t length) {
  std::vector<std::pair<std::uint32_t, float>> entries;
  for (std::size_t i = 0; i < length; ++i) {
    entries.emplace_back(buffer.indices[i], buffer.values[i]);
  }
  std::sort(entries.begin(), entries.end());
  SparseMessage message;
  for (const auto& [index, value] : entries) {
    message.indices.push_back(index);
    message.values.push_back(value);
  }
  return message;
}

struct Selected {
  SparseMessage message;
  SelectState state;
};

Selected emulated_top_k(const std::vector<float>& values, std::uint32_t k) {
  const Aligned<float> in(values);
  auto state = std::make_unique<SelectState>();
  SparseBuffer out(k);
  SparseBuffer first(values.size());
  SparseBuffer second(values.size());
  constexpr unsigned blocks = 3;
  emulation::launch(1, block_threads, [&] { start_selection(state.get(), k); });
  emulation::launch(blocks, block_threads,
                    [&] { count_first_digit(in.data(), state.get(), values.size()); });
  CandidateSource source{in.data(), nullptr, values.size()};
  SparseBuffer* target = &first;
  for (int pass = 0; pass < select_passes; ++pass) {
    emulation::launch(1, block_threads, [&] { narrow_selection(state.get(), pass); });
    emulation::launch(blocks, block_threads, [&] {
      filter_candidates(source, state.get(), pass, target->output(), out.output());
    });
    source = {target->values.data(), target->indices.data(), values.size()};
    target = target == &first ? &second : &first;
  }
  return {sorted(out, k), *state};
}

Matrix drawn_matrix(std::size_t rows, std::size_t columns) {
  return {rows, columns, drawn(InputKind::gaussian, rows * columns, 21)};
}

}  // namespace

TEST_CASE("the selection kernels find the reference's k largest") {
  for (const auto& tensor : tensors()) {
    const std::size_t count = tensor.values.size();
    for (const std::size_t k : {std::size_t{1}, count / 50, count / 3, count}) {
      if (k == 0) {
        continue;
      }
      INFO(tensor.name << ", k = " << k);
      const SparseMessage expected = top_k(tensor.values, static_cast<std::uint32_t>(k));
      const Selected found = emulated_top_k(tensor.values, static_cast<std::uint32_t>(k));
      CHECK(found.state.selection.prefix ==
            select_key(tensor.values, static_cast<std::uint32_t>(k)));
      // Which of equal magnitudes are taken is whatever comes first: no place twice, each value
      // its place's, and the same magnitudes as the reference.
      std::vector<float> magnitudes;
      std::vector<float> expected_magnitudes;
      for (std::size_t i = 0; i < k; ++i) {
        REQUIRE((i == 0 || found.message.indices[i - 1] < found.message.indices[i]));
        REQUIRE(found.message.values[i] == tensor.values.at(found.message.indices[i]));
        magnitudes.push_back(std::abs(found.message.values[i]));
        expected_magnitudes.push_back(std::abs(expected.values[i]));
      }
      std::sort(magnitudes.begin(), magnitudes.end());
      std::sort(expected_magnitudes.begin(), expected_magnitudes.end());
      CHECK(magnitudes == expected_magnitudes);
    }
  }
}

TEST_CASE("threshold, chunk and permutation kernels give the reference's messages") {
  for (const auto& tensor : tensors()) {
    INFO(tensor.name);
    const std::size_t count = tensor.values.size();
    const Aligned<float> in(tensor.values);
    const float threshold = largest_magnitude(tensor.values) / 4.0F;
    SparseBuffer out(count);
    std::uint32_t length = 0;
    emulation::launch(2, block_threads, [&] {
      compact_above(in.data(), &threshold, out.output(), &length, static_cast<std::uint32_t>(count),
                    count);
    });
    const SparseMessage expected = above(tensor.values, threshold);
    REQUIRE(length == expected.indices.size());
    CHECK(sorted(out, length).indices == expected.indices);

    const SparseMessage chunks = top_of_chunks(tensor.values, 64, 2);
    SparseBuffer tops(2 * divided_up(count, 64));
    launch_threads(divided_up(count, 64) * warp_lanes,
                   [&] { top_of_each_chunk<64>(in.data(), 2, tops.output(), count); });
    CHECK(std::equal(chunks.indices.begin(), chunks.indices.end(), tops.indices.begin()));
    CHECK(std::equal(chunks.values.begin(), chunks.values.end(), tops.values.begin()));

    const auto k = static_cast<std::uint32_t>(divided_up(count, 3));
    const SparseMessage random = random_k(tensor.values, k, 77);
    SparseBuffer gathered(k);
    launch_threads(k, [&] {
      gather_random(in.data(), SharedPermutation(static_cast<std::uint32_t>(count), 77),
                    gathered.values.data(), gathered.indices.data(), k);
    });
    CHECK(gathered.indices == random.indices);
    CHECK(gathered.values == random.values);
    std::vector<float> dense(count, 0.0F);
    launch_threads(
        k, [&] { scatter_sum(gathered.indices.data(), gathered.values.data(), dense.data(), k); });
    CHECK(dense == scattered(std::vector<SparseMessage>{random}, count));
  }
}

TEST_CASE("compaction beyond its capacity counts on and writes nothing") {
  const std::vector<float> values = drawn(InputKind::constant, 300);
  const float threshold = 0.0F;
  SparseBuffer out(100);
  std::uint32_t length = 0;
  emulation::launch(1, block_threads, [&] {
    compact_above(values.data(), &threshold, out.output(), &length, 100, values.size());
  });
  CHECK(length == 300);
}

TEST_CASE("a sampled threshold on the grid is the reference's") {
  const auto values = drawn(InputKind::student_t3, 30000);
  constexpr std::uint32_t stride = 10;
  constexpr std::uint32_t k = 900;
  std::vector<float> sample(values.size() / stride);
  auto state = std::make_unique<SelectState>();
  float threshold = 0.0F;
  launch_threads(sample.size(),
                 [&] { take_sample(values.data(), sample.data(), stride, sample.size()); });
  emulation::launch(1, block_threads, [&] { start_selection(state.get(), k / stride); });
  for (int pass = 0; pass < select_passes; ++pass) {
    emulation::launch(2, block_threads,
                      [&] { count_next_digit(sample.data(), state.get(), pass, sample.size()); });
    emulation::launch(1, block_threads, [&] { narrow_selection(state.get(), pass); });
  }
  emulation::launch(1, 32, [&] { selected_value(state.get(), &threshold); });
  CHECK(threshold == sampled_threshold(values, k, stride));
}

TEST_CASE("a sketch on the grid is the reference's where blocks come in order") {
  const auto values = drawn(InputKind::gaussian, 3001);
  constexpr SketchShape shape{3, 97, 8};
  constexpr SketchSize size{3, 97, 8};
  std::vector<float> sketch(3 * 97, 0.0F);
  launch_threads(values.size(),
                 [&] { add_to_sketch(values.data(), sketch.data(), size, values.size()); });
  CHECK(sketch == count_sketch(values, shape));
  std::vector<float> back(values.size());
  launch_threads(values.size(),
                 [&] { estimate_from_sketch(sketch.data(), back.data(), size, values.size()); });
  CHECK(back == sketch_estimates(sketch, shape, values.size()));
}

TEST_CASE("Hadamard kernels give the reference's bytes, forwards and back") {
  constexpr RandomKey key{4, 4};
  for (const auto& tensor : tensors()) {
    for (const int log2_tile : {5, 7, 10}) {
      INFO(tensor.name << ", tile 2^" << log2_tile);
      const auto expected = hadamard(tensor.values, log2_tile, key);
      Poisoned<float> out(expected.size());
      const auto blocks = static_cast<unsigned>(divided_up(expected.size(), hadamard_block));
      emulation::launch(blocks, block_threads, [&] {
        hadamard_tiles<true>(tensor.values.data(), out.data(), log2_tile, key, tensor.values.size(),
                             expected.size());
      });
      CHECK(out.holds(expected));
      Poisoned<float> back(expected.size());
      emulation::launch(blocks, block_threads, [&] {
        hadamard_tiles<false>(expected.data(), back.data(), log2_tile, key, expected.size(),
                              expected.size());
      });
      CHECK(back.holds(inverse_hadamard(expected, log2_tile, key, expected.size())));
    }
  }
}

TEST_CASE("the fused transform and quantiser gives what the two references give in turn") {
  constexpr RandomKey key{4, 5};
  const auto values = drawn(InputKind::student_t3, 4096 + 96);
  const auto transformed = hadamard(values, 5, key);
  const ScaledCodes expected = quantize_groups(transformed, {4, 32, Rounding::nearest, {}});
  Poisoned<std::uint8_t> codes(expected.codes.size());
  Poisoned<float> steps(expected.scales.size());
  emulation::launch(
      static_cast<unsigned>(divided_up(values.size(), hadamard_block)), block_threads,
      [&] { hadamard_quantize(values.data(), codes.data(), steps.data(), key, values.size()); });
  CHECK(codes.holds(expected.codes));
  CHECK(steps.holds(expected.scales));
}

TEST_CASE("orthogonalisation on the grid is the reference's within the rounding of its sums") {
  const Matrix start = drawn_matrix(300, 6);
  Matrix by_columns = start;
  Matrix by_factor = start;
  orthogonalize_gram_schmidt(by_columns);
  orthogonalize_cholesky(by_factor);
  std::vector<float> columns = start.values;
  emulation::launch(1, block_threads, [&] { gram_schmidt(columns.data(), 300, 6); });
  std::vector<float> factor = start.values;
  std::vector<float> gram(36);
  emulation::launch(6, block_threads, [&] { gram_rows(factor.data(), gram.data(), 300, 6); });
  emulation::launch(1, block_threads, [&] { cholesky(gram.data(), 6); });
  launch_threads(300, [&] { substitute_rows(factor.data(), gram.data(), 300, 6, 1); });
  // Sums of 300 products in another order: 300 u of the largest, grown by a condition number
  // below 2.
  for (std::size_t i = 0; i < columns.size(); ++i) {
    REQUIRE(std::abs(columns[i] - by_columns.values[i]) < 4.0F * 300.0F * 6e-8F);
    REQUIRE(std::abs(factor[i] - by_factor.values[i]) < 4.0F * 300.0F * 6e-8F);
  }
}
