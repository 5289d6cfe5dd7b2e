// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/experiment.hpp"
#include "model/remedy_limits.hpp"
#include "study/payoff.hpp"

// What to compress, and how: of each kind of traffic (gradients, gathers of weights, sums of tensor
// parallelism, sends between stages, tokens to experts and back, vectors of embedding tables)
// nothing or one of the methods that an experiment names, gradients on the compute stream, on a
// stream of their own or after backward, sums in all blocks or from a quarter, half or three
// quarters of them on, so that the step is shortest and no method exceeds what accuracy allows.
// Kinds interact (they share links, units and memory), so they are chosen together: all
// combinations where these are few, else by improving one kind at a time until none can be. Then
// buckets of gradients are told apart (study/bucket_choice), where that is worth more than the
// band.

namespace payoff {

struct AccuracyBudget {
  double most_ratio{};  // dense bytes over those sent, of each kind of traffic; 0: any
  double least_bits{};  // sent for each element, of each kind of traffic; 0: any
  double inflation{};   // share of iterations that the plan may cost more: gains up to it are none
};

struct AdviceOptions {
  AccuracyBudget budget;
  RemedyLimits limits;
  std::uint64_t most_combinations{4096};  // more are searched kind by kind, bucket by bucket
  double band{noise_band};
  std::size_t draws{256};
  std::uint64_t seed{1};
};

// One way to treat a kind of traffic: a plan that compresses nothing else.
struct TrafficOption {
  CompressionPlan plan;
  double ratio{1};  // dense bytes over those sent
  double bits{};    // sent for each element
};

struct TrafficOptions {
  Traffic traffic{};
  std::vector<TrafficOption> options;  // "none" is none of them
  std::uint64_t over_budget{};         // left out for the ratio or the bits
};

// What became of telling buckets of gradients apart.
struct BucketAdvice {
  std::size_t buckets{};  // 0: there was nothing to tell apart
  std::uint64_t evaluated{};
  bool is_exact{};
  bool is_taken{};  // by the advised plan
};

struct Advice {
  std::vector<TrafficOptions> kinds;
  std::uint64_t combinations{};  // of all kinds, with none
  std::uint64_t evaluated{};
  bool is_exact{};
  BucketAdvice buckets;
  // "none", then the fastest of the experiment's own plans within the budget, if there is one, then
  // the fastest plan found, if it compresses and is not that one. Own plans are never faster.
  Experiment compared;
  Payoff payoff;          // of these, with the best remedy; its band covers the inflation
  std::size_t fastest{};  // in `compared.plans`; 0: compress nothing
  Seconds step{};         // of the fastest
  // The same where it pays or is at least more likely faster than the best remedy; else 0: the
  // remedy is the advice.
  std::size_t advised{};
};

// Requires check() empty. Same inputs, same answer.
[[nodiscard]] Advice advise(const Experiment& experiment, const AdviceOptions& options = {});

// What an experiment calls its methods that are files of the user's own: paths, by the names that
// the files give them.
using OwnFiles = std::map<std::string, std::string>;
[[nodiscard]] OwnFiles own_files(const Experiment& experiment);

// A plan as an experiment file has it, every parameter stated: reads back as the same plan.
[[nodiscard]] std::string plan_text(const CompressionPlan& plan, const OwnFiles& files = {});

}  // namespace payoff
