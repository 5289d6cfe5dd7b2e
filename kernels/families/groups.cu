// SPDX-License-Identifier: Apache-2.0
// Groups of values with a scale each, 8, 4 or 2 bits: quantise, dequantise, and the middle of a
// quantised reduce-scatter, a kernel each. As chains of operators: group_operators.cu.
#include "kernels/families/families.hpp"
#include "kernels/families/group_formats.cuh"

namespace payoff::kernels {
namespace {

// Codes and steps of `in`, which `values` reads for the reference.
template <unsigned group, unsigned bits, bool stochastic, class In, class Values>
Work quantizing(const Shape& shape, const In& in, const Values& values) {
  const CodedGroups out = coded_groups<group, bits>(shape.elements);
  return work_on_groups(
      out,
      [=](Stream s) {
        quantize<group, bits, stochastic>(s, in->data(), out.codes->data(), out.steps->data(),
                                          shape);
      },
      [=] { return quantize_groups(values(), format_of<group, bits>(stochastic, shape)); });
}

template <unsigned group, unsigned bits, bool stochastic>
Benchmark quantize_group(const Shape& shape) {
  const Traffic traffic = streamed(shape.elements, 4, bits / 8.0 + 4.0 / group, 1);
  Benchmark b{point_of("quantize_group", "groups", "fused", shape,
                       parameters_of<group, bits>(stochastic), traffic),
              traffic.read + traffic.written,
              {}};
  b.make = [shape] {
    const auto in = drawn_on_device(shape);
    return quantizing<group, bits, stochastic>(shape, in, [=] { return in->read(); });
  };
  return b;
}

// Gradients as mixed precision leaves them: half the bytes to read, the same to write.
template <unsigned group, unsigned bits, bool stochastic>
Benchmark quantize_group_of_bf16(const Shape& shape) {
  const Traffic traffic = streamed(shape.elements, 2, bits / 8.0 + 4.0 / group, 1);
  Benchmark b{point_of("quantize_group_bf16", "groups", "fused", shape,
                       parameters_of<group, bits>(stochastic), traffic),
              traffic.read + traffic.written + bytes_of(4.0 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    const auto in = drawn_in_bf16(shape);
    return quantizing<group, bits, stochastic>(shape, in, [=] { return values_of(*in); });
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

template <unsigned group, unsigned bits, bool stochastic>
Benchmark reduce_group(const Shape& shape, unsigned workers) {
  const double message = bits / 8.0 + 4.0 / group;
  const Traffic traffic = streamed(shape.elements, workers * message, message, 1);
  Parameters parameters = parameters_of<group, bits>(stochastic);
  parameters["workers"] = workers;
  Benchmark b{point_of("reduce_group", "groups", "fused", shape, parameters, traffic),
              traffic.read + traffic.written + bytes_of(4.0 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape, workers] {
    const std::size_t n = shape.elements;
    const Messages in = quantized_messages<group, bits>(shape, workers);
    const CodedGroups out = coded_groups<group, bits>(n);
    return work_on_groups(
        out,
        [=](Stream s) {
          launch_threads(s, in.groups * GroupLayout<group>::lanes,
                         reduce_group_values<group, bits, stochastic>, in.codes->data(),
                         in.steps->data(), in.stride, in.groups, workers, out.codes->data(),
                         out.steps->data(), n, RandomKey{shape.seed, rounding_stream});
        },
        [=] { return expected_reduction<group, bits>(shape, workers, stochastic); });
  };
  return b;
}

void add_variants(const Shape& shape, std::vector<Benchmark>& all) {
  all.push_back(quantize_group_of_bf16<128, 8, false>(shape));
  all.push_back(quantize_group_of_bf16<128, 4, true>(shape));
  all.push_back(quantize_group<32, 4, true>(shape));
  all.push_back(quantize_group<128, 2, true>(shape));
  all.push_back(quantize_group<128, 2, false>(shape));
  all.push_back(quantize_group<512, 8, true>(shape));
  all.push_back(quantize_group<2048, 8, false>(shape));
  all.push_back(quantize_group<2048, 2, false>(shape));
  all.push_back(dequantize_group<32, 4>(shape));
  all.push_back(dequantize_group<128, 2>(shape));
}

void add_reductions(const Plan& plan, unsigned workers, std::vector<Benchmark>& all) {
  for (const Shape& shape : few_shapes(plan)) {
    all.push_back(reduce_group<128, 2, false>(shape, workers));
    all.push_back(reduce_group<128, 8, true>(shape, workers));
    all.push_back(reduce_group<128, 4, true>(shape, workers));
    all.push_back(reduce_group<128, 2, true>(shape, workers));
  }
}

}  // namespace

std::vector<Benchmark> group_benchmarks(const Plan& plan) {
  std::vector<Benchmark> all;
  for (const Shape& shape : plan.shapes) {
    all.push_back(quantize_group<128, 8, false>(shape));
    all.push_back(quantize_group<128, 4, false>(shape));
    all.push_back(quantize_group<128, 4, true>(shape));
    all.push_back(dequantize_group<128, 8>(shape));
    all.push_back(dequantize_group<128, 4>(shape));
  }
  for (const Shape& shape : few_shapes(plan)) {
    if (plan.every_variant) {
      add_variants(shape, all);
    }
  }
  for (const unsigned workers : plan.workers) {
    const bool is_usual = workers == plan.workers.front();
    for (const Shape& shape : shapes_of(plan, is_usual)) {
      all.push_back(reduce_group<128, 8, false>(shape, workers));
      all.push_back(reduce_group<128, 4, false>(shape, workers));
    }
    if (plan.every_variant && (is_usual || !plan.thinned)) {
      add_reductions(plan, workers, all);
    }
  }
  return all;
}

}  // namespace payoff::kernels
