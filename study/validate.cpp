// SPDX-License-Identifier: Apache-2.0
#include "study/validate.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <tuple>

#include "study/draws.hpp"

namespace payoff {
namespace {

using Cases = std::vector<const ValidationCase*>;

ErrorStatistics statistics_of(std::vector<double> signed_errors) {
  ErrorStatistics result;
  result.count = signed_errors.size();
  if (signed_errors.empty()) {
    return result;
  }
  std::vector<double> errors;
  errors.reserve(signed_errors.size());
  for (const double error : signed_errors) {
    errors.push_back(std::abs(error));
  }
  result.bias = quantile(std::move(signed_errors), 0.5);
  result.median = quantile(errors, 0.5);
  result.p95 = quantile(std::move(errors), 0.95);
  return result;
}

// Right and called cases of one class of measured calls.
struct ClassCount {
  std::size_t cases{};
  std::size_t called{};
  std::size_t right{};

  void add(Call predicted, Call measured) {
    ++cases;
    called += predicted != Call::within_noise ? 1U : 0U;
    right += predicted == measured ? 1U : 0U;
  }
  [[nodiscard]] double share() const {
    return static_cast<double>(right) / static_cast<double>(called);
  }
};

struct CallPair {
  Call predicted{};
  Call measured{};
};

CallStatistics statistics_of(const std::vector<CallPair>& calls) {
  ClassCount pays;
  ClassCount does_not;
  for (const CallPair& call : calls) {
    if (call.predicted == Call::none) {
      continue;
    }
    if (call.measured == Call::pays) {
      pays.add(call.predicted, call.measured);
    } else if (call.measured == Call::does_not) {
      does_not.add(call.predicted, call.measured);
    }
  }
  CallStatistics result;
  result.callable = pays.cases + does_not.cases;
  if (result.callable > 0) {
    result.abstention = 1.0 - static_cast<double>(pays.called + does_not.called) /
                                  static_cast<double>(result.callable);
  }
  if (pays.called > 0 && does_not.called > 0) {
    result.balanced_accuracy = 0.5 * (pays.share() + does_not.share());
  }
  return result;
}

struct RivalSamples {
  std::vector<double> errors;
  std::vector<double> ours;
  std::vector<CallPair> calls;
};

std::vector<RivalSummary> summarise_rivals(const Cases& cases) {
  std::map<std::string, RivalSamples> samples;
  for (const ValidationCase* c : cases) {
    for (const Rival& rival : c->rivals) {
      RivalSamples& mine = samples[rival.name];
      if (c->scored()) {
        mine.errors.push_back(rival.predicted / *c->measured - 1.0);
        mine.ours.push_back(std::abs(c->error()));
      }
      mine.calls.push_back({rival.call, c->measured_call});
    }
  }
  std::vector<RivalSummary> result;
  result.reserve(samples.size());
  for (auto& [name, mine] : samples) {
    result.push_back({name, statistics_of(std::move(mine.errors)),
                      mine.ours.empty() ? 0.0 : quantile(std::move(mine.ours), 0.5),
                      statistics_of(mine.calls)});
  }
  return result;
}

ValidationSummary summary_of(CaseKind kind, Half half, const Band& group, const Cases& cases) {
  ValidationSummary summary;
  summary.kind = kind;
  summary.half = half;
  summary.group = group;
  summary.cases = cases.size();
  std::vector<double> errors;
  std::vector<CallPair> calls;
  std::size_t covered = 0;
  for (const ValidationCase* c : cases) {
    summary.unsupported += c->predicted ? 0U : 1U;
    calls.push_back({c->predicted_call, c->measured_call});
    if (c->scored()) {
      errors.push_back(c->error());
      covered += c->covered() ? 1U : 0U;
    }
  }
  summary.errors = statistics_of(std::move(errors));
  if (summary.errors.count > 0) {
    summary.coverage = static_cast<double>(covered) / static_cast<double>(summary.errors.count);
  }
  summary.calls = statistics_of(calls);
  summary.rivals = summarise_rivals(cases);
  return summary;
}

Band group_of(const ValidationCase& c, GroupBy by) {
  switch (by) {
    case GroupBy::nothing:
      return {};
    case GroupBy::source:
      return {0, c.source};
    case GroupBy::size:
      return c.size;
    case GroupBy::scale:
      return c.scale;
  }
  return {};
}

int rank_of(Half half) { return half == Half::judge ? 0 : half == Half::fit ? 1 : 2; }

// Numbers that stand alone become `N`; those inside a name (bf16) stay.
std::string without_numbers(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) {
      ++end;
    }
    const bool alone =
        (i == 0 || text[i - 1] == ' ') &&
        (end == text.size() || std::isalnum(static_cast<unsigned char>(text[end])) == 0);
    if (end > i && alone) {
      result += 'N';
    } else {
      end = std::max(end, i + 1);
      result.append(text, i, end - i);
    }
    i = end;
  }
  return result;
}

double distance(const ValidationCase& c) { return std::abs(std::log(*c.predicted / *c.measured)); }

}  // namespace

std::string_view name(CaseKind kind) {
  switch (kind) {
    case CaseKind::collective:
      return "collective";
    case CaseKind::step:
      return "step";
    case CaseKind::compression:
      return "compression";
  }
  return {};
}

std::string_view name(Call call) {
  switch (call) {
    case Call::none:
      return "";
    case Call::pays:
      return "pays";
    case Call::does_not:
      return "does not";
    case Call::within_noise:
      return "too close to call";
  }
  return {};
}

Call call_of_measured(double speedup, double noise) {
  if (speedup > 1.0 + noise) {
    return Call::pays;
  }
  return speedup < 1.0 - noise ? Call::does_not : Call::within_noise;
}

Call call_of_predicted(double probability) {
  if (probability >= 0.9) {
    return Call::pays;
  }
  return probability <= 0.1 ? Call::does_not : Call::within_noise;
}

std::vector<ValidationSummary> summarise(const std::vector<ValidationCase>& cases, GroupBy by) {
  std::map<std::tuple<CaseKind, int, Half, Band>, Cases> groups;
  for (const ValidationCase& c : cases) {
    groups[{c.kind, rank_of(c.half), c.half, group_of(c, by)}].push_back(&c);
  }
  std::vector<ValidationSummary> summaries;
  summaries.reserve(groups.size());
  for (const auto& [key, group] : groups) {
    summaries.push_back(
        summary_of(std::get<CaseKind>(key), std::get<Half>(key), std::get<Band>(key), group));
  }
  return summaries;
}

std::vector<ReasonCount> count_reasons(const std::vector<ValidationCase>& cases) {
  std::map<std::pair<CaseKind, std::string>, std::size_t> counts;
  for (const ValidationCase& c : cases) {
    std::vector<std::string> reasons;
    reasons.reserve(c.reasons.size());
    for (const std::string& reason : c.reasons) {
      reasons.push_back(without_numbers(reason));
    }
    std::sort(reasons.begin(), reasons.end());
    reasons.erase(std::unique(reasons.begin(), reasons.end()), reasons.end());
    for (const std::string& reason : reasons) {
      ++counts[{c.kind, reason}];
    }
  }
  std::vector<ReasonCount> result;
  result.reserve(counts.size());
  for (const auto& [key, count] : counts) {
    result.push_back({key.first, key.second, count});
  }
  std::stable_sort(result.begin(), result.end(), [](const ReasonCount& a, const ReasonCount& b) {
    return std::tie(a.kind, b.cases) < std::tie(b.kind, a.cases);
  });
  return result;
}

std::vector<const ValidationCase*> worst_cases(const std::vector<ValidationCase>& cases,
                                               CaseKind kind, Half half, std::size_t count) {
  std::vector<const ValidationCase*> scored;
  for (const ValidationCase& c : cases) {
    if (c.kind == kind && c.half == half && c.scored()) {
      scored.push_back(&c);
    }
  }
  std::sort(scored.begin(), scored.end(), [](const ValidationCase* a, const ValidationCase* b) {
    const double first = distance(*a);
    const double second = distance(*b);
    return first > second || (first == second && a->id < b->id);
  });
  scored.resize(std::min(scored.size(), count));
  return scored;
}

}  // namespace payoff
