// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "model/units.hpp"

// The reference model of S. Agarwal, H. Wang, S. Venkataraman, D. Papailiopoulos, "On the Utility
// of Gradient Compression in Distributed Training Systems" (MLSys 2022, arXiv 2103.00543): what
// they time is backward with its gradient communication; forward and optimizer are outside.
// RECONSTRUCTED: the paper itself could not be opened. The uncompressed form and the ring law come
// from a reader's note that prints them; the note's bracket puts the last bucket inside the
// maximum, although it is ready only when backward ends, so it stands outside here. The compressed
// forms follow the traffic of the authors' code (uw-mad-dash/GradCompressionUtility,
// gradient_reducers.py): rounds one after the other, nothing overlapped. Valid for pure data
// parallelism on a flat ring of one bandwidth.

namespace payoff {

struct RingNetwork {
  int workers{1};
  Seconds latency{};  // of a hop
  Bandwidth bandwidth{};

  // 2 alpha (p - 1) + 2 b (p - 1) / (p BW)
  [[nodiscard]] Seconds all_reduce(Bytes size) const;
  // alpha (p - 1) + b (p - 1) / BW for b bytes contributed by every worker
  [[nodiscard]] Seconds all_gather(Bytes contribution) const;
};

// The slow-down of backward beside communication; the note prints "observed 1.04-1.1".
inline constexpr double agarwal2022_slowdown = 1.07;

// Uncompressed, overlapped: max(gamma T_comp, (k - 1) T(b)) + T(last) with k buckets.
struct BucketedReduction {
  std::size_t buckets{};
  Bytes bucket{};       // all but the last
  Bytes last_bucket{};  // ready when backward ends
  double slowdown{agarwal2022_slowdown};
};

[[nodiscard]] Seconds agarwal2022_dense(Seconds backward, const BucketedReduction& reduction,
                                        const RingNetwork& network);

// Compressed: backward, then encode and decode, then the rounds.
struct CompressedRound {
  bool gathers{};  // all-gather of contributions, else all-reduce
  Bytes size{};    // of one worker's contribution
};

[[nodiscard]] Seconds agarwal2022_compressed(Seconds backward, Seconds encode_and_decode,
                                             std::span<const CompressedRound> rounds,
                                             const RingNetwork& network);

}  // namespace payoff
