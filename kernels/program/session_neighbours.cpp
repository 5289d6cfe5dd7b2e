// SPDX-License-Identifier: Apache-2.0
// Kernels beside each other, after the points.
#include <algorithm>
#include <exception>
#include <memory>

#include "kernels/families/families.hpp"
#include "kernels/program/session.hpp"

namespace payoff::kernels {
namespace {

// Cold, behind a gate, as between points; its memory is kept.
class RepeatedCopy {
 public:
  explicit RepeatedCopy(const Benchmark& copy)
      : moved_(copy.point.traffic.read + copy.point.traffic.written),
        work_(copy.make()),
        sampler_(work_, State::cold, Mode::stream) {}

  [[nodiscard]] Bandwidth take() {
    constexpr int samples = 5;
    std::vector<Seconds> times;
    for (int i = 0; i < samples; ++i) {
      const Sample sample = sampler_.take();
      if (!sample.timed_out) {
        times.push_back(sample.time);
      }
    }
    return times.empty() ? Bandwidth{} : moved_ / summarize(times).median;
  }

 private:
  Bytes moved_;
  Work work_;
  Sampler sampler_;
};

std::string why_left_out(const Neighbours& neighbours, const Machine& machine) {
  for (const Neighbour& member : neighbours) {
    if (const std::string reason = why_left_out(member.benchmark, machine); !reason.empty()) {
      return reason;
    }
    if (!is_emulated() && 2 * member.units_held > machine.multiprocessors) {
      return "holds more than half of the multiprocessors";
    }
  }
  return {};
}

}  // namespace

std::vector<Neighbours> chosen_neighbours(const Plan& plan, const std::vector<std::string>& only) {
  const bool wanted =
      only.empty() || std::find(only.begin(), only.end(), interference_name) != only.end();
  return wanted ? neighbour_benchmarks(plan) : std::vector<Neighbours>{};
}

Budget budget_of_points(const Budget& budget, std::size_t neighbours) {
  constexpr double most = 0.3;
  const Seconds asked = static_cast<double>(neighbours) * longest_of_neighbours;
  return {budget.rule, budget.longest - std::min(asked, most * budget.longest)};
}

NeighbourInstruments instruments_of(const Machine& machine, Outcome& outcome) {
  NeighbourInstruments instruments{run_together, [] { return Bandwidth{}; }, pause_for,
                                   device_is_lost};
  if (is_emulated()) {  // where times mean nothing, a copy's say nothing of others
    return instruments;
  }
  try {
    instruments.copy = [copy = std::make_shared<RepeatedCopy>(anchor_copy(machine))] {
      return copy->take();
    };
  } catch (const std::exception& error) {
    outcome.failed.push_back({"copy against drift, beside each other", error.what()});
  }
  return instruments;
}

void measure_neighbours(const std::vector<Neighbours>& all, const Machine& machine,
                        const Budget& budget, const Clock& clock, const Report& report,
                        const NeighbourInstruments& instruments, Outcome& outcome) {
  NeighbourMeter meter(instruments);
  bool is_lost = !all.empty() && instruments.is_lost();
  for (Neighbours each : all) {
    for (Neighbour& member : each) {
      const Benchmark fitting = suited(member.benchmark, machine);
      member.benchmark = fitting;
    }
    const std::string title = title_of(each);
    if (is_lost) {
      outcome.failed.push_back({title, "not tried after the others"});
      continue;
    }
    const std::string reason = clock() + longest_of_neighbours > budget.longest
                                   ? "no time left"
                                   : why_left_out(each, machine);
    if (!reason.empty()) {
      outcome.left_out.push_back({title, reason});
      continue;
    }
    try {
      report(title);
      outcome.neighbours.push_back(meter.measure(each));
    } catch (const std::exception& error) {
      outcome.failed.push_back({title, error.what()});
      is_lost = instruments.is_lost();
    }
  }
}

}  // namespace payoff::kernels
