// SPDX-License-Identifier: Apache-2.0
// Grouped quantisation as a framework without its kernels does it: one operator and one tensor
// after the other.
#include "kernels/families/families.hpp"
#include "kernels/families/group_operators.cuh"

namespace payoff::kernels {
namespace {

template <unsigned group, unsigned bits, bool stochastic>
Benchmark quantize_by_operators(const Shape& shape) {
  Benchmark b{point_of("quantize_group", "groups", "framework_ops", shape,
                       parameters_of<group, bits>(stochastic),
                       quantizing_traffic<group, bits, stochastic>(shape.elements)),
              bytes_of(14.2 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    const auto in = drawn_on_device(shape);
    const CodedGroups out = coded_groups<group, bits>(shape.elements);
    const Between between(shape.elements, out.steps->count());
    return work_on_groups(
        out,
        [=](Stream s) {
          quantize_in_steps<group, bits, stochastic>(s, in->data(), out.codes->data(),
                                                     out.steps->data(), between, shape);
        },
        [=] { return quantize_groups(in->read(), format_of<group, bits>(stochastic, shape)); });
  };
  return b;
}

// The same of gradients in bf16, which a framework casts before it computes a scale.
template <unsigned group, unsigned bits, bool stochastic>
Benchmark quantize_bf16_by_operators(const Shape& shape) {
  const Traffic traffic = in_turn(streamed(shape.elements, 2, 4, 1),
                                  quantizing_traffic<group, bits, stochastic>(shape.elements));
  Benchmark b{point_of("quantize_group_bf16", "groups", "framework_ops", shape,
                       parameters_of<group, bits>(stochastic), traffic),
              bytes_of(20.2 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    const auto in = drawn_in_bf16(shape);
    auto values = array_of<float>(n);
    const CodedGroups out = coded_groups<group, bits>(n);
    const Between between(n, out.steps->count());
    return work_on_groups(
        out,
        [=](Stream s) {
          map<8>(s, in->data(), values->data(), n, Bf16ToFloat{});
          quantize_in_steps<group, bits, stochastic>(s, values->data(), out.codes->data(),
                                                     out.steps->data(), between, shape);
        },
        [=] { return quantize_groups(values_of(*in), format_of<group, bits>(stochastic, shape)); });
  };
  return b;
}

// Unpacking below 8 bits, cast, shift, product with the step of the group: to `out`.
template <unsigned group, unsigned bits>
void dequantize_in_steps(Stream s, const Byte* codes, const float* steps, const Between& between,
                         float* out, std::size_t n) {
  const Byte* bytes = codes;
  if constexpr (bits < 8) {
    launch_threads(s, divided_up(n, pack_values), unpack_codes<bits>, codes, between.bytes->data(),
                   n);
    bytes = between.bytes->data();
  }
  map<4>(s, bytes, between.first->data(), n, ByteToFloat{});
  map<4>(s, between.first->data(), between.second->data(), n, PlusConstant{-side_of<bits>});
  map<4>(s, between.second->data(), out, n, TimesGroupFactor{steps, group});
}

template <unsigned group, unsigned bits>
[[nodiscard]] Traffic dequantizing_traffic(std::size_t elements) {
  return streamed(elements, bits / 8.0 + packing<bits> + 8 + 4.0 / group, 12 + packing<bits>,
                  3 + (bits < 8 ? 1 : 0));
}

template <unsigned group, unsigned bits>
Benchmark dequantize_by_operators(const Shape& shape) {
  Benchmark b{point_of("dequantize_group", "groups", "framework_ops", shape,
                       parameters_of<group, bits>(false),
                       dequantizing_traffic<group, bits>(shape.elements)),
              bytes_of(18.2 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    const Messages in = quantized_messages<group, bits>(shape, 1);
    const Between between(n, in.groups);
    auto out = array_of<float>(n);
    return Work{[=](Stream s) {
                  dequantize_in_steps<group, bits>(s, in.codes->data(), in.steps->data(), between,
                                                   out->data(), n);
                },
                [=] {
                  const GroupFormat format = format_of<group, bits>(false, shape);
                  const auto values = drawn_on_device(shape)->read();
                  return differs("values", *out,
                                 dequantize_groups(quantize_groups(values, format), format, n));
                },
                [=] { return checksum_of(*out); }};
  };
  return b;
}

// Every message dequantised to a tensor and added, then the sum quantised.
template <unsigned group, unsigned bits>
void reduce_in_steps(Stream s, const Messages& in, unsigned workers, const Between& between,
                     float* values, float* sum, std::size_t n) {
  fill_in_stream(s, sum, 0, n * sizeof(float));
  for (unsigned worker = 0; worker < workers; ++worker) {
    dequantize_in_steps<group, bits>(s, in.codes->data() + worker * in.stride,
                                     in.steps->data() + worker * in.groups, between, values, n);
    combine<4>(s, sum, values, sum, n, Sum{});
  }
}

template <unsigned group, unsigned bits, bool stochastic>
[[nodiscard]] Traffic reducing_traffic(std::size_t elements, unsigned workers) {
  const Traffic each = dequantizing_traffic<group, bits>(elements);
  const Traffic again = quantizing_traffic<group, bits, stochastic>(elements);
  const Traffic sums = streamed(elements, 8.0 * workers, 4 + 4.0 * workers, 0);
  const double w = workers;
  const int count = static_cast<int>(workers);
  return {w * each.read + sums.read + again.read,
          w * each.written + sums.written + again.written,
          {},
          0.0,
          count * (each.launches + 1) + 1 + again.launches,
          0};
}

template <unsigned group, unsigned bits, bool stochastic>
Benchmark reduce_by_operators(const Shape& shape, unsigned workers) {
  const double message = bits / 8.0 + 4.0 / group;
  Parameters parameters = parameters_of<group, bits>(stochastic);
  parameters["workers"] = workers;
  Benchmark b{point_of("reduce_group", "groups", "framework_ops", shape, parameters,
                       reducing_traffic<group, bits, stochastic>(shape.elements, workers)),
              bytes_of((workers * message + 19) * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape, workers] {
    const std::size_t n = shape.elements;
    const Messages in = quantized_messages<group, bits>(shape, workers);
    const Between between(n, in.groups);
    auto values = array_of<float>(n);
    auto sum = array_of<float>(n);
    const CodedGroups out = coded_groups<group, bits>(n);
    return work_on_groups(
        out,
        [=](Stream s) {
          reduce_in_steps<group, bits>(s, in, workers, between, values->data(), sum->data(), n);
          quantize_in_steps<group, bits, stochastic>(s, sum->data(), out.codes->data(),
                                                     out.steps->data(), between, shape);
        },
        [=] { return expected_reduction<group, bits>(shape, workers, stochastic); });
  };
  return b;
}

void add_reductions(const Plan& plan, unsigned workers, std::vector<Benchmark>& all) {
  for (const Shape& shape : few_shapes(plan)) {
    all.push_back(reduce_by_operators<128, 2, false>(shape, workers));
    all.push_back(reduce_by_operators<128, 8, true>(shape, workers));
    all.push_back(reduce_by_operators<128, 4, true>(shape, workers));
    all.push_back(reduce_by_operators<128, 2, true>(shape, workers));
  }
}

}  // namespace

std::vector<Benchmark> group_operator_benchmarks(const Plan& plan) {
  std::vector<Benchmark> all;
  for (const Shape& shape : plan.shapes) {
    all.push_back(quantize_by_operators<128, 8, false>(shape));
    all.push_back(quantize_by_operators<128, 4, false>(shape));
    all.push_back(quantize_by_operators<128, 4, true>(shape));
    all.push_back(dequantize_by_operators<128, 8>(shape));
    all.push_back(dequantize_by_operators<128, 4>(shape));
  }
  for (const Shape& shape : few_shapes(plan)) {
    if (plan.every_variant) {
      all.push_back(quantize_by_operators<128, 2, false>(shape));
      all.push_back(quantize_by_operators<128, 2, true>(shape));
      all.push_back(dequantize_by_operators<128, 2>(shape));
      all.push_back(quantize_bf16_by_operators<128, 8, false>(shape));
      all.push_back(quantize_bf16_by_operators<128, 4, true>(shape));
    }
  }
  for (const unsigned workers : plan.workers) {
    const bool is_usual = workers == plan.workers.front();
    for (const Shape& shape : shapes_of(plan, is_usual)) {
      all.push_back(reduce_by_operators<128, 8, false>(shape, workers));
      all.push_back(reduce_by_operators<128, 4, false>(shape, workers));
    }
    if (plan.every_variant && (is_usual || !plan.thinned)) {
      add_reductions(plan, workers, all);
    }
  }
  return all;
}

}  // namespace payoff::kernels
