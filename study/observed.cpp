// SPDX-License-Identifier: Apache-2.0
#include "study/observed.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "study/scaled_job.hpp"
#include "study/spread.hpp"

namespace payoff {
namespace {

using Residuals = std::vector<double>;

double dot(const Residuals& a, const Residuals& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

double squared(const Latents& z) {
  double sum = 0.0;
  for (const double value : z) {
    sum += value * value;
  }
  return sum;
}

// Lower triangle L with L L^T = m, m symmetric and positive definite.
LatentMatrix cholesky(const LatentMatrix& m) {
  LatentMatrix l{};
  for (std::size_t i = 0; i < latent_count; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = m[i][j];
      for (std::size_t k = 0; k < j; ++k) {
        rest -= l[i][k] * l[j][k];
      }
      l[i][j] = i == j ? std::sqrt(rest) : rest / l[j][j];
    }
  }
  return l;
}

// x with L L^T x = b.
Latents solve(const LatentMatrix& l, Latents b) {
  for (std::size_t i = 0; i < latent_count; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      b[i] -= l[i][k] * b[k];
    }
    b[i] /= l[i][i];
  }
  for (std::size_t i = latent_count; i-- > 0;) {
    for (std::size_t k = i + 1; k < latent_count; ++k) {
      b[i] -= l[k][i] * b[k];
    }
    b[i] /= l[i][i];
  }
  return b;
}

// The measured job as a function of the latents.
class MeasuredJob {
 public:
  MeasuredJob(const Experiment& experiment, const Observation& observation)
      : observation_(observation),
        ensemble_({{PreparedExperiment(experiment).plan(experiment.plans.front())}},
                  compute_sd(experiment)) {}

  StepPrediction predict(const Latents& z) { return evaluate(ensemble_.scaled(0, {z, {}})); }

  Residuals residuals(const Latents& z) {
    const StepPrediction prediction = predict(z);
    Residuals result{std::log(observation_.step / prediction.step) / observation_.noise};
    if (observation_.exposed) {
      const Seconds difference =
          *observation_.exposed - exposed_communication(prediction.waterfall);
      result.push_back(difference / (observation_.noise * observation_.step));
    }
    return result;
  }

  std::vector<Residuals> jacobian(const Latents& z) {
    constexpr double step = 1e-3;
    std::vector<Residuals> columns;
    for (std::size_t i = 0; i < latent_count; ++i) {
      Latents up = z;
      Latents down = z;
      up[i] += step;
      down[i] -= step;
      Residuals column = residuals(up);
      const Residuals low = residuals(down);
      for (std::size_t r = 0; r < column.size(); ++r) {
        column[r] = (column[r] - low[r]) / (2.0 * step);
      }
      columns.push_back(std::move(column));
    }
    return columns;
  }

 private:
  const Observation& observation_;
  Ensemble ensemble_;
};

// Curvature of (|z|^2 + |r|^2) / 2, linearised, with the damping of Levenberg.
LatentMatrix curvature(const std::vector<Residuals>& jacobian, double damping) {
  LatentMatrix m{};
  for (std::size_t i = 0; i < latent_count; ++i) {
    for (std::size_t j = 0; j < latent_count; ++j) {
      m[i][j] = dot(jacobian[i], jacobian[j]) + (i == j ? 1.0 + damping : 0.0);
    }
  }
  return m;
}

struct Mode {
  Latents z{};
  double objective{};  // |z|^2 + |r|^2, chi-squared with one degree for each measurement
};

Mode most_likely(MeasuredJob& job) {
  constexpr int rounds = 60;
  Residuals residuals = job.residuals({});
  Mode mode{{}, dot(residuals, residuals)};
  double damping = 1e-3;
  for (int round = 0; round < rounds && damping < 1e9; ++round) {
    const std::vector<Residuals> jacobian = job.jacobian(mode.z);
    Latents downhill{};
    for (std::size_t i = 0; i < latent_count; ++i) {
      downhill[i] = -(mode.z[i] + dot(jacobian[i], residuals));
    }
    const Latents move = solve(cholesky(curvature(jacobian, damping)), downhill);
    Latents next = mode.z;
    for (std::size_t i = 0; i < latent_count; ++i) {
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

// L with L L^T = inverse of m.
LatentMatrix inverse_factor(const LatentMatrix& m) {
  const LatentMatrix l = cholesky(m);
  LatentMatrix inverse{};
  for (std::size_t column = 0; column < latent_count; ++column) {
    Latents unit{};
    unit[column] = 1.0;
    const Latents x = solve(l, unit);
    for (std::size_t row = 0; row < latent_count; ++row) {
      inverse[row][column] = x[row];
    }
  }
  return cholesky(inverse);
}

// One number for the surprise of one or two measurements: the normal deviate as improbable as the
// chi-squared value.
double as_sigmas(double chi_squared, bool two) {
  if (!two) {
    return std::sqrt(chi_squared);
  }
  const double tail = std::exp(-chi_squared / 2.0);
  return tail > 1e-300 ? -normal_quantile(tail / 2.0) : std::sqrt(chi_squared);
}

double relative_width(MeasuredJob& job, const Belief& belief) {
  std::vector<double> steps;
  for (const Draw& draw : make_draws(256, 1, 0, belief)) {
    steps.push_back(job.predict(draw.shared).step / 1_s);
  }
  return (quantile(steps, 0.95) - quantile(steps, 0.05)) / quantile(steps, 0.5);
}

Experiment measured_experiment(const Experiment& experiment, const Observation& observation) {
  const int dp = observation.dp > 0 ? observation.dp : experiment.layout.dp;
  return dp == experiment.layout.dp ? experiment : with_dp(experiment, dp).value();
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
  if (observation.dp < 0 || (observation.dp > 0 && observation.dp != experiment.layout.dp &&
                             !with_dp(experiment, observation.dp))) {
    problems.push_back({"observed.dp",
                        "of " + std::to_string(observation.dp) + " does not fill nodes of " +
                            std::to_string(experiment.cluster.gpus_per_node) + " GPUs evenly",
                        ""});
  }
  return problems;
}

Conditioning condition(const Experiment& experiment, const Observation& observation) {
  MeasuredJob job(measured_experiment(experiment, observation), observation);
  const Mode mode = most_likely(job);
  Conditioning result;
  result.belief = {mode.z, inverse_factor(curvature(job.jacobian(mode.z), 0.0))};
  result.sigmas = as_sigmas(mode.objective, observation.exposed.has_value());
  const StepPrediction before = job.predict({});
  if (result.disagrees()) {
    result.widening = result.sigmas / Conditioning::credible_sigmas;
    for (Latents& row : result.belief.factor) {
      for (double& element : row) {
        element *= result.widening;
      }
    }
    result.disagreement = largest_disagreement(before.waterfall, observation);
  }
  const StepPrediction after = job.predict(mode.z);
  result.step_before = before.step;
  result.step_after = after.step;
  if (observation.exposed) {
    result.exposed_before = exposed_communication(before.waterfall);
    result.exposed_after = exposed_communication(after.waterfall);
  }
  result.width_before = relative_width(job, {});
  result.width_after = relative_width(job, result.belief);
  return result;
}

}  // namespace payoff
