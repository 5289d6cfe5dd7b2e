// SPDX-License-Identifier: Apache-2.0
#include "study/observed.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "study/latent_matrix.hpp"
#include "study/measured_jobs.hpp"
#include "study/scaled_job.hpp"

namespace payoff {
namespace {

double dot(const Residuals& a, const Residuals& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

// Curvature of (|z|^2 + |r|^2) / 2, linearised, with the damping of Levenberg.
LatentMatrix curvature(const std::vector<Residuals>& jacobian, double damping) {
  LatentMatrix m{};
  for (std::size_t i = 0; i < all_latents; ++i) {
    for (std::size_t j = 0; j < all_latents; ++j) {
      m[i][j] = dot(jacobian[i], jacobian[j]) + (i == j ? 1.0 + damping : 0.0);
    }
  }
  return m;
}

struct Mode {
  Latents z{};
  double objective{};  // |z|^2 + |r|^2, chi-squared with one degree for each measurement
};

Mode most_likely(MeasuredJobs& job) {
  constexpr int rounds = 60;
  Residuals residuals = job.residuals({});
  Mode mode{{}, dot(residuals, residuals)};
  double damping = 1e-3;
  for (int round = 0; round < rounds && damping < 1e9; ++round) {
    const std::vector<Residuals> jacobian = job.jacobian(mode.z);
    Latents downhill{};
    for (std::size_t i = 0; i < all_latents; ++i) {
      downhill[i] = -(mode.z[i] + dot(jacobian[i], residuals));
    }
    const Latents move = solve(cholesky(curvature(jacobian, damping)), downhill);
    Latents next = mode.z;
    for (std::size_t i = 0; i < all_latents; ++i) {
      next[i] += move[i];
    }
    const Residuals at_next = job.residuals(next);
    const double objective = squared(next) + dot(at_next, at_next);
    if (objective < mode.objective) {
      const bool settled = mode.objective - objective < 1e-12 * mode.objective;
      mode = {next, objective};
      residuals = at_next;
      damping *= 0.3;
      if (settled) {
        break;
      }
    } else {
      damping = damping * 10.0 + 1e-6;
    }
  }
  return mode;
}

// Of independent latents, as messages feel them.
Belief belief_of(const Latents& mode, const LatentMatrix& factor, const MeasuredJobs& jobs) {
  Belief belief{jobs.felt(mode), factor, jobs.tell_inside()};
  for (std::size_t i = 0; i < inside_count; ++i) {
    Latents& row = belief.factor[latent::first_inside + i];
    const Latents& between = factor[latent::network + i];
    for (std::size_t j = 0; j < all_latents; ++j) {
      row[j] = jobs.tell_inside() ? row[j] - between[j] : 0.0;
    }
  }
  return belief;
}

double relative_width(MeasuredJob& job, const Belief& belief) {
  std::vector<double> steps;
  for (const Draw& draw : make_draws(256, 1, 0, belief)) {
    steps.push_back(job.predict(draw.shared).step / 1_s);
  }
  return (quantile(steps, 0.95) - quantile(steps, 0.05)) / quantile(steps, 0.5);
}

// The measurement whose step is furthest from what was predicted of it.
std::size_t furthest(const std::vector<ObservedStep>& observed) {
  const auto distance = [](const ObservedStep& each) {
    return std::abs(std::log(each.observation.step / each.before));
  };
  const auto found = std::max_element(
      observed.begin(), observed.end(),
      [&](const ObservedStep& a, const ObservedStep& b) { return distance(a) < distance(b); });
  return static_cast<std::size_t>(found - observed.begin());
}

std::size_t largest(const Residuals& residuals) {
  const auto found = std::max_element(residuals.begin(), residuals.end(),
                                      [](double a, double b) { return std::abs(a) < std::abs(b); });
  return static_cast<std::size_t>(found - residuals.begin());
}

// What no parameters that the profiles allow bring near: sizes of a run, or else a step.
void name_disagreement(MeasuredJobs& jobs, const Latents& mode, Conditioning& result) {
  const Residuals all = jobs.residuals(mode);
  const Residuals of_runs = jobs.run_residuals(mode);
  const std::size_t of_steps = all.size() - of_runs.size();
  if (const std::size_t worst = largest(all); worst >= of_steps) {
    result.disagreeing_sizes = worst - of_steps;
    return;
  }
  const std::size_t worst = furthest(result.observed);
  result.disagreement =
      largest_disagreement(jobs[worst].predict({}).waterfall, jobs[worst].observation());
}

std::vector<ObservedStep> before_and_after(MeasuredJobs& jobs, const Latents& mode) {
  std::vector<ObservedStep> observed;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const StepPrediction before = jobs[i].predict({});
    const StepPrediction after = jobs[i].predict(jobs.felt(mode));
    ObservedStep& step = observed.emplace_back();
    step.observation = jobs[i].observation();
    step.dp = jobs.dp(i);
    step.before = before.step;
    step.after = after.step;
    if (step.observation.exposed) {
      step.exposed_before = exposed_communication(before.waterfall);
      step.exposed_after = exposed_communication(after.waterfall);
    }
  }
  return observed;
}

}  // namespace

Seconds exposed_communication(const Waterfall& waterfall) {
  return waterfall.exposed_tp + waterfall.exposed_cp + waterfall.exposed_ep + waterfall.exposed_pp +
         waterfall.exposed_dp;
}

Disagreement largest_disagreement(const Waterfall& predicted, const Observation& observation) {
  using Part = Disagreement::Part;
  const Seconds communication = exposed_communication(predicted);
  const Seconds compute = predicted.forward + predicted.recompute + predicted.backward +
                          predicted.interference + predicted.optimizer + predicted.encode +
                          predicted.decode + predicted.bucket_copy;
  std::vector<Disagreement> parts;
  if (observation.exposed) {
    const Seconds rest = predicted.total() - communication;
    parts = {{Part::compute, rest, (observation.step - *observation.exposed) / rest}};
    if (communication > 0_s) {
      parts.push_back({Part::communication, communication, *observation.exposed / communication});
    }
  } else {
    for (const auto& [part, time] :
         {std::pair(Part::compute, compute), std::pair(Part::communication, communication),
          std::pair(Part::waiting, predicted.bubble), std::pair(Part::host, predicted.host)}) {
      const Seconds wanted = time + observation.step - predicted.total();
      if (time > 0_s && wanted > 0_s) {
        parts.push_back({part, time, wanted / time});
      }
    }
  }
  // Faster than every part alone: all of it is.
  if (parts.empty()) {
    return {Part::compute, predicted.total(), observation.step / predicted.total()};
  }
  const auto distance = [](const Disagreement& a) {
    return a.factor > 0 ? std::abs(std::log(a.factor)) : std::numeric_limits<double>::infinity();
  };
  const auto nearer = [&](const Disagreement& a, const Disagreement& b) {
    return distance(a) < distance(b);
  };
  return observation.exposed ? *std::max_element(parts.begin(), parts.end(), nearer)
                             : *std::min_element(parts.begin(), parts.end(), nearer);
}

std::optional<Experiment> measured_job(const Experiment& experiment,
                                       const Observation& observation) {
  const ParallelLayout& layout = experiment.layout;
  int dp = observation.dp > 0 ? observation.dp : layout.dp;
  if (observation.nodes > 0) {
    const auto gpus = std::int64_t{observation.nodes} * experiment.cluster.gpus_per_node;
    const std::int64_t replica = std::int64_t{layout.tp} * layout.cp * layout.pp;
    if (gpus % replica != 0 || gpus > std::numeric_limits<int>::max()) {
      return std::nullopt;
    }
    dp = static_cast<int>(gpus / replica);
  }
  return dp == layout.dp ? experiment : with_dp(experiment, dp);
}

double chi_squared_sigmas(double chi_squared, std::size_t degrees) {
  const double root = std::sqrt(chi_squared);
  if (degrees <= 1) {
    return root;
  }
  // The tail by recurrence in the degrees (Abramowitz and Stegun, 26.4.4 and 26.4.5).
  const bool odd = degrees % 2 == 1;
  double tail = odd ? 2.0 * normal_probability(-root) : std::exp(-chi_squared / 2.0);
  double term = odd ? std::sqrt(2.0 / std::numbers::pi) * std::exp(-chi_squared / 2.0) * root
                    : std::exp(-chi_squared / 2.0) * chi_squared / 2.0;
  for (std::size_t d = odd ? 3 : 4; d <= degrees; d += 2) {
    tail += term;
    term *= chi_squared / static_cast<double>(d);
  }
  return tail > 1e-300 ? -normal_quantile(tail / 2.0) : root;
}

Problems check_observation(const Experiment& experiment, const Observation& observation) {
  Problems problems;
  if (observation.step <= 0_s) {
    problems.push_back({"observed.step", "must be positive", ""});
  }
  if (observation.exposed && *observation.exposed >= observation.step) {
    problems.push_back({"observed.exposed", "is not shorter than the step it is a part of", ""});
  }
  if (!(observation.noise > 0.0)) {
    problems.push_back({"observed.noise", "must be positive", "leave it out for 2 %"});
  }
  if (observation.dp > 0 && observation.nodes > 0) {
    problems.push_back({"observed.nodes", "says what `dp` says too", "leave one of them out"});
  } else if (observation.dp < 0 || observation.nodes < 0 ||
             !measured_job(experiment, observation)) {
    const bool by_nodes = observation.nodes != 0;
    problems.push_back({by_nodes ? "observed.nodes" : "observed.dp",
                        by_nodes
                            ? "of " + std::to_string(observation.nodes) + " hold no whole replicas"
                            : "of " + std::to_string(observation.dp) + " does not fill nodes of " +
                                  std::to_string(experiment.cluster.gpus_per_node) + " GPUs evenly",
                        ""});
  }
  return problems;
}

Conditioning condition(const Experiment& experiment, const Observation& observation) {
  return condition(experiment, std::vector{observation});
}

Conditioning condition(const Experiment& experiment, const std::vector<Observation>& observations,
                       const std::vector<ObservedCollective>& collectives) {
  MeasuredJobs jobs(experiment, observations, collectives);
  const Mode mode = most_likely(jobs);
  Conditioning result;
  result.belief = belief_of(mode.z, inverse_factor(curvature(jobs.jacobian(mode.z), 0.0)), jobs);
  result.sigmas = chi_squared_sigmas(mode.objective, jobs.residuals({}).size());
  result.observed = before_and_after(jobs, mode.z);
  result.sizes = jobs.sizes(mode.z);
  if (result.disagrees()) {
    result.widening = result.sigmas / Conditioning::credible_sigmas;
    for (Latents& row : result.belief.factor) {
      for (double& element : row) {
        element *= result.widening;
      }
    }
    name_disagreement(jobs, mode.z, result);
  }
  result.step_before = jobs.front().predict({}).step;
  result.step_after = jobs.front().predict(jobs.felt(mode.z)).step;
  if (!result.observed.empty()) {
    result.exposed_before = result.observed.front().exposed_before;
    result.exposed_after = result.observed.front().exposed_after;
  }
  result.width_before = relative_width(jobs.front(), {});
  result.width_after = relative_width(jobs.front(), result.belief);
  return result;
}

}  // namespace payoff
