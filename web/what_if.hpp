// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/experiment.hpp"
#include "model/problem.hpp"
#include "model/remedy_limits.hpp"
#include "study/payoff.hpp"

// What a report recomputes when its reader moves a slider: the experiment with other values of a
// few keys, judged by study/payoff as `payoff predict` judges it. START READING HERE: answer() is
// one movement. The same code runs in the page (web/wasm_api.cpp) and in the tests of this program.

namespace payoff::web {

// A parameter of a method, and what a plan may set it to.
struct ParameterChoice {
  std::string name;
  double min{};
  double max{};
  bool integer{};
};

// A method of the library that compresses gradients, with its parameters as they are by default.
struct MethodChoice {
  CompressionPlan plan;
  std::vector<ParameterChoice> parameters;  // in the order of Method::parameters
};

struct ModelChoice {
  std::string profile;
  std::int64_t parameters{};
  Model model;
};

// All that a page can compute with.
struct WhatIf {
  Experiment experiment;
  RemedyLimits limits;
  double band{noise_band};
  std::vector<ModelChoice> models;  // ascending in parameters; may lack the experiment's own
  std::vector<MethodChoice> methods;
};

// The positions of the sliders; what is empty or zero stays as the experiment has it.
struct Knobs {
  int dp{};
  Bandwidth nic{};  // of every node
  Bytes bucket{};
  std::optional<std::size_t> model;
  std::optional<std::size_t> method;  // one more strategy, the last of the answer's
  std::vector<double> parameters;     // of the method
  double codec_speed{1};              // all codecs so many times as fast
  std::size_t draws{};                // 0: no intervals
  bool search_remedy{true};
};

struct Answer {
  Problems problems;  // no such job: nothing else is said
  int gpus{};
  int nodes{};
  Bytes gradient_bytes{};  // of all parameters of the model, at the width of the gradients
  Payoff payoff;
};

// Requires check() of the experiment empty, and `draws` <= 4096.
[[nodiscard]] Answer answer(const WhatIf& page, const Knobs& knobs);

// The replicas that the page offers: whole nodes from one on, or parts of one node, up to so many
// GPUs. Of nodes of several kinds only those that there are: nobody says of which kind more would
// be.
[[nodiscard]] std::vector<int> offered_dp(const Experiment& experiment, int most_gpus);

// As text, complete: restore(store(x)) computes what x does, bit for bit. nullopt for what `store`
// of this version did not write.
[[nodiscard]] std::string store(const WhatIf& page);
[[nodiscard]] std::optional<WhatIf> restore(std::string_view text);
[[nodiscard]] std::optional<Knobs> restore_knobs(std::string_view text);

// As JSON, with the keys of `payoff predict --json`.
[[nodiscard]] std::string answer_json(const Answer& answer);

}  // namespace payoff::web
