// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/experiment.hpp"

// A small synthetic job for tests that derive what they expect: one GPU of round numbers, nodes of
// four on a switch, one NIC a node, a table of equal layers.

namespace payoff::test {

struct JobShape {
  int nodes{4};
  int layers{12};
  Bandwidth nic{10_Gbps};
  Precision gradient{Precision::fp32};
};

[[nodiscard]] Experiment small_job(const JobShape& shape = {});

// Sums in the collective, sends `ratio` times fewer bytes, and reads and writes the gradient
// `passes` times on either side.
[[nodiscard]] CompressionPlan shrink(double ratio, double passes);

// The same twice, one round after the other, as the two factors of PowerSGD.
[[nodiscard]] CompressionPlan two_rounds(double ratio, double passes);

// The same of a method that saves nothing among more workers than that: check() refuses it there.
[[nodiscard]] CompressionPlan shrink_among(int most_workers, double ratio, double passes);

// Sends a share of the elements as value and index, gathered from all workers.
[[nodiscard]] CompressionPlan sparse(double kept, double passes);

// The job with these plans after "none".
[[nodiscard]] Experiment transformer_job();  // GPT-3 6.7B of Brown et al. 2020, table 2.1
[[nodiscard]] Experiment with_plans(Experiment experiment, std::vector<CompressionPlan> plans);

// Every speed times `factor`, every latency divided by it.
[[nodiscard]] Experiment all_faster(Experiment experiment, double factor);

}  // namespace payoff::test
