// SPDX-License-Identifier: Apache-2.0
#include "study/interval_set.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

namespace payoff {
namespace {

struct Sample {
  double x{};
  double gain{};

  [[nodiscard]] bool pays() const { return gain > 0.0; }
};

double middle(double low, double high) { return std::sqrt(low * high); }

// Two neighbouring samples of opposite sign drawn together until they differ by `resolution`.
void bracket(const Gain& gain, Sample& low, Sample& high, double resolution) {
  while (high.x - low.x > resolution * high.x) {
    const double x = middle(low.x, high.x);
    if (x <= low.x || x >= high.x) {
      return;
    }
    const Sample at{x, gain(x)};
    (at.pays() == low.pays() ? low : high) = at;
  }
}

// Golden section for the extreme between the neighbours of a sample that is nearer to zero than
// both and has their sign; stops as soon as the other sign is found.
std::vector<Sample> search_hidden(const Gain& gain, const Sample& left, const Sample& right) {
  constexpr double section = 0.6180339887498949;
  constexpr int steps = 24;
  const bool pays = left.pays();
  const auto height = [pays](const Sample& s) { return pays ? s.gain : -s.gain; };
  double low = std::log(left.x);
  double high = std::log(right.x);
  const auto sample = [&](double log_x) { return Sample{std::exp(log_x), gain(std::exp(log_x))}; };
  Sample a = sample(high - section * (high - low));
  Sample b = sample(low + section * (high - low));
  for (int i = 0; i < steps; ++i) {
    if (a.pays() != pays || b.pays() != pays) {
      return {a, b};
    }
    if (height(a) < height(b)) {
      high = std::log(b.x);
      b = a;
      a = sample(high - section * (high - low));
    } else {
      low = std::log(a.x);
      a = b;
      b = sample(low + section * (high - low));
    }
  }
  return {};
}

void add_hidden(const Gain& gain, std::vector<Sample>& samples) {
  std::vector<Sample> found;
  for (std::size_t i = 1; i + 1 < samples.size(); ++i) {
    const Sample& left = samples[i - 1];
    const Sample& at = samples[i];
    const Sample& right = samples[i + 1];
    const bool same_sign = left.pays() == at.pays() && at.pays() == right.pays();
    const bool nearest =
        std::abs(at.gain) < std::abs(left.gain) && std::abs(at.gain) < std::abs(right.gain);
    if (same_sign && nearest) {
      const std::vector<Sample> hidden = search_hidden(gain, left, right);
      found.insert(found.end(), hidden.begin(), hidden.end());
    }
  }
  samples.insert(samples.end(), found.begin(), found.end());
  std::sort(samples.begin(), samples.end(),
            [](const Sample& a, const Sample& b) { return a.x < b.x; });
}

// Runs of paying samples; `edge` gives the end of a run between a paying and a non-paying sample.
template <typename Edge>
IntervalSet<double> intervals_of(const std::vector<Sample>& samples, const Edge& edge) {
  IntervalSet<double> set;
  set.scanned_low = samples.front().x;
  set.scanned_high = samples.back().x;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!samples[i].pays()) {
      continue;
    }
    Interval<double> interval{samples[i].x, samples[i].x, i == 0, false};
    if (i > 0) {
      interval.low = edge(samples[i - 1], samples[i]);
    }
    while (i + 1 < samples.size() && samples[i + 1].pays()) {
      ++i;
    }
    interval.high = samples[i].x;
    if (i + 1 < samples.size()) {
      interval.high = edge(samples[i], samples[i + 1]);
    } else {
      interval.open_high = true;
    }
    set.intervals.push_back(interval);
  }
  return set;
}

// Whole numbers examined so far, each once.
class IntegerSamples {
 public:
  explicit IntegerSamples(const Gain& gain) : gain_(gain) {}

  bool pays(int x) {
    const auto [entry, is_new] = samples_.try_emplace(x);
    if (is_new) {
      entry->second = gain_(x);
    }
    return entry->second > 0.0;
  }

  // A change between two numbers, by halving.
  int change(int low, int high) {
    while (high - low > 1) {
      const int x = low + (high - low) / 2;
      (pays(x) == pays(low) ? low : high) = x;
    }
    return low;
  }

  [[nodiscard]] std::vector<Sample> all() const {
    std::vector<Sample> samples;
    samples.reserve(samples_.size());
    for (const auto& [x, gain] : samples_) {
      samples.push_back({static_cast<double>(x), gain});
    }
    return samples;
  }

 private:
  const Gain& gain_;
  std::map<int, double> samples_;
};

}  // namespace

IntervalSet<double> find_payoff_set(const Gain& gain, const std::vector<double>& points,
                                    double resolution) {
  std::vector<Sample> samples;
  samples.reserve(points.size());
  for (const double x : points) {
    samples.push_back({x, gain(x)});
  }
  add_hidden(gain, samples);
  return intervals_of(samples, [&](Sample low, Sample high) {
    bracket(gain, low, high, resolution);
    return low.pays() ? low.x : high.x;
  });
}

IntervalSet<double> find_integer_payoff_set(const Gain& gain, const std::vector<int>& points,
                                            int neighbourhood) {
  IntegerSamples samples(gain);
  for (const int x : points) {
    static_cast<void>(samples.pays(x));
  }
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    if (samples.pays(points[i]) == samples.pays(points[i + 1])) {
      continue;
    }
    const int change = samples.change(points[i], points[i + 1]);
    const int first = std::max(points.front(), change - neighbourhood);
    const int last = std::min(points.back(), change + neighbourhood);
    for (int x = first; x <= last; ++x) {
      static_cast<void>(samples.pays(x));
    }
  }
  // Teeth at the rim of a neighbourhood may leave changes between samples that are not neighbours.
  for (bool settled = false; !settled;) {
    settled = true;
    const std::vector<Sample> now = samples.all();
    for (std::size_t i = 0; i + 1 < now.size(); ++i) {
      if (now[i].pays() != now[i + 1].pays() && now[i + 1].x - now[i].x > 1.0) {
        const int low = static_cast<int>(now[i].x);
        static_cast<void>(samples.change(low, static_cast<int>(now[i + 1].x)));
        settled = false;
      }
    }
  }
  return intervals_of(samples.all(), [](const Sample& low, const Sample& high) {
    return low.pays() ? low.x : high.x;
  });
}

std::vector<double> log_spaced(double low, double high, int count) {
  std::vector<double> points;
  points.reserve(static_cast<std::size_t>(count));
  const double step = std::log(high / low) / (count - 1);
  for (int i = 0; i < count; ++i) {
    points.push_back(low * std::exp(step * i));
  }
  points.front() = low;
  points.back() = high;
  return points;
}

std::vector<double> log_spaced_by_decade(double low, double high, int points) {
  return log_spaced(low, high, 2 + static_cast<int>(std::ceil(std::log10(high / low) * points)));
}

std::vector<double> with_breakpoints(const std::vector<double>& points, const Signature& signature,
                                     double resolution) {
  std::vector<double> result{points.front()};
  std::vector<int> before = signature(points.front());
  for (std::size_t i = 1; i < points.size(); ++i) {
    const std::vector<int> here = signature(points[i]);
    while (before != here) {
      double low = result.back();
      double high = points[i];
      for (double at = middle(low, high); high - low > resolution * high && at > low && at < high;
           at = middle(low, high)) {
        (signature(at) == before ? low : high) = at;
      }
      before = signature(high);
      for (const double side : {low, high}) {
        if (side > result.back() && side < points[i]) {
          result.push_back(side);
        }
      }
      if (high >= points[i]) {
        break;
      }
    }
    before = here;
    result.push_back(points[i]);
  }
  return result;
}

}  // namespace payoff
