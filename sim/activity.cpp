// SPDX-License-Identifier: Apache-2.0
#include "sim/activity.hpp"

#include <string>
#include <utility>

#include "sim/grid.hpp"

namespace payoff::sim {
namespace {

constexpr double most_usage = 65536.0;

class Findings {
 public:
  explicit Findings(std::string_view path) : path_(path) {}

  void require(bool holds, std::string_view field, std::string message, std::string help = "") {
    if (!holds) {
      std::string path = path_.empty() ? std::string(field) : path_ + "." + std::string(field);
      problems_.push_back({std::move(path), std::move(message), std::move(help)});
    }
  }
  [[nodiscard]] Problems take() { return std::move(problems_); }

 private:
  std::string path_;
  Problems problems_;
};

}  // namespace

Problems check(const Resource& resource, std::string_view path) {
  Findings findings(path);
  findings.require(resource.capacity.si > 0.0, "capacity", "the capacity is not positive");
  findings.require(!(resource.capacity.si > 0.0) || to_rate(resource.capacity), "capacity",
                   "the capacity is beyond what can be simulated", "at most 1.4e17 bytes/s");
  return findings.take();
}

Problems check(const Activity& activity, std::string_view path) {
  Findings findings(path);
  findings.require(to_work(activity.size).has_value(), "size",
                   "the size is negative, or beyond what can be simulated", "at most 1.4e17 bytes");
  findings.require(activity.rate_bound == no_rate_bound || to_rate(activity.rate_bound),
                   "rate_bound", "the rate bound is not positive, or beyond what can be simulated");
  findings.require(activity.rate_bound != no_rate_bound || !activity.uses.empty(), "rate_bound",
                   "nothing bounds the rate: no resource is used, and no bound is given");
  findings.require(activity.share_ratio >= least_share && activity.share_ratio <= most_share,
                   "share_ratio", "the share is not between 1/65536 and 65535");
  findings.require(activity.latency.picoseconds >= 0, "latency", "the latency is negative");
  findings.require(activity.latency != never, "latency", "the latency is beyond the clock");
  for (std::size_t i = 0; i < activity.uses.size(); ++i) {
    const double usage = activity.uses[i].usage_ratio;
    findings.require(usage > 0.0 && usage <= most_usage, "uses[" + std::to_string(i) + "]",
                     "the usage is not positive, or above 65536 bytes for each byte");
  }
  return findings.take();
}

}  // namespace payoff::sim
