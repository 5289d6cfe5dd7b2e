// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "calibrate/log_fit.hpp"
#include "model/experiment.hpp"

// Fits the compute laws of GPUs (model/hardware.hpp, ComputeLaw) and the costs of software stacks
// (model/layout.hpp, Software) to measured step times, through the prediction path itself. GPUs of
// one architecture share their law: it says what the kernels of a library achieve of what the data
// sheet states. Few parameters, all positive, all with a prior (calibrate/compute_priors.hpp); what
// a step contains decides which of them it can move. Two factors are shared: the share of its best
// product that tensor cores of any architecture sustain through a training step, and the traffic of
// memory-bound operators of any stack over one read of each input and one write.

namespace payoff {

// One measured step. `group` names what it shares with others (source, stack and GPU): rows of a
// group share what is unknown about it, so that a hundred do not count as a hundred independent
// ones.
struct ComputeCase {
  Experiment experiment;
  Seconds measured{};
  std::string name;
  std::string group;
  double extra_log_sd{};  // of what the row does not state and had to be assumed
  std::string source{};   // file of the row; empty: the group is the source
};

enum class LawParameter {
  gemm_fp32,
  gemm_tf32,
  gemm_16,
  gemm_fp8,
  convolution,
  attention,
  depth_half,
  memory,
  launch
};
inline constexpr std::size_t law_parameter_count = 9;

enum class SoftwareParameter { host_per_kernel, host_per_step, memory_traffic };
inline constexpr std::size_t software_parameter_count = 3;

struct FittedParameter {
  double value{};  // ratios as they are, depth in elements, times in seconds
  double log_sd{};
  std::size_t cases{};  // that could move it
};

struct FittedLaw {
  Architecture architecture{};
  std::array<FittedParameter, law_parameter_count> parameters;
  std::vector<std::string> sources;  // whose cases it rests on, sorted

  [[nodiscard]] const FittedParameter& operator[](LawParameter p) const {
    return parameters[static_cast<std::size_t>(p)];
  }
};

struct FittedSoftware {
  std::string name;
  std::array<FittedParameter, software_parameter_count> parameters;
  double relative_sd{};  // spread of its residuals; a wide guess where there are no cases
  std::size_t cases{};
  std::vector<std::string> sources;

  [[nodiscard]] const FittedParameter& operator[](SoftwareParameter p) const {
    return parameters[static_cast<std::size_t>(p)];
  }
};

struct ComputeFit {
  FittedParameter sustained;
  FittedParameter traffic;
  std::vector<FittedLaw> laws;                    // every architecture, in the order of the enum
  std::vector<FittedSoftware> software;           // in the order given
  std::map<std::string, KernelAmounts> measured;  // in the steps of each GPU, by its name
  LogFit fit;                                     // residuals in the order of the cases
};

// `software` names every stack, with or without cases.
[[nodiscard]] ComputeFit fit_compute(std::span<const ComputeCase> cases,
                                     std::span<const std::string> software);

// The law that a GPU of this architecture takes: efficiencies include the sustained share.
[[nodiscard]] ComputeLaw law_of(const FittedLaw& fitted);
void apply(const FittedSoftware& fitted, Software& software);

// profiles/fitted/compute.yaml for these GPUs and stacks.
[[nodiscard]] std::string compute_profile(const ComputeFit& fit, std::span<const Gpu> gpus);

}  // namespace payoff
