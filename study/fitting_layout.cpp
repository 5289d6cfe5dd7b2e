// SPDX-License-Identifier: Apache-2.0
#include "study/fitting_layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "model/layer_division.hpp"
#include "profiles/experiment_keys.hpp"

namespace payoff {
namespace {

constexpr std::size_t most_changes = 5;

struct FittingCandidate {
  ParallelLayout layout;
  std::vector<std::string> changes;
};

// Powers of two above `now`, up to `most`.
std::vector<int> larger_powers(int now, int most) {
  std::vector<int> powers;
  for (int power = 2; power <= most; power *= 2) {
    if (power > now) {
      powers.push_back(power);
    }
  }
  return powers;
}

// Every layout with one of the values, or with none of them.
template <typename T, typename Text>
void vary(std::vector<FittingCandidate>& candidates, T ParallelLayout::*field,
          const std::vector<T>& values, const Text& text) {
  const std::size_t before = candidates.size();
  candidates.reserve(before * (values.size() + 1));
  for (std::size_t i = 0; i < before; ++i) {
    for (const T value : values) {
      FittingCandidate changed = candidates[i];
      changed.layout.*field = value;
      changed.changes.push_back(text(value));
      candidates.push_back(std::move(changed));
    }
  }
}

std::vector<int> more_sharded(const ParallelLayout& layout) {
  std::vector<int> stages;
  for (int zero = layout.zero + 1; zero <= 3; ++zero) {
    stages.push_back(zero);
  }
  return stages;
}

std::vector<FittingCandidate> candidates_of(const Experiment& experiment) {
  const auto numbered = [](const char* key) {
    return [key](int value) { return key + (" " + std::to_string(value)); };
  };
  const ParallelLayout& layout = experiment.layout;
  std::vector<FittingCandidate> candidates{{layout, {}}};
  if (const auto* shape = std::get_if<TransformerShape>(&experiment.model)) {
    vary(candidates, &ParallelLayout::tp,
         larger_powers(layout.tp, experiment.cluster.gpus_per_node), numbered("tp"));
    vary(candidates, &ParallelLayout::pp, larger_powers(layout.pp, static_cast<int>(shape->layers)),
         numbered("pp"));
    std::vector<Recompute> again;
    for (const auto& [name, recompute] : recomputes) {
      if (recompute > layout.recompute) {
        again.push_back(recompute);
      }
    }
    vary(candidates, &ParallelLayout::recompute, again, [](Recompute recompute) {
      return "recompute " + std::string(recomputes.at(static_cast<std::size_t>(recompute)).first);
    });
  }
  vary(candidates, &ParallelLayout::zero, more_sharded(layout), numbered("zero"));
  if (layout.micro_batch > 1) {
    vary(candidates, &ParallelLayout::micro_batch, {1}, numbered("micro-batch"));
  }
  return candidates;
}

// The same GPUs and the same global batch; nullopt where they do not divide.
std::optional<Experiment> with_layout(const Experiment& experiment, ParallelLayout layout) {
  const ParallelLayout& given = experiment.layout;
  const std::int64_t replica = std::int64_t{layout.tp} * layout.cp * layout.pp;
  if (given.ranks() % replica != 0) {
    return std::nullopt;
  }
  layout.dp = static_cast<int>(given.ranks() / replica);
  if (part_count(layout) != part_count(given)) {
    layout.stage_layers.clear();
  }
  const auto batch = std::llround(given.global_batch());
  const std::int64_t once = std::int64_t{layout.dp} * layout.micro_batch;
  if (batch % once != 0) {
    return std::nullopt;
  }
  layout.micro_batches = static_cast<int>(batch / once);
  Experiment result = experiment;
  result.layout = layout;
  result.plans.resize(1);
  return check(result).empty() ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace

std::optional<FittingLayout> nearest_fitting_layout(const Experiment& experiment) {
  const std::vector<FittingCandidate> candidates = candidates_of(experiment);
  std::optional<FittingLayout> best;
  for (std::size_t changes = 0; changes <= most_changes && !best; ++changes) {
    for (const FittingCandidate& candidate : candidates) {
      if (candidate.changes.size() != changes) {
        continue;
      }
      const auto changed = with_layout(experiment, candidate.layout);
      if (!changed) {
        continue;
      }
      const PreparedExperiment prepared(*changed);
      const StepPrediction prediction = prepared.predict(changed->plans.front());
      if (prediction.memory.fits() && (!best || prediction.step < best->step)) {
        best = FittingLayout{changed->layout, fmt::format("{}", fmt::join(candidate.changes, ", ")),
                             prediction.step, prediction.memory};
      }
    }
    if (best && changes == 0) {
      return std::nullopt;
    }
  }
  return best;
}

}  // namespace payoff
