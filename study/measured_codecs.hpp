// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "study/kernel_calibration.hpp"
#include "study/measured_part.hpp"

// The laws of codecs, CodecLaw of model/method.hpp, from the samples of a GPU: for each class of
// implementations one of all its kernels that only stream, and what scattered sectors reach
// (`random_k`, `scatter_add`); below it the laws of single kernels that have enough sizes: those
// that stream, selections of Top-K by their traffic, and steps of PowerSGD with the rate of their
// products. Sketches, orthogonalisation alone and batches of steps have none.

namespace payoff {

// The key `codecs` of a GPU profile; empty where the samples tell no law. `data` is the GPU's data
// sheet, `gpu` what it is called. An efficiency of traffic on a side of the cache where no size
// lies is left out, and `relative_sd` with it; so are laws of single kernels that lack one.
[[nodiscard]] MeasuredPart measured_codecs(const KernelCalibration& calibration, const Gpu& data,
                                           const std::string& gpu);

}  // namespace payoff
