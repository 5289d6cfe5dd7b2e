// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_refusals.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace payoff {
namespace {

// A reason that is kept for the summary; there are few, but a program's input decides.
constexpr std::size_t most_reasons = 1000;
constexpr std::size_t most_kept_notes = 5;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "has 984 events, more than 5" of every job is one reason.
std::string without_numbers(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (!is_digit(c)) {
      result += c;
    } else if (result.empty() || result.back() != '#') {
      result += '#';
    }
  }
  return result;
}

}  // namespace

void SweepRefusals::add(const std::string& lines) {
  const std::string_view all = lines;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find('\n', begin), all.size());
    add_reason(all.substr(begin, end - begin));
    begin = end + 1;
  }
}

// Quotes inside of a value are written with a backslash: the text is the key's, which stands before
// all numbers of a result and in none twice.
void SweepRefusals::add_reason(std::string_view line) {
  constexpr std::string_view key = "\"status\":";
  ++results_;
  const std::size_t status = line.find(key);
  if (status == std::string_view::npos ||
      !line.substr(status + key.size()).starts_with("\"impossible\"")) {
    return;
  }
  ++refused_;
  const std::string reason = nlohmann::json::parse(line).at("reason").get<std::string>();
  const std::string kind = without_numbers(reason);
  const auto known = reasons_.find(kind);
  if (known != reasons_.end()) {
    ++known->second.count;
  } else if (reasons_.size() < most_reasons) {
    reasons_[kind] = {reason, 1};
  }
}

void SweepRefusals::report(Session& session) const {
  if (refused_ == 0) {
    return;
  }
  std::vector<const Reason*> reasons;
  reasons.reserve(reasons_.size());
  for (const auto& [kind, reason] : reasons_) {
    reasons.push_back(&reason);
  }
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const Reason* a, const Reason* b) { return a->count > b->count; });
  Diagnostic diagnostic;
  diagnostic.severity = all() ? Severity::error : Severity::warning;
  diagnostic.message =
      all() ? fmt::format("none of the {} results has a prediction", results_)
            : fmt::format("{} of the {} results have no prediction", refused_, results_);
  diagnostic.help = "`status` and `reason` of a result say why it has none";
  std::uint64_t shown = 0;
  for (const Reason* reason : reasons) {
    if (diagnostic.notes.size() == most_kept_notes) {
      break;
    }
    shown += reason->count;
    diagnostic.notes.push_back(fmt::format("{} of them: {}", reason->count, reason->first));
  }
  if (shown < refused_) {
    diagnostic.notes.push_back(fmt::format("{} of them for other reasons", refused_ - shown));
  }
  session.diagnostics().add(std::move(diagnostic));
  if (all()) {
    session.wrote_results();
  }
}

}  // namespace payoff
