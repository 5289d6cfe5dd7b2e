// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/device/decoding.cuh"
#include "kernels/families/common.cuh"
#include "kernels/families/operators.cuh"
#include "kernels/reference/quantized.hpp"

// The block formats as the benchmarks of both directions see them: how each is written by one
// kernel, how its scales come from a tensor of magnitudes, and what its codes are worth.

namespace payoff::kernels {

// A message on the device; scales are floats of e4m3's blocks, else bytes.
template <typename Scale>
struct BlockMessage {
  Shared<Byte> codes;
  Shared<Scale> scales;
  Shared<Word> largest = array_of<Word>(1);  // of the tensor; only NVFP4 needs it

  BlockMessage(std::size_t count, unsigned bits, std::size_t block)
      : codes(array_of<Byte>(divided_up(count * bits, 8))),
        scales(array_of<Scale>(divided_up(count, block))) {}
};

struct Fp8BlockFormat {
  using Scale = float;
  using Blocks = Fp8Blocks;
  static constexpr const char* name = "fp8_blocks";
  static constexpr float top = e4m3_top;
  static constexpr bool scales_tensor = false;
  static void encode(Stream s, const float* in, const BlockMessage<Scale>& out, std::size_t n) {
    launch_threads(s, out.scales->count() * GroupLayout<fp8_block>::lanes, fp8_blocks<float>, in,
                   out.codes->data(), out.scales->data(), n);
  }
  static void scales(Stream s, const float* magnitudes, const BlockMessage<Scale>& out,
                     float* inverse, std::size_t n) {
    launch_threads(s, out.scales->count() * GroupLayout<fp8_block>::lanes,
                   scales_of_groups<fp8_block>, magnitudes, out.scales->data(), inverse, top, n);
  }
  [[nodiscard]] static Blocks blocks(const BlockMessage<Scale>& of) { return {of.scales->data()}; }
  [[nodiscard]] static ScaledCodes reference(const std::vector<float>& v) {
    return encode_fp8_blocks(v);
  }
  [[nodiscard]] static const std::vector<float>& scales_of(const ScaledCodes& m) {
    return m.scales;
  }
  [[nodiscard]] static std::vector<float> decoded(const ScaledCodes& m, std::size_t /*count*/) {
    return decode_fp8_blocks(m, fp8_block);
  }
};

template <typename Format>
struct MxBlockFormat {
  using Scale = Byte;
  using Blocks = MxBlocks<Format>;
  static constexpr bool of_8_bits = Format::bits == 8;
  static constexpr const char* name = of_8_bits ? "mxfp8" : "mxfp4";
  static constexpr float top = of_8_bits ? e4m3_top : e2m1_top;
  static constexpr bool scales_tensor = false;
  static void encode(Stream s, const float* in, const BlockMessage<Scale>& out, std::size_t n) {
    launch_threads(s, out.scales->count() * GroupLayout<mx_block>::lanes, mx_blocks<Format, float>,
                   in, out.codes->data(), out.scales->data(), n);
  }
  static void scales(Stream s, const float* magnitudes, const BlockMessage<Scale>& out,
                     float* inverse, std::size_t n) {
    launch_threads(s, out.scales->count() * GroupLayout<mx_block>::lanes,
                   mx_scales_of_groups<Format>, magnitudes, out.scales->data(), inverse, n);
  }
  [[nodiscard]] static Blocks blocks(const BlockMessage<Scale>& of) { return {of.scales->data()}; }
  [[nodiscard]] static ScaledCodes reference(const std::vector<float>& v) {
    return of_8_bits ? encode_mxfp8(v) : encode_mxfp4(v);
  }
  [[nodiscard]] static const std::vector<Byte>& scales_of(const ScaledCodes& m) { return m.shared; }
  [[nodiscard]] static std::vector<float> decoded(const ScaledCodes& m, std::size_t count) {
    return of_8_bits ? decode_mxfp8(m) : decode_mxfp4(m, count);
  }
};

struct NvBlockFormat {
  using Scale = Byte;
  using Blocks = NvBlocks;
  static constexpr const char* name = "nvfp4";
  static constexpr float top = e2m1_top;
  static constexpr bool scales_tensor = true;
  static void encode(Stream s, const float* in, const BlockMessage<Scale>& out, std::size_t n) {
    find_largest(s, in, out.largest->data(), n);
    launch_threads(s, out.scales->count() * GroupLayout<nv_block>::lanes, nvfp4_blocks<float>, in,
                   out.codes->data(), out.scales->data(), out.largest->data(), n);
  }
  static void scales(Stream s, const float* magnitudes, const BlockMessage<Scale>& out,
                     float* inverse, std::size_t n) {
    find_largest(s, magnitudes, out.largest->data(), n);
    launch_threads(s, out.scales->count() * GroupLayout<nv_block>::lanes, nv_scales_of_groups,
                   magnitudes, out.largest->data(), out.scales->data(), inverse, n);
  }
  [[nodiscard]] static Blocks blocks(const BlockMessage<Scale>& of) {
    return {of.scales->data(), of.largest->data()};
  }
  [[nodiscard]] static ScaledCodes reference(const std::vector<float>& v) {
    return encode_nvfp4(v);
  }
  [[nodiscard]] static const std::vector<Byte>& scales_of(const ScaledCodes& m) { return m.shared; }
  [[nodiscard]] static std::vector<float> decoded(const ScaledCodes& m, std::size_t count) {
    return decode_nvfp4(m, count);
  }
};

// Of a value: its code, and its share of the block's scale.
template <typename Format>
[[nodiscard]] constexpr double message_bytes() {
  return Format::Blocks::bits / 8.0 +
         sizeof(typename Format::Scale) / static_cast<double>(Format::Blocks::block);
}

template <typename Format>
[[nodiscard]] BlockMessage<typename Format::Scale> message_of(std::size_t count) {
  return {count, Format::Blocks::bits, Format::Blocks::block};
}

template <typename Format>
[[nodiscard]] Parameters parameters_of_blocks() {
  return {{"group", static_cast<double>(Format::Blocks::block)}};
}

// Of every shape and format what `both` makes of them.
template <typename Both>
[[nodiscard]] std::vector<Benchmark> of_block_formats(const Plan& plan, const Both& both) {
  std::vector<Benchmark> all;
  for (const Shape& shape : plan.shapes) {
    both(Fp8BlockFormat{}, shape, all);
    both(MxBlockFormat<Mxfp8>{}, shape, all);
    both(MxBlockFormat<Mxfp4>{}, shape, all);
    both(NvBlockFormat{}, shape, all);
  }
  return all;
}

}  // namespace payoff::kernels
