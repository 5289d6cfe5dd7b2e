// SPDX-License-Identifier: Apache-2.0
#include "study/attribution.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>

namespace payoff {
namespace {

using Causes = std::vector<std::vector<std::size_t>>;
using Members = std::vector<std::size_t>;  // indices of causes

class Attributor {
 public:
  Attributor(std::size_t switches, const TermsOf& terms_of)
      : switches_(switches), terms_of_(terms_of) {
    for (std::size_t i = 0; i < switches; ++i) {
      causes_.push_back({i});
    }
  }

  Attribution answer() {
    if (!is_possible({}) || !is_possible(all())) {
      throw std::invalid_argument("attribute: one of the ends is impossible");
    }
    while (const auto impossible = first_impossible()) {
      join(*impossible);
    }
    Attribution result;
    result.causes = causes_;
    result.rule = exact() ? AttributionRule::shapley : AttributionRule::both_directions;
    result.contributions = exact() ? shapley() : both_directions();
    result.states = values_.size();
    return result;
  }

 private:
  [[nodiscard]] bool exact() const { return causes_.size() <= most_shapley; }

  [[nodiscard]] Members all() const {
    Members members(causes_.size());
    std::iota(members.begin(), members.end(), std::size_t{0});
    return members;
  }

  const std::optional<Terms>& value(const Members& members) {
    Switches on(switches_, false);
    for (const std::size_t cause : members) {
      for (const std::size_t each : causes_[cause]) {
        on[each] = true;
      }
    }
    auto found = values_.find(on);
    if (found == values_.end()) {
      found = values_.emplace(on, terms_of_(on)).first;
    }
    return found->second;
  }

  bool is_possible(const Members& members) { return value(members).has_value(); }

  [[nodiscard]] static Members members_of(std::size_t mask) {
    Members members;
    for (std::size_t i = 0; mask >> i != 0; ++i) {
      if ((mask >> i & 1U) != 0) {
        members.push_back(i);
      }
    }
    return members;
  }

  // The states that the rule visits, small ones first: a cause that cannot be alone is found alone.
  [[nodiscard]] std::vector<Members> visited() const {
    std::vector<Members> states;
    if (exact()) {
      for (std::size_t mask = 1; mask < std::size_t{1} << causes_.size(); ++mask) {
        states.push_back(members_of(mask));
      }
    } else {
      const Members every = all();
      for (auto middle = every.begin() + 1; middle != every.end(); ++middle) {
        states.emplace_back(every.begin(), middle);
        states.emplace_back(middle, every.end());
      }
    }
    std::stable_sort(states.begin(), states.end(),
                     [](const Members& a, const Members& b) { return a.size() < b.size(); });
    return states;
  }

  std::optional<Members> first_impossible() {
    for (const Members& members : visited()) {
      if (!is_possible(members)) {
        return members;
      }
    }
    return std::nullopt;
  }

  // One more cause, two more, else the following ones until it is possible.
  Members completed(const Members& members) {
    Members others;
    for (std::size_t i = 0; i < causes_.size(); ++i) {
      if (std::find(members.begin(), members.end(), i) == members.end()) {
        others.push_back(i);
      }
    }
    const auto with = [&](const Members& more) {
      Members together = members;
      together.insert(together.end(), more.begin(), more.end());
      return together;
    };
    for (const std::size_t other : others) {
      if (is_possible(with({other}))) {
        return with({other});
      }
    }
    for (std::size_t i = 0; i < others.size(); ++i) {
      for (std::size_t j = i + 1; j < others.size(); ++j) {
        if (is_possible(with({others[i], others[j]}))) {
          return with({others[i], others[j]});
        }
      }
    }
    Members together = members;
    for (std::size_t i = 0; i < others.size() && !is_possible(together); ++i) {
      together.push_back(others[i]);
    }
    return together;
  }

  void join(const Members& impossible) {
    Members together = completed(impossible);
    std::sort(together.begin(), together.end());
    std::vector<std::size_t>& joint = causes_[together.front()];
    for (auto other = together.rbegin(); other + 1 != together.rend(); ++other) {
      joint.insert(joint.end(), causes_[*other].begin(), causes_[*other].end());
      causes_[*other].clear();
    }
    std::sort(joint.begin(), joint.end());
    std::erase_if(causes_, [](const auto& cause) { return cause.empty(); });
  }

  void add_step(const Members& before, std::size_t cause, double weight, Terms& sum) {
    Members after = before;
    after.push_back(cause);
    const Terms& from = *value(before);
    const Terms& to = *value(after);
    for (std::size_t t = 0; t < sum.size(); ++t) {
      sum[t] += weight * (to[t] - from[t]);
    }
  }

  std::vector<Terms> shapley() {
    const std::size_t count = causes_.size();
    std::vector<Terms> result(count, Terms(value({})->size()));
    // Of n causes, s of them moved before: s! (n - s - 1)! / n! of all orders.
    std::vector<double> weight(count);
    double choices = 1;  // n - 1 over s
    for (std::size_t s = 0; s < count; ++s) {
      weight[s] = 1.0 / (static_cast<double>(count) * choices);
      choices = choices * static_cast<double>(count - 1 - s) / static_cast<double>(s + 1);
    }
    for (std::size_t mask = 0; mask < std::size_t{1} << count; ++mask) {
      const Members before = members_of(mask);
      for (std::size_t cause = 0; cause < count; ++cause) {
        if ((mask >> cause & 1U) == 0) {
          add_step(before, cause, weight[before.size()], result[cause]);
        }
      }
    }
    return result;
  }

  std::vector<Terms> both_directions() {
    std::vector<Terms> result(causes_.size(), Terms(value({})->size()));
    Members before;
    for (std::size_t cause = 0; cause < causes_.size(); ++cause) {
      add_step(before, cause, 0.5, result[cause]);
      before.push_back(cause);
    }
    before.clear();
    for (std::size_t cause = causes_.size(); cause-- > 0;) {
      add_step(before, cause, 0.5, result[cause]);
      before.push_back(cause);
    }
    return result;
  }

  std::size_t switches_;
  const TermsOf& terms_of_;
  Causes causes_;
  std::map<Switches, std::optional<Terms>> values_;
};

}  // namespace

Attribution attribute(std::size_t switches, const TermsOf& terms_of) {
  return Attributor(switches, terms_of).answer();
}

std::vector<std::int64_t> rounded_to(std::int64_t total, const Terms& parts, Seconds unit) {
  std::vector<std::int64_t> rounded;
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::int64_t missing = total;
  for (const Seconds part : parts) {
    rounded.push_back(static_cast<std::int64_t>(std::floor(part / unit)));
    missing -= rounded.back();
  }
  // What is nothing stays nothing, as long as others can take the units.
  const auto remainder = [&](std::size_t i) {
    return parts[i] / unit - static_cast<double>(rounded[i]);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainder(a) > remainder(b); });
  const std::int64_t sign = missing < 0 ? -1 : 1;
  for (std::size_t i = 0; missing != 0 && !order.empty(); i = (i + 1) % order.size()) {
    rounded[sign > 0 ? order[i] : order[order.size() - 1 - i]] += sign;
    missing -= sign;
  }
  return rounded;
}

}  // namespace payoff
