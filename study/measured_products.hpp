// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "model/hardware.hpp"
#include "study/kernel_calibration.hpp"
#include "study/measured_part.hpp"

// How fast a GPU multiplies, from `gemm` and `attention` of its samples: `law.gemm_efficiency` of
// each precision and `law.depth_half`, fitted by the law that prices products in a step
// (calibrate/product_fit.hpp). Rows are the samples' n and columns their m: cuBLAS is column-major,
// so that a layer's tokens are n.

namespace payoff {

struct MeasuredProducts {
  MeasuredPart law;    // lines of the key `law`
  std::string ranges;  // of its key `measured`
};

// `gpu` is its data sheet with the launch and the share of the memory bandwidth that predictions
// will take.
[[nodiscard]] MeasuredProducts measured_products(const KernelCalibration& calibration,
                                                 const Gpu& gpu);

// The precision of a product, as payoff-kernels tells it: bytes of an element and two marks.
[[nodiscard]] Precision product_precision(const std::map<std::string, double>& parameters);
// The sheet's peak for it; zero for what is no product, or one whose precision is not told.
[[nodiscard]] FlopRate product_peak(const SamplesPoint& point, const Gpu& data);

}  // namespace payoff
