// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/compression.hpp"
#include "study/trace_pricing.hpp"

// A trace whose gradients are compressed. Each sum over data-parallel ranks becomes what a method
// makes of it: passes on the stream that computes, rounds on the stream of the sum, in the order of
// their dependencies; what waited for the sum waits for the decoder. A trace has no shapes: a sum
// is one vector to the codec.

namespace payoff {

struct TraceCodec {
  const Method& method;
  Precision gradient{Precision::fp32};    // of the elements that were summed
  Precision arithmetic{Precision::fp32};  // of products in the codec's passes
};

struct CompressedTrace {
  ChakraTrace trace;
  std::vector<Seconds> durations;
  std::vector<double> relative_sd;  // of the messages among its nodes
  std::size_t compressed{};         // sums
};

// What a trace cannot tell of the method, or the job does not send.
[[nodiscard]] Problems check_trace_codec(const std::vector<TraceMessages>& messages,
                                         const TraceJob& job, const TraceCodec& codec);

// `durations` and `relative_sd`: of the trace as reprice() prices it. No problem of those.
[[nodiscard]] CompressedTrace compressed(const ChakraTrace& trace,
                                         const std::vector<TraceMessages>& messages,
                                         const TraceJob& job, const TraceCodec& codec,
                                         std::span<const Seconds> durations,
                                         std::span<const double> relative_sd);

// The same run again.
[[nodiscard]] RepricedTrace reprice(const ChakraTrace& trace,
                                    const std::vector<TraceMessages>& messages, const TraceJob& job,
                                    const TraceCodec& codec);

}  // namespace payoff
