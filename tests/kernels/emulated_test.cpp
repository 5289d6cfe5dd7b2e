// SPDX-License-Identifier: Apache-2.0
// The device kernels, run on the emulated grid: byte for byte what the host reference gives.
#include "tests/kernels/emulated.hpp"

#include <algorithm>

#include "kernels/device/elementwise.cuh"
#include "kernels/device/groups.cuh"
#include "kernels/device/reductions.cuh"
#include "kernels/device/signs.cuh"
#include "kernels/reference/quantized.hpp"
#include "kernels/reference/signs_and_sums.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/tensors.hpp"

using namespace payoff::kernels;
using namespace payoff::kernels::test;

namespace {

constexpr RandomKey key{7, 3};

template <unsigned group, unsigned bits, bool stochastic>
void check_quantize(const Tensor& tensor) {
  const GroupFormat format{static_cast<int>(bits), group,
                           stochastic ? Rounding::stochastic : Rounding::nearest, key};
  const ScaledCodes expected = quantize_groups(tensor.values, format);
  const std::size_t count = tensor.values.size();
  Poisoned<std::uint8_t> codes(expected.codes.size());
  Poisoned<float> steps(expected.scales.size());
  Aligned<float> in(tensor.values);
  const std::size_t threads = divided_up(count, group) * GroupLayout<group>::lanes;
  launch_threads(threads, [&] {
    quantize_group_values<group, bits, stochastic>(in.data(), codes.data(), steps.data(), count,
                                                   key);
  });
  CHECK(codes.holds(expected.codes));
  CHECK(steps.holds(expected.scales));
  Poisoned<float> back(count);
  launch_threads(divided_up(count, 8), [&] {
    dequantize_group_values<group, bits>(codes.data(), steps.data(), back.data(), count);
  });
  CHECK(back.holds(dequantize_groups(expected, format, count)));
}

template <typename Encode>
void check_block_codec(const ScaledCodes& expected, std::size_t values_each_lane_group,
                       std::size_t lanes, std::size_t count, const Encode& encode) {
  Poisoned<std::uint8_t> codes(expected.codes.size());
  Poisoned<std::uint8_t> scales(expected.shared.size());
  launch_threads(divided_up(count, values_each_lane_group) * lanes,
                 [&] { encode(codes.data(), scales.data()); });
  CHECK(codes.holds(expected.codes));
  CHECK(scales.holds(expected.shared));
}

std::uint32_t emulated_largest(const std::vector<float>& values) {
  const Aligned<float> in(values);
  std::uint32_t largest = 0;
  emulation::launch(3, block_threads,
                    [&] { largest_magnitude_key(in.data(), &largest, values.size()); });
  return largest;
}

float emulated_sum(const std::vector<float>& values) {
  std::vector<float> sums(divided_up(values.size(), sum_tile));
  emulation::launch(static_cast<unsigned>(sums.size()), sum_lanes,
                    [&] { tile_sums(MagnitudeTerm{values.data()}, sums.data(), values.size()); });
  while (sums.size() > 1) {
    std::vector<float> next(divided_up(sums.size(), sum_tile));
    emulation::launch(static_cast<unsigned>(next.size()), sum_lanes,
                      [&] { tile_sums(ValueTerm{sums.data()}, next.data(), sums.size()); });
    sums = next;
  }
  return sums.front();
}

template <unsigned bits, bool stochastic>
void check_reduction() {
  constexpr std::size_t count = 4099;
  constexpr int group = 128;
  constexpr RandomKey reduction_key{7, 23};
  const GroupFormat format{static_cast<int>(bits), group,
                           stochastic ? Rounding::stochastic : Rounding::nearest, reduction_key};
  std::vector<ScaledCodes> messages;
  std::vector<std::uint8_t> codes;
  std::vector<float> steps;
  const std::size_t stride = divided_up(divided_up(count * bits, 8), 16) * 16;
  for (std::uint64_t worker = 0; worker < 3; ++worker) {
    messages.push_back(quantize_groups(drawn(InputKind::student_t3, count, worker), format));
    codes.insert(codes.end(), messages.back().codes.begin(), messages.back().codes.end());
    codes.resize((worker + 1) * stride, 0);
    steps.insert(steps.end(), messages.back().scales.begin(), messages.back().scales.end());
  }
  const ScaledCodes expected = reduce_groups(messages, format, count);
  const Aligned<std::uint8_t> in(codes);
  Poisoned<std::uint8_t> out(expected.codes.size());
  Poisoned<float> out_steps(expected.scales.size());
  launch_threads(divided_up(count, group) * GroupLayout<group>::lanes, [&] {
    reduce_group_values<group, bits, stochastic>(in.data(), steps.data(), stride,
                                                 expected.scales.size(), 3, out.data(),
                                                 out_steps.data(), count, reduction_key);
  });
  CHECK(out.holds(expected.codes));
  CHECK(out_steps.holds(expected.scales));
}

}  // namespace

TEST_CASE("the emulated grid runs every thread of every block once, barriers and votes included") {
  std::vector<int> visits(3 * 64, 0);
  std::vector<unsigned> votes(3 * 64, 0);
  emulation::launch(3, 64, [&] {
    __shared__ unsigned shared[64];
    shared[threadIdx.x] = threadIdx.x;
    __syncthreads();
    const unsigned neighbour = shared[(threadIdx.x + 1) % 64];
    ++visits[global_thread()];
    const std::uint32_t odd = __ballot_sync(all_lanes, neighbour % 2 == 1);
    votes[global_thread()] = odd ^ __shfl_xor_sync(all_lanes, threadIdx.x % 32, 31U);
  });
  CHECK(visits == std::vector<int>(3 * 64, 1));
  for (unsigned i = 0; i < votes.size(); ++i) {
    // The neighbours of even threads are odd; lane i exchanges with lane 31 - i.
    CHECK(votes[i] == (0x55555555U ^ (31U - i % 32U)));
  }
}

TEST_CASE("group kernels give the reference's bytes for every width, group and rounding") {
  for (const auto& tensor : tensors()) {
    INFO(tensor.name);
    check_quantize<32, 8, false>(tensor);
    check_quantize<32, 4, true>(tensor);
    check_quantize<128, 4, false>(tensor);
    check_quantize<128, 2, true>(tensor);
    check_quantize<512, 8, true>(tensor);
    check_quantize<2048, 8, false>(tensor);
    check_quantize<2048, 2, false>(tensor);
  }
}

TEST_CASE("a kernel that adds quantised messages gives the reference's bytes") {
  check_reduction<8, false>();
  check_reduction<4, false>();
  check_reduction<2, false>();
  check_reduction<8, true>();
  check_reduction<4, true>();
  check_reduction<2, true>();
}

TEST_CASE("block-scaled kernels give the reference's bytes") {
  for (const auto& tensor : tensors()) {
    INFO(tensor.name);
    const std::size_t count = tensor.values.size();
    const Aligned<float> in(tensor.values);
    check_block_codec(
        encode_mxfp8(tensor.values), mx_block, 4, count,
        [&](auto* codes, auto* scales) { mx_blocks<Mxfp8>(in.data(), codes, scales, count); });
    check_block_codec(
        encode_mxfp4(tensor.values), mx_block, 4, count,
        [&](auto* codes, auto* scales) { mx_blocks<Mxfp4>(in.data(), codes, scales, count); });
    const std::uint32_t largest = emulated_largest(tensor.values);
    CHECK(float_of(largest) == largest_magnitude(tensor.values));
    check_block_codec(encode_nvfp4(tensor.values), nv_block, 2, count,
                      [&](auto* codes, auto* scales) {
                        nvfp4_blocks(in.data(), codes, scales, &largest, count);
                      });
    const ScaledCodes fp8 = encode_fp8_blocks(tensor.values);
    Poisoned<std::uint8_t> codes(count);
    Poisoned<float> scales(fp8.scales.size());
    launch_threads(divided_up(count, fp8_block) * 16,
                   [&] { fp8_blocks(in.data(), codes.data(), scales.data(), count); });
    CHECK(codes.holds(fp8.codes));
    CHECK(scales.holds(fp8.scales));
  }
}

TEST_CASE("element-wise kernels give the scalar code's bytes, the last odd values too") {
  for (const auto& tensor : tensors()) {
    INFO(tensor.name);
    const std::size_t count = tensor.values.size();
    const Aligned<float> in(tensor.values);
    const std::uint32_t largest = emulated_largest(tensor.values);
    Poisoned<std::uint8_t> natural(count);
    Poisoned<std::uint8_t> fp8(count);
    Poisoned<float> from_fp8(count);
    Poisoned<Bf16> bf16(count);
    Poisoned<float> sums(count);
    launch_threads(divided_up(count, 8), [&] {
      map_values<8>(in.data(), natural.data(), count, Naturally{key});
      map_values<8>(in.data(), fp8.data(), count, FloatToFp8{&largest});
      map_values<8>(in.data(), bf16.data(), count, FloatToBf16{});
      combine_values<8>(in.data(), in.data(), sums.data(), count, Sum{});
    });
    launch_threads(divided_up(count, 4), [&] {
      map_values<4>(fp8.data(), from_fp8.data(), count, Fp8ToFloat{&largest});
    });
    const ScaledCodes expected = encode_fp8_tensor(tensor.values);
    CHECK(natural.holds(encode_natural(tensor.values, key)));
    CHECK(fp8.holds(expected.codes));
    CHECK(from_fp8.holds(decode_fp8_blocks(expected, count)));
    for (std::size_t i = 0; i < count; ++i) {
      REQUIRE(bf16.data()[i].bits == to_bf16(tensor.values[i]).bits);
      REQUIRE(sums.data()[i] == tensor.values[i] + tensor.values[i]);
    }
  }
}

TEST_CASE("sign kernels give the reference's words, errors and majorities") {
  for (const auto& tensor : tensors()) {
    INFO(tensor.name);
    const std::size_t count = tensor.values.size();
    std::vector<float> expected_error = drawn(InputKind::laplace, count, 99);
    Aligned<float> error(expected_error);
    const SignMessage expected = encode_with_error_feedback(tensor.values, expected_error);
    std::vector<float> sums(divided_up(count, sum_tile));
    emulation::launch(static_cast<unsigned>(sums.size()), sum_lanes, [&] {
      tile_sums(CorrectedTerm{tensor.values.data(), error.data()}, sums.data(), count);
    });
    float sum = 0.0F;
    emulation::launch(1, sum_lanes, [&] { tile_sums(ValueTerm{sums.data()}, &sum, sums.size()); });
    Poisoned<std::uint32_t> words(expected.words.size());
    float scale = 0.0F;
    launch_threads(divided_up(count, signs_per_warp) * warp_lanes,
                   [&] { pack_with_residual(error.data(), &sum, words.data(), &scale, count); });
    CHECK(words.holds(expected.words));
    CHECK(bits_of(scale) == bits_of(expected.scale));
    CHECK(std::equal(expected_error.begin(), expected_error.end(), error.data()));
    Poisoned<float> back(count);
    launch_threads(divided_up(count, 8),
                   [&] { unpack_sign_bits(words.data(), &scale, back.data(), count); });
    CHECK(back.holds(unpack_signs(expected.words, expected.scale, count)));
    Poisoned<std::uint32_t> plain(expected.words.size());
    launch_threads(divided_up(count, signs_per_warp) * warp_lanes,
                   [&] { pack_sign_bits(tensor.values.data(), plain.data(), count); });
    CHECK(plain.holds(pack_signs(tensor.values)));
  }
}

TEST_CASE("the majority kernel gives the reference's words") {
  constexpr std::uint32_t workers = 9;
  constexpr std::size_t each = 37;
  std::vector<std::uint32_t> words;
  for (std::size_t i = 0; i < workers * each; ++i) {
    words.push_back(random_words({3, 1}, i).word[2]);
  }
  Poisoned<std::uint32_t> out(each);
  launch_threads(each, [&] { majority_words(words.data(), workers, out.data(), each); });
  CHECK(out.holds(majority_of(words, workers)));
}

TEST_CASE("sums of tiles are the reference's sums to the last bit") {
  for (const std::size_t count : {1UL, 255UL, 2049UL, 70001UL}) {
    const auto values = drawn(InputKind::student_t3, count);
    CHECK(bits_of(emulated_sum(values)) == bits_of(sum_of_magnitudes(values)));
  }
}
