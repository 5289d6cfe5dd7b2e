// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/step_plan.hpp"

// Plans whose codecs run on the host.

namespace payoff::test {

// Where the parts of a bucket run: all rounds on the host; a dense message of the GPU first; or the
// sum inside the node by the GPU, the payload between hosts, and what comes of it by the GPU again.
enum class OnHost { all, after_dense, between };

// A kind with random times of each.
[[nodiscard]] BucketKind kind_on_host(std::uint64_t seed, OnHost where);

// The same buckets with codecs of that kind, each plan's own mix.
void put_on_host(StepPlan& plan, std::uint64_t seed);

// A copy of the gradient out, the cores' encoder, a message between hosts, the cores' decoder, a
// copy back.
[[nodiscard]] BucketKind simple_on_host(Seconds fill, Seconds copy, Seconds encode, Seconds message,
                                        Seconds decode, Seconds empty);

}  // namespace payoff::test
