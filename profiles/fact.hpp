// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Where a number of a profile comes from. Every number that is read as a sourced value leaves one
// Fact behind, so that results can name what they rest on.

namespace payoff {

// How much a number may be trusted: measured by the user's own calibration, printed by someone who
// measured it, stated in an opened data sheet, or none of these.
enum class Provenance { measured, published, datasheet, assumed };

[[nodiscard]] constexpr std::string_view name_of(Provenance provenance) {
  switch (provenance) {
    case Provenance::measured:
      return "measured";
    case Provenance::published:
      return "published";
    case Provenance::datasheet:
      return "datasheet";
    case Provenance::assumed:
      return "assumed";
  }
  return {};
}

struct Fact {
  std::string path;        // in its document, e.g. "peak.fp16"
  std::string value_text;  // as written
  Provenance kind = Provenance::assumed;
  std::string citation;               // the text of the citation
  std::string date;                   // of the citation; may be empty when assumed
  std::string url;                    // may be empty
  std::optional<double> relative_sd;  // one standard deviation as a share of the value
  std::string range;                  // where the value holds, in words; may be empty
};

using Facts = std::vector<Fact>;

// Adds the facts of a part below its path: "gpu" and "peak.fp16" make "gpu.peak.fp16".
inline void add_below(std::string_view path, const Facts& facts, Facts& into) {
  for (Fact fact : facts) {
    fact.path = std::string(path) + "." + fact.path;
    into.push_back(std::move(fact));
  }
}

// About what a document describes as a whole, not a number of it.
[[nodiscard]] inline Fact fact_in_words(std::string path, std::string citation) {
  Fact fact;
  fact.path = path;
  fact.value_text = std::move(path);
  fact.citation = std::move(citation);
  return fact;
}

}  // namespace payoff
