// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "cli/kernel_use.hpp"
#include "cli/pair_use.hpp"
#include "model/experiment.hpp"
#include "profiles/fact.hpp"

// What a prediction rests on beyond measurements: numbers of the profiles that are assumed, and
// messages, kernels and what kernels do to each other priced outside the range that was fitted.

namespace payoff {

// One kind of message of a plan, priced again for its provenance.
struct MessageUse {
  std::string plan;
  MessageKind kind{};
  Collective collective{};
  Group group;
  Bytes smallest{};
  Bytes largest{};
  std::size_t count{};  // a step and stage
  bool extrapolated{};  // any of them
  std::set<Bytes> sizes{};
};

struct Trust {
  std::size_t numbers{};  // distinct ones that the predictions read
  Facts assumed;          // of them
  Facts read;             // as the profiles state them: a law once for each strategy
  std::vector<MessageUse> messages;
  std::vector<KernelUse> kernels;
  std::vector<PairUse> pairs;

  [[nodiscard]] std::size_t extrapolated_messages() const;
  [[nodiscard]] std::size_t extrapolated_kernels() const;
  [[nodiscard]] std::size_t extrapolated_pairs() const;
};

[[nodiscard]] Trust trust_in(const PreparedExperiment& prepared, const Facts& facts);

// "12 of 57 numbers are assumed, and 2 of 4 kinds of messages ...": empty when there is nothing.
[[nodiscard]] std::string trust_text(const Trust& trust);

}  // namespace payoff
