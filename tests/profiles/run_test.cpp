// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "profiles/read_experiment.hpp"
#include "profiles/read_run.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

const std::string job =
    "cluster: {profile: p3-8xlarge, nodes: 2}\n"
    "model: {profile: resnet-50}\n";

struct Read {
  std::optional<ReadExperiment> experiment;
  std::string text;
};

Read read(const std::string& yaml) {
  const Library library(PAYOFF_SOURCE_DIR "/profiles");
  SourceMap sources;
  Diagnostics diagnostics;
  Read result;
  if (auto document = load_yaml_text("job.yaml", job + yaml, sources, diagnostics)) {
    result.experiment = read_experiment(std::move(*document), {}, {library, sources, diagnostics});
  }
  for (const Diagnostic& diagnostic : diagnostics.sorted()) {
    result.text += diagnostic.message + "; " + diagnostic.label + "; " + diagnostic.help + "\n";
  }
  return result;
}

}  // namespace

TEST_CASE("a phase without a length takes the rest, and equal plans are one") {
  const Read result = read(
      "run:\n"
      "  epochs: 300\n"
      "  iterations_per_epoch: 98\n"
      "  phases:\n"
      "  - {plan: \"powersgd:rank=2\", share: 10 %, name: first}\n"
      "  - {plan: \"powersgd:rank=1\", inflation: 3 %}\n"
      "  - {plan: \"powersgd:rank=2\", epochs: 30, local_steps: 4}\n"
      "  - {iterations: 400, refresh: {plan: \"topk:ratio=0.01\", every: 100}}\n");
  INFO(result.text);
  REQUIRE(result.experiment);
  REQUIRE(result.experiment->run);
  const RunSchedule& run = *result.experiment->run;
  REQUIRE(run.phases.size() == 4);
  CHECK_THAT(run.phases[0].iterations, WithinRel(2940.0));
  CHECK_THAT(run.phases[1].iterations, WithinRel(29400.0 - 2940 - 2940 - 400));
  CHECK_THAT(run.phases[2].iterations, WithinRel(2940.0));
  CHECK(run.plans.size() == 4);
  CHECK(run.phases[0].plan == run.phases[2].plan);
  CHECK(run.plans[run.phases[1].plan].label == "powersgd:rank=1");
  CHECK(run.phases[3].plan == 0);
  CHECK(run.plans[run.phases[3].refresh->plan].label == "topk:ratio=0.01");
  CHECK(run.phases[1].inflation == 0.03);
  CHECK(run.phases[2].local_steps == 4);
}

TEST_CASE("an experiment without a run has none") { CHECK_FALSE(read("").experiment->run); }

TEST_CASE("everything that is wrong with a run is told at once") {
  const Read result = read(
      "run:\n"
      "  epochs: 3\n"
      "  phases:\n"
      "  - {plan: \"powersg:rank=2\", iterations: 10, epochs: 2}\n"
      "  - {plan: \"powersgd:rank=2000\", trigger_probability: 0, local_step: 3}\n"
      "  - {refresh: {every: 0}}\n");
  CHECK_FALSE(result.experiment);
  for (const char* said :
       {"add `iterations_per_epoch` to `run`", "powersg", "says again how long it is", "rank",
        "`run.phases.1.trigger_probability` must be more than 0", "local_step", "every", "plan"}) {
    CHECK_THAT(result.text, ContainsSubstring(said));
  }
}

TEST_CASE("phases that do not add up to their run are refused") {
  const std::string two =
      "  phases:\n  - {plan: \"powersgd:rank=2\", iterations: 30}\n  - {iterations: 60}\n";
  CHECK(read("run:\n  iterations: 90\n" + two).experiment);
  CHECK(read("run:\n" + two).experiment);
  CHECK_THAT(read("run:\n  iterations: 100\n" + two).text,
             ContainsSubstring("90 iterations in phases of 100"));
  CHECK_THAT(read("run:\n  iterations: 90\n" + two + "  - {}\n").text,
             ContainsSubstring("nothing is left for the phase without a length"));
  CHECK_THAT(read("run:\n  phases:\n  - {share: 50 %}\n").text,
             ContainsSubstring("is a share of a run whose length is not given"));
  CHECK_THAT(read("run:\n  phases:\n  - {plan: none}\n").text,
             ContainsSubstring("takes the rest of a run whose length is not given"));
}

TEST_CASE("a value that is refused is told once") {
  const Read result = read("run:\n  iterations: 9\n  phases:\n  - {share: 130 %}\n  - {}\n");
  CHECK_THAT(result.text, ContainsSubstring("`run.phases.0.share` is too large"));
  CHECK_THAT(result.text, !ContainsSubstring("must be more than 0"));
  const Read whole = read("run:\n  iterations: 9\n  phases:\n  - {iterations: many}\n");
  CHECK_THAT(whole.text, ContainsSubstring("`run.phases.0.iterations` is not a number"));
  CHECK_THAT(whole.text, !ContainsSubstring("is not what its phases add up to"));
}

TEST_CASE("a plan that the job cannot have is told where its phase names it") {
  const Read result = read(
      "layout: {zero: 2}\n"
      "run:\n"
      "  iterations: 10\n"
      "  phases:\n"
      "  - {plan: \"topk:ratio=0.01\", local_steps: 2}\n");
  CHECK_FALSE(result.experiment);
  CHECK_THAT(result.text, ContainsSubstring("run.phases"));
  CHECK_THAT(result.text, ContainsSubstring("zero 2 divides them"));
}

TEST_CASE("a run has at most a thousand phases, and more are told once") {
  const auto phases = [](int count) {
    std::string yaml = "run:\n  phases:\n";
    for (int i = 0; i < count; ++i) {
      yaml += "  - {plan: none, iterations: 1}\n";
    }
    return read(yaml);
  };
  const Read most = phases(1000);
  REQUIRE(most.experiment);
  CHECK(most.experiment->run->phases.size() == 1000);
  const Read more = phases(1001);
  CHECK_FALSE(more.experiment);
  CHECK(more.text == "`run.phases` has 1001 phases; at most 1000; \n");
}
