// SPDX-License-Identifier: Apache-2.0
#include "cli/residual_text.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/table.hpp"
#include "model/units_text.hpp"
#include "study/residual.hpp"

namespace payoff {
namespace {

constexpr std::size_t widest_line = 100;

// Words in lines, those after the first under the text behind the label.
std::string labelled(const std::string& label, const std::string& text) {
  const std::string start = fmt::format("  {:<11}", label);
  std::string lines = start;
  std::size_t width = start.size();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (width > start.size() && width + word.size() > widest_line) {
      lines.back() = '\n';
      lines += std::string(start.size(), ' ');
      width = start.size();
    }
    lines += word + " ";
    width += word.size() + 1;
    begin = end + 1;
  }
  lines.back() = '\n';
  return lines;
}

std::string heading(const ValidationCase& c) {
  return fmt::format("{}\n{}", c.id,
                     labelled("error", fmt::format("{:+.1f} %: {} predicted (90 %: {} to {}), {} "
                                                   "measured{}",
                                                   100.0 * c.error(), value_text(c, *c.predicted),
                                                   value_text(c, c.low), value_text(c, c.high),
                                                   value_text(c, *c.measured),
                                                   c.unit == "s" ? "" : "; speedups")));
}

std::string waterfall_text(const ValidationCase& c) {
  double total = 0;
  for (const auto& [term, seconds] : c.terms) {
    total += seconds;
  }
  std::string text = c.unit == "s" ? "" : fmt::format("{} compressed: ", to_text(total * 1_s));
  for (const auto& [term, seconds] : c.terms) {
    text += fmt::format("{}{} {} ({} %)", &term == &c.terms.front().first ? "" : ", ", term,
                        to_text(seconds * 1_s), fixed(100.0 * seconds / total, 0));
  }
  return text;
}

std::string residual_text(const ValidationCase& c) {
  const Residual residual = residual_of(c);
  std::string text = heading(c) + labelled("waterfall", waterfall_text(c));
  text +=
      labelled("suspect", residual.suspect
                              ? fmt::format("{}, {} times what was predicted", residual.primitive,
                                            significant(residual.suspect->factor, 2))
                              : residual.primitive);
  std::string assumed;
  for (const std::string& assumption : c.assumptions) {
    assumed += (assumed.empty() ? "" : "; ") + assumption;
  }
  text += assumed.empty() ? "" : labelled("assumed", assumed);
  return text + labelled("settled by", residual.measurement);
}

// Those that nothing was fitted to; the fit half where it alone was asked for.
std::vector<Half> halves_of(const ValidationReport& report) {
  const bool fit = !report.cases.empty() &&
                   std::all_of(report.cases.begin(), report.cases.end(),
                               [](const ValidationCase& c) { return c.half == Half::fit; });
  return fit ? std::vector{Half::fit} : std::vector{Half::judge, Half::none};
}

std::vector<const ValidationCase*> worst_of(const ValidationReport& report, Half half, int kind) {
  return worst_cases(report.cases, static_cast<CaseKind>(kind), half, report.worst);
}

}  // namespace

std::string value_text(const ValidationCase& c, double value) {
  return c.unit == "s" ? to_text(value * 1_s) : fixed(value, 3);
}

std::string residuals_text(const ValidationReport& report) {
  std::string text;
  for (const Half half : halves_of(report)) {
    for (int kind = 0; kind < case_kind_count; ++kind) {
      const std::vector<const ValidationCase*> worst = worst_of(report, half, kind);
      if (worst.empty()) {
        continue;
      }
      text += fmt::format("{}The worst {} of {}{}\n", text.empty() ? "" : "\n", worst.size(),
                          name(static_cast<CaseKind>(kind)),
                          half == Half::judge ? ", judge half"
                          : half == Half::fit ? ", fit half"
                                              : ", not in the split");
      for (const ValidationCase* c : worst) {
        text += "\n" + residual_text(*c);
      }
    }
  }
  return text.empty() ? "No case that can be predicted: without --worst the reasons are shown.\n"
                      : text;
}

nlohmann::ordered_json residuals_json(const ValidationReport& report) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Half half : halves_of(report)) {
    for (int kind = 0; kind < case_kind_count; ++kind) {
      for (const ValidationCase* c : worst_of(report, half, kind)) {
        const Residual residual = residual_of(*c);
        nlohmann::ordered_json json{{"id", c->id}};
        json["waterfall"] = nlohmann::ordered_json::array();
        for (const auto& [term, seconds] : c->terms) {
          json["waterfall"].push_back({{"term", term}, {"term_seconds", seconds}});
        }
        json["suspect"] = nullptr;
        if (residual.suspect) {
          json["suspect"] = {{"term", residual.suspect->term},
                             {"share", residual.suspect->share},
                             {"factor", residual.suspect->factor}};
        }
        json["primitive"] = residual.primitive;
        json["measurement"] = residual.measurement;
        all.push_back(std::move(json));
      }
    }
  }
  return all;
}

}  // namespace payoff
