// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/explanation_terms.hpp"

// What the terms of a step are sums of: kernels of a micro-batch, calls of a codec, copies,
// messages. Each part carries its price with all numbers put in, as an expression in SI units that
// model/expression reads, so that a reader (and a test) can work it out.

namespace payoff {

// Six digits: what is worked out from them is right to five.
[[nodiscard]] std::string put_in(double number);
// What kernels reach of the memory's bandwidth: "(0.85 * 2.039e+12)".
[[nodiscard]] std::string bandwidth_of_kernels(const Gpu& gpu);

// The kernels of one micro-batch on the stage, and how they add up to its work.
struct WorkParts {
  std::vector<ExplainedPart> kernels;
  Seconds gpu{};         // of all of them
  double launches{};     // of all of them
  Seconds gpu_bound{};   // GPU time of the runs in which the GPU takes longer than the launches
  Seconds host_bound{};  // launches of the others
};
[[nodiscard]] WorkParts parts_of_work(const ExplainedPlan& plan, WorkKind kind);

// Calls of the codecs on the stage: by kind of bucket and round, and of activations by traffic.
[[nodiscard]] std::vector<ExplainedPart> parts_of_codec(const ExplainedPlan& plan, bool encode);
// Of buckets whose weights are updated in backward; empty where none is.
[[nodiscard]] std::vector<ExplainedPart> parts_of_updates(const ExplainedPlan& plan);
// Buckets filled and emptied.
[[nodiscard]] std::vector<ExplainedPart> parts_of_copies(const ExplainedPlan& plan);
struct ExplainedMessages {
  std::vector<ExplainedPart> parts;
  std::vector<InsertedNumber> numbers;  // what those of one algorithm and protocol share
};
// Messages of one micro-batch.
[[nodiscard]] ExplainedMessages activation_messages(const ExplainedPlan& plan, MessageKind kind);
// To the neighbours of the stage, of one micro-batch.
[[nodiscard]] ExplainedMessages transfer_messages(const ExplainedPlan& plan);
// Of gradients and weights, of the step.
[[nodiscard]] ExplainedMessages gradient_messages(const ExplainedPlan& plan);

// What a bucket is called.
[[nodiscard]] std::string of_elements(const BucketKind& kind);
// Equal ones are counted.
void add_part(ExplainedPart part, std::vector<ExplainedPart>& parts);
[[nodiscard]] Seconds sum_of(const std::vector<ExplainedPart>& parts);

}  // namespace payoff
