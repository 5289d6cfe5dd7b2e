// SPDX-License-Identifier: Apache-2.0
// What of a layer goes value by value: bias with activation, a gated activation, bias with the
// residual. Each as one kernel, and as the operators that a framework runs when nobody fused them.
#include <cmath>
#include <functional>
#include <numbers>

#include "kernels/device/layers.cuh"
#include "kernels/families/common.cuh"
#include "kernels/families/families.hpp"
#include "kernels/families/operators.cuh"

namespace payoff::kernels {
namespace {

constexpr unsigned width = 4;

constexpr std::uint64_t drawn_seed = 8;

struct Inputs {
  std::size_t count;
  Shared<float> first;
  Shared<float> second;  // the other half of a gate, or the residual
  Shared<float> bias;
  BiasOfColumns biases;

  explicit Inputs(const Rows& shape)
      : count(shape.flat(drawn_seed).elements),
        first(drawn_on_device(shape.flat(drawn_seed))),
        second(drawn_on_device(shape.flat(drawn_seed), 1)),
        bias(drawn_on_device({shape.columns, InputKind::gaussian, drawn_seed}, 2)),
        biases{bias->data(), shape.columns} {}
};

// Of one value, from both tensors and the bias of its column, in double precision.
using Reference = double (*)(double first, double second, double bias);

double sigmoid_of(double value) { return 1.0 / (1.0 + std::exp(-value)); }

double bias_gelu_of(double first, double /*second*/, double bias) {
  const double x = first + bias;
  return x * sigmoid_of(2.0 * std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x));
}
double swiglu_of(double first, double second, double /*bias*/) {
  return first * sigmoid_of(first) * second;
}
double bias_residual_of(double first, double second, double bias) { return first + second + bias; }

// An exponential of 2 units, and five more roundings: less than 10 units of 2^-24 of the larger of
// a value and its arguments together.
std::string off_by(const Inputs& in, const DeviceArray<float>& out, Reference reference) {
  const std::vector<float> first = in.first->read();
  const std::vector<float> second = in.second->read();
  const std::vector<float> bias = in.bias->read();
  std::vector<float> expected(in.count);
  float largest = 0.0F;
  for (std::size_t i = 0; i < in.count; ++i) {
    const float of_column = bias[i % bias.size()];
    expected[i] =
        static_cast<float>(reference(static_cast<double>(first[i]), static_cast<double>(second[i]),
                                     static_cast<double>(of_column)));
    largest = larger(largest, magnitude(first[i]) + magnitude(second[i]) + magnitude(of_column));
    largest = larger(largest, magnitude(expected[i]));
  }
  return deviates("values", out, expected, 10.0F * unit_roundoff * largest);
}

using Launch = std::function<void(Stream, const Inputs&, float* between, float* out)>;

struct Layer {
  const char* kernel;
  Reference reference;
  double read;  // tensors
  Launch run;
};

// `written`: tensors.
Benchmark layer_of(const Rows& shape, const Layer& layer, const char* implementation,
                   double written, int launches) {
  const Shape flat = shape.flat(drawn_seed);
  Benchmark b{point_of(layer.kernel, "layers", implementation, flat, parameters_of(shape),
                       streamed(flat.elements, 4.0 * layer.read, 4.0 * written, launches)),
              bytes_of(16.0 * static_cast<double>(flat.elements)),
              {}};
  b.make = [=] {
    const Inputs in(shape);
    auto between = array_of<float>(in.count);
    auto out = array_of<float>(in.count);
    return Work{[=](Stream s) { layer.run(s, in, between->data(), out->data()); },
                [=] { return off_by(in, *out, layer.reference); },
                [=] { return checksum_of(*out); }};
  };
  return b;
}

void add(const Rows& shape, const Layer& fused, double read_by_operators, const Launch& operators,
         std::vector<Benchmark>& all) {
  all.push_back(layer_of(shape, fused, "fused", 1.0, 1));
  const Layer chain{fused.kernel, fused.reference, read_by_operators, operators};
  all.push_back(layer_of(shape, chain, "framework_ops", 2.0, 2));
}

void add_bias_gelu(const Rows& shape, std::vector<Benchmark>& all) {
  add(
      shape,
      {"bias_gelu", bias_gelu_of, 1.0,
       [](Stream s, const Inputs& in, float* /*between*/, float* out) {
         map<width>(s, in.first->data(), out, in.count, PlusBiasGelu{in.biases});
       }},
      2.0,
      [](Stream s, const Inputs& in, float* between, float* out) {
        map<width>(s, in.first->data(), between, in.count, PlusBias{in.biases});
        map<width>(s, between, out, in.count, Gelu{});
      },
      all);
}

void add_swiglu(const Rows& shape, std::vector<Benchmark>& all) {
  add(
      shape,
      {"swiglu", swiglu_of, 2.0,
       [](Stream s, const Inputs& in, float* /*between*/, float* out) {
         combine<width>(s, in.first->data(), in.second->data(), out, in.count, GatedBySilu{});
       }},
      3.0,
      [](Stream s, const Inputs& in, float* between, float* out) {
        map<width>(s, in.first->data(), between, in.count, Silu{});
        combine<width>(s, between, in.second->data(), out, in.count, Product{});
      },
      all);
}

void add_bias_residual(const Rows& shape, std::vector<Benchmark>& all) {
  add(
      shape,
      {"bias_residual", bias_residual_of, 2.0,
       [](Stream s, const Inputs& in, float* /*between*/, float* out) {
         launch_threads(s, divided_up(in.count, width), add_bias_and_residual<width>,
                        in.first->data(), in.second->data(), in.biases, out, in.count);
       }},
      3.0,
      [](Stream s, const Inputs& in, float* between, float* out) {
        map<width>(s, in.first->data(), between, in.count, PlusBias{in.biases});
        combine<width>(s, between, in.second->data(), out, in.count, Sum{});
      },
      all);
}

}  // namespace

std::vector<Benchmark> element_wise_benchmarks(const Plan& plan) {
  std::vector<Benchmark> all;
  for (const Rows& shape : rows_of(plan)) {
    add_bias_gelu(shape, all);
    add_swiglu(shape, all);
    add_bias_residual(shape, all);
  }
  return all;
}

}  // namespace payoff::kernels
