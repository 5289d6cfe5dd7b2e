// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/device/groups.cuh"
#include "kernels/families/common.cuh"
#include "kernels/reference/quantized.hpp"

// Grouped quantisation as its benchmarks share it: formats, the fused quantiser, and messages of
// several workers.

namespace payoff::kernels {

inline constexpr std::uint64_t rounding_stream = 23;

template <unsigned group, unsigned bits>
[[nodiscard]] GroupFormat format_of(bool stochastic, const Shape& shape) {
  return {static_cast<int>(bits), group, stochastic ? Rounding::stochastic : Rounding::nearest,
          RandomKey{shape.seed, rounding_stream}};
}

template <unsigned group, unsigned bits>
[[nodiscard]] Parameters parameters_of(bool stochastic) {
  return {{"bits", bits}, {"group", group}, {"stochastic", stochastic ? 1.0 : 0.0}};
}

template <unsigned bits>
[[nodiscard]] std::size_t code_bytes(std::size_t count) {
  return divided_up(count * bits, 8);
}

template <unsigned group, unsigned bits, bool stochastic, typename In>
void quantize(Stream s, const In* in, Byte* codes, float* steps, const Shape& shape) {
  launch_threads(s, divided_up(shape.elements, group) * GroupLayout<group>::lanes,
                 quantize_group_values<group, bits, stochastic, In>, in, codes, steps,
                 shape.elements, RandomKey{shape.seed, rounding_stream});
}

// Gradients as mixed precision leaves them.
[[nodiscard]] inline Shared<Bf16> drawn_in_bf16(const Shape& shape) {
  auto in = array_of<Bf16>(shape.elements);
  const auto drawn = drawn_on_device(shape);
  map<8>(Stream{}, drawn->data(), in->data(), shape.elements, FloatToBf16{});
  wait_for(Stream{});
  return in;
}

[[nodiscard]] inline std::vector<float> values_of(const DeviceArray<Bf16>& array) {
  std::vector<float> values;
  for (const Bf16 each : array.read()) {
    values.push_back(to_float(each));
  }
  return values;
}

// What groups of values become: codes, and the step of each group.
struct CodedGroups {
  Shared<Byte> codes;
  Shared<float> steps;
};

template <unsigned group, unsigned bits>
[[nodiscard]] CodedGroups coded_groups(std::size_t count) {
  return {array_of<Byte>(code_bytes<bits>(count)), array_of<float>(divided_up(count, group))};
}

// Work that writes them, held to what `expect` computes.
template <typename Run, typename Expect>
[[nodiscard]] Work work_on_groups(const CodedGroups& out, const Run& run, const Expect& expect) {
  return Work{run,
              [=] {
                const ScaledCodes expected = expect();
                return first_of(differs("codes", *out.codes, expected.codes),
                                differs("steps", *out.steps, expected.scales));
              },
              [=] { return checksum_of(*out.codes, *out.steps); }};
}

// Messages of several workers, one after the other, each begun on a boundary of 16 bytes.
struct Messages {
  Shared<Byte> codes;
  Shared<float> steps;
  std::size_t stride{};
  std::size_t groups{};
};

template <unsigned group, unsigned bits>
Messages quantized_messages(const Shape& shape, unsigned workers) {
  const std::size_t n = shape.elements;
  Messages m;
  m.stride = divided_up(code_bytes<bits>(n), 16) * 16;
  m.groups = divided_up(n, group);
  m.codes = array_of<Byte>(m.stride * workers);
  m.steps = array_of<float>(m.groups * workers);
  for (unsigned worker = 0; worker < workers; ++worker) {
    const auto in = drawn_on_device(shape, worker);
    quantize<group, bits, false>(Stream{}, in->data(), m.codes->data() + worker * m.stride,
                                 m.steps->data() + worker * m.groups, shape);
    wait_for(Stream{});
  }
  return m;
}

// Of messages that were rounded to nearest; what their sum is rounded by is asked for.
template <unsigned group, unsigned bits>
[[nodiscard]] ScaledCodes expected_reduction(const Shape& shape, unsigned workers,
                                             bool stochastic) {
  const GroupFormat format = format_of<group, bits>(false, shape);
  std::vector<ScaledCodes> messages;
  for (unsigned worker = 0; worker < workers; ++worker) {
    messages.push_back(quantize_groups(drawn_on_device(shape, worker)->read(), format));
  }
  return reduce_groups(messages, format_of<group, bits>(stochastic, shape), shape.elements);
}

}  // namespace payoff::kernels
