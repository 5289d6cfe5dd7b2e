// SPDX-License-Identifier: Apache-2.0
#include "kernels/program/session.hpp"

#include <algorithm>
#include <exception>

#include "kernels/families/families.hpp"

namespace payoff::kernels {
namespace {

constexpr std::size_t anchor_period = 40;  // points
constexpr Seconds setting_up = 20_ms;      // of a point: memory, inputs, first run

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

Outcome measure_all(const std::vector<Job>& asked, const Machine& machine, const Budget& budget,
                    const Clock& clock, const Report& report) {
  Run run(machine, budget, report);
  run.take_anchor();
  const std::vector<Job> jobs = suited(asked, machine);
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

}  // namespace payoff::kernels
