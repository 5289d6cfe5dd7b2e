// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

// payoff run: a whole training whose compression changes as it goes.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using nlohmann::json;
using payoff::test::Captured;
using payoff::test::json_of;

namespace {

const std::string accordion = PAYOFF_SOURCE_DIR "/examples/10-accordion-resnet18/experiment.yaml";

// Million floats that one worker sends in so many of these.
double floats(const json& part, double times) {
  return times * part["sent_per_gpu_bytes"].get<double>() / 4 / 1e6;
}

}  // namespace

TEST_CASE("a run of Accordion sends the floats of the paper's tables") {
  // Accordion (MLSys 2021, arXiv 2010.16248), tables 1 and 2, million floats of a training: the
  // lower rank, 1, the higher and ACCORDION, whose share of the higher follows from the three of a
  // network. The paper cuts or rounds its last digit. SENet's with CIFAR-10 are those of 249
  // epochs, not of 300.
  struct Row {
    const char* model;
    int rank, epochs;
    double low, high, accordion;
    const char* share;
  };
  for (const Row& row : {Row{"resnet-18-cifar10", 2, 300, 1350.4, 2418.4, 1571.8, "20.73 %"},
                         Row{"vgg-19-bn-cifar10", 4, 300, 2074.9, 6752.0, 2945.1, "18.605 %"},
                         Row{"se-resnet-18-cifar10", 4, 249, 1392.6, 4361.3, 2264.4, "29.365 %"},
                         Row{"resnet-18-cifar100", 2, 300, 1355.7, 2426.3, 1566.3, "19.67 %"},
                         Row{"densenet-cifar100", 2, 300, 2155.6, 3387.4, 2284.9, "10.5 %"},
                         Row{"se-resnet-18-cifar100", 2, 300, 1683.1, 2878.1, 2175.6, "41.21 %"}}) {
    INFO(row.model);
    const json result =
        json_of({"run", accordion, "--model", row.model, "--set",
                 std::string("run.phases.0.share=") + row.share, "--set",
                 "run.phases.0.plan=powersgd_reducer:rank=" + std::to_string(row.rank), "--set",
                 "run.epochs=" + std::to_string(row.epochs)});
    CHECK_THAT(floats(result["run"], 1), WithinAbs(row.accordion, 0.1));
    // A phase that lasted for the whole training would have sent what the table says of its rank.
    const double steps = row.epochs * 98;
    CHECK_THAT(floats(result["phases"][0], steps / result["phases"][0]["steps"].get<double>()),
               WithinAbs(row.high, 0.1));
    CHECK_THAT(floats(result["phases"][1], steps / result["phases"][1]["steps"].get<double>()),
               WithinAbs(row.low, 0.1));
  }
}

TEST_CASE("phases add up to the run, in time, bytes and money") {
  const json result = json_of({"run", accordion, "--price", "7.2 USD/h"});
  double time = 0;
  double sent = 0;
  for (const json& phase : result["phases"]) {
    time += phase["time_seconds"].get<double>();
    sent += phase["sent_per_gpu_bytes"].get<double>();
    CHECK_THAT(phase["step_seconds"].get<double>() * phase["steps"].get<double>(),
               WithinRel(phase["time_seconds"].get<double>(), 1e-12));
  }
  const json& run = result["run"];
  CHECK_THAT(run["time_seconds"].get<double>(), WithinRel(time, 1e-12));
  CHECK_THAT(run["sent_per_gpu_bytes"].get<double>(), WithinRel(sent, 1e-12));
  // Four nodes at 7.2 USD/h are 0.008 USD a second.
  CHECK_THAT(run["cost_usd"].get<double>(), WithinRel(0.008 * time, 1e-12));
  CHECK_THAT(run["gpu_hours"].get<double>(), WithinRel(4 * time / 3600, 1e-12));
  CHECK(run["time_low_seconds"] < run["time_seconds"]);
  CHECK(run["time_seconds"] < run["time_high_seconds"]);
}

TEST_CASE("silent and refreshing steps are told with what each takes") {
  const Captured result = test::payoff(
      {"run", accordion, "--set",
       "run.phases=[{plan: 'topk:ratio=0.01', local_steps: 8, trigger_probability: 50 %, refresh: "
       "{plan: 'topk:ratio=0.02', every: 1000}}]"});
  CHECK(result.code == ExitCode::success);
  CHECK_THAT(result.out, ContainsSubstring("1 of 8 steps, triggered in 50 %"));
  CHECK_THAT(result.out, ContainsSubstring("are silent steps"));
  CHECK_THAT(result.out, ContainsSubstring("0.1 % refresh (topk:ratio=0.02)"));
}

TEST_CASE("SPARQ-SGD sends to its neighbours in the steps that are triggered alone") {
  // A ring of four nodes of one GPU: two neighbours; positions of 4 bytes and signs of a tenth of
  // the model to each, in one of 5 steps and of these in half. It is an all-to-all that moves as
  // much, of whose message a quarter stays where it is.
  const json result = json_of(
      {"run", accordion, "--set",
       "run.phases=[{plan: 'sparq:graph=ring,ratio=0.1', local_steps: 5, trigger_probability: 50 "
       "%}]"});
  const double parameters = 11173962;
  const double sent = 29400 * 0.1 * 2 * (4 + 1.0 / 8) * 0.1 * parameters;
  CHECK_THAT(result["run"]["sent_per_gpu_bytes"].get<double>() * 3 / 4, WithinRel(sent, 1e-3));
}

TEST_CASE("inflation can cost all that a run gains") {
  const auto verdict = [](const char* inflation) {
    return json_of({"run", accordion, "--set", "cluster.inter.bandwidth=5 Gb/s", "--set",
                    std::string("run.phases.1.inflation=") + inflation})["verdict"]["word"]
        .get<std::string>();
  };
  CHECK(verdict("0 %") == "pays");
  CHECK(verdict("900 %") == "does not");
}

TEST_CASE("an experiment without a run is a mistake that says how one is written") {
  std::vector<std::string> words = test::small_experiment();
  words.insert(words.begin(), "run");
  const Captured refused = test::payoff(words);
  CHECK(refused.code == ExitCode::bad_input);
  CHECK(refused.out.empty());
  CHECK_THAT(refused.err, ContainsSubstring("has no `run`"));
}

TEST_CASE("a run as CSV has a row for each phase, the run and its rivals") {
  const Captured result = test::payoff({"run", accordion, "--csv", "-"});
  CHECK_THAT(result.out, ContainsSubstring("phase,plan,steps,step_seconds,time_seconds"));
  for (const char* row : {"\ncritical regimes,powersgd_reducer:rank=2,", "\nthe rest,", "\nrun,",
                          "\nuncompressed,none,29400,", "\nremedy,"}) {
    CHECK_THAT(result.out, ContainsSubstring(row));
  }
}
