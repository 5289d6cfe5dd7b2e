// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/experiment.hpp"

// Small mixtures of experts whose ranks are spread over the nodes of the synthetic cluster of
// tests/study/experiments.hpp: 16 GPUs on nodes of four.

namespace payoff::test {

inline constexpr std::int64_t mixture_tokens = 2048;
inline constexpr std::int64_t mixture_hidden = 1024;
inline constexpr std::int64_t mixture_experts_of_token = 2;
inline constexpr int mixture_blocks = 6;
inline constexpr int mixtures = 5;  // the first block has an ordinary feed-forward

struct MixtureShape {
  int ep{8};
  Bandwidth nic{100_Gbps};
};

// 16 replicas, 16 experts.
[[nodiscard]] Experiment mixture_job(const MixtureShape& shape = {});

struct RandomMixture {
  Experiment job;  // not every layout is possible
  CompressionPlan plan;
};

// Of one of the methods, for one or both ways to experts and back.
[[nodiscard]] RandomMixture random_mixture(std::uint64_t seed, const std::vector<Method>& methods);

}  // namespace payoff::test
