// SPDX-License-Identifier: Apache-2.0
// Groups of values with a scale each, 8, 4 or 2 bits: quantise, dequantise, and the middle of a
// quantised reduce-scatter; fused, and as chains of operators.
#include "kernels/device/groups.cuh"
#include "kernels/families/common.cuh"
#include "kernels/families/families.hpp"
#include "kernels/families/operators.cuh"
#include "kernels/reference/quantized.hpp"

namespace payoff::kernels {
namespace {

constexpr std::uint64_t rounding_stream = 23;

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

template <unsigned group, unsigned bits, bool stochastic>
void quantize(Stream s, const float* in, Byte* codes, float* steps, const Shape& shape) {
  launch_threads(s, divided_up(shape.elements, group) * GroupLayout<group>::lanes,
                 quantize_group_values<group, bits, stochastic, float>, in, codes, steps,
                 shape.elements, RandomKey{shape.seed, rounding_stream});
}

template <unsigned group, unsigned bits, bool stochastic>
Benchmark quantize_group(const Shape& shape) {
  const Traffic traffic = streamed(shape.elements, 4, bits / 8.0 + 4.0 / group, 1);
  Benchmark b{point_of("quantize_group", "groups", "fused", shape,
                       parameters_of<group, bits>(stochastic), traffic),
              traffic.read + traffic.written,
              {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    auto codes = array_of<Byte>(code_bytes<bits>(n));
    auto steps = array_of<float>(divided_up(n, group));
    return Work{[=](Stream s) {
                  quantize<group, bits, stochastic>(s, in->data(), codes->data(), steps->data(),
                                                    shape);
                },
                [=] {
                  const ScaledCodes expected =
                      quantize_groups(in->read(), format_of<group, bits>(stochastic, shape));
                  return first_of(differs("codes", *codes, expected.codes),
                                  differs("steps", *steps, expected.scales));
                },
                [=] { return checksum_of(*codes, *steps); }};
  };
  return b;
}

// Magnitude, maximum of each group, product, shift, clamp, cast, and packing below 8 bits.
template <unsigned group, unsigned bits>
Benchmark quantize_by_operators(const Shape& shape) {
  const bool packs = bits < 8;
  const Traffic traffic = streamed(shape.elements, 24 + 4.0 / group + (packs ? 1.0 : 0.0),
                                   17 + 8.0 / group + (packs ? bits / 8.0 : 0.0), packs ? 7 : 6);
  Benchmark b{point_of("quantize_group", "groups", "framework_ops", shape,
                       parameters_of<group, bits>(false), traffic),
              bytes_of(14.2 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    constexpr auto side = static_cast<float>(top_code<bits> >> 1U);
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    auto first = array_of<float>(n);
    auto second = array_of<float>(n);
    auto bytes = array_of<Byte>(n);
    auto codes = array_of<Byte>(code_bytes<bits>(n));
    auto steps = array_of<float>(divided_up(n, group));
    auto inverse = array_of<float>(divided_up(n, group));
    return Work{
        [=](Stream s) {
          map<4>(s, in->data(), first->data(), n, Magnitude{});
          launch_threads(s, steps->count() * GroupLayout<group>::lanes, scales_of_groups<group>,
                         first->data(), steps->data(), inverse->data(), side, n);
          map<4>(s, in->data(), first->data(), n, TimesGroupFactor{inverse->data(), group});
          map<4>(s, first->data(), second->data(), n, PlusConstant{side + 0.5F});
          map<4>(s, second->data(), first->data(), n, Clamp{0.0F, 2.0F * side});
          map<4>(s, first->data(), bits < 8 ? bytes->data() : codes->data(), n, FloatToByte{});
          if constexpr (bits < 8) {
            launch_threads(s, divided_up(n, pack_values), pack_codes<bits>, bytes->data(),
                           codes->data(), n);
          }
        },
        [=] {
          const ScaledCodes expected =
              quantize_groups(in->read(), format_of<group, bits>(false, shape));
          return first_of(differs("codes", *codes, expected.codes),
                          differs("steps", *steps, expected.scales));
        },
        [=] { return checksum_of(*codes, *steps); }};
  };
  return b;
}

template <unsigned group, unsigned bits>
Benchmark dequantize_group(const Shape& shape) {
  const Traffic traffic = streamed(shape.elements, bits / 8.0 + 4.0 / group, 4, 1);
  Benchmark b{point_of("dequantize_group", "groups", "fused", shape,
                       parameters_of<group, bits>(false), traffic),
              bytes_of(9.2 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    auto codes = array_of<Byte>(code_bytes<bits>(n));
    auto steps = array_of<float>(divided_up(n, group));
    auto out = array_of<float>(n);
    quantize<group, bits, false>(Stream{}, in->data(), codes->data(), steps->data(), shape);
    wait_for(Stream{});
    return Work{[=](Stream s) {
                  launch_threads(s, divided_up(n, pack_values),
                                 dequantize_group_values<group, bits>, codes->data(), steps->data(),
                                 out->data(), n);
                },
                [=] {
                  const GroupFormat format = format_of<group, bits>(false, shape);
                  return differs("values", *out,
                                 dequantize_groups(quantize_groups(in->read(), format), format, n));
                },
                [=] { return checksum_of(*out); }};
  };
  return b;
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

template <unsigned group, unsigned bits>
[[nodiscard]] ScaledCodes expected_reduction(const Shape& shape, unsigned workers) {
  const GroupFormat format = format_of<group, bits>(false, shape);
  std::vector<ScaledCodes> messages;
  for (unsigned worker = 0; worker < workers; ++worker) {
    messages.push_back(quantize_groups(drawn_on_device(shape, worker)->read(), format));
  }
  return reduce_groups(messages, format, shape.elements);
}

template <unsigned group, unsigned bits>
Benchmark reduce_group(const Shape& shape, unsigned workers) {
  const double message = bits / 8.0 + 4.0 / group;
  const Traffic traffic = streamed(shape.elements, workers * message, message, 1);
  Parameters parameters = parameters_of<group, bits>(false);
  parameters["workers"] = workers;
  Benchmark b{point_of("reduce_group", "groups", "fused", shape, parameters, traffic),
              traffic.read + traffic.written + bytes_of(4.0 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape, workers] {
    const std::size_t n = shape.elements;
    const Messages in = quantized_messages<group, bits>(shape, workers);
    auto codes = array_of<Byte>(code_bytes<bits>(n));
    auto steps = array_of<float>(in.groups);
    return Work{[=](Stream s) {
                  launch_threads(s, in.groups * GroupLayout<group>::lanes,
                                 reduce_group_values<group, bits>, in.codes->data(),
                                 in.steps->data(), in.stride, in.groups, workers, codes->data(),
                                 steps->data(), n);
                },
                [=] {
                  const ScaledCodes expected = expected_reduction<group, bits>(shape, workers);
                  return first_of(differs("codes", *codes, expected.codes),
                                  differs("steps", *steps, expected.scales));
                },
                [=] { return checksum_of(*codes, *steps); }};
  };
  return b;
}

// Every message dequantised to a tensor and added, then the sum quantised by the fused kernel: what
// a framework with a quantiser but no fused reduction does.
template <unsigned group, unsigned bits>
Benchmark reduce_by_operators(const Shape& shape, unsigned workers) {
  const double w = workers;
  const double message = bits / 8.0 + 4.0 / group;
  const Traffic traffic = streamed(shape.elements, w * (message + 8) + 4, 4 + w * 8 + message,
                                   static_cast<int>(2 * workers) + 2);
  Parameters parameters = parameters_of<group, bits>(false);
  parameters["workers"] = w;
  Benchmark b{point_of("reduce_group", "groups", "framework_ops", shape, parameters, traffic),
              bytes_of((w * message + 13) * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape, workers] {
    const std::size_t n = shape.elements;
    const Messages in = quantized_messages<group, bits>(shape, workers);
    auto values = array_of<float>(n);
    auto sum = array_of<float>(n);
    auto codes = array_of<Byte>(code_bytes<bits>(n));
    auto steps = array_of<float>(in.groups);
    return Work{[=](Stream s) {
                  fill_in_stream(s, sum->data(), 0, sum->bytes());
                  for (unsigned worker = 0; worker < workers; ++worker) {
                    launch_threads(s, divided_up(n, pack_values),
                                   dequantize_group_values<group, bits>,
                                   in.codes->data() + worker * in.stride,
                                   in.steps->data() + worker * in.groups, values->data(), n);
                    combine<4>(s, sum->data(), values->data(), sum->data(), n, Sum{});
                  }
                  quantize<group, bits, false>(s, sum->data(), codes->data(), steps->data(), shape);
                },
                [=] {
                  const ScaledCodes expected = expected_reduction<group, bits>(shape, workers);
                  return first_of(differs("codes", *codes, expected.codes),
                                  differs("steps", *steps, expected.scales));
                },
                [=] { return checksum_of(*codes, *steps); }};
  };
  return b;
}

void add_variants(const Shape& shape, std::vector<Benchmark>& all) {
  all.push_back(quantize_group<32, 4, true>(shape));
  all.push_back(quantize_group<128, 2, true>(shape));
  all.push_back(quantize_group<128, 2, false>(shape));
  all.push_back(quantize_group<512, 8, true>(shape));
  all.push_back(quantize_group<2048, 8, false>(shape));
  all.push_back(quantize_group<2048, 2, false>(shape));
  all.push_back(quantize_by_operators<128, 2>(shape));
  all.push_back(dequantize_group<32, 4>(shape));
  all.push_back(dequantize_group<128, 2>(shape));
}

}  // namespace

std::vector<Benchmark> group_benchmarks(const Plan& plan) {
  std::vector<Benchmark> all;
  for (const Shape& shape : plan.shapes) {
    all.push_back(quantize_group<128, 8, false>(shape));
    all.push_back(quantize_group<128, 4, false>(shape));
    all.push_back(quantize_group<128, 4, true>(shape));
    all.push_back(quantize_by_operators<128, 8>(shape));
    all.push_back(quantize_by_operators<128, 4>(shape));
    all.push_back(dequantize_group<128, 8>(shape));
    all.push_back(dequantize_group<128, 4>(shape));
    if (plan.every_variant) {
      add_variants(shape, all);
    }
    for (const unsigned workers : plan.workers) {
      all.push_back(reduce_group<128, 8>(shape, workers));
      all.push_back(reduce_group<128, 4>(shape, workers));
      all.push_back(reduce_by_operators<128, 4>(shape, workers));
    }
  }
  return all;
}

}  // namespace payoff::kernels
