// SPDX-License-Identifier: Apache-2.0
#include "study/unstated_gpu.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "profiles/import/split.hpp"
#include "study/mapped_row.hpp"
#include "study/payoff.hpp"
#include "study/row_catalogue.hpp"
#include "study/row_prior.hpp"
#include "study/validation_cases.hpp"
#include "tests/catch.hpp"
#include "tests/study/rows.hpp"

using namespace payoff;
using test::catalogue;

namespace {

Seconds predicted(const TrainingRow& row, const RowCatalogue& with) {
  const MappedRow mapped = map_row(row, with);
  INFO((mapped.likely.reasons.empty() ? std::string("predicted") : mapped.likely.reasons.front()));
  REQUIRE(mapped.likely.experiment);
  const Experiment& experiment = *mapped.likely.experiment;
  return PreparedExperiment(experiment).predict(experiment.plans.front()).step;
}

TrainingRow of_cards(int gpus, const std::string& gpu) {
  TrainingRow row;
  row.measured.step = 1_s;  // of no meaning where it is predicted
  row.source = "some_source";
  row.id = std::to_string(gpus) + " cards";
  row.cluster.gpu = gpu;
  row.cluster.gpus = gpus;
  row.cluster.gpus_per_node = 4;
  row.cluster.nodes = 1;
  row.cluster.intra = "pcie3";
  row.model.family = "cnn";
  row.model.name = "ResNet-50";
  row.layout.micro_batch = 64;
  row.layout.global_batch = 64 * gpus;
  row.layout.dp = gpus;
  row.precision = "fp32";
  row.software = "PyTorch 1.4";
  return row;
}

TrainingRow unnamed(TrainingRow row) {
  row.cluster.gpu = "unknown";
  return row;
}

// Its run on one GPU takes `times` as long as we say for this GPU.
TrainingRow told_by(const std::string& gpu, double times) {
  TrainingRow run = unnamed(of_cards(1, gpu));
  run.measured.step = times * predicted(of_cards(1, gpu), catalogue());
  return run;
}

RowCatalogue after(const std::vector<TrainingRow>& runs) {
  RowCatalogue told = catalogue();
  tell_unstated_gpus(runs, told);
  return told;
}

}  // namespace

TEST_CASE("a GPU whose run on one takes what ours takes is found, and many of them are as ours") {
  for (const std::string gpu : {"v100-pcie", "rtx2080ti", "a100-pcie"}) {
    INFO(gpu);
    const TrainingRow row = of_cards(4, gpu);
    const RowCatalogue told = after({told_by(gpu, 1.0)});
    REQUIRE(told.unstated.size() == 1);
    CHECK(told.gpus.at(told.unstated.front().likely).name == gpu);
    CHECK(std::abs(predicted(unnamed(row), told) / predicted(row, catalogue()) - 1) < 1e-6);
  }
}

TEST_CASE("the stand-in takes what the run on one GPU took, and links stay those of the row") {
  const double slower = 1.07;
  const TrainingRow run = told_by("v100-pcie", slower);
  const RowCatalogue told = after({run});
  TrainingRow named = of_cards(1, told.unstated.front().likely);
  CHECK(std::abs(predicted(named, told) / *run.measured.step - 1) < 1e-6);
  // Not slower than computation and messages both were.
  const Seconds four = predicted(unnamed(of_cards(4, "")), told);
  const Seconds four_as_ours = predicted(of_cards(4, "v100-pcie"), catalogue());
  CHECK(four > four_as_ours);
  CHECK(four < slower * four_as_ours);
}

TEST_CASE("software that is older than a GPU did not run on it") {
  TrainingRow run = told_by("h100-pcie", 1.0);
  run.software = "TensorFlow 1.15";  // of 2019: a stack of 2020
  const RowCatalogue told = after({run});
  for (const UnstatedGpu& each : told.unstated) {
    CHECK(told.gpus.at(each.likely).architecture <= Architecture::ampere);
    for (const auto& [name, words] : each.others) {
      CHECK(told.gpus.at(name).architecture <= Architecture::ampere);
    }
  }
}

TEST_CASE("a run of the same software and model tells more than one of others") {
  TrainingRow other_model = told_by("v100-pcie", 2.0);
  other_model.model.name = "VGG-16";
  TrainingRow other_software = told_by("v100-pcie", 3.0);
  other_software.software = "TensorFlow 1.15";
  const RowCatalogue told = after({other_software, other_model, told_by("v100-pcie", 1.0)});
  const UnstatedGpu* most_alike = unstated_gpu(unnamed(of_cards(4, "")), told);
  REQUIRE(most_alike);
  CHECK(most_alike->software == "PyTorch 1.4");
  CHECK(most_alike->model == "ResNet-50");
  TrainingRow another = unnamed(of_cards(4, ""));
  another.model.name = "AlexNet";
  REQUIRE(unstated_gpu(another, told));
  CHECK(unstated_gpu(another, told)->software == "PyTorch 1.4");
}

TEST_CASE("a run tells nothing of another precision, of another source, or of a GPU with a name") {
  const RowCatalogue told = after({told_by("v100-pcie", 1.0)});
  TrainingRow row = unnamed(of_cards(4, ""));
  REQUIRE(unstated_gpu(row, told));
  row.precision = "amp-fp16";
  CHECK_FALSE(unstated_gpu(row, told));
  row = unnamed(of_cards(4, ""));
  row.source = "another_source";
  CHECK_FALSE(unstated_gpu(row, told));
  CHECK_FALSE(unstated_gpu(of_cards(4, "v100-pcie"), told));
}

TEST_CASE("a GPU that is told counts as a major field, and the run that tells it as no case") {
  const TrainingRow run = told_by("v100-pcie", 1.0);
  const RowCatalogue told = after({run});
  CHECK(row_prior(unnamed(of_cards(4, "")), told).assumptions.size() == 1);
  TrainingRow row = unnamed(of_cards(4, ""));
  const std::vector<ValidationCase> cases = step_cases({run, row}, Split{}, told);
  REQUIRE(cases.size() == 2);
  CHECK_FALSE(cases[0].predicted);
  REQUIRE(cases[0].reasons.size() == 1);
  CHECK(cases[0].reasons.front().find("an input") == 0);
  CHECK(cases[1].predicted);
}

// RTX 2080 Ti in fp32 is between P100 and V100: a run that takes what it would take may have been
// on either, and links are slower where cards have no peer-to-peer.
TEST_CASE("other GPUs that the runs may have been on widen the interval, and a far one does not") {
  const RowCatalogue told = after({told_by("rtx2080ti", 1.0)});
  const RowPrior prior = row_prior(unnamed(of_cards(4, "")), told);
  std::set<std::string> others;
  for (const RowAlternative& other : prior.others) {
    others.insert(told.gpus.at(*other.row.cluster.gpu).name);
    TrainingRow alone = of_cards(1, *other.row.cluster.gpu);
    CHECK(std::abs(predicted(alone, told) / predicted(of_cards(1, "rtx2080ti"), catalogue()) - 1) <
          1e-6);
  }
  CHECK(others.count("p100-pcie") == 1);
  CHECK(others.count("rtx2080ti") == 0);  // that is the likely one
  CHECK(others.count("h100-sxm") == 0);
  CHECK(predicted(prior.likely, told) > predicted(prior.others.front().row, told));
}

TEST_CASE("a run faster than what the host alone takes tells no GPU") {
  CHECK(after({told_by("v100-pcie", 1e-9)}).unstated.empty());
}
