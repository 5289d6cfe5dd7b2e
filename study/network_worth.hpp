// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/training_numbers.hpp"
#include "study/break_even.hpp"
#include "study/payoff.hpp"

// What the network would cost that makes compression pointless, against what compression saves. A
// strategy that beats the best remedy on the NICs as they are stops doing so at some line rate
// (study/break_even.hpp); the network between is bought once, by the Gb/s of every NIC with its
// share of cables and switches, while a strategy saves the price of the nodes for the time that a
// training is shorter.

namespace payoff {

struct NetworkQuestion {
  double tokens{};        // of a training; samples, of images
  Price node{};           // what one costs; zero: not known
  double usd_per_gbps{};  // of the line rate of one NIC
};

struct NetworkWorth {
  std::string label;
  bool pays_now{};  // against the best remedy, with the NICs as they are
  // Where it pays now: the line rate of a NIC from which it does not. Nothing: it pays at every
  // rate that was scanned.
  std::optional<Bandwidth> pointless_from;
  Bandwidth added{};        // of all NICs of the job together
  double network_usd{};     // of what is added
  double saved_usd{};       // of one training, against the best remedy; 0 where nodes have no price
  double saved_low_usd{};   // 5 % of the draws save less
  double saved_high_usd{};  // 5 % save more
  // Trainings that save as much as the network costs. Nothing: nothing is saved or nothing is
  // known.
  std::optional<double> trainings;
};

// One for each break-even on the axis of bandwidth: of every plan that compresses, where NICs are
// used.
[[nodiscard]] std::vector<NetworkWorth> network_worths(const Experiment& experiment,
                                                       const Payoff& payoff,
                                                       const std::vector<BreakEven>& break_evens,
                                                       const NetworkQuestion& question);

}  // namespace payoff
