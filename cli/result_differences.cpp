// SPDX-License-Identifier: Apache-2.0
#include "cli/result_differences.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace payoff {
namespace {

using Json = nlohmann::ordered_json;

class ResultComparison {
 public:
  void compare(const std::string& path, const Json& then, const Json& now) {
    if (then.is_object() && now.is_object()) {
      compare_keys(path, then, now, {});
    } else if (then.is_array() && now.is_array()) {
      for (std::size_t i = 0; i < std::max(then.size(), now.size()); ++i) {
        compare(path + "." + std::to_string(i), i < then.size() ? then[i] : missing_,
                i < now.size() ? now[i] : missing_);
      }
    } else {
      ++result_.values;
      if (then.is_discarded() != now.is_discarded() || then != now) {
        result_.found.push_back({path, then, now});
      }
    }
  }

  void compare_keys(const std::string& path, const Json& then, const Json& now,
                    const std::vector<std::string>& aside) {
    const auto each = [&](const Json& of, const Json& other, bool first) {
      for (const auto& [key, value] : of.items()) {
        if (std::find(aside.begin(), aside.end(), key) != aside.end() ||
            (!first && other.contains(key))) {
          continue;
        }
        std::string place = path;
        place += path.empty() ? "" : ".";
        place += key;
        const Json& its = other.contains(key) ? other.at(key) : missing_;
        first ? compare(place, value, its) : compare(place, its, value);
      }
    };
    each(then, now, true);
    each(now, then, false);
  }

  ResultDifferences take() {
    std::stable_sort(
        result_.found.begin(), result_.found.end(),
        [](const ValueDifference& a, const ValueDifference& b) { return a.size() > b.size(); });
    return std::move(result_);
  }

 private:
  Json missing_ = Json(Json::value_t::discarded);  // with braces it would be a list
  ResultDifferences result_;
};

}  // namespace

double ValueDifference::size() const {
  if (!then.is_number() || !now.is_number()) {
    return std::numeric_limits<double>::infinity();
  }
  const double a = then.get<double>();
  const double b = now.get<double>();
  const double larger = std::max(std::abs(a), std::abs(b));
  return larger > 0.0 ? std::abs(a - b) / larger : 0.0;
}

ResultDifferences differences_of(const Json& then, const Json& now,
                                 const std::vector<std::string>& aside) {
  ResultComparison comparison;
  comparison.compare_keys("", then, now, aside);
  return comparison.take();
}

}  // namespace payoff
