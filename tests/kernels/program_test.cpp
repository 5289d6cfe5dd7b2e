// SPDX-License-Identifier: Apache-2.0
// The program payoff-kernels on the emulated grid: arguments, what is chosen, a whole measurement.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>

#include "kernels/families/families.hpp"
#include "kernels/program/dynamic_library.hpp"
#include "kernels/program/session.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using namespace payoff::kernels;

namespace {

template <std::size_t count>
Options read(const std::array<const char*, count>& words) {
  return read_options(words);
}

Plan tiny_plan() {
  Plan plan = quick_plan();
  plan.shapes = {{3000}};
  plan.matrix_rows = {64};
  plan.ranks = {2};
  plan.workers = {2};
  plan.layer_rows = {2};
  plan.layer_columns = {300};
  return plan;
}

Outcome measured(const std::vector<std::string>& only, const Machine& machine, const Clock& clock,
                 Seconds longest = 100_s) {
  std::vector<std::string> unknown;
  const auto jobs = chosen_jobs(tiny_plan(), only, unknown);
  const Budget budget{{3, 3, 0.02, 0_s, 1_ms}, longest};
  return measure_all(jobs, machine, budget, clock, [](std::string_view) {});
}

}  // namespace

TEST_CASE("arguments that cannot be meant are all named at once") {
  CHECK(read(std::array{"--only", "casts,gemm", "--full", "--out", "x.json"}).problems.empty());
  CHECK(read(std::array{"--only", ",", "--list"}).problems.size() == 1);
  CHECK(read(std::array{"--only", "casts,gemm", "--list"}).only ==
        std::vector<std::string>{"casts", "gemm"});
  CHECK(read(std::array{"--quick", "--full", "--fast", "--out"}).problems.size() == 4);
  CHECK(read(std::array{"--full"}).problems.size() == 1);
  CHECK(read(std::array{"--dry-run"}).problems.empty());
}

TEST_CASE("a misspelt argument or name is told what it is like") {
  CHECK(read(std::array{"--ful", "--out", "x"}).problems ==
        std::vector<std::string>{"unknown argument `--ful`; did you mean `--full`?"});
  CHECK(read(std::array{"--zzzzz", "--out", "x"}).problems ==
        std::vector<std::string>{"unknown argument `--zzzzz`"});
  const std::vector<std::string> names = names_for_only(tiny_plan());
  CHECK(did_you_mean("cast", names) == "; did you mean `casts`?");
  CHECK(did_you_mean("topk_radx", names) == "; did you mean `topk_radix`?");
  CHECK(did_you_mean("interferense", names) == "; did you mean `interference`?");
  CHECK(did_you_mean("nothing", names).empty());
}

TEST_CASE("the list has every library that a kernel's points need, and columns apart") {
  std::vector<std::string> unknown;
  std::vector<Job> jobs = chosen_jobs(quick_plan(), {"gemm"}, unknown);
  jobs.front().benchmark.point.family = "a_family_longer_than_any";
  const std::string text = list_text(jobs, 0);
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("cublas, cublasLt\n"));
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("a_family_longer_than_any  "));
}

TEST_CASE("libraries are looked for by name, then in the toolkit's own folders") {
  CHECK(with_folders({"a.so", "b.so"}, {}, {"x"}) == std::vector<std::string>{"a.so", "b.so"});
  CHECK(
      with_folders({"a.so"}, {"/toolkit"}, {"extras/CUPTI/lib64", "lib64"}) ==
      std::vector<std::string>{"a.so", "/toolkit/extras/CUPTI/lib64/a.so", "/toolkit/lib64/a.so"});
}

TEST_CASE("the toolkit is where its variables say, in their order, and then where it usually is") {
  const auto set = [](const char* name, const char* value) { setenv(name, value, 1); };
  const std::string home = std::getenv("CUDA_HOME") != nullptr ? std::getenv("CUDA_HOME") : "";
  const std::string path = std::getenv("CUDA_PATH") != nullptr ? std::getenv("CUDA_PATH") : "";
  set("CUDA_HOME", "/home");
  set("CUDA_PATH", "/path");
  CHECK(toolkit_homes() == std::vector<std::string>{"/home", "/path", "/usr/local/cuda"});
  set("CUDA_HOME", "");
  CHECK(toolkit_homes() == std::vector<std::string>{"/path", "/usr/local/cuda"});
  set("CUDA_PATH", "");
  CHECK(toolkit_homes() == std::vector<std::string>{"/usr/local/cuda"});
  set("CUDA_HOME", home.c_str());
  set("CUDA_PATH", path.c_str());
}

TEST_CASE("a chain is measured launch by launch and as a graph, a single kernel once") {
  std::vector<std::string> unknown;
  const auto jobs = chosen_jobs(tiny_plan(), {"cast_bf16", "sign_ef", "no_such"}, unknown);
  CHECK(unknown == std::vector<std::string>{"no_such"});
  const auto count = [&](const std::string& kernel, Mode mode) {
    return std::count_if(jobs.begin(), jobs.end(), [&](const Job& job) {
      return job.benchmark.point.kernel == kernel && job.mode == mode;
    });
  };
  CHECK(count("cast_bf16", Mode::stream) == 1);
  CHECK(count("cast_bf16", Mode::graph) == 0);
  CHECK(count("sign_ef", Mode::stream) == 2);  // fused and by operators
  CHECK(count("sign_ef", Mode::graph) == 2);
}

TEST_CASE("a plan fits the time that its mode promises, or says what is left out") {
  std::vector<std::string> unknown;
  CHECK(longest_time(chosen_jobs(quick_plan(), {}, unknown), budget_of(false)) <= 120_s);
  CHECK(longest_time(chosen_jobs(full_plan(), {}, unknown), budget_of(true)) <= 600_s);
  const Outcome late = measured({"casts"}, describe_machine(), [] { return 100_s; });
  CHECK(late.points.empty());
  CHECK(!late.left_out.empty());
  CHECK(late.left_out.front().reason == "no time left");
}

TEST_CASE("a plan that is too long gets fewer samples a point, not fewer points") {
  std::vector<std::string> unknown;
  const auto points = static_cast<double>(chosen_jobs(tiny_plan(), {"casts"}, unknown).size());
  // 20 ms to set up each, next to nothing to measure, and one anchor.
  const Seconds longest = 100_ms + points * 20.01_ms;
  const Outcome outcome = measured(
      {"casts"}, describe_machine(), [] { return 0_s; }, longest);
  CHECK(outcome.left_out.empty());
  REQUIRE(outcome.points.size() == static_cast<std::size_t>(points));
  CHECK(outcome.points.front().measurement.stop == Stop::time);
}

TEST_CASE("a measurement keeps samples, checksums and an anchor at both ends") {
  const Outcome outcome =
      measured({"casts", "signs", "gemm"}, describe_machine(), [] { return 0_s; });
  CHECK(outcome.failed.empty());
  REQUIRE(!outcome.points.empty());
  for (const MeasuredPoint& point : outcome.points) {
    INFO(title_of(point.point));
    CHECK(!point.measurement.samples.empty());
    CHECK(point.checksum.has_value());
  }
  CHECK(outcome.anchors.size() >= 2);
  CHECK(outcome.anchors.front().after_points == 0);
  CHECK(outcome.anchors.back().after_points == outcome.points.size());
  REQUIRE(!outcome.left_out.empty());
  CHECK(outcome.left_out.front().reason == "needs cublas, which is not there");
}

TEST_CASE("every point of a file says which clock its samples are held against") {
  SamplesFile file;
  file.points = measured({"cast_bf16"}, describe_machine(), [] { return 0_s; }).points;
  file.points.push_back(file.points.front());
  file.points.back().measurement.clock_reference = 0.7;
  const std::string text = text_of(file);
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("\"clock_reference\": 1,"));
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("\"clock_reference\": 0.7,"));
}

TEST_CASE("what needs more than its share of the memory is left out") {
  Machine machine = describe_machine();
  machine.free_memory = Bytes{4e4};  // 3,000 values need 12.2 bytes each and more
  const Outcome outcome = measured({"sign_ef"}, machine, [] { return 0_s; });
  CHECK(outcome.points.empty());
  CHECK(outcome.left_out.size() == 2 + 2);
}

TEST_CASE("what the device is too old for is left out and not failed") {
  Benchmark benchmark;
  benchmark.least_capability = 89;
  Machine machine = describe_machine();
  machine.compute_capability = "8.6";  // Ampere: no fp8
  CHECK(why_left_out(benchmark, machine) == "needs compute capability 8.9");
  for (const char* newer : {"8.9", "9.0", "10.0", "12.1"}) {
    machine.compute_capability = newer;
    CHECK(why_left_out(benchmark, machine).empty());
  }
  // By the programming guide: bf16 and tf32 from 8.0 on, e4m3 from 8.9 on, fp32 and fp16 always.
  std::size_t of_fp8 = 0;
  for (const Benchmark& each : all_benchmarks(tiny_plan())) {
    const Parameters& parameters = each.point.parameters;
    if (each.point.kernel == "gemm") {
      const double bytes = parameters.at("bytes");
      const bool plain =
          parameters.at("fp16") == 1.0 || (bytes == 4.0 && parameters.at("tf32") == 0.0);
      CHECK(each.least_capability == (bytes == 1.0 ? 89 : (plain ? 0 : 80)));
      of_fp8 += bytes == 1.0 ? 1 : 0;
    }
  }
  CHECK(of_fp8 > 0);
}

TEST_CASE("a check tells of every point whether it agrees or why it was left out") {
  std::vector<std::string> unknown;
  Plan plan = tiny_plan();
  plan.ranks = {
      34};  // Cholesky-QR by operators: 1 + 2 (1 + 3 34) launches, which only a graph queues
  const auto jobs = chosen_jobs(plan, {"launch", "cast_bf16", "gemm", "cholesky_qr"}, unknown);
  std::size_t reported = 0;
  const Outcome outcome = check_all(jobs, [&](std::string_view) { ++reported; });
  CHECK(outcome.failed.empty());
  std::set<std::string> points;
  for (const Job& job : jobs) {
    points.insert(title_of(job.benchmark.point));
  }
  std::map<std::string, std::string> told;
  for (const MeasuredPoint& point : outcome.points) {
    CHECK(told.emplace(title_of(point.point), "").second);
  }
  for (const LeftOut& each : outcome.left_out) {
    CHECK(told.emplace(each.title, each.reason).second);
  }
  CHECK(reported == outcome.points.size());
  CHECK(told.size() == points.size());
  std::map<std::string, std::size_t> reasons;
  for (const auto& [title, reason] : told) {
    CHECK(points.contains(title));
    ++reasons[reason];
  }
  CHECK(reasons[""] >= 3);  // the cast, and orthogonalisation both ways
  CHECK(reasons["needs cublas, which is not there"] > 0);
  CHECK(reasons["has nothing to be compared with"] > 0);  // an empty kernel
}

TEST_CASE("points that fail one after the other do not end a run that a device still works in") {
  std::vector<std::string> unknown;
  std::vector<Job> jobs = chosen_jobs(tiny_plan(), {"cast_bf16"}, unknown);
  REQUIRE(!jobs.empty());
  Job failing = jobs.front();
  failing.benchmark.make = []() -> Work { throw std::runtime_error("no such product"); };
  jobs.insert(jobs.begin(), 5, failing);
  const Budget budget{{3, 3, 0.02, 0_s, 1_ms}, 100_s};
  const Outcome outcome = measure_all(
      jobs, describe_machine(), budget, [] { return 0_s; }, [](std::string_view) {});
  REQUIRE(outcome.failed.size() == 5);
  CHECK(outcome.failed.back().reason == "no such product");
  CHECK(outcome.points.size() == jobs.size() - 5);
}

TEST_CASE("a sample is of one of the rounds that a run has") {
  std::vector<std::string> unknown;
  std::vector<Job> jobs = chosen_jobs(tiny_plan(), {"cast_bf16"}, unknown);
  jobs.resize(1);
  jobs.front().benchmark.make = [] {
    Work work;
    work.run = [](Stream) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
    work.repeats = 20;
    return work;
  };
  const Budget budget{{3, 3, 0.02, 0_s, 1_s}, 100_s};
  const Outcome outcome = measure_all(
      jobs, describe_machine(), budget, [] { return 0_s; }, [](std::string_view) {});
  REQUIRE(outcome.points.size() == 1);
  const std::vector<Seconds>& samples = outcome.points.front().measurement.samples;
  const Seconds shortest = *std::min_element(samples.begin(), samples.end());
  CHECK(shortest >= 1_ms);  // sleeping is never shorter than asked for
  CHECK(shortest < 10_ms);
}

TEST_CASE("the same work twice gives the same checksum") {
  const auto checksums = [] {
    std::vector<std::uint64_t> all;
    for (const auto& point :
         measured({"groups", "transforms"}, describe_machine(), [] { return 0_s; }).points) {
      all.push_back(point.checksum.value());
    }
    return all;
  };
  CHECK(checksums() == checksums());
}
