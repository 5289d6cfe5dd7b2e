// SPDX-License-Identifier: Apache-2.0
#include "study/sensitivity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "calibrate/least_squares.hpp"

namespace payoff {
namespace {

constexpr std::size_t degrees = 2;  // of the polynomials
constexpr double normal_quantile_95 = 1.6448536269514722;
static_assert(static_cast<std::size_t>(Unknown::codec) == latent_count);

// A speedup that moves by less is moved by rounding.
constexpr double least_effect = 1e-9;

// A number of a draw: its place among the codecs', or among those that are shared.
struct Variable {
  Unknown unknown{};
  std::size_t place{};

  [[nodiscard]] double& in(Draw& draw) const {
    switch (unknown) {
      case Unknown::codec:
        return draw.codecs.at(place);
      case Unknown::interference:
        return draw.pairs;
      default:
        return draw.shared.at(place);
    }
  }
};

// In the order of Unknown; one for each codec.
std::vector<Variable> variables_of(std::span<const std::size_t> codecs) {
  std::vector<Variable> variables;
  for (std::size_t u = 0; u < latent_count; ++u) {
    variables.push_back({static_cast<Unknown>(u), u});
  }
  for (const std::size_t place : codecs) {
    variables.push_back({Unknown::codec, place});
  }
  variables.push_back({Unknown::interference, 0});
  return variables;
}

// The middle of what is believed, with one unknown this many of its standard deviations off.
Draw off_by(double deviations, Unknown unknown, const std::vector<Variable>& variables,
            const Belief& belief, std::size_t codecs) {
  Draw draw{belief.mean, std::vector<double>(codecs, 0.0), 0.0};
  double sd = 1;
  const auto place = static_cast<std::size_t>(unknown);
  if (place < latent_count) {
    double variance = 0;
    for (const double factor : belief.factor.at(place)) {
      variance += factor * factor;
    }
    sd = std::sqrt(variance);
  }
  for (const Variable& variable : variables) {
    if (variable.unknown == unknown) {
      variable.in(draw) += deviations * sd;
    }
  }
  return draw;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

double covariance(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = mean_of(a);
  const double mean_b = mean_of(b);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += (a[i] - mean_a) * (b[i] - mean_b);
  }
  return sum / static_cast<double>(a.size());
}

// z and z^2 - 1 of every variable in every draw.
using Terms = std::vector<std::vector<double>>;

Terms terms_of(const std::vector<Draw>& draws, const std::vector<Variable>& variables) {
  Terms terms;
  terms.reserve(draws.size());
  for (Draw draw : draws) {
    std::vector<double>& row = terms.emplace_back();
    for (const Variable& variable : variables) {
      const double z = variable.in(draw);
      row.push_back(z);
      row.push_back(z * z - 1);
    }
  }
  return terms;
}

std::array<double, unknown_count> shares_of(const Terms& terms, const std::vector<double>& logs,
                                            const std::vector<Variable>& variables) {
  std::array<double, unknown_count> shares{};
  const double variance = covariance(logs, logs);
  const std::size_t polynomials = variables.size() * degrees;
  // Fewer draws than twice the polynomials would be fitted whatever they are.
  if (variance <= 0 || terms.size() < 2 * polynomials) {
    return shares;
  }
  LinearSystem system(1 + polynomials);
  std::vector<double> row(1 + polynomials, 1.0);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    std::copy(terms[i].begin(), terms[i].end(), row.begin() + 1);
    system.add_row(row, logs[i], 1);
  }
  const std::vector<double> slopes = solve_least_squares(system).values;
  for (std::size_t v = 0; v < variables.size(); ++v) {
    std::vector<double> part(terms.size());
    for (std::size_t i = 0; i < terms.size(); ++i) {
      for (std::size_t d = 0; d < degrees; ++d) {
        part[i] += slopes.at(1 + degrees * v + d) * terms[i].at(degrees * v + d);
      }
    }
    shares.at(static_cast<std::size_t>(variables[v].unknown)) += covariance(part, logs) / variance;
  }
  return shares;
}

}  // namespace

std::string_view name(Unknown unknown) {
  switch (unknown) {
    case Unknown::compute:
      return "compute";
    case Unknown::network:
      return "links as a whole";
    case Unknown::small_reductions:
      return "reductions below 1 MiB";
    case Unknown::large_reductions:
      return "reductions from 1 MiB";
    case Unknown::small_gathers:
      return "gathers below 1 MiB";
    case Unknown::large_gathers:
      return "gathers from 1 MiB";
    case Unknown::small_exchanges:
      return "exchanges below 1 MiB";
    case Unknown::large_exchanges:
      return "exchanges from 1 MiB";
    case Unknown::codec:
      return "codec";
    case Unknown::interference:
      return "codecs beside other work";
  }
  return "";
}

std::vector<Influence> influences(const std::vector<Draw>& draws,
                                  const std::vector<double>& speedups,
                                  std::span<const std::size_t> codecs, const Belief& belief,
                                  const std::function<double(const Draw&)>& speedup_of) {
  std::vector<Influence> result;
  if (draws.empty()) {
    return result;
  }
  std::vector<double> logs;
  logs.reserve(speedups.size());
  for (const double speedup : speedups) {
    logs.push_back(std::log(speedup));
  }
  const std::vector<Variable> variables = variables_of(codecs);
  const auto shares = shares_of(terms_of(draws, variables), logs, variables);
  for (std::size_t u = 0; u < unknown_count; ++u) {
    const auto unknown = static_cast<Unknown>(u);
    const auto at = [&](double deviations) {
      return speedup_of(
          off_by(deviations, unknown, variables, belief, draws.front().codecs.size()));
    };
    const auto [low, high] = std::minmax({at(-normal_quantile_95), at(0), at(normal_quantile_95)});
    if (high - low > least_effect) {
      result.push_back({unknown, shares.at(u), low, high});
    }
  }
  std::stable_sort(result.begin(), result.end(), [](const Influence& a, const Influence& b) {
    return a.variance_share > b.variance_share;
  });
  return result;
}

}  // namespace payoff
