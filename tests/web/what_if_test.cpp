// SPDX-License-Identifier: Apache-2.0
#include "web/what_if.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "model/transformer.hpp"
#include "profiles/read_experiment.hpp"
#include "sim/topology.hpp"
#include "study/plan_axes.hpp"
#include "study/scaled_job.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using namespace payoff::literals;

namespace {

const std::filesystem::path root = PAYOFF_SOURCE_DIR;

Experiment example(const std::string& folder) {
  const Library library(root / "profiles");
  SourceMap sources;
  Diagnostics diagnostics;
  auto read = read_experiment(root / "examples" / folder / "experiment.yaml", {},
                              {library, sources, diagnostics, true, sim::find_in_links});
  REQUIRE(read);
  return read->experiment;
}

web::WhatIf page_of(Experiment experiment) { return {std::move(experiment), {}, 0.01, {}, {}}; }

std::vector<std::string> examples() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(root / "examples")) {
    if (std::filesystem::exists(entry.path() / "experiment.yaml")) {
      names.push_back(entry.path().filename());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Bit for bit: no tolerance anywhere.
void require_equal(const StepPrediction& a, const StepPrediction& b) {
  REQUIRE(a.step.si == b.step.si);
  REQUIRE(a.waterfall.total().si == b.waterfall.total().si);
  REQUIRE(a.waterfall.exposed_dp.si == b.waterfall.exposed_dp.si);
  REQUIRE(a.waterfall.encode.si == b.waterfall.encode.si);
  REQUIRE(a.hidden_dp.si == b.hidden_dp.si);
  REQUIRE(a.memory.total().si == b.memory.total().si);
}

}  // namespace

TEST_CASE("an experiment that was stored and restored predicts the same, bit for bit") {
  for (const std::string& name : examples()) {
    INFO(name);
    const web::WhatIf page = page_of(example(name));
    const std::string text = web::store(page);
    const auto again = web::restore(text);
    REQUIRE(again);
    REQUIRE(web::store(*again) == text);
    const PreparedExperiment before(page.experiment);
    const PreparedExperiment after(again->experiment);
    for (std::size_t plan : {std::size_t{0}, page.experiment.plans.size() - 1}) {
      require_equal(before.predict(page.experiment.plans[plan]),
                    after.predict(again->experiment.plans[plan]));
    }
  }
}

TEST_CASE("what was stored by another version, cut off or damaged is refused") {
  const std::string text = web::store(page_of(example("03-bert-v100")));
  REQUIRE(web::restore(text));
  CHECK_FALSE(web::restore(""));
  CHECK_FALSE(web::restore("17:payoff-what-if-0 " + text.substr(text.find(' ') + 1)));
  CHECK_FALSE(web::restore(text + "0 "));
  for (std::size_t length = 1; length < text.size(); length += text.size() / 37) {
    CHECK_FALSE(web::restore(text.substr(0, length)));
  }
  // One field more in the first struct, as a later version would have.
  std::string other = text;
  other.replace(text.find(' ') + 1, 1, "6");
  CHECK_FALSE(web::restore(other));
}

TEST_CASE("sliders that nobody moved give what payoff predict gives") {
  const web::WhatIf page = page_of(example("03-bert-v100"));
  web::Knobs knobs;
  knobs.draws = 16;
  const web::Answer answer = web::answer(page, knobs);
  REQUIRE(answer.problems.empty());
  AssessOptions options;
  options.draws = 16;
  const Payoff expected = assess(page.experiment, options);
  REQUIRE(answer.payoff.plans.size() == expected.plans.size());
  for (std::size_t i = 0; i < expected.plans.size(); ++i) {
    require_equal(answer.payoff.plans[i].prediction, expected.plans[i].prediction);
    CHECK(answer.payoff.plans[i].against_remedy.speedup_low ==
          expected.plans[i].against_remedy.speedup_low);
  }
  CHECK(answer.payoff.remedy.description == expected.remedy.description);
}

TEST_CASE("each slider changes the key that it stands for") {
  web::WhatIf page = page_of(example("03-bert-v100"));
  auto larger = std::get<TransformerShape>(page.experiment.model);
  larger.layers *= 2;
  page.models = {{"larger", parameter_count(larger), larger}};
  const CompressionPlan powersgd = *std::find_if(
      page.experiment.plans.begin(), page.experiment.plans.end(), [](const CompressionPlan& plan) {
        return plan.method && plan.method->parameters.contains("rank");
      });
  page.methods = {{powersgd, {{"rank", 1, 64, true}}}};

  Experiment expected = *with_dp(page.experiment, 2 * page.experiment.layout.dp);
  expected.cluster.nic = 25_Gbps;
  expected.training.bucket = 50_MiB;
  expected.model = larger;
  expected.plans.push_back(powersgd);
  expected.plans.back().method->parameters["rank"] = 7;

  web::Knobs knobs;
  knobs.dp = 2 * page.experiment.layout.dp;
  knobs.nic = 25_Gbps;
  knobs.bucket = 50_MiB;
  knobs.model = 0;
  knobs.method = 0;
  knobs.parameters = {7};
  knobs.search_remedy = false;
  const web::Answer answer = web::answer(page, knobs);
  REQUIRE(answer.problems.empty());
  REQUIRE(answer.payoff.plans.size() == expected.plans.size());
  const PreparedExperiment prepared(expected);
  require_equal(answer.payoff.plans.back().prediction, prepared.predict(expected.plans.back()));

  SECTION("and the speed of codecs stretches every pass") {
    knobs.codec_speed = 4;
    const web::Answer faster = web::answer(page, knobs);
    const StepPlan plan = prepared.plan(expected.plans.back());
    CHECK(faster.payoff.plans.back().prediction.step.si ==
          prepared.predict(stretched_codec(plan, 0.25)).step.si);
    CHECK(faster.payoff.plans.front().prediction.step ==
          answer.payoff.plans.front().prediction.step);
    page.experiment.training.codec_speed = 2;  // what the file says already
    knobs.codec_speed = 2;
    require_equal(web::answer(page, knobs).payoff.plans.back().prediction,
                  faster.payoff.plans.back().prediction);
  }
}

TEST_CASE("a job that there cannot be is told, with the key") {
  const web::WhatIf page = page_of(example("04-llama2-7b-a100"));
  web::Knobs knobs;
  knobs.dp = 3;  // of 4 GPUs each, on nodes of 8
  REQUIRE_FALSE(web::answer(page, knobs).problems.empty());
  knobs.dp = 0;
  knobs.method = 0;
  const Problems problems = web::answer(page, knobs).problems;
  REQUIRE(problems.size() == 1);
  CHECK(problems.front().path == "compress");
}

TEST_CASE("of nodes of several kinds the sliders move all NICs, and no number of nodes") {
  const web::WhatIf page = page_of(example("two-generations"));
  const Experiment& job = page.experiment;
  REQUIRE(job.cluster.kinds.size() == 2);
  CHECK(web::offered_dp(job, 65536) == std::vector<int>{job.layout.dp});
  web::Knobs knobs;
  knobs.search_remedy = false;
  require_equal(web::answer(page, knobs).payoff.plans.back().prediction,
                PreparedExperiment(job).predict(job.plans.back()));

  knobs.nic = 50_Gbps;
  Experiment expected = job;
  expected.cluster.nic = 50_Gbps;
  expected.cluster.kinds[0].nic = 50_Gbps;
  expected.cluster.kinds[1].nic = 50_Gbps;
  const web::Answer narrow = web::answer(page, knobs);
  REQUIRE(narrow.problems.empty());
  require_equal(narrow.payoff.plans.back().prediction,
                PreparedExperiment(expected).predict(expected.plans.back()));

  for (const int dp : {1, job.layout.dp / 2, 2 * job.layout.dp}) {
    knobs.dp = dp;
    CHECK_FALSE(web::answer(page, knobs).problems.empty());
  }
}

TEST_CASE("a strategy that a larger job cannot have leaves its answer, and the others stay") {
  const web::WhatIf page = page_of(example("14-dlrm-dct"));
  web::Knobs knobs;
  knobs.dp = 1664;  // vectors of so few samples that a DCT saves nothing
  const web::Answer answer = web::answer(page, knobs);
  REQUIRE(answer.problems.empty());
  std::vector<std::string> labels;
  for (const auto& plan : answer.payoff.plans) {
    labels.push_back(plan.label);
  }
  CHECK(labels == std::vector<std::string>{"none", "fp16:traffic=embeddings",
                                           "flash_communication:traffic=embeddings",
                                           "dct_threshold"});
  knobs.dp = 3336;  // which is no such job
  CHECK_FALSE(web::answer(page, knobs).problems.empty());
}

TEST_CASE("every number of replicas that is offered is a job") {
  const web::WhatIf page = page_of(example("04-llama2-7b-a100"));
  const std::vector<int> offered = web::offered_dp(page.experiment, 1024);
  CHECK(std::count(offered.begin(), offered.end(), page.experiment.layout.dp) == 1);
  CHECK(offered.back() * 4 == 1024);
  for (const int dp : offered) {
    CHECK(with_dp(page.experiment, dp));
  }
}
