// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "model/hardware.hpp"
#include "model/kernel_waves.hpp"
#include "model/layout.hpp"
#include "model/problem.hpp"
#include "model/units.hpp"
#include "model/workload.hpp"

// Time of operators on one GPU by roofline: a product takes the longer of its arithmetic (tiles
// over compute units in whole waves, at the achieved share of peak, with the pipeline of every tile
// filled once: depth + depth_half) and its memory traffic; everything else takes its memory
// traffic; every kernel costs a launch on the GPU, and the host must have launched it. The products
// of backward are priced by their own shapes. docs/model.md, "Compute". Valid for dense kernels of
// vendor libraries, from some microseconds up.

namespace payoff {

struct ComputeContext {
  const Gpu& gpu;
  const Software& software;
  Precision precision{};
};

// What a product of a training in this precision multiplies. With fp8 the ends of a model stay in
// 16 bits (Micikevicius et al. 2022, arXiv:2209.05433; Megatron-LM's output layer, torchtitan's
// float8 filter).
[[nodiscard]] constexpr Precision product_precision(const Operator& op, Precision training) {
  return op.in_16_bits && training == Precision::fp8 ? Precision::bf16 : training;
}

// And what its attention does: with fp8 products 16 bits.
[[nodiscard]] constexpr Precision attention_precision(Precision training) {
  return training == Precision::fp8 ? Precision::bf16 : training;
}

// Whether the GPU has units for this precision. Nothing below may be called where it has not.
[[nodiscard]] Problems check_precision(const Gpu& gpu, Precision precision);

// Work that runs without interruption by communication: kernels overlap their launches as far as
// the software queues them ahead. A single operator cannot be hidden behind another.
// `mix` gets its kernels, for what slows it.
struct ComputePrice {
  Seconds time{};
  double memory_share{};  // of the memory bandwidth that kernels reach, on average
};
[[nodiscard]] ComputePrice price_forward(std::span<const Operator> operators, double samples,
                                         const ComputeContext& context, KernelMix* mix = nullptr);
// Of backward: all, or without the products that only the gradients of weights need, or those
// alone.
enum class BackwardPart { both, inputs, weights };
[[nodiscard]] ComputePrice price_backward(std::span<const Operator> operators, double samples,
                                          const ComputeContext& context,
                                          BackwardPart part = BackwardPart::both,
                                          KernelMix* mix = nullptr);
[[nodiscard]] Seconds forward_time(std::span<const Operator> operators, double samples,
                                   const ComputeContext& context);
[[nodiscard]] Seconds backward_time(std::span<const Operator> operators, double samples,
                                    const ComputeContext& context);
[[nodiscard]] Seconds forward_time(const Operator& op, double samples,
                                   const ComputeContext& context);
[[nodiscard]] Seconds backward_time(const Operator& op, double samples,
                                    const ComputeContext& context);

// Arithmetic of one sample, forward, as the papers count it (2 per multiply-add, full attention).
[[nodiscard]] Flops forward_flops(const Operator& op);

// A kernel that only streams: its launch and its traffic at the achieved memory bandwidth.
[[nodiscard]] Seconds streaming_time(Bytes traffic, const Gpu& gpu);

// The part of the memory bandwidth that kernels reach which `traffic` takes in `time`.
[[nodiscard]] double memory_share(Bytes traffic, Seconds time, const Gpu& gpu);

// One update of all parameters of a GPU: memory-bound.
[[nodiscard]] Seconds optimizer_time(std::int64_t parameters, const Training& training,
                                     const ComputeContext& context);

}  // namespace payoff
