// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/by_cause.hpp"

#include <utility>

#include <fmt/format.h>

namespace payoff::import_detail {

void ByCause::add(const std::string& cause, Diagnostic diagnostic, const std::string& record) {
  constexpr std::size_t most_named = 3;
  const Span span = diagnostic.span.value_or(Span{});
  const auto [place, is_new] = places_.emplace(cause, causes_.size());
  if (is_new) {
    causes_.push_back({std::move(diagnostic), {}, 1, {{span.source, span.offset}}});
    return;
  }
  Cause& known = causes_[place->second];
  if (!known.places.insert({span.source, span.offset}).second) {
    return;
  }
  ++known.count;
  if (known.others.size() < most_named) {
    known.others.push_back(sources_->place(span) + (record.empty() ? "" : " (" + record + ")"));
  }
}

void ByCause::tell(Diagnostics& diagnostics) {
  for (Cause& cause : causes_) {
    const std::size_t unnamed = cause.count - 1 - cause.others.size();
    if (!cause.others.empty()) {
      cause.diagnostic.notes.push_back(
          fmt::format("so {} {}{}", cause.count == 2 ? "is" : "are", fmt::join(cause.others, ", "),
                      unnamed > 0 ? fmt::format(" and {} more", unnamed) : ""));
    }
    diagnostics.add(std::move(cause.diagnostic));
  }
  causes_.clear();
  places_.clear();
}

}  // namespace payoff::import_detail
