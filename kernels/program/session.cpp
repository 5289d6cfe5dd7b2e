// SPDX-License-Identifier: Apache-2.0
#include "kernels/program/session.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>

#include "kernels/families/families.hpp"

namespace payoff::kernels {
namespace {

constexpr int longest_queue = 200;         // launches that are queued one by one
constexpr double memory_share = 0.6;       // of what is free, for one benchmark
constexpr std::size_t anchor_period = 40;  // points
constexpr Seconds setting_up = 20_ms;      // of a point: memory, inputs, first run

bool is_chosen(const Benchmark& benchmark, const std::vector<std::string>& only) {
  return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& name) {
           return name == benchmark.point.kernel || name == benchmark.point.family;
         });
}

// Its data may still be in the L2 cache when a step gets to it.
bool may_be_hot(const Benchmark& benchmark) {
  return benchmark.point.implementation == "fused" && benchmark.point.state == "cold" &&
         benchmark.memory > Bytes{1e6} && benchmark.memory < Bytes{4e7};
}

// Whether a graph could be faster than launches one by one: beyond 16 MB a launch, which take some
// 5 us and more, the next one is queued long before. Chains that cannot be queued are graphs alone.
bool launching_shows(const Traffic& traffic) {
  const double launches = traffic.launches;
  return traffic.launches > longest_queue ||
         traffic.read + traffic.written < launches * Bytes{1.6e7};
}

// A copy that is long enough to show drift, and small enough to be quick.
Benchmark anchor_copy(const Machine& machine) {
  Plan plan;
  std::size_t elements = std::size_t{1} << 26U;
  while (Bytes{16.0 * static_cast<double>(elements)} > memory_share * machine.free_memory ||
         (is_emulated() && elements > 4096)) {
    elements /= 2;
  }
  plan.shapes = {{elements}};
  for (Benchmark& benchmark : memory_benchmarks(plan)) {
    if (benchmark.point.kernel == "copy" && benchmark.point.implementation == "fused") {
      return benchmark;
    }
  }
  return {};
}

MeasuredPoint measured(const Job& job, const StopRule& rule) {
  const Work work = job.benchmark.make();
  const State state = job.benchmark.point.state == "hot" ? State::hot : State::cold;
  Sampler sampler(work, state, job.mode);
  MeasuredPoint result{job.benchmark.point, job.mode, {}, {}};
  result.measurement = measure(
      [&] {
        Sample sample = sampler.take();
        sample.time = sample.time / static_cast<double>(work.repeats);
        return sample;
      },
      pause_for, rule, timer_tick());
  if (work.checksum) {
    result.checksum = work.checksum();
  }
  return result;
}

// "8.9" as 89.
int capability_of(const Machine& machine) {
  int major = 0;
  int minor = 0;
  std::sscanf(machine.compute_capability.c_str(), "%d.%d", &major, &minor);
  return 10 * major + minor;
}

class Run {
 public:
  Run(const Machine& machine, const Budget& budget, const Report& report)
      : machine_(machine), budget_(budget), report_(report), anchor_{anchor_copy(machine), {}} {}

  void take_anchor() {
    try {
      const MeasuredPoint copy = measured(anchor_, quick_rule());
      if (!copy.measurement.samples.empty()) {
        const Bytes moved = copy.point.traffic.read + copy.point.traffic.written;
        outcome.anchors.push_back({outcome.points.size(), moved / copy.measurement.summary.median});
      }
    } catch (const std::exception& error) {
      add_failure("copy against drift", error);
    }
  }

  void take(const Job& job, Seconds share) {
    const std::string reason = why_left_out(job.benchmark, machine_);
    if (!reason.empty()) {
      outcome.left_out.push_back({title_of(job.benchmark.point), reason});
      return;
    }
    try {
      report_(title_of(job.benchmark.point));
      outcome.points.push_back(measured(job, within(budget_.rule, share)));
    } catch (const std::exception& error) {
      add_failure(title_of(job.benchmark.point), error);
    }
  }

  [[nodiscard]] bool is_hopeless() const { return is_hopeless_; }

  Outcome outcome;

 private:
  void add_failure(const std::string& title, const std::exception& error) {
    outcome.failed.push_back({title, error.what()});
    is_hopeless_ = is_hopeless_ || device_is_lost();
  }

  const Machine& machine_;
  const Budget& budget_;
  const Report& report_;
  Job anchor_;
  bool is_hopeless_ = false;
};

}  // namespace

std::string why_left_out(const Benchmark& benchmark, const Machine& machine) {
  if (!benchmark.needs.empty() && !has_library(benchmark.needs)) {
    return "needs " + benchmark.needs + ", which is not there";
  }
  const int least = benchmark.least_capability;
  if (capability_of(machine) < least) {
    return "needs compute capability " + std::to_string(least / 10) + "." +
           std::to_string(least % 10);
  }
  if (benchmark.memory > memory_share * machine.free_memory) {
    return "needs more than 60 % of the free memory";
  }
  return {};
}

std::vector<Job> chosen_jobs(const Plan& plan, const std::vector<std::string>& only,
                             std::vector<std::string>& unknown) {
  std::vector<Job> jobs;
  const std::vector<Benchmark> all = all_benchmarks(plan);
  for (const Benchmark& benchmark : all) {
    if (is_chosen(benchmark, only)) {
      const int launches = benchmark.point.traffic.launches;
      if (launches <= longest_queue) {
        jobs.push_back({benchmark, Mode::stream});
      }
      if (launches > 1 && (!plan.thinned || launching_shows(benchmark.point.traffic))) {
        jobs.push_back({benchmark, Mode::graph});
      }
      if (plan.every_variant && may_be_hot(benchmark)) {
        jobs.push_back({benchmark, Mode::stream});
        jobs.back().benchmark.point.state = "hot";
      }
    }
  }
  for (const std::string& name : only) {
    if (std::none_of(all.begin(), all.end(),
                     [&](const Benchmark& each) { return is_chosen(each, {name}); })) {
      unknown.push_back(name);
    }
  }
  return jobs;
}

std::vector<std::string> names_for_only(const Plan& plan) {
  std::vector<std::string> names{std::string(interference_name)};
  for (const Benchmark& each : all_benchmarks(plan)) {
    names.push_back(each.point.kernel);
    names.push_back(each.point.family);
  }
  return names;
}

Budget budget_of(bool full) {
  return full ? Budget{full_rule(), 570.0_s} : Budget{quick_rule(), 110.0_s};
}

Seconds share_of_point(const Budget& budget, Seconds spent, std::size_t points) {
  const Seconds left = budget.longest - spent - quick_rule().longest;
  return left / static_cast<double>(points) - setting_up;
}

Seconds longest_time(const std::vector<Job>& jobs, const Budget& budget) {
  const auto points = static_cast<double>(jobs.size());
  const double anchors = 2.0 + points / static_cast<double>(anchor_period);
  return std::min(
      points * (budget.rule.longest + setting_up) + anchors * (quick_rule().longest + setting_up),
      budget.longest);
}

Outcome measure_all(const std::vector<Job>& jobs, const Machine& machine, const Budget& budget,
                    const Clock& clock, const Report& report) {
  Run run(machine, budget, report);
  run.take_anchor();
  for (std::size_t taken = 0; taken < jobs.size(); ++taken) {
    const Job& job = jobs[taken];
    const Seconds share = share_of_point(budget, clock(), jobs.size() - taken);
    if (run.is_hopeless()) {
      run.outcome.failed.push_back({title_of(job.benchmark.point), "not tried after the others"});
    } else if (share <= 0.0_s) {
      run.outcome.left_out.push_back({title_of(job.benchmark.point), "no time left"});
    } else {
      run.take(job, share);
      if ((taken + 1) % anchor_period == 0 && !run.is_hopeless()) {
        run.take_anchor();
      }
    }
  }
  if (!run.is_hopeless()) {
    run.take_anchor();
  }
  return std::move(run.outcome);
}

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

void measure_neighbours(const std::vector<Neighbours>& all, const Machine& machine,
                        const Budget& budget, const Clock& clock, const Report& report,
                        Outcome& outcome) {
  NeighbourMeter meter;
  for (const Neighbours& each : all) {
    const std::string title = title_of(each);
    std::string reason = clock() + longest_of_neighbours > budget.longest ? "no time left" : "";
    for (const Neighbour& member : each) {
      reason = reason.empty() ? why_left_out(member.benchmark, machine) : reason;
      if (!is_emulated() && 2 * member.units_held > machine.multiprocessors) {
        reason = "holds more than half of the multiprocessors";
      }
    }
    if (!reason.empty()) {
      outcome.left_out.push_back({title, reason});
      continue;
    }
    try {
      report(title);
      outcome.neighbours.push_back(meter.measure(each));
    } catch (const std::exception& error) {
      outcome.failed.push_back({title, error.what()});
    }
  }
}

Outcome check_all(const std::vector<Job>& jobs, const Report& report) {
  Outcome outcome;
  const Machine machine = describe_machine();
  for (const Job& job : jobs) {
    const std::string title = title_of(job.benchmark.point);
    if (job.mode == Mode::graph && job.benchmark.point.traffic.launches <= longest_queue) {
      continue;  // its launches one by one are a job of their own
    }
    if (const std::string reason = why_left_out(job.benchmark, machine); !reason.empty()) {
      outcome.left_out.push_back({title, reason});
      continue;
    }
    try {
      const Work work = job.benchmark.make();
      work.run(Stream{});
      wait_for(Stream{});
      const std::string difference = work.mismatch ? work.mismatch() : "";
      if (!difference.empty()) {
        outcome.failed.push_back({title, difference});
      } else if (work.mismatch) {
        outcome.points.push_back({job.benchmark.point, job.mode, {}, {}});
        report(title);
      } else {
        outcome.left_out.push_back({title, "has nothing to be compared with"});
      }
    } catch (const std::exception& error) {
      outcome.failed.push_back({title, error.what()});
    }
  }
  return outcome;
}

}  // namespace payoff::kernels
