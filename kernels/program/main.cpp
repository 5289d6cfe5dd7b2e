// SPDX-License-Identifier: Apache-2.0
// payoff-kernels: see --help. The exit status 77 says that there is no GPU, as test programs do.
#include <chrono>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>

#include "kernels/program/outputs.hpp"
#include "kernels/program/session.hpp"
#include "kernels/program/unfinished_file.hpp"

#if !defined(PAYOFF_KERNELS_VERSION)
#define PAYOFF_KERNELS_VERSION "0.1.0"
#endif
#if !defined(PAYOFF_KERNELS_NVCC)
#define PAYOFF_KERNELS_NVCC ""
#endif
#if !defined(PAYOFF_KERNELS_GIT)
#define PAYOFF_KERNELS_GIT ""
#endif

namespace payoff::kernels {
namespace {

enum ExitCode { done = 0, failed = 1, wrong_arguments = 2, no_gpu = 77 };

std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32] = {};
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::optional<std::uint64_t> own_hash() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  if (!file) {
    return std::nullopt;
  }
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  return fnv1a64({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

std::string host_cpu() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return {};
}

ExitCode report(const Outcome& outcome, const char* what) {
  for (const LeftOut& each : outcome.left_out) {
    std::cerr << "left out: " << each.title << ": " << each.reason << "\n";
  }
  for (const LeftOut& each : outcome.failed) {
    std::cerr << "failed: " << each.title << ": " << each.reason << "\n";
  }
  std::cerr << outcome.points.size() << " points " << what;
  if (!outcome.neighbours.empty()) {
    std::cerr << ", " << outcome.neighbours.size() << " beside each other";
  }
  std::cerr << ", " << outcome.left_out.size() << " left out, " << outcome.failed.size()
            << " failed\n";
  return outcome.failed.empty() ? done : failed;
}

// All but the times.
SamplesFile described() {
  SamplesFile file;
  file.machine = describe_machine();
  file.emulated = is_emulated();
  file.date = now();
  file.program_version = PAYOFF_KERNELS_VERSION;
  file.compiler = PAYOFF_KERNELS_NVCC;
  file.git = PAYOFF_KERNELS_GIT;
  file.binary_hash = own_hash();
  file.host_cpu = host_cpu();
  file.libraries = libraries();
  return file;
}

// Where samples go, and under which name until they are whole: an earlier file is not lost to a run
// that ends. Pipes and devices are written as they are, and links keep what they point to.
struct Target {
  explicit Target(const std::string& out) : file(out), part(out) {
    std::error_code ignored;
    if (std::filesystem::is_symlink(file, ignored)) {
      file = std::filesystem::weakly_canonical(file, ignored);
    }
    part = file;
    const bool replaced =
        !std::filesystem::exists(file, ignored) || std::filesystem::is_regular_file(file, ignored);
    if (replaced) {
      part += ".part";
    }
  }
  [[nodiscard]] bool is_folder() const {
    std::error_code ignored;
    return std::filesystem::is_directory(file, ignored);
  }
  [[nodiscard]] bool finish() const {
    std::error_code failure;
    if (part != file) {
      std::filesystem::rename(part, file, failure);
    }
    return !failure;
  }

  std::filesystem::path file;
  std::filesystem::path part;
};

// Points first, then kernels beside each other.
Outcome measure_both(const std::vector<Job>& jobs, const std::vector<Neighbours>& neighbours,
                     const Machine& machine, const Budget& budget, const Clock& clock) {
  std::size_t begun = 0;
  const Report report_begun = [&](std::string_view title) {
    std::cerr << ++begun << "/" << jobs.size() + neighbours.size() << " " << title << "\n";
  };
  Outcome outcome =
      measure_all(jobs, machine, budget_of_points(budget, neighbours.size()), clock, report_begun);
  if (!neighbours.empty()) {
    const NeighbourInstruments instruments = instruments_of(machine, outcome);
    measure_neighbours(neighbours, machine, budget, clock, report_begun, instruments, outcome);
  }
  return outcome;
}

ExitCode measure_to_file(const Options& options, const std::vector<Job>& jobs,
                         const std::vector<Neighbours>& neighbours) {
  const auto start = std::chrono::steady_clock::now();
  const Clock clock = [start] {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    return Seconds{spent.count()};
  };
  // Opened first: ten minutes of measuring are not lost to a path that cannot be written.
  const Target target(options.out);
  std::ofstream out;
  if (!target.is_folder()) {
    out.open(target.part, std::ios::binary);
  }
  if (!out.is_open()) {
    std::cerr << "error: cannot write " << options.out << "\n";
    return failed;
  }
  UnfinishedFile unfinished(target.part == target.file ? "" : target.part);
  SamplesFile file = described();
  const Outcome outcome =
      measure_both(jobs, neighbours, file.machine, budget_of(options.full), clock);
  file.anchors = outcome.anchors;
  file.points = outcome.points;
  file.neighbours = outcome.neighbours;
  file.timer = check_timer();
  std::cerr << text_of(*file.timer) << "\n";
  out << text_of(file);
  out.close();
  unfinished.keep();
  if (!out || !target.finish()) {
    std::cerr << "error: cannot write " << options.out << "; what there is lies in "
              << target.part.string() << "\n";
    return failed;
  }
  return report(outcome, "measured");
}

ExitCode act(const Options& options, const std::vector<Job>& jobs,
             const std::vector<Neighbours>& neighbours) {
  if (options.action == Action::list) {
    std::cout << list_text(jobs, neighbours.size());
    return done;
  }
  if (options.action == Action::dry_run) {
    std::cout << dry_run_text(jobs, neighbours, budget_of(options.full));
    return done;
  }
  const std::string reason = why_no_device();
  if (!reason.empty()) {
    std::cerr << "no GPU to measure on: " << reason << "\n";
    return no_gpu;
  }
  if (options.action == Action::check) {
    return report(check_all(jobs, [](std::string_view) {}), "agree with the host reference");
  }
  return measure_to_file(options, jobs, neighbours);
}

Plan plan_of(const Options& options) {
  if (options.action == Action::check) {
    return check_plan();
  }
  if (is_emulated()) {
    return emulated_plan();
  }
  return options.full ? full_plan() : quick_plan();
}

ExitCode run(std::span<const char* const> words) {
  const Options options = read_options(words);
  std::vector<std::string> problems = options.problems;
  if (options.action == Action::help && problems.empty()) {
    std::cout << help_text();
    return done;
  }
  const Plan plan = plan_of(options);
  std::vector<std::string> unknown;
  const std::vector<Job> jobs = chosen_jobs(plan, options.only, unknown);
  for (const std::string& name : unknown) {
    const std::string like = did_you_mean(name, names_for_only(plan));
    problems.push_back("no kernel or family `" + name + "`" +
                       (like.empty() ? "; --list names them" : like));
  }
  for (const std::string& problem : problems) {
    std::cerr << "error: " << problem << "\n";
  }
  return problems.empty() ? act(options, jobs, chosen_neighbours(plan, options.only))
                          : wrong_arguments;
}

}  // namespace
}  // namespace payoff::kernels

int main(int count, char** words) {
  try {
    payoff::kernels::set_up_process();
    return payoff::kernels::run({words + 1, static_cast<std::size_t>(count > 0 ? count - 1 : 0)});
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}
