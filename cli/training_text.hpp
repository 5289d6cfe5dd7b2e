// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cli/command_line.hpp"
#include "cli/session.hpp"
#include "model/training_numbers.hpp"
#include "study/payoff.hpp"

// What a predicted step means for a training: throughput, MFU and HFU, and for so many tokens time,
// energy and cost.

namespace payoff {

inline constexpr OptionSpec tokens_option{
    "--tokens", "N", "time, energy and cost of a training of so many tokens (images): 300e9",
    Takes::value};
inline constexpr OptionSpec price_option{
    "--price", "PRICE", "of a node, instead of the profile's: '12.24 USD/h'", Takes::value};

struct TrainingQuestion {
  std::optional<double> tokens;
  Price price{};  // the profile's unless given
};
// Mistakes are reported.
[[nodiscard]] TrainingQuestion read_training_question(const Arguments& arguments, Session& session);

// A sentence on the job as given, and with `tokens` a table of all strategies.
[[nodiscard]] std::string training_text(const Experiment& experiment, const Payoff& payoff,
                                        const TrainingQuestion& question);
[[nodiscard]] nlohmann::ordered_json training_json(const Experiment& experiment, Seconds step,
                                                   const TrainingQuestion& question);

}  // namespace payoff
