// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/compression.hpp"
#include "model/hardware.hpp"

// The law of what shares a GPU, the same in both engines. Compute units (SMs) are reserved, not
// shared: a communication kernel holds one for each channel all its life, while it waits as well;
// a compute kernel runs its blocks in waves over the units left. Kernels of a second compute stream
// and those of the first take turns when blocks end, and have the units that the last waves of the
// others leave, where their blocks are known. Memory is shared max-min, see within_memory and
// message_rate; links are in sim/.
//
// Two streams of equal priority take turns, half of the time each, as if their kernels were equally
// long; frameworks create streams so, and docs/model.md (section 9) says how far kernels of unequal
// length are from it, block by block (sim/block_scheduler). Of unequal priority, the blocks of the
// higher one go first whenever blocks end, and the lower one has what its last waves leave. What a
// copy engine moves holds no unit: between GPUs it is a message, to the host
// and back it takes of the memory what it moves, before anything else has its share.
//
// Sources: wave quantisation beside NCCL, NVIDIA developer forum 337991 (H100, 132 blocks beside 24
// channels: nearly twice the time); backward beside NCCL 1.04 to 1.1 times as long on V100, Agarwal
// et al. 2022. Valid for kernels whose blocks fill a unit. What a codec and anything beside it do
// to each other nobody has published: the law is the median of a prior between 1 and 2, within what
// the memory carries. On a GPU where such pairs were measured (calibrate/pair_fit.hpp), what was
// seen of the law's slow-down takes the place of the prior.

namespace payoff {

// Waves of a kernel of equal blocks on so many units; at least one unit always remains.
[[nodiscard]] std::int64_t waves(std::int64_t blocks, int units);

// How fast a kernel runs while `reserved` of the GPU's units are held, relative to having them all.
[[nodiscard]] double kernel_rate(std::int64_t blocks, int units, int reserved);

// Share of the units that messages of so many channels hold. NCCL never takes more than half.
[[nodiscard]] double reserved_share(int channels, int units);

// Of a message and a send in flight at once. One that holds all of them would never end.
[[nodiscard]] constexpr double held_share(double message, double send) {
  constexpr double most = 0.5;
  return std::min(most, message + send);
}

// Nothing takes more than twice as long beside what has half of the units, or half of the turns.
inline constexpr double most_slowdown = 2.0;

// How much longer work takes beside something that it was never measured with, at a quantile of the
// prior: from 1 by way of what the law says, the median, to 2.
[[nodiscard]] constexpr double unmeasured_slowdown(double by_law, double quantile) {
  constexpr double median = 0.5;
  return quantile <= median
             ? 1.0 + (by_law - 1.0) * (quantile / median)
             : by_law + (most_slowdown - by_law) * ((quantile - median) / (1.0 - median));
}

// The same where pairs of the kind were measured: their share of the law's slow-down, drawn evenly
// over a width that has their standard deviation.
[[nodiscard]] constexpr double pair_slowdown(const PairLaw& pair, double by_law, double quantile) {
  if (!pair.measured) {
    return unmeasured_slowdown(by_law, quantile);
  }
  constexpr double width = 3.4641016151377544;  // sqrt(12) standard deviations
  const double share = std::max(0.0, pair.share + width * pair.spread * (quantile - 0.5));
  return std::min(most_slowdown, 1.0 + (by_law - 1.0) * share);
}

// What is known of pairs on a GPU, and where in what is not known a prediction stands: at 0.5 the
// law holds, or the mean of what was measured.
struct PairPrior {
  double quantile{0.5};
  PairLaws laws{};
};

// Which of two streams goes first when blocks end.
enum class StreamTurns { alternate, codec_last, codec_first };
[[nodiscard]] constexpr StreamTurns turns_of(Placement placement) {
  switch (placement) {
    case Placement::low_priority_stream:
      return StreamTurns::codec_last;
    case Placement::high_priority_stream:
      return StreamTurns::codec_first;
    default:
      return StreamTurns::alternate;
  }
}

// A stream that goes last is not stopped for good: between two kernels of the other one a unit is
// free now and then. Assumed: one of 128.
inline constexpr double starved_rate = 1.0 / 128.0;

// How fast two streams go, relative to being alone, whose work is many kernels in a row: their
// waves average out, as of many blocks.
struct StreamRates {
  double compute{};
  double codec{};  // on its side stream, or on the compute stream with no compute beside it
};

// `compute_rate`: of compute on the units left; `idle_share`: of these, what its last waves leave
// idle; both where the waves of its kernels are known (model/kernel_waves.hpp).
[[nodiscard]] constexpr StreamRates stream_rates(bool compute_busy, bool codec_busy,
                                                 double reserved_share, const PairPrior& pairs,
                                                 double compute_rate, double idle_share,
                                                 StreamTurns turns = StreamTurns::alternate) {
  constexpr double turn = 0.5;
  const PairLaws& laws = pairs.laws;
  const double quantile = pairs.quantile;
  const double left = 1.0 - reserved_share;
  const double beside_message =
      reserved_share > 0.0 ? pair_slowdown(laws.codec_beside_message, 1.0 / left, quantile) : 1.0;
  if (!compute_busy || !codec_busy) {
    return {compute_rate, 1.0 / beside_message};
  }
  if (turns == StreamTurns::codec_last) {
    return {compute_rate / unmeasured_slowdown(1.0, quantile),
            std::max(idle_share, starved_rate) / beside_message};
  }
  if (turns == StreamTurns::codec_first) {
    return {compute_rate * starved_rate,
            1.0 / (unmeasured_slowdown(1.0, quantile) * beside_message)};
  }
  const double codec_by_law = 1.0 / (turn + turn * idle_share);
  return {
      compute_rate / pair_slowdown(laws.compute_beside_codec, 1.0 / turn, quantile),
      1.0 / (pair_slowdown(laws.codec_beside_compute, codec_by_law, quantile) * beside_message)};
}

[[nodiscard]] constexpr StreamRates stream_rates(bool compute_busy, bool codec_busy,
                                                 double reserved_share,
                                                 const PairPrior& pairs = {}) {
  return stream_rates(compute_busy, codec_busy, reserved_share, pairs, 1.0 - reserved_share, 0.0);
}

// Of the memory bandwidth, what work may take beside a message: the message keeps what its units
// weigh, or all that it asks for where that is less.
[[nodiscard]] constexpr double memory_room(double memory_share, double reserved_share) {
  return 1.0 - std::min(memory_share, reserved_share);
}

// More than the room, beyond rounding.
[[nodiscard]] constexpr bool exceeds(double demand, double room) {
  constexpr double rounding = 1e-12;
  return demand > room + rounding;
}

// Rates at which work stays within its room. `compute_memory`, `codec_memory`: the share of the
// bandwidth that each asks for alone, 0 where it does not run. Max-min, fair in bytes a second,
// weighted by the units that each has, capped by demand.
[[nodiscard]] constexpr StreamRates within_memory(StreamRates rates, double compute_memory,
                                                  double codec_memory, double room,
                                                  double idle_share) {
  const double compute = rates.compute * compute_memory;
  const double codec = rates.codec * codec_memory;
  if (!exceeds(compute + codec, room)) {
    return rates;
  }
  constexpr double turn = 0.5;
  const double fair = room * turn * (1.0 - idle_share);
  const double gets = std::min(compute, std::max(fair, room - codec));
  rates.compute *= compute > 0.0 ? gets / compute : 1.0;
  rates.codec *= codec > 0.0 ? std::min(codec, room - gets) / codec : 1.0;
  return rates;
}

// How fast a message goes, relative to being alone, beside work that takes `work_demand` of the
// memory bandwidth. Max-min, fair in bytes a second, weighted by units and capped by demand: work
// on the units left asks for no more than they weigh and gets it; a message has what remains, at
// least what its own units weigh. One that holds none is a copy engine's and waits for nobody.
[[nodiscard]] constexpr double message_rate(double work_demand, double memory_share,
                                            double reserved_share) {
  const double remains = std::max(1.0 - work_demand, reserved_share);
  return reserved_share <= 0.0 || memory_share <= remains ? 1.0 : remains / memory_share;
}

}  // namespace payoff
