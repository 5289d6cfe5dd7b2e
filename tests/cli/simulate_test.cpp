// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <filesystem>
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
using payoff::test::simulate;

TEST_CASE("a simulation's critical path and waterfall each add up to its step") {
  const json result = test::json_of(simulate());
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

// fp8 gathers what fp16 sums, so links fold in other classes.
TEST_CASE("a link's row tells of each strategy what the strategy alone has") {
  std::vector<std::string> words{"simulate", "--model",       "gpt3-13b", "--cluster",
                                 "dgx-h100", "--nodes",       "64",       "--tp",
                                 "4",        "--pp",          "4",        "--dp",
                                 "32",       "--micro-batch", "1",        "--micro-batches",
                                 "8",        "--compress",    "fp8_block"};
  words.emplace_back("--set");
  words.push_back(
      "cluster.topology=" +
      (std::filesystem::path(PAYOFF_SOURCE_DIR) / "examples/topologies/rail-pod.yaml").string());
  const std::string text = test::payoff(words).out;
  const json result = test::json_of(words);
  std::size_t rows = 0;
  json all = result["plans"][0]["links"];
  all.insert(all.end(), result["plans"][1]["links"].begin(), result["plans"][1]["links"].end());
  for (const json& link : all) {
    const std::string start = "| " + link["name"].get<std::string>() + " ";
    const std::size_t at = text.find(start);
    if (at == std::string::npos) {
      continue;
    }
    ++rows;
    const std::string line = text.substr(at, text.find('\n', at) - at);
    INFO(line);
    for (std::size_t plan = 0; plan < 2; ++plan) {
      std::size_t cell = 0;
      for (std::size_t bar = 0; bar < plan + 3; ++bar) {
        cell = line.find('|', cell) + 1;
      }
      const std::string value = line.substr(cell, line.find('|', cell) - cell);
      const json& links = result["plans"][plan]["links"];
      const auto same = std::find_if(links.begin(), links.end(), [&](const json& other) {
        return other["name"] == link["name"];
      });
      if (same == links.end()) {
        CHECK(value.find_first_not_of(' ') == std::string::npos);
      } else {
        const double share = 100 * (*same)["utilization_ratio"].get<double>();
        CHECK(std::abs(std::stod(value) - share) <= 0.0501);
      }
    }
  }
  CHECK(rows >= 4);
}

TEST_CASE("at level steps a step consists of the sends of its messages") {
  const auto at = [](const std::string& level) {
    json result = test::json_of(simulate({"--level", level}));
    CHECK(result["level"] == level);
    return result;
  };
  const json fluid = at("fluid");
  const json steps = at("steps");
  REQUIRE(fluid["plans"].size() == steps["plans"].size());
  for (std::size_t i = 0; i < fluid["plans"].size(); ++i) {
    const json& plan = steps["plans"][i];
    CHECK(fluid["plans"][i]["sends"] == 0);
    CHECK(plan["sends"].get<int>() > 100);
    CHECK(plan["sends"] == plan["estimate"]["sends"]);
    CHECK(plan["events"] == plan["estimate"]["events"]);
    // Four ranks of a node share one NIC, and the price of a tree nearly fills it: there the ninth
    // that fills the tree's segments does not fit.
    const double ratio =
        plan["step_seconds"].get<double>() / fluid["plans"][i]["step_seconds"].get<double>();
    CHECK(ratio >= 1 - 1e-3);
    CHECK(ratio <= 1 + 1.0 / 9);
    double path = 0;
    for (const json& share : plan["critical_path"]) {
      CHECK(share.get<double>() >= 0);
      path += share.get<double>();
    }
    CHECK_THAT(path, WithinRel(plan["step_seconds"].get<double>(), 1e-9));
  }
  const Captured refused = test::payoff(simulate({"--level", "steps", "--event-limit", "1000"}));
  CHECK(refused.code == ExitCode::bad_input);
  CHECK(refused.out.empty());
  CHECK_THAT(refused.err, ContainsSubstring(steps["plans"][0]["estimate"]["events"].dump()) &&
                              ContainsSubstring("leave `--level steps` away"));
  const Captured misspelt = test::payoff(simulate({"--level", "step"}));
  CHECK(misspelt.code == ExitCode::bad_input);
  CHECK_THAT(misspelt.err, ContainsSubstring("did you mean `steps`?"));
}

TEST_CASE("predict shows the simulator's answer beside its own") {
  const json result = test::predicted({"--engine", "sim"});
  REQUIRE(result["engines"].size() == 1);
  CHECK(result["engines"][0]["engine"] == "sim");
  CHECK_THAT(result["engines"][0]["plans"][0]["step_seconds"].get<double>(),
             WithinRel(result["plans"][0]["step_seconds"].get<double>(), 1e-3));
}

// What it announces: tests/simulate/check.py.
TEST_CASE("predict refuses the simulator's runs as simulate does, before the first event") {
  // 32 ranks that differ, some 80 pieces of a million micro-batches each: an hour.
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"simulate"}, {"predict", "--engine", "sim"}}) {
    std::vector<std::string> job = words;
    job.insert(job.end(),
               {"--model", "gpt3-13b", "--cluster", "p3-8xlarge", "--nodes", "8", "--micro-batch",
                "1", "--micro-batches", "1048576", "--set", "cluster.jitter=1 %"});
    const Captured run = test::payoff(job);
    INFO(words[0] << ": " << run.err);
    CHECK(run.code == ExitCode::bad_input);
    CHECK(run.out.empty());
    CHECK_THAT(run.err, ContainsSubstring("events, more than 2000000000") &&
                            ContainsSubstring("simulate fewer micro-batches"));
    job.insert(job.end(), {"--event-limit", "10"});
    CHECK_THAT(test::payoff(job).err, ContainsSubstring("events, more than 10\n"));
  }
}

TEST_CASE("a limit of events is asked of the simulator alone") {
  const Captured run = test::predict(test::small_experiment({"--event-limit", "5"}));
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("`--event-limit` needs --engine sim"));
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

TEST_CASE("a timeline goes where a symbolic link leads, and the link stays") {
  const ScratchFolder folder;
  folder.write("old.json", "old");
  for (const char* target : {"old.json", "new.json"}) {
    const std::string link = folder.path(std::string("link to ") + target);
    std::filesystem::create_symlink(target, link);
    const Captured run = test::payoff(simulate({"--trace", link, "--plan", "none"}));
    REQUIRE(run.code == ExitCode::success);
    CHECK(std::filesystem::is_symlink(link));
    CHECK(json::parse(test::read_text(folder.path(target)))["traceEvents"].size() > 10);
  }
  CHECK(folder.files().size() == 4);
}

// The whole command with real signals: tests/simulate/check.py.
TEST_CASE(
    "Ctrl-C while a simulation polls leaves a valid timeline of what ran, and no other file") {
  const ScratchFolder folder;
  {
    TraceFile file(folder.path("step.json"));
    const InterruptGuard guard(&file);
    InterruptGuard::begin_polling();
    CHECK_FALSE(InterruptGuard::flag().load());
    std::raise(SIGINT);
    CHECK(InterruptGuard::flag().load());
    std::raise(SIGINT);  // the same request: `timeout` sends two
    std::raise(SIGTERM);
    file.commit();
    std::raise(SIGINT);
  }
  std::raise(SIGINT);  // and its rest, after all was answered
  CHECK(folder.files() == std::vector<std::string>{"step.json"});
  CHECK(json::parse(test::read_text(folder.path("step.json")))["traceEvents"].empty());
  { const TraceFile abandoned(folder.path("other.json")); }
  CHECK(folder.files() == std::vector<std::string>{"step.json"});
}

TEST_CASE("without an experiment, a command advises itself") {
  const Captured run = test::payoff({"simulate"});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("payoff simulate EXPERIMENT.yaml"));
}

TEST_CASE("a simulation says whether the job fits in memory, and what its numbers rest on") {
  const std::vector<std::string> words = test::small_experiment();
  const Captured text = test::payoff(simulate());
  CHECK_THAT(text.out, ContainsSubstring("| fits |"));
  std::vector<std::string> predict = words;
  predict.insert(predict.begin(), "predict");
  predict.emplace_back("--json");
  const json simulated = test::json_of(simulate());
  CHECK(simulated["trust"] == json::parse(test::payoff(predict).out)["trust"]);
  CHECK_THAT(text.out, ContainsSubstring(" numbers are assumed, not measured or published"));
}

TEST_CASE("the estimate before a run is what it has, and its timeline of that size") {
  const ScratchFolder folder;
  const Captured run = test::payoff(simulate({"--trace", folder.path("step.json"), "--json"}));
  const json plan = json::parse(run.out)["plans"].back();
  CHECK(plan["estimate"]["events"] == plan["events"]);
  const auto size = static_cast<double>(test::read_text(folder.path("step.json")).size());
  CHECK(plan["estimate"]["trace_bytes"].get<double>() > size / 2);
  CHECK(plan["estimate"]["trace_bytes"].get<double>() < size * 2);
}
