// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/held_out_profile.hpp"
#include "calibrate/network_fit.hpp"
#include "calibrate/profile_digits.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

constexpr auto band_names = spread_band_names;

constexpr std::string_view launch_citation = "one_process_tables";
constexpr std::string_view spread_citation = "held_out_tables";

// A relative standard deviation that says nothing: the value is near zero.
constexpr double unknown = 10;

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    result += c == '"' || c == '\\' ? '\'' : c;
  }
  return result + "\"";
}

std::string citation_of(const LinkFit& link) { return link.name + "_tables"; }

std::string class_citation(LinkClass link_class) {
  return "class_" + std::string(name(link_class));
}

std::string citation_of(SpreadFrom from, const LinkFit& link) {
  switch (from) {
    case SpreadFrom::held_out:
      return std::string(spread_citation);
    case SpreadFrom::own_scatter:
      return citation_of(link);
    case SpreadFrom::priors:
      break;
  }
  return class_citation(link.link_class);
}

std::string unit_of(LinkUnit unit) {
  switch (unit) {
    case LinkUnit::microseconds:
    case LinkUnit::ramp:
      return " us";
    case LinkUnit::chunk:
      return " MiB";
    case LinkUnit::bandwidth:
      return " GB/s";
    case LinkUnit::share:
    case LinkUnit::ratio:
      break;
  }
  return "";
}

std::string range_of(const LinkFit& link) {
  return to_text(link.smallest) + " to " + to_text(link.largest) + ", " +
         std::to_string(link.fewest_ranks) + " to " + std::to_string(link.most_ranks) + " ranks";
}

std::string parameter_line(const LinkCoefficient& coefficient, const LinkFit& link) {
  const LinkParameter& parameter = *coefficient.parameter;
  const double scale = parameter.unit == LinkUnit::bandwidth ? 1e-9 : 1.0;
  std::string line = "    " + std::string(parameter.key) +
                     ": {value: " + digits(value_of(parameter, coefficient.value) * scale) +
                     unit_of(parameter.unit);
  const double sd = std::min(unknown, relative_sd_of(parameter, coefficient.value, coefficient.sd));
  if (sd > 0) {
    line += ", sd: " + digits(sd);
  }
  if (coefficient.fitted) {
    line += ", range: \"" + range_of(link) + "\", from: " + citation_of(link);
  } else {
    line += ", from: " + class_citation(link.link_class);
  }
  return line + "}\n";
}

// Those that the law has.
std::string further_lines(std::string_view of, const BandSds& sds) {
  std::string text;
  for (std::size_t band = 0; band < spread_band_count; ++band) {
    if (sds.at(band) > 0) {
      text += "    relative_sd_" + std::string(of) + "_" + band_names.at(band) +
              ": {value: " + digits(sds.at(band)) + ", from: " + std::string(spread_citation) +
              "}\n";
    }
  }
  return text;
}

std::string law_lines(const LinkFit& link) {
  std::string text = "  " + link.name + ":\n";
  for (const LinkCoefficient& coefficient : link.coefficients) {
    text += parameter_line(coefficient, link);
  }
  if (!link.tables.empty()) {
    text += "    domain: {smallest: " + exact_text(link.smallest) +
            ", largest: " + exact_text(link.largest) +
            ", ranks: " + std::to_string(link.most_ranks) + "}\n";
  }
  const std::array<double, spread_band_count> sds{
      link.law.relative_sd_small, link.law.relative_sd_middle, link.law.relative_sd_large};
  if (link.law.relative_sd_node_limit > 0) {
    text += "    relative_sd_node_limit: {value: " + digits(link.law.relative_sd_node_limit) +
            ", from: " + class_citation(link.link_class) + "}\n";
  }
  for (std::size_t band = 0; band < spread_band_count; ++band) {
    text += "    relative_sd_" + std::string(band_names.at(band)) +
            ": {value: " + digits(sds.at(band)) +
            ", from: " + citation_of(link.errors.at(band).spread_from, link) + "}\n";
  }
  for (std::size_t family = 0; family < collective_family_count; ++family) {
    text +=
        further_lines(collective_family_names.at(family), link.law.relative_sd_family.at(family));
  }
  return text + further_lines("more_ranks", link.law.relative_sd_more_ranks);
}

std::string launch_lines(const LaunchFit& launches) {
  if (launches.tables.empty()) {
    return {};
  }
  const std::string from = ", from: " + std::string(launch_citation) + "}\n";
  return "host:\n  one_process:\n    launch_per_gpu: {value: " +
         digits(launches.law.launch_per_gpu / 1_us) + " us, sd: " + digits(launches.relative_sd) +
         ", range: \"" + std::to_string(launches.fewest_gpus) + " to " +
         std::to_string(launches.most_gpus) + " GPUs, " + std::to_string(launches.systems) +
         " systems\"" + from + "    relative_sd: {value: " + digits(launches.law.relative_sd) +
         from;
}

std::string quality_lines(const LinkFit& link) {
  std::string text = "  " + link.name + ":\n    systems: " + std::to_string(link.systems) +
                     "\n    tables: [" + joined(link.tables) + "]\n";
  for (std::size_t band = 0; band < spread_band_count; ++band) {
    const BandError& error = link.errors.at(band);
    if (error.points > 0) {
      text += "    " + std::string(band_names.at(band)) +
              ": {rows: " + std::to_string(error.points) +
              ", median_error: " + digits(error.median) + ", bias: " + digits(error.bias) + "}\n";
    }
  }
  for (const LinkCoefficient& own : link.of_hosts) {
    text += "    of_its_hosts: {" + std::string(own.parameter->key) + ": " +
            digits(value_of(*own.parameter, own.value) * 1e-9) +
            " GB/s, sd: " + digits(relative_sd_of(*own.parameter, own.value, own.sd)) + "}\n";
  }
  std::vector<std::string> keys;
  keys.reserve(link.coefficients.size());
  for (const LinkCoefficient& coefficient : link.coefficients) {
    keys.emplace_back(coefficient.parameter->key);
  }
  text += "    coefficients: [" + joined(keys) + "]\n    covariance:\n";
  for (const std::vector<double>& row : link.covariance) {
    text += "    - [" + joined(row) + "]\n";
  }
  return text;
}

std::string citation_line(const std::string& key, const std::vector<std::string>& tables,
                          const std::map<std::string, std::string>& citations) {
  std::set<std::string> sources;
  for (const std::string& table : tables) {
    sources.insert(citations.at(table));
  }
  std::string text;
  for (const std::string& source : sources) {
    text += (text.empty() ? "" : "; ") + source;
  }
  return "  " + key + ": {kind: published, date: 2026-11-21, text: " + quoted(text) + "}\n";
}

std::string spread_line() {
  return "  " + std::string(spread_citation) +
         ": {kind: published, date: 2026-11-22, text: \"errors on machines, links, scales and "
         "families of collectives of the fit half, each held out of the fit and predicted by it: "
         "section held_out\"}\n";
}

std::string class_line(LinkClass link_class) {
  return "  " + class_citation(link_class) +
         ": {kind: assumed, text: \"as other links of its class (" + std::string(name(link_class)) +
         ") in the fit half, where that tells, else as NCCL's tuner constants; this link was not "
         "measured, or not so that it tells\"}\n";
}

}  // namespace

std::string network_profile(const NetworkFit& fit,
                            const std::map<std::string, std::string>& citations) {
  std::string text =
      "# SPDX-License-Identifier: Apache-2.0\n"
      "# yaml-language-server: $schema=../../docs/schema/fitted.schema.json\n"
      "# Written by `payoff calibrate fit network` from tests/validation/nccl (fit half). Do not "
      "edit.\n"
      "citations:\n";
  for (const LinkClass link_class : link_classes) {
    text += class_line(link_class);
  }
  for (const auto* side : {&fit.fabrics, &fit.networks}) {
    for (const LinkFit& link : *side) {
      if (!link.tables.empty()) {
        text += citation_line(citation_of(link), link.tables, citations);
      }
    }
  }
  if (!fit.launches.tables.empty()) {
    text += citation_line(std::string(launch_citation), fit.launches.tables, citations);
  }
  text += spread_line();
  for (const auto* side : {&fit.fabrics, &fit.networks}) {
    text += side == &fit.fabrics ? "fabric:\n" : "network:\n";
    for (const LinkFit& link : *side) {
      text += law_lines(link);
    }
  }
  text += launch_lines(fit.launches);
  text += held_out_lines(fit);
  text +=
      "# Covariance of what is solved for: times in us, 1 / share, square root of the ramp in us,\n"
      "# 1 / square root of the chunk in MiB, us/KB for bandwidths.\n"
      "fits:\n";
  for (const auto* side : {&fit.fabrics, &fit.networks}) {
    for (const LinkFit& link : *side) {
      if (!link.tables.empty()) {
        text += quality_lines(link);
      }
    }
  }
  return text;
}

}  // namespace payoff
