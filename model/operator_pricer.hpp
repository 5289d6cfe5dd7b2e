// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "model/matrix_product.hpp"
#include "model/operator_time.hpp"

// Time of one operator on one GPU, forward and backward, without the host's launches: the laws of
// docs/model.md, "Compute". Used by model/compute.cpp alone.

namespace payoff {

// Passes over the scores of unfused attention, read + written, in elements: softmax (and, without
// fused kernels, scale and mask) forward; backward softmax reads two and writes one.
inline constexpr double score_passes_fused = 2;
inline constexpr double score_passes_unfused = 6;
inline constexpr double score_passes_backward_fused = 3;
inline constexpr double score_passes_backward_unfused = 5;

// Libraries compute 3x3 convolutions of stride 1 outside tensor cores by Winograd's minimal
// filtering: F(2x2, 3x3) needs 16 multiplications for 36 (Lavin and Gray 2016, section 4.1).
inline constexpr double winograd_gain = 36.0 / 16;

inline bool by_winograd(const Operator& op, Precision precision) {
  return precision == Precision::fp32 && op.window == 9 && op.unit_stride &&
         op.batch_per_sample == 1;
}

struct OperatorCost {
  Seconds gpu;
  double kernels;
  Seconds streaming;  // if it did nothing but move its bytes

  void add(const OperatorCost& next) {
    gpu += next.gpu;
    kernels += next.kernels;
    streaming += next.streaming;
  }
};

// Around an fp8 product (Micikevicius et al. 2022, section 3.2): bytes an element of its operands
// that 16-bit tensors cost on the way to fp8. Fused, as in Transformer Engine (cast_transpose.cu;
// cast and transpose in the kernels of norms and activations): the kernel that makes an input
// writes it twice more in 8 bits, as it is and transposed; the gradient of an output is read and
// written twice by a kernel of its own; weights are cast once a step, which is not counted. Else,
// as in torchao's dynamic scaling (float8_utils.py, float8_linear.py), each operand is read for its
// largest element and read and written again, and backward casts input and weight anew.
inline constexpr double cast_input_fused = 2;
inline constexpr double cast_gradient_fused = 4;
inline constexpr double cast_unfused = 5;

class OperatorPricer {
 public:
  // `record` gets every kernel, `mix` those whose blocks are known.
  explicit OperatorPricer(const ComputeContext& context, std::vector<KernelTime>* record = nullptr,
                          KernelMix* mix = nullptr)
      : record_(record),
        mix_(mix),
        gpu_(context.gpu),
        software_(context.software),
        precision_(context.precision),
        units_(context.gpu.compute_units),
        memory_(reached_bandwidth(context.gpu)) {}

  OperatorCost forward(const Operator& op, double samples) const {
    switch (op.kind) {
      case OperatorKind::gemm:
        return gemm_forward(op, samples);
      case OperatorKind::convolution:
        return convolution(op, samples, [](const Product& p) { return p; });
      case OperatorKind::attention:
        return attention(op, samples, false);
      case OperatorKind::memory:
        return memory(op, op.bytes_per_sample * samples + op.bytes_fixed);
    }
    return {};
  }

  // Sums over the samples that are no products (of norms, biases, tables) go with the gradients of
  // inputs.
  OperatorCost backward(const Operator& op, double samples,
                        BackwardPart part = BackwardPart::both) const {
    const bool only_weights = part == BackwardPart::weights;
    switch (op.kind) {
      case OperatorKind::gemm:
        return gemm_backward(op, samples, part);
      case OperatorKind::convolution:
        return convolution_backward(op, samples, part);
      case OperatorKind::attention:
        return only_weights ? OperatorCost{} : attention(op, samples, true);
      case OperatorKind::memory:
        return only_weights
                   ? OperatorCost{}
                   : memory(op, op.backward_bytes_per_sample * samples + op.backward_bytes_fixed);
    }
    return {};
  }

  Seconds stream(Bytes bytes) const { return bytes / memory_; }

 private:
  static Product gemm_product(const Operator& op, double samples) {
    return {op.rows_per_sample * samples, op.columns, op.depth, op.batch_per_sample};
  }

  FlopRate rate(Precision precision) const {
    return gpu_.law.gemm_efficiency[precision] * gpu_.peak[precision];
  }

  // `count` kernels, of which one is priced. The tiles of a convolution are the library's own.
  Seconds product(const Product& p, FlopRate all_units, Bytes traffic, double count = 1,
                  bool is_dense = true) const {
    return product(p, all_units, traffic, count, is_dense, precision_);
  }
  Seconds product(const Product& p, FlopRate all_units, Bytes traffic, double count, bool is_dense,
                  Precision precision) const {
    const Tiling tiling = tiling_of(p, all_units, gpu_);
    const Seconds time = std::max(tiling.time, stream(traffic)) + gpu_.law.launch;
    note({.product = p,
          .tiling = tiling,
          .rate = all_units,
          .traffic = traffic,
          .launches = 1,
          .time = time});
    if (mix_ != nullptr && is_dense && tiling.time >= stream(traffic) &&
        fills_units(tiling, gpu_.architecture, precision)) {
      mix_->known.push_back({blocks_of(p, tiling), count * time});
    }
    return time;
  }

  OperatorCost gemm(const Product& p, Precision precision) const {
    const Bytes in = element_size(precision);
    const Bytes traffic = p.batch * (in * (p.rows * p.depth + p.depth * p.columns) +
                                     activation_size(precision) * (p.rows * p.columns));
    return {product(p, rate(precision), traffic, 1, true, precision), 1, stream(traffic)};
  }

  // What fp8 reads is cast before. `kernels` that do nothing else.
  void add_cast(Bytes traffic, double kernels, OperatorCost& cost) const {
    const Seconds time = stream(traffic) + kernels * gpu_.law.launch;
    note({.traffic = traffic, .launches = kernels, .time = time});
    cost.add({time, kernels, stream(traffic)});
  }

  OperatorCost gemm_forward(const Operator& op, double samples) const {
    const Product p = gemm_product(op, samples);
    const Precision precision = product_precision(op, precision_);
    OperatorCost cost = gemm(p, precision);
    if (precision == Precision::fp8 && software_.fused_elementwise) {
      add_cast(Bytes{cast_input_fused * p.batch * p.rows * p.depth}, 0, cost);
    } else if (precision == Precision::fp8) {
      add_cast(Bytes{cast_unfused * p.batch * p.depth * (p.rows + p.columns)}, 4, cost);
    }
    return cost;
  }

  OperatorCost gemm_backward(const Operator& op, double samples, BackwardPart part) const {
    const Product p = gemm_product(op, samples);
    const Precision precision = product_precision(op, precision_);
    OperatorCost cost{};
    if (part != BackwardPart::inputs) {
      cost = gemm({p.columns, p.depth, p.rows, p.batch}, precision);
    }
    if (op.input_gradient && part != BackwardPart::weights) {
      cost.add(gemm({p.rows, p.depth, p.columns, p.batch}, precision));
    }
    if (precision == Precision::fp8) {
      add_backward_casts(p, part, cost);
    }
    return cost;
  }

  // Gradients of outputs go with those of inputs; so do weights, and inputs with those of weights.
  void add_backward_casts(const Product& p, BackwardPart part, OperatorCost& cost) const {
    const double output = p.batch * p.rows * p.columns;
    if (software_.fused_elementwise) {
      if (part != BackwardPart::weights) {
        add_cast(Bytes{cast_gradient_fused * output}, 1, cost);
      }
      return;
    }
    if (part != BackwardPart::weights) {
      add_cast(Bytes{cast_unfused * (output + p.batch * p.depth * p.columns)}, 4, cost);
    }
    if (part != BackwardPart::inputs) {
      add_cast(Bytes{cast_unfused * p.batch * p.rows * p.depth}, 2, cost);
    }
  }

  // `form` makes of the product of the forward pass the one that runs. A block may compute several
  // groups at once, as one product of all their columns and depths that is zero off the diagonal
  // (CUTLASS, conv::GroupMode::kMultipleGroup): as many as are fastest.
  template <typename Form>
  OperatorCost convolution(const Operator& op, double samples, const Form& form) const {
    const double gain = by_winograd(op, precision_) ? winograd_gain : 1.0;
    const Bytes weights = op.batch_per_sample * op.columns * op.depth * activation_size(precision_);
    const Bytes traffic = op.bytes_per_sample * samples + weights;
    const FlopRate all_units = gain * gpu_.law.convolution_efficiency * rate(precision_);
    const Product alone = gemm_product(op, samples);
    Product best = form(alone);
    for (double groups = 2; std::fmod(op.batch_per_sample, groups) == 0; groups *= 2) {
      const Product together =
          form({alone.rows, groups * alone.columns, groups * alone.depth, alone.batch / groups});
      if (arithmetic_time(together, all_units, gpu_) < arithmetic_time(best, all_units, gpu_)) {
        best = together;
      }
    }
    return {product(best, all_units, traffic, 1, false), 1, stream(traffic)};
  }

  // The gradient of the input gathers a window of the output's gradient: depth and columns change
  // places, the window stays in the depth.
  OperatorCost convolution_backward(const Operator& op, double samples, BackwardPart part) const {
    OperatorCost cost{};
    if (part != BackwardPart::inputs) {
      cost = convolution(op, samples, [](const Product& p) {
        return Product{p.columns, p.depth, p.rows, p.batch};
      });
    }
    if (op.input_gradient && part != BackwardPart::weights) {
      cost.add(convolution(op, samples, [&](const Product& p) {
        return Product{p.rows, p.depth / op.window, p.columns * op.window, p.batch};
      }));
    }
    return cost;
  }

  OperatorCost attention(const Operator& op, double samples, bool backward) const {
    const double batch = op.batch_per_sample * samples;
    const Product scores{op.rows_per_sample, op.columns, op.depth, batch};
    return software_.fused_attention ? fused_attention(op, scores, backward)
                                     : unfused_attention(op, scores, samples, backward);
  }

  // One kernel forward: two products. Two backward: a row sum, then five products (the scores are
  // computed again). A block works on 128 rows of one head.
  OperatorCost fused_attention(const Operator& op, const Product& p, bool backward) const {
    const FlopRate all_units =
        gpu_.law.attention_efficiency * rate(attention_precision(precision_));
    const double products = backward ? 5 : 2;
    const double blocks = std::ceil(p.rows / 128) * p.batch;
    const double waves = std::ceil(blocks / units_);
    const Flops block{2 * std::min(p.rows, 128.0) * p.columns * op.causal_fraction * p.depth *
                      products};
    const Seconds arithmetic = waves * units_ * block / all_units;
    const Bytes traffic = (backward ? 4.0 : 2.0) * p.batch * p.depth * (p.rows + p.columns) *
                          activation_size(precision_);
    const double kernels = backward ? 2 : 1;
    const Seconds time = std::max(arithmetic, stream(traffic)) + kernels * gpu_.law.launch;
    note({.waves = waves,
          .wave = units_ * block,
          .rate = all_units,
          .traffic = traffic,
          .launches = kernels,
          .time = time});
    return {time, kernels, stream(traffic)};
  }

  // Scores in memory: a product that writes them, passes over them, a product that reads them.
  // Backward has two products for each.
  OperatorCost unfused_attention(const Operator& op, const Product& p, double samples,
                                 bool backward) const {
    const Bytes element = activation_size(precision_);
    const Bytes matrix = p.batch * p.rows * p.columns * element;
    const Bytes operands = p.batch * p.depth * (p.rows + p.columns) * element;
    const FlopRate all_units = rate(attention_precision(precision_));
    const double pairs = backward ? 2 : 1;
    const Product transposed{p.rows, p.depth, p.columns, p.batch};
    const bool fused = software_.fused_elementwise;
    const double passes =
        backward ? (fused ? score_passes_backward_fused : score_passes_backward_unfused)
                 : (fused ? score_passes_fused : score_passes_unfused);
    const Bytes dropout = (backward ? op.backward_bytes_per_sample : op.bytes_per_sample) * samples;
    const double kernels = (fused ? 1.0 : (backward ? 2.0 : 3.0)) + (dropout > 0_B ? 1.0 : 0.0);
    const Seconds products = product(p, all_units, matrix + operands, pairs) +
                             product(transposed, all_units, matrix + operands, pairs);
    const Seconds between = stream(casts() * (passes * matrix + dropout));
    count_last(2, pairs);
    note({.traffic = casts() * (passes * matrix + dropout),
          .launches = kernels,
          .time = between + kernels * gpu_.law.launch});
    return {pairs * products + between + kernels * gpu_.law.launch, 2 * pairs + kernels,
            2 * pairs * stream(matrix + operands) + between};
  }

  // Mixed precision reads and writes more than its 16-bit tensors: norms, softmax and residual sums
  // are computed in 32 bits, with casts around them.
  double casts() const {
    return activation_size(precision_) < 4_B ? software_.memory_traffic_ratio : 1.0;
  }

  OperatorCost memory(const Operator& op, Bytes traffic) const {
    const int kernels = software_.fused_elementwise ? op.fused_kernels : op.kernels;
    if (kernels == 0 || traffic <= 0_B) {
      return {};
    }
    const Bytes moved = (op.casts ? casts() : 1.0) * traffic;
    const Seconds streaming = stream(moved);
    const Seconds time = streaming + kernels * gpu_.law.launch;
    note({.traffic = moved, .launches = static_cast<double>(kernels), .time = time});
    return {time, static_cast<double>(kernels), streaming};
  }

  void note(const KernelTime& kernel) const {
    if (record_ != nullptr) {
      record_->push_back(kernel);
    }
  }
  void count_last(std::size_t kernels, double count) const {
    if (record_ != nullptr) {
      for (std::size_t i = record_->size() - kernels; i < record_->size(); ++i) {
        (*record_)[i].count = count;
      }
    }
  }

  std::vector<KernelTime>* record_;
  KernelMix* mix_;
  const Gpu& gpu_;
  const Software& software_;
  Precision precision_;
  double units_;
  Bandwidth memory_;
};

}  // namespace payoff
