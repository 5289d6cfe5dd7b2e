// SPDX-License-Identifier: Apache-2.0
#include "study/sensitivity.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "calibrate/variance_shares.hpp"

namespace payoff {
namespace {

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
  const auto place = static_cast<std::size_t>(unknown);
  const double sd = place < latent_count ? payoff::deviations(belief).at(place) : 1.0;
  for (const Variable& variable : variables) {
    if (variable.unknown == unknown) {
      variable.in(draw) += deviations * sd;
    }
  }
  return draw;
}

// Of ln(speedup); what several variables of one unknown have is the unknown's.
std::array<double, unknown_count> shares_of(const std::vector<Draw>& draws,
                                            const std::vector<double>& speedups,
                                            const std::vector<Variable>& variables) {
  std::vector<std::vector<double>> drawn;
  drawn.reserve(draws.size());
  for (Draw draw : draws) {
    std::vector<double>& numbers = drawn.emplace_back();
    for (const Variable& variable : variables) {
      numbers.push_back(variable.in(draw));
    }
  }
  std::vector<double> logs;
  logs.reserve(speedups.size());
  for (const double speedup : speedups) {
    logs.push_back(std::log(speedup));
  }
  const std::vector<double> of_variables = variance_shares(drawn, logs);
  std::array<double, unknown_count> shares{};
  for (std::size_t v = 0; v < variables.size(); ++v) {
    shares.at(static_cast<std::size_t>(variables[v].unknown)) += of_variables[v];
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

std::string latent_name(std::size_t latent) {
  const bool inside = latent >= latent::first_inside;
  const std::size_t of = inside ? latent - latent::first_inside + latent::network : latent;
  return std::string(name(static_cast<Unknown>(of))) + (inside ? " inside nodes" : "");
}

std::vector<Influence> influences(const std::vector<Draw>& draws,
                                  const std::vector<double>& speedups,
                                  std::span<const std::size_t> codecs, const Belief& belief,
                                  const std::function<double(const Draw&)>& speedup_of) {
  std::vector<Influence> result;
  if (draws.empty()) {
    return result;
  }
  const std::vector<Variable> variables = variables_of(codecs);
  const auto shares = shares_of(draws, speedups, variables);
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
