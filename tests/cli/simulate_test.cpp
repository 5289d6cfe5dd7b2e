// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <csignal>
#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/trace_file.hpp"
#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using nlohmann::json;
using payoff::test::Captured;
using payoff::test::ScratchFolder;

namespace {

std::vector<std::string> simulate(std::vector<std::string> more = {}) {
  std::vector<std::string> words = test::small_experiment(std::move(more));
  words.insert(words.begin(), "simulate");
  return words;
}

}  // namespace

TEST_CASE("a simulation's critical path and waterfall each add up to its step") {
  const Captured run = test::payoff(simulate({"--json"}));
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  const json result = json::parse(run.out);
  CHECK(result["kind"] == "simulate");
  for (const json& plan : result["plans"]) {
    const double step = plan["step_seconds"].get<double>();
    double path = 0;
    for (const json& share : plan["critical_path"]) {
      path += share.get<double>();
    }
    double waterfall = 0;
    for (const json& term : plan["waterfall"]) {
      waterfall += term.get<double>();
    }
    CHECK_THAT(path, WithinRel(step, 1e-9));
    CHECK_THAT(waterfall, WithinRel(step, 1e-9));
    CHECK(plan["events"].get<int>() > 0);
    for (const json& link : plan["links"]) {
      CHECK(link["utilization_ratio"].get<double>() <= 1.0);
    }
  }
}

TEST_CASE("predict shows the simulator's answer beside its own") {
  std::vector<std::string> words = test::small_experiment({"--engine", "sim", "--json"});
  words.insert(words.begin(), "predict");
  const Captured run = test::payoff(words);
  REQUIRE(run.code == ExitCode::success);
  const json result = json::parse(run.out);
  REQUIRE(result["engines"].size() == 1);
  CHECK(result["engines"][0]["engine"] == "sim");
  CHECK_THAT(result["engines"][0]["plans"][0]["step_seconds"].get<double>(),
             WithinRel(result["plans"][0]["step_seconds"].get<double>(), 1e-3));
}

TEST_CASE("a timeline appears under its name only when it is whole") {
  const ScratchFolder folder;
  const Captured run =
      test::payoff(simulate({"--trace", folder.path("step.json"), "--plan", "none"}));
  REQUIRE(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("Critical path, uncompressed:"));
  CHECK(folder.files() == std::vector<std::string>{"step.json"});
  const json trace = json::parse(test::read_text(folder.path("step.json")));
  CHECK(trace["traceEvents"].size() > 10);
}

TEST_CASE("Ctrl-C during a simulation leaves a valid timeline of what ran, and no other file") {
  const ScratchFolder folder;
  {
    TraceFile file(folder.path("step.json"));
    const InterruptGuard guard;
    CHECK_FALSE(InterruptGuard::flag().load());
    std::raise(SIGINT);
    CHECK(InterruptGuard::flag().load());
    file.commit();
  }
  CHECK(folder.files() == std::vector<std::string>{"step.json"});
  CHECK(json::parse(test::read_text(folder.path("step.json")))["traceEvents"].empty());
  { const TraceFile abandoned(folder.path("other.json")); }
  CHECK(folder.files() == std::vector<std::string>{"step.json"});
}

TEST_CASE("a simulation of too many events is refused with the number and advice") {
  const Captured run = test::payoff(simulate({"--event-limit", "5"}));
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring("events, more than 5"));
  CHECK_THAT(run.err, ContainsSubstring("--event-limit"));
}

TEST_CASE("a group larger than the cluster, and a link without bandwidth, are refused") {
  const Captured large = test::payoff(simulate({"--dp", "64"}));
  CHECK(large.code == ExitCode::bad_input);
  CHECK_THAT(large.err, ContainsSubstring("64"));
  const Captured idle = test::payoff(simulate({"--bandwidth", "0 Gb/s"}));
  CHECK(idle.code == ExitCode::bad_input);
}

TEST_CASE("an unknown strategy is answered with the nearest one") {
  const Captured run = test::payoff(simulate({"--plan", "nome"}));
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("did you mean `none`?"));
}
