// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiles/read_hardware.hpp"

// What `payoff calibrate fit SAMPLES` measured on a GPU, in a GPU profile of its own: `data_of`
// names the GPU whose data sheet and laws hold for the rest.
//   law     of ComputeLaw, what was measured: launch, memory_efficiency, gemm_efficiency, and in
//           `measured` the amounts of work of the kernels behind them
//   codecs  of CodecLaw for every class that was measured (profiles/read_measured_codecs):
//           resident_efficiency, memory_efficiency, relative_sd, streams, and where they were
//           measured random_efficiency and gathers; below it in `kernels` the same for single
//           kernels, with product_rate and products of those that multiply, which price the
//           methods whose passes they are (`kernels` of a method) and no others
//   copies  of CopyLaw: start and rate of copies to the host's memory and back
//   interference  of PairLaws: what was seen of the slow-down that the law of pairs gives
// Beyond `measured`, `streams`, `gathers` and `products` every price is an extrapolation. The other
// keys of such a file are for people and for `payoff calibrate diff`.

namespace payoff {

// Whether the profile's root is of a measured GPU.
[[nodiscard]] bool is_measured_gpu(const Section& root);

// The data sheet's GPU with the measured laws in place of its own.
void read_measured_gpu(const Section& root, const ReadContext& context, Gpu& gpu, Facts& facts);

}  // namespace payoff
