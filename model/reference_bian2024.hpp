// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/units.hpp"

// The reference model of S. Bian, D. Li, H. Wang, E. P. Xing, S. Venkataraman, "Does Compressing
// Activations Help Model Parallel Training?" (MLSys 2024, arXiv 2301.02654): a transformer layer
// whose activations tensor parallelism sums, encoded or not. RECONSTRUCTED: the paper itself could
// not be opened, and its code (uw-mad-dash/MCBench) has the timings' grid but neither fit nor
// constants; the form is a reader's recollection of it. Valid for tensor parallelism alone, whose
// sums nothing hides, and encodings that are summed as they are (its auto-encoder).

namespace payoff {

// T_comm: what a short message takes, c, or what its size asks for, b Bsh; they meet at d.
struct ActivationSum {
  Seconds shortest{};         // c
  SecondsPerByte per_byte{};  // b

  [[nodiscard]] Seconds time(Bytes size) const;
};

// T_comp over a: 96 B s h^2 + 16 B s^2 h of one layer, forward, backward and forward again.
[[nodiscard]] Flops bian2024_flops(double batch, double sequence, double hidden);

// A layer, all of its sums together; `overhead` is that of the encoder and decoder, g Bsh.
struct EncodedLayer {
  Seconds compute{};
  Bytes dense{};    // Bsh
  Bytes encoded{};  // Bse
  Seconds overhead{};
};

// (T_comp + T_comm(Bsh)) / (T_comp + T_comm(Bse) + T_overhead)
[[nodiscard]] double bian2024_speedup(const EncodedLayer& layer, const ActivationSum& sum);

}  // namespace payoff
