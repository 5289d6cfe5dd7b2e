// SPDX-License-Identifier: Apache-2.0
// Formats with a scale each few values: e4m3 of 128, MXFP8, MXFP4, NVFP4; written by one kernel,
// and as a framework without them does it.
#include "kernels/families/block_formats.cuh"
#include "kernels/families/families.hpp"

namespace payoff::kernels {
namespace {

template <typename Format>
[[nodiscard]] std::string message_mismatch(const std::vector<float>& in,
                                           const BlockMessage<typename Format::Scale>& found) {
  const ScaledCodes expected = Format::reference(in);
  return first_of(differs("codes", *found.codes, expected.codes),
                  differs("scales", *found.scales, Format::scales_of(expected)));
}

template <typename Format>
Benchmark encoding(const Shape& shape) {
  const bool twice = Format::scales_tensor;  // the largest magnitude first
  const Traffic traffic =
      streamed(shape.elements, twice ? 8 : 4, message_bytes<Format>(), twice ? 3 : 1);
  Benchmark b{
      point_of(Format::name, "blocks", "fused", shape, parameters_of_blocks<Format>(), traffic),
      bytes_of((4.0 + message_bytes<Format>()) * static_cast<double>(shape.elements)),
      {}};
  b.make = [shape] {
    auto in = drawn_on_device(shape);
    const auto out = message_of<Format>(shape.elements);
    return Work{[=](Stream s) { Format::encode(s, in->data(), out, shape.elements); },
                [=] { return message_mismatch<Format>(in->read(), out); },
                [=] { return checksum_of(*out.codes, *out.scales); }};
  };
  return b;
}

template <typename Format>
void encode_by_operators(Stream s, const float* in, const BlockMessage<typename Format::Scale>& out,
                         const Between& between, std::size_t n) {
  float* first = between.first->data();
  float* second = between.second->data();
  map<4>(s, in, first, n, Magnitude{});
  Format::scales(s, first, out, between.inverse->data(), n);
  map<4>(s, in, first, n, TimesGroupFactor{between.inverse->data(), Format::Blocks::block});
  map<4>(s, first, second, n, Clamp{-Format::top, Format::top});
  if constexpr (Format::Blocks::bits == 8) {
    map<4>(s, second, out.codes->data(), n, FloatToE4m3{});
  } else {
    map<4>(s, second, between.bytes->data(), n, FloatToE2m1{});
    launch_threads(s, divided_up(n, pack_values), pack_codes<Format::Blocks::bits>,
                   between.bytes->data(), out.codes->data(), n);
  }
}

// Magnitude, a maximum each block (and of the tensor), product, clamp, cast, packing below 8 bits.
template <typename Format>
Benchmark encoding_by_operators(const Shape& shape) {
  const double packed = Format::Blocks::bits < 8 ? 1.0 : 0.0;
  const double tensor = Format::scales_tensor ? 4.0 : 0.0;
  const double factors = 4.0 / static_cast<double>(Format::Blocks::block);
  const Traffic traffic = streamed(shape.elements, 20 + factors + tensor + packed,
                                   12 + packed + factors + message_bytes<Format>(),
                                   5 + (packed > 0 ? 1 : 0) + (tensor > 0 ? 2 : 0));
  Benchmark b{
      point_of(Format::name, "blocks", "framework_ops", shape, parameters_of_blocks<Format>(),
               traffic),
      bytes_of((13.0 + factors + message_bytes<Format>()) * static_cast<double>(shape.elements)),
      {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    const auto out = message_of<Format>(n);
    const Between between(n, out.scales->count());
    return Work{[=](Stream s) { encode_by_operators<Format>(s, in->data(), out, between, n); },
                [=] { return message_mismatch<Format>(in->read(), out); },
                [=] { return checksum_of(*out.codes, *out.scales); }};
  };
  return b;
}

}  // namespace

std::vector<Benchmark> block_benchmarks(const Plan& plan) {
  return of_block_formats(plan, [](auto format, const Shape& shape, std::vector<Benchmark>& all) {
    all.push_back(encoding<decltype(format)>(shape));
    all.push_back(encoding_by_operators<decltype(format)>(shape));
  });
}

}  // namespace payoff::kernels
