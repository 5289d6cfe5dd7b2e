// SPDX-License-Identifier: Apache-2.0
#include "cli/trust.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/facts_read.hpp"

namespace payoff {

Trust trust_in(const PreparedExperiment& prepared, const Facts& facts) {
  Trust trust{uses_of_plans(prepared), {}, {}, {}};
  trust.read = facts_read(prepared, trust.messages, facts);
  const Facts once = distinct(trust.read);
  trust.numbers = once.size();
  std::copy_if(once.begin(), once.end(), std::back_inserter(trust.assumed),
               [](const Fact& fact) { return fact.kind == Provenance::assumed; });
  return trust;
}

std::string trust_text(const Trust& trust) {
  std::vector<std::string> parts;
  if (!trust.assumed.empty()) {
    parts.push_back(fmt::format("{} of {} numbers are assumed, not measured or published",
                                trust.assumed.size(), trust.numbers));
  }
  const auto unchecked =
      std::count_if(trust.assumed.begin(), trust.assumed.end(),
                    [](const Fact& fact) { return fact.path.ends_with(".unchecked"); });
  if (unchecked > 0) {
    parts.push_back(
        fmt::format("{} {} unchecked", unchecked, unchecked == 1 ? "method is" : "methods are"));
  }
  if (std::string beyond = extrapolation_text(trust); !beyond.empty()) {
    parts.push_back(std::move(beyond));
  }
  return parts.empty() ? std::string()
                       : fmt::format("{}: `payoff explain` shows which.", fmt::join(parts, "; "));
}

}  // namespace payoff
