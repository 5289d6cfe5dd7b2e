// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cli/command_line.hpp"
#include "cli/session.hpp"
#include "model/training_numbers.hpp"
#include "profiles/fact.hpp"
#include "study/payoff.hpp"

// What a predicted step means for a training: throughput, MFU and HFU, and for so many tokens time,
// energy and cost.

namespace payoff {

inline constexpr OptionSpec tokens_option{
    "--tokens", "N", "time, energy and cost of a training of so many tokens (images): 300e9",
    Takes::value};
inline constexpr OptionSpec price_option{
    "--price", "PRICE", "of a node, instead of the profile's: '12.24 USD/h'", Takes::value};

inline constexpr OptionSpec network_price_option{
    "--network-price", "USD",
    "with --tokens: what a network costs that makes compression pointless, USD for a Gb/s of a NIC",
    Takes::value};

struct TrainingQuestion {
  std::optional<double> tokens;
  Price price{};                       // the profile's unless given
  std::optional<double> usd_per_gbps;  // of a NIC's line rate: asks what a faster network costs
};
// Of a node: the one that was given, else the profile's; zero: not known.
[[nodiscard]] Price price_of(const Experiment& experiment, const TrainingQuestion& question);
// Of --price, where it is given; mistakes of all of these are reported.
[[nodiscard]] std::optional<Price> read_price(const Arguments& arguments, Session& session);
[[nodiscard]] TrainingQuestion read_training_question(const Arguments& arguments, Session& session);

// A sentence on the job as given, and with `tokens` a table of all strategies.
[[nodiscard]] std::string training_text(const Experiment& experiment, const Payoff& payoff,
                                        const TrainingQuestion& question, const Facts& facts);
[[nodiscard]] nlohmann::ordered_json training_json(const Experiment& experiment, Seconds step,
                                                   const TrainingQuestion& question);

// "1.23 d", "5.4 h": what people plan in.
[[nodiscard]] std::string long_time_text(Seconds time);

}  // namespace payoff
