// SPDX-License-Identifier: Apache-2.0
// What there is to measure or to check: which benchmarks, launched how, on this machine.
#include <algorithm>
#include <cstdio>
#include <set>

#include "kernels/families/families.hpp"
#include "kernels/program/session.hpp"

namespace payoff::kernels {
namespace {

constexpr int longest_queue = 200;  // launches that are queued one by one

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

// "8.9" as 89.
int capability_of(const Machine& machine) {
  int major = 0;
  int minor = 0;
  std::sscanf(machine.compute_capability.c_str(), "%d.%d", &major, &minor);
  return 10 * major + minor;
}

bool is_too_old(const Machine& machine, const Benchmark& benchmark) {
  return capability_of(machine) < benchmark.least_capability;
}

}  // namespace

const Benchmark& suited(const Benchmark& benchmark, const Machine& machine) {
  return benchmark.instead && is_too_old(machine, benchmark) ? *benchmark.instead : benchmark;
}

std::vector<Job> suited(std::vector<Job> jobs, const Machine& machine) {
  std::set<std::string> titles;
  for (const Job& job : jobs) {
    titles.insert(title_of(job.benchmark.point));
  }
  for (Job& job : jobs) {
    const Benchmark other = suited(job.benchmark, machine);
    if (!titles.contains(title_of(other.point))) {
      job.benchmark = other;
    }
  }
  return jobs;
}

std::string why_left_out(const Benchmark& benchmark, const Machine& machine) {
  if (!benchmark.needs.empty() && !has_library(benchmark.needs)) {
    return "needs " + benchmark.needs + ", which is not there";
  }
  if (is_too_old(machine, benchmark)) {
    const int least = benchmark.least_capability;
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
      if (launches > 1 && launching_shows(benchmark.point.traffic)) {
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

Outcome check_all(const std::vector<Job>& jobs, const Report& report) {
  Outcome outcome;
  const Machine machine = describe_machine();
  for (const Job& job : suited(jobs, machine)) {
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
