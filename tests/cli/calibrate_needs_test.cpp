// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/calibrated_codecs.hpp"
#include "tests/cli/calibrated_gpu.hpp"
#include "tests/cli/capture.hpp"

// What to measure first for a better verdict.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using payoff::test::Captured;
using payoff::test::lines_of;
using payoff::test::ScratchFolder;

namespace {

const std::string job = PAYOFF_SOURCE_DIR "/examples/01-resnet50-v100/experiment.yaml";

}  // namespace

TEST_CASE(
    "what an experiment needs is ranked by its share of the verdict, with a measurement each") {
  const Captured run = test::payoff({"calibrate", "needs", job});
  REQUIRE(run.code == ExitCode::success);
  const std::regex subject(R"((\d)\. (.+): (-?\d+) % of the variance of the speedup.*)");
  const std::regex number("     [a-z].* = .*, (assumed|datasheet)");
  int last = std::numeric_limits<int>::max();
  int subjects = 0;
  int numbers = 0;
  bool has_measurement = true;
  for (const std::string& line : lines_of(run.out)) {
    INFO(line);
    std::smatch found;
    if (std::regex_match(line, found, subject)) {
      CHECK(has_measurement);  // of the one before
      CHECK(std::stoi(found[3]) <= last);
      last = std::stoi(found[3]);
      CHECK(std::stoi(found[1]) == ++subjects);
      has_measurement = false;
    } else if (line.starts_with("     ")) {
      CHECK(std::regex_match(line, number));
      CHECK(has_measurement);
      ++numbers;
    } else if (line.starts_with("   ")) {
      has_measurement = true;
    }
  }
  CHECK(has_measurement);
  CHECK(subjects >= 3);
  CHECK(numbers > 10);
  CHECK_THAT(run.out, ContainsSubstring("all_reduce_perf on 32 GPUs of 8 nodes") &&
                          ContainsSubstring("payoff-kernels --only launch on v100-sxm2-16"));
}

// Of a subject, by what each is uncertain by itself: measurements come in the order of their first.
TEST_CASE("what a group of needs is ordered by is said, and is so") {
  const Captured run = test::payoff({"calibrate", "needs", job, "--json"});
  REQUIRE(run.code == ExitCode::success);
  const nlohmann::json result = nlohmann::json::parse(run.out);
  for (const auto& need : result.at("needs")) {
    double last = std::numeric_limits<double>::infinity();
    for (const auto& measurement : need.at("measurements")) {
      if (measurement.at("settles").empty()) {
        continue;
      }
      const auto& sd = measurement.at("settles").front().at("relative_sd");
      const double first = sd.is_null() ? 0.0 : sd.get<double>();
      CHECK(first <= last);
      last = first;
    }
  }
  CHECK_THAT(test::payoff({"calibrate", "needs", job}).out,
             ContainsSubstring("of each the numbers that are\nleast certain by themselves (+-)"));
}

TEST_CASE("what to measure next is said before the numbers, the most telling first") {
  const Captured run = test::payoff({"calibrate", "needs", job});
  REQUIRE(run.code == ExitCode::success);
  const std::regex row(R"(\| (.+) +\| +(\d+) % \| +(\d+) % \|)");
  int last = 0;
  int rows = 0;
  for (const std::string& line : lines_of(run.out)) {
    std::smatch found;
    if (!std::regex_match(line, found, row)) {
      continue;
    }
    INFO(line);
    if (found[1].str().starts_with("none ")) {
      CHECK(found[2] == "100");
      CHECK(found[3] == "0");  // too close to call
      continue;
    }
    CHECK(std::stoi(found[2]) >= last);
    last = std::stoi(found[2]);
    ++rows;
  }
  CHECK(rows >= 8);
  CHECK(run.out.find("What to measure next") < run.out.find("1. "));
  CHECK_THAT(run.out, ContainsSubstring("a step, 8 nodes: --observed step=TIME@nodes=8") &&
                          ContainsSubstring("nccl-tests: reductions from 1 MiB"));
}

TEST_CASE("what was observed already is not worth much a second time") {
  const auto next_of = [](std::vector<std::string> words) {
    words.emplace_back("--json");
    const Captured run = test::payoff(words);
    REQUIRE(run.code == ExitCode::success);
    double left = 0;
    const auto result = nlohmann::json::parse(run.out);
    for (const auto& next : result.at("next")) {
      if (next.at("measurement") == "step" && next.at("nodes") == 8) {
        left = next.at("spread_ratio").get<double>();
      }
    }
    return left;
  };
  const double first = next_of({"calibrate", "needs", job});
  const double second = next_of({"calibrate", "needs", job, "--observed", "step=420ms@nodes=8"});
  CHECK(first < 0.9);
  CHECK(second > first);
}

TEST_CASE("needs refuse what only other actions take, and say what is wrong with a measurement") {
  const Captured run = test::payoff({"calibrate", "needs", job, "--full", "--gpu", "h100-sxm",
                                     "--observed", "step=1s,exposed=2s"});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("`needs` has no use for `--full`") &&
                          ContainsSubstring("`needs` has no use for `--gpu`") &&
                          ContainsSubstring("is not shorter than the step"));
}

TEST_CASE("a number that the user states needs no measurement") {
  const Captured before = test::payoff({"calibrate", "needs", job});
  CHECK_THAT(before.out, ContainsSubstring("cluster.nics_per_node = "));
  const Captured after =
      test::payoff({"calibrate", "needs", job, "--set", "cluster.nics_per_node=1"});
  REQUIRE(after.code == ExitCode::success);
  CHECK(after.out.find("cluster.nics_per_node = ") == std::string::npos);
}

TEST_CASE("needs are of one experiment in which there is something to decide") {
  const Captured none = test::payoff({"calibrate", "needs"});
  CHECK(none.code == ExitCode::bad_input);
  CHECK_THAT(none.err, ContainsSubstring("takes one experiment, not 0 files"));
  const ScratchFolder folder;
  folder.write("job.yaml", test::small_job);  // without a strategy
  const Captured nothing = test::payoff({"calibrate", "needs", folder.path("job.yaml")});
  CHECK(nothing.code == ExitCode::bad_input);
  CHECK_THAT(nothing.err, ContainsSubstring("there is nothing to decide"));
  CHECK_THAT(test::payoff({"calibrate", "needs", job, "--set", "compress=[]"}).err,
             ContainsSubstring("no strategy is given"));
  CHECK_THAT(test::payoff({"calibrate", "need", job}).err,
             ContainsSubstring("did you mean `needs`"));
}

namespace {

const std::string llama = PAYOFF_SOURCE_DIR "/examples/06-llama2-7b-h100/experiment.yaml";

// Measurements by the numbers that they are to settle.
std::map<std::string, std::string> settled_by(const std::string& gpu, const std::string& plan,
                                              const std::string& profiles = {}) {
  std::vector<std::string> words{"calibrate", "needs",
                                 llama,       "--json",
                                 "--set",     "cluster.gpu=" + gpu,
                                 "--set",     "compress=[\"" + plan + "\"]"};
  const Captured run = profiles.empty() ? test::payoff(words) : test::payoff_with(profiles, words);
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  std::map<std::string, std::string> found;
  const auto result = nlohmann::json::parse(run.out);
  for (const auto& need : result.at("needs")) {
    for (const auto& measurement : need.at("measurements")) {
      for (const auto& number : measurement.at("settles")) {
        found[number.at("path").get<std::string>()] =
            measurement.at("measurement").get<std::string>();
      }
      if (measurement.at("settles").empty()) {
        found[need.at("subject").get<std::string>()] =
            measurement.at("measurement").get<std::string>();
      }
    }
  }
  return found;
}

bool asks_for_kernels(const std::string& measurement) {
  return measurement.starts_with("payoff-kernels --only ");
}

// All that fit can write of an invented GPU, for every class of codecs.
std::string measured_profile(const ScratchFolder& folder) {
  test::Truth truth;
  truth.copy_gb_per_s = 20.0;
  std::vector<std::string> words{"calibrate", "fit"};
  for (const std::string each : {"fused", "library", "framework_ops"}) {
    truth.together = each == "fused" ? test::runs_beside(1.0) : "";
    truth.more.clear();
    for (const std::string codec : {"random_k", "scatter_add", "topk_radix", "power_sgd"}) {
      test::add_codec(truth, codec, "fused", truth.more);
    }
    std::string own = test::samples_of(truth);
    for (std::size_t at = 0; (at = own.find("\"fused\"", at)) != std::string::npos; ++at) {
      own.replace(at, 7, "\"" + each + "\"");
    }
    folder.write(each + ".json", own);
    words.push_back(folder.path(each + ".json"));
  }
  words.insert(words.end(), {"--gpu", "h100-sxm", "-o", folder.path("mine.yaml")});
  const Captured fit = test::payoff(words);
  INFO(fit.err);
  REQUIRE(fit.code == ExitCode::success);
  return folder.path("mine.yaml");
}

}  // namespace

TEST_CASE("what payoff-kernels is to settle is settled by a fit of what it measures") {
  const ScratchFolder folder;
  const std::string mine = measured_profile(folder);
  int asked = 0;
  for (const std::string plan : {"fp8", "powersgd:rank=4", "randomk:ratio=0.01", "qsgd:bits=4"}) {
    for (const auto& [number, measurement] : settled_by("h100-sxm", plan)) {
      asked += asks_for_kernels(measurement) ? 1 : 0;
    }
    for (const auto& [number, measurement] : settled_by(mine, plan)) {
      INFO(plan << ": " << number << ": " << measurement);
      CHECK(!asks_for_kernels(measurement));
    }
  }
  CHECK(asked >= 16);
}

namespace {

struct Asked {
  std::string plan;
  std::string implementation;  // of the kernels that payoff-kernels has for it
};

// What `--only` is to have, to the numbers that it is to settle.
std::map<std::string, std::vector<std::string>> asked_of_codec(const std::string& gpu,
                                                               const std::string& plan) {
  std::map<std::string, std::vector<std::string>> asked;
  for (const auto& [number, measurement] : settled_by(gpu, plan)) {
    if (number.starts_with("compress.") && asks_for_kernels(measurement)) {
      const std::string only = measurement.substr(std::string("payoff-kernels --only ").size());
      asked[only.substr(0, only.find(' '))].push_back(number);
    }
  }
  return asked;
}

// A profile of nothing but the kernels that `--only` names.
std::string profile_of(const ScratchFolder& folder, const std::string& only,
                       const std::string& implementation) {
  std::string points;
  for (std::size_t at = 0; at < only.size();) {
    const std::size_t end = std::min(only.find(',', at), only.size());
    test::add_codec({}, only.substr(at, end - at), implementation, points);
    at = end + 1;
  }
  folder.write("asked.json", test::samples_file({points}));
  const Captured fit = test::payoff({"calibrate", "fit", folder.path("asked.json"), "--gpu",
                                     "h100-sxm", "-o", folder.path("asked.yaml"), "--force"});
  INFO(fit.err);
  REQUIRE(fit.code == ExitCode::success);
  return folder.path("asked.yaml");
}

}  // namespace

TEST_CASE("the kernels that are named for a codec are enough to settle what they are named for",
          "[once]") {
  const ScratchFolder folder;
  int settled = 0;
  for (const Asked& each : {Asked{"fp8", "fused"},
                            {"nvfp4", "fused"},
                            {"qsgd:bits=4", "fused"},
                            {"topk_fused:ratio=0.01", "fused"},
                            {"topk_sampled:ratio=0.01", "fused"},
                            {"gaussiank:ratio=0.01", "framework_ops"},
                            {"mstopk:ratio=0.01", "framework_ops"},
                            {"threshold", "framework_ops"},
                            {"randomk:ratio=0.01", "framework_ops"},
                            {"signsgd", "framework_ops"},
                            {"powersgd:rank=4", "framework_ops"}}) {
    for (const auto& [only, numbers] : asked_of_codec("h100-sxm", each.plan)) {
      const std::string mine = profile_of(folder, only, each.implementation);
      const auto left = settled_by(mine, each.plan);
      for (const std::string& number : numbers) {
        INFO(each.plan << ": " << number << " by " << only);
        const auto found = left.find(number);
        CHECK((found == left.end() || !asks_for_kernels(found->second)));
        ++settled;
      }
    }
  }
  CHECK(settled >= 20);
}

TEST_CASE("a codec's own kernels are named for it, and none where no kernel has its law") {
  const auto measurement_of = [](const std::string& plan, const std::string& number) {
    const auto settled = settled_by("h100-sxm", plan);
    const auto found = settled.find("compress." + plan + ".law." + number);
    return found == settled.end() ? std::string("nothing") : found->second;
  };
  CHECK_THAT(measurement_of("nvfp4", "memory_efficiency"), ContainsSubstring("--only nvfp4 on "));
  CHECK_THAT(measurement_of("topk_fused", "random_efficiency"),
             ContainsSubstring("--only topk_radix,random_k,scatter_add,casts,groups,signs on "));
  CHECK_THAT(measurement_of("powersgd:rank=4", "gemm_efficiency"),
             ContainsSubstring("--only power_sgd on "));
  CHECK_THAT(measurement_of("fp8", "dispatch"), !ContainsSubstring("--only"));
}
