// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/evaluate.hpp"
#include "model/experiment.hpp"
#include "profiles/document.hpp"
#include "profiles/read_experiment.hpp"
#include "study/attribution.hpp"
#include "study/observed.hpp"

// Why two steps differ: what each difference between their experiments is worth, by the rule of
// study/attribution.hpp, over experiments that take some keys of the one and the others of the
// other. Each is read and predicted as if somebody had written it.

namespace payoff {

// In the order in which a step runs through them; they add up to the step.
using StepTerm = std::pair<std::string_view, Seconds Waterfall::*>;
inline constexpr std::array<StepTerm, 18> step_terms{{
    {"forward", &Waterfall::forward},
    {"recompute", &Waterfall::recompute},
    {"backward", &Waterfall::backward},
    {"interference", &Waterfall::interference},
    {"encode", &Waterfall::encode},
    {"decode", &Waterfall::decode},
    {"bucket_copy", &Waterfall::bucket_copy},
    {"exposed_tp", &Waterfall::exposed_tp},
    {"exposed_cp", &Waterfall::exposed_cp},
    {"exposed_ep", &Waterfall::exposed_ep},
    {"exposed_pp", &Waterfall::exposed_pp},
    {"exposed_dp", &Waterfall::exposed_dp},
    {"bubble", &Waterfall::bubble},
    {"optimizer", &Waterfall::optimizer},
    {"host", &Waterfall::host},
    {"host_jitter", &Waterfall::host_jitter},
    {"data_stall", &Waterfall::data_stall},
    {"checkpoint", &Waterfall::checkpoint},
}};
[[nodiscard]] Terms terms_of(const Waterfall& waterfall);
// Those that results leave out where the job states none of them, as most do: they are zero then.
[[nodiscard]] constexpr bool stands_where_stated(std::string_view term) {
  return term == "host_jitter" || term == "data_stall" || term == "checkpoint";
}

// A key that two documents have with different values; nothing where one of them lacks it. A list
// is one value. The nodes know where they were written.
struct ChangedKey {
  std::string path;
  std::optional<Node> in_a;
  std::optional<Node> in_b;
};
// In the order of the first document, then what only the second has. Left out are `experiment`,
// `base` and `compress`: a name, a file already merged, and the strategies, of which one counts.
[[nodiscard]] std::vector<ChangedKey> changed_keys(const Node& a, const Node& b);

// One side of a comparison: an experiment, and which of its strategies ("none" too).
struct Side {
  Document document;
  std::string plan;
  std::optional<Node> strategy;  // the item of `compress` that is the plan; "none" has none
  StepPrediction prediction;
  // Of a result that was kept: what it said. The prediction above is made now.
  std::optional<Terms> recorded;
};

// The experiment with one of its strategies. Nothing where it has none of that name.
[[nodiscard]] std::optional<Side> side_of(const ReadExperiment& read, const std::string& plan,
                                          const ReadContext& context);

struct Cause {
  enum class Kind {
    keys,          // values of the experiment
    program_of_a,  // what this program makes of the experiment of A, less what A says
    program_of_b,  // what B says, less what this program makes of it
    machine,       // a part of the machine, as a measurement shows it
    unexplained,   // of a measurement, what nothing that the profiles allow explains
  };
  Kind kind{Kind::keys};
  std::vector<ChangedKey> keys;  // one, or several that can only change together
  std::string machine;           // "everything a GPU computes"
  double deviations{};           // of the machine: standard deviations from the profile
  Seconds contribution{};
  Terms terms;  // the contribution, as step_terms; of what is unexplained none
};

struct Difference {
  Seconds a{};
  Seconds b{};
  Terms a_terms;
  Terms b_terms;
  Seconds unexplained{};      // of B, that no term has
  std::vector<Cause> causes;  // they add up to b - a
  AttributionRule rule{};
  std::size_t states{};  // predictions that were made for it
};

[[nodiscard]] Difference difference(const Side& a, const Side& b, const ReadContext& context);

// A is the prediction of the uncompressed job, B what was measured: what the profiles leave open is
// moved to its most likely values given the measurement (study/observed.hpp), part by part.
// Requires check_observation() empty.
[[nodiscard]] Difference difference(const Experiment& experiment, const Observation& observation);

}  // namespace payoff
