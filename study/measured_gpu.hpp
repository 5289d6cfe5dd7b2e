// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/hardware.hpp"
#include "study/kernel_calibration.hpp"
#include "study/measured_part.hpp"

// What the samples of a GPU say in the terms of predictions, as the part of a GPU profile that
// profiles/read_measured.hpp reads. `data` is the GPU's data sheet: shares are of its peaks.
//   law.launch             of chains of empty kernels (`launch`): calibrate/launch_chain.hpp
//   law.memory_efficiency  of `copy` beyond the cache: calibrate/beyond_cache.hpp
//   law.gemm_efficiency    of `gemm` and `attention`, for each precision that was measured
//   law.depth_half         of the same, one for all: study/measured_products.hpp
//   codecs.CLASS           resident_efficiency, memory_efficiency of the kernels that only stream:
//                          one law a class, as calibrate/codec_fit.hpp fits it to published
//                          timings; where sizes lie on both sides of the cache relative_sd, its
//                          RMS error; random_efficiency; in `kernels` laws of single kernels
//                          (study/measured_codecs.hpp)
//   copies                 of `host_to_device` and `device_to_host`: one law for both directions
//   interference           what was seen of the slow-down that the law of pairs gives
// Cold samples are taken where there are any: a step finds its gradients in memory. What the
// samples do not tell stays as it is for the data sheet's GPU.

namespace payoff {

// The keys `law` and `codecs` with everything below them; empty where the samples tell nothing.
// What of them the samples leave open is named, where its kernels were measured.
[[nodiscard]] MeasuredPart measured_laws(const KernelCalibration& calibration, const Gpu& data,
                                         const std::string& name);

}  // namespace payoff
