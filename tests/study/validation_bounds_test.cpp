// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <unistd.h>

#include "study/draws.hpp"
#include "study/published_cases.hpp"
#include "tests/catch.hpp"

// The errors that were reached on the judge half, as upper bounds: a change of a law, of a rule or
// of the model may improve them and then tightens its bound here, never the other way.

using namespace payoff;

namespace {

const std::filesystem::path root = PAYOFF_SOURCE_DIR;  // NOLINT: tests may allocate

const std::vector<ValidationCase>& shipped_cases() {
  static const std::vector<ValidationCase> cases = [] {
    Findings findings;
    const Split split = read_split(root / "tests/validation/split.csv", findings);
    return published_cases(
        Library(root / "profiles"), split,
        read_published({root / "tests/validation/nccl", root / "tests/validation/training"}),
        {CaseKind::collective, CaseKind::step, CaseKind::compression});
  }();
  return cases;
}

struct Bound {
  CaseKind kind{};
  std::string group;  // of the grouping
  std::size_t predicted{};
  double median{};
  double p95{};
};

const ValidationSummary& judge(const std::vector<ValidationSummary>& summaries,
                               const Bound& bound) {
  for (const ValidationSummary& summary : summaries) {
    if (summary.kind == bound.kind && summary.half == Half::judge &&
        summary.group.text == bound.group) {
      return summary;
    }
  }
  FAIL("no such group: " << bound.group);
  return summaries.front();
}

void check(const Bound& bound, GroupBy by) {
  const auto summaries = summarise(shipped_cases(), by);
  const ValidationSummary& reached = judge(summaries, bound);
  INFO(name(bound.kind) << " " << bound.group);
  CHECK(reached.errors.count >= bound.predicted);  // leaving cases out is no improvement
  CHECK(reached.errors.median <= bound.median);
  CHECK(reached.errors.p95 <= bound.p95);
}

bool names(const ValidationCase& each, const char* word) {
  return each.id.find(word) != std::string::npos;
}

bool assumes(const ValidationCase& each, const char* words) {
  return std::any_of(
      each.assumptions.begin(), each.assumptions.end(),
      [&](const std::string& text) { return text.find(words) != std::string::npos; });
}

// LiBai: its GPU is told by runs on one, its network by nothing.
bool is_told(const ValidationCase& each) { return names(each, "libai-"); }

// On servers, also where one node has nothing to send to them.
bool sums_elsewhere(const ValidationCase& each) {
  return names(each, "-ps-") || names(each, "byteps") || each.source == "espresso";
}

template <typename Which>
std::vector<double> errors_of_steps(const Which& which) {
  std::vector<double> errors;
  for (const ValidationCase& each : shipped_cases()) {
    if (each.kind == CaseKind::step && each.half == Half::judge && each.predicted && which(each)) {
      errors.push_back(std::abs(*each.predicted / each.measured.value() - 1));
    }
  }
  return errors;
}

}  // namespace

TEST_CASE("errors on the judge half are not above what was reached") {
  check({CaseKind::collective, "", 1792, 0.22, 0.79}, GroupBy::nothing);
  check({CaseKind::compression, "", 109, 0.115, 0.46}, GroupBy::nothing);
  check({CaseKind::compression, "sdp4bit", 5, 0.08, 0.29}, GroupBy::source);
}

TEST_CASE("steps that more rules leave alone keep what they reached") {
  // Predicted before rows were filled in (study/row_prior.hpp), variants of GPUs, grouped
  // convolutions, GPUs that their sources do not name (study/unstated_gpu.hpp), classifiers spread
  // over ranks, recommenders and servers were. The others have bounds of their own below.
  const std::vector<double> errors = errors_of_steps([](const ValidationCase& each) {
    const bool filled = assumes(each, "attention heads");
    return !filled && each.source != "llama3_torchtitan" && each.source != "hkbu_ddl" &&
           !names(each, "resnext") && !is_told(each) && !names(each, "insightface") &&
           !names(each, "dlrm") && !sums_elsewhere(each);
  });
  REQUIRE(errors.size() >= 693);
  CHECK(quantile(errors, 0.5) <= 0.067);
  CHECK(quantile(errors, 0.95) <= 0.30);
}

TEST_CASE("steps of rows that were refused before keep what they reached") {
  const std::vector<double> told = errors_of_steps(is_told);
  REQUIRE(told.size() >= 68);
  CHECK(quantile(told, 0.5) <= 0.058);
  CHECK(quantile(told, 0.95) <= 0.22);
  // MXNet's with a classifier on every rank or on one: up to two thirds too fast.
  const std::vector<double> faces =
      errors_of_steps([](const ValidationCase& each) { return names(each, "insightface"); });
  REQUIRE(faces.size() >= 68);
  CHECK(quantile(faces, 0.5) <= 0.059);
  CHECK(quantile(faces, 0.95) <= 0.52);
  const std::vector<double> servers = errors_of_steps(sums_elsewhere);
  REQUIRE(servers.size() >= 65);
  CHECK(quantile(servers, 0.5) <= 0.21);
  CHECK(quantile(servers, 0.95) <= 0.64);
}

TEST_CASE("steps over all-reduces of a GPU that its source does not name keep what they reached") {
  const std::vector<double> errors = errors_of_steps([](const ValidationCase& each) {
    return each.source == "hkbu_ddl" && !sums_elsewhere(each);
  });
  REQUIRE(errors.size() >= 54);
  CHECK(quantile(errors, 0.5) <= 0.068);
  CHECK(quantile(errors, 0.95) <= 0.54);
}

TEST_CASE("rows that more methods leave alone keep what they reached") {
  // Predicted before the catalogue had all methods of GRACE.
  const std::array before{"topk",   "randomk", "qsgd",     "efsignsgd",
                          "onebit", "natural", "terngrad", "powersgd"};
  std::vector<double> errors;
  for (const ValidationCase& each : shipped_cases()) {
    const bool old = std::any_of(before.begin(), before.end(), [&](const std::string& method) {
      return each.id.find("-resnet50-" + method) != std::string::npos;
    });
    if (each.kind == CaseKind::compression && each.half == Half::judge && each.predicted && old) {
      errors.push_back(std::abs(*each.predicted / each.measured.value() - 1));
    }
  }
  REQUIRE(errors.size() >= 56);
  std::sort(errors.begin(), errors.end());
  CHECK(errors[errors.size() / 2] <= 0.065);
}

TEST_CASE("collectives by size, and steps of single sources, keep what they reached") {
  check({CaseKind::collective, "up to 64 KiB", 574, 0.24, 0.74}, GroupBy::size);
  check({CaseKind::collective, "64 KiB to 512 MiB", 746, 0.27, 0.98}, GroupBy::size);
  check({CaseKind::collective, "from 512 MiB", 472, 0.095, 0.57}, GroupBy::size);
  check({CaseKind::step, "megatron_sc21", 12, 0.025, 0.055}, GroupBy::source);
  check({CaseKind::step, "mosaicml_mpt", 78, 0.034, 0.080}, GroupBy::source);
  check({CaseKind::step, "deepspeed", 37, 0.050, 0.32}, GroupBy::source);
  // Its median was 2.9 % while convolutional networks on one H100 node, 9 % too slow, and on
  // several, 2 % too fast, lay on both sides of it (docs/validation-history.md). It was 4.1 % while
  // steps of GPT-3 on thousands of GPUs, 2 to 5 % too slow, lacked the sum of the embedding that
  // both ends of their pipelines hold (`share_embeddings_and_output_weights: True` in
  // conf/megatron_gpt_config.yaml).
  check({CaseKind::step, "mlperf_nvidia", 18, 0.045, 0.09}, GroupBy::source);
  check({CaseKind::step, "vtrain_multi", 56, 0.085, 0.30}, GroupBy::source);
  check({CaseKind::step, "dgxc", 152, 0.057, 0.13}, GroupBy::source);
  check({CaseKind::step, "dle_bert", 174, 0.085, 0.25}, GroupBy::source);
  check({CaseKind::step, "dle_cnn", 36, 0.097, 0.24}, GroupBy::source);
  check({CaseKind::step, "llama3_torchtitan", 24, 0.175, 0.43}, GroupBy::source);
  check({CaseKind::step, "dle_other", 8, 0.126, 0.50}, GroupBy::source);
}

TEST_CASE("an interval of 90 % covers 85 to 95 % of the judge half, collectives at every size") {
  const auto covers = [](const ValidationSummary& summary) {
    INFO(name(summary.kind) << " " << summary.group.text);
    CHECK(summary.coverage >= 0.85);
    CHECK(summary.coverage <= 0.95);
  };
  for (const ValidationSummary& summary : summarise(shipped_cases(), GroupBy::nothing)) {
    if (summary.half == Half::judge) {
      covers(summary);
    }
  }
  for (const ValidationSummary& summary : summarise(shipped_cases(), GroupBy::size)) {
    if (summary.half == Half::judge && summary.kind == CaseKind::collective) {
      covers(summary);
    }
  }
}

TEST_CASE("Payoff is nearer than NCCL's own tuner, and its verdicts beat the naive ones") {
  for (const ValidationSummary& summary : summarise(shipped_cases(), GroupBy::nothing)) {
    for (const RivalSummary& rival : summary.rivals) {
      INFO(rival.name);
      if (summary.half == Half::judge && summary.kind == CaseKind::collective) {
        CHECK(rival.ours_median < rival.errors.median);
      }
      if (summary.half == Half::judge && summary.kind == CaseKind::compression) {
        CHECK(summary.calls.balanced_accuracy.value() >= rival.calls.balanced_accuracy.value());
        CHECK(summary.calls.balanced_accuracy.value() >= 0.95);
        CHECK(summary.calls.abstention <= 0.22);
      }
    }
  }
}

namespace {

// Mean square of the logarithmic errors of the runs of the fit half that gather over MPI, with
// hosts that gather at `rate`. Encoders that loop as often as the data says are left out.
double error_of_gathers(const std::string& rate) {
  namespace fs = std::filesystem;
  const fs::path profiles =
      fs::temp_directory_path() /
      ("payoff-gathers-" + std::to_string(getpid()) + "-" + rate.substr(0, 3));
  fs::remove_all(profiles);
  fs::copy(root / "profiles", profiles, fs::copy_options::recursive);
  const fs::path path = profiles / "network/tcp-mpi.yaml";
  std::ifstream in(path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto at = text.find("gathers: {value: ");
  REQUIRE(at != std::string::npos);
  text.replace(at, text.find(',', at) - at, "gathers: {value: " + rate);
  std::ofstream(path) << text;
  Findings findings;
  const Split split = read_split(root / "tests/validation/split.csv", findings);
  double sum = 0;
  std::size_t runs = 0;
  for (const ValidationCase& each :
       published_cases(Library(profiles), split,
                       read_published({root / "tests/validation/training/grace.yaml"}),
                       {CaseKind::compression})) {
    const auto has = [&](const char* word) { return each.id.find(word) != std::string::npos; };
    if (each.half == Half::fit && each.predicted && has("allgather") && !has("-dgc") &&
        !has("-adaq")) {
      sum += std::pow(std::log(*each.predicted / each.measured.value()), 2);
      ++runs;
    }
  }
  fs::remove_all(profiles);
  REQUIRE(runs == 52);
  return sum / static_cast<double>(runs);
}

}  // namespace

TEST_CASE("the rate at which MPI's hosts gather is that of the fit half") {
  const double shipped = error_of_gathers("0.8 GB/s");
  CHECK(std::sqrt(shipped) < 0.12);
  CHECK(error_of_gathers("0.5 GB/s") > 1.5 * shipped);
  CHECK(error_of_gathers("0.7 GB/s") > shipped);
  CHECK(error_of_gathers("1.1 GB/s") > shipped);
  CHECK(error_of_gathers("2 GB/s") > 1.5 * shipped);
}

// What is below a hundredth of the prediction is no term.
TEST_CASE("the terms of a collective add up to its prediction") {
  for (const ValidationCase& each : shipped_cases()) {
    if (each.kind == CaseKind::collective && each.predicted) {
      double sum = 0;
      for (const auto& [term, seconds] : each.terms) {
        sum += seconds;
      }
      INFO(each.id);
      CHECK(std::abs(sum / *each.predicted - 1) <= 0.03);
    }
  }
}

TEST_CASE("no case is silent: a prediction or a reason, and a half of the split") {
  for (const ValidationCase& each : shipped_cases()) {
    INFO(each.id);
    CHECK(each.predicted.has_value() == each.reasons.empty());
    CHECK((each.half == Half::judge || each.half == Half::fit));
  }
}
