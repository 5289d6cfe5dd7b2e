// SPDX-License-Identifier: Apache-2.0
#include "calibrate/compute_priors.hpp"

namespace payoff {
namespace {

using LawPriors = std::array<LawPrior, law_parameter_count>;

// The class: what cuBLAS and cuDNN of their time reached on a data centre GPU.
constexpr LawPrior gemm_fp32{0.90, 0.08};
constexpr LawPrior gemm_tf32{0.80, 0.12};
constexpr LawPrior gemm_fp8{0.70, 0.12};
constexpr LawPrior convolution{0.80, 0.25};
constexpr LawPrior attention{0.60, 0.25};
constexpr LawPrior depth_half{100, 0.50};
constexpr LawPrior memory{0.85, 0.08};
constexpr LawPrior launch_prior{2.5e-6, 0.40};

constexpr LawPriors law(LawPrior gemm_16, LawPrior fp8 = gemm_fp8, LawPrior fp32 = gemm_fp32,
                        LawPrior bandwidth = memory) {
  return {
      {fp32, gemm_tf32, gemm_16, fp8, convolution, attention, depth_half, bandwidth, launch_prior}};
}

// In the order of the enum. V100: first tensor cores, half of the operands of later ones per
// instruction. T4: 70 W, far below its peak clock. MI300X: 668 of 1,307 TFLOP/s.
constexpr std::array<LawPriors, architecture_count> laws{{
    law({0.80, 0.15}),                            // pascal: no tensor cores
    law({0.80, 0.10}),                            // volta
    law({0.55, 0.25}, gemm_fp8, {0.60, 0.20}),    // turing
    law({0.87, 0.05, true}),                      // ampere: 271 of 312 TFLOP/s
    law({0.75, 0.20}),                            // ada
    law({0.80, 0.10, true}, {0.71, 0.10, true}),  // hopper: 795 of 989, fp8 1403 of 1979
    law({0.78, 0.10, true}, {0.76, 0.10, true}),  // blackwell: 1745 of 2250, fp8 3433 of 4500
    law({0.51, 0.08, true}, {0.45, 0.25}, {0.60, 0.25}, {0.75, 0.15}),  // cdna3
}};

using SoftwarePriors = std::array<LawPrior, software_parameter_count>;

struct NamedPriors {
  std::string_view name;
  SoftwarePriors priors;
};

// Launching from Python takes 5 to 10 us a kernel; compiled graphs and CUDA graphs less. Traffic is
// relative to what all stacks have in common.
constexpr LawPrior eager{8e-6, 0.40};
constexpr LawPrior compiled{4e-6, 0.50};
constexpr LawPrior graphs{1e-6, 0.50};
constexpr LawPrior step{5e-3, 1.50};
constexpr LawPrior traffic{1.0, 0.30};
// With fused attention the scores, which mixed precision computes in 32 bits, are in no memory, and
// the models that have it are in 16 bits themselves (FSDP, Transformer Engine) rather than cast
// around each operator: 1 in all, where what all stacks have in common is half as much again.
constexpr LawPrior in_16_bits{0.65, 0.30};

constexpr std::array<NamedPriors, 8> named{{
    {"mlperf-2021", {{graphs, {1e-3, 1.00}, in_16_bits}}},
    {"internevo-2023", {{eager, step, in_16_bits}}},
    {"nemo-2024", {{eager, step, in_16_bits}}},
    {"pytorch-2", {{eager, step, in_16_bits}}},
    {"torchtitan-2025", {{eager, step, in_16_bits}}},
    {"ngc-tensorflow-2020", {{compiled, step, traffic}}},
    {"ngc-mxnet-2020", {{compiled, step, traffic}}},
    {"framework-2020", {{compiled, step, traffic}}},
}};
constexpr SoftwarePriors others{{eager, step, traffic}};

}  // namespace

const LawPriors& law_prior(Architecture architecture) {
  return laws[static_cast<std::size_t>(architecture)];
}

const SoftwarePriors& software_prior(std::string_view name) {
  for (const NamedPriors& entry : named) {
    if (entry.name == name) {
      return entry.priors;
    }
  }
  return others;
}

}  // namespace payoff
