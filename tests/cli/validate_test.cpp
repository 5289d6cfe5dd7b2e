// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"
#include "tests/cli/training_file.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;
using payoff::test::Captured;
using payoff::test::ScratchFolder;
using payoff::test::training_file;

TEST_CASE("validate tells every mistake of its command line at once") {
  const Captured run = test::payoff({"validate", "--set", "steps", "--half", "jugde", "--by", "gpu",
                                     "no-such-folder", "--worst", "-1"});
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  for (const char* text : {"did you mean `step`?", "did you mean `judge`?", "gpu",
                           "no such file or folder", "--worst"}) {
    CHECK_THAT(run.err, ContainsSubstring(text));
  }
}

TEST_CASE("files without measurements are no table of nothing without a word") {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder.path("notes"));
  const Captured run = test::payoff({"validate", folder.path("notes")});
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.err, ContainsSubstring("there is no measurement of what was asked"));
}

// What the system says of a link that leads to itself depends on no permissions: root is told, too.
TEST_CASE("a file of a folder that cannot be looked at is named, and no error of the system's") {
  const ScratchFolder folder;
  std::filesystem::create_symlink("loop.yaml", folder.path("loop.yaml"));
  const Captured run = test::payoff({"validate", folder.path("")});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("loop.yaml: cannot be opened"));
}

TEST_CASE("half a file of measurements is refused as a whole") {
  const ScratchFolder folder;
  const std::string whole = test::read_text(training_file("megatron_sc21"));
  folder.write("half.yaml", whole.substr(0, whole.size() / 2));
  folder.write("other.yaml", "cluster: dgx-a100\n");
  const Captured run =
      test::payoff({"validate", folder.path("half.yaml"), folder.path("other.yaml")});
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring("half.yaml"));
  CHECK_THAT(run.err, ContainsSubstring("holds neither `tables:` nor `rows:`"));
}

TEST_CASE("validate's JSON has a case for every row, summaries that count them, and reasons") {
  const Captured run = test::payoff(
      {"validate", training_file("megatron_sc21"), training_file("dle_other"), "--json"});
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  const json result = json::parse(run.out);
  CHECK(result["schema"] == 1);
  CHECK(result["kind"] == "validation");
  CHECK(result["split_sha256"].get<std::string>().size() == 64);
  std::size_t predicted = 0;
  for (const json& each : result["cases"]) {
    INFO(each.dump());
    CHECK(each["predicted"].is_null() != each["unsupported"].empty());
    CHECK(each["unit"] == "s");
    CHECK(std::set<std::string>{"judge", "fit"}.contains(each["half"].get<std::string>()));
    if (!each["predicted"].is_null()) {
      ++predicted;
      const double error = each["predicted"].get<double>() / each["measured"].get<double>() - 1;
      CHECK(std::abs(each["error"].get<double>() - error) < 1e-12);
      CHECK(each["low"].get<double>() < each["high"].get<double>());
    }
  }
  std::size_t counted = 0;
  std::size_t scored = 0;
  for (const json& summary : result["summary"]) {
    if (summary["by"] == "all") {
      counted += summary["cases"].get<std::size_t>();
      scored += summary["n"].get<std::size_t>();
      CHECK(summary["cases"] ==
            summary["n"].get<std::size_t>() + summary["unsupported"].get<std::size_t>());
    }
  }
  CHECK(counted == result["cases"].size());
  CHECK(scored == predicted);
  CHECK(predicted > 0);
  CHECK(!result["unsupported"].empty());
}

TEST_CASE("a half is shown alone, with the fit half called what it is") {
  const std::string judged = training_file("megatron_sc21");
  const std::string fitted = training_file("korthikanti_2022");
  const Captured both = test::payoff({"validate", "--set", "step", judged, fitted});
  REQUIRE(both.code == ExitCode::success);
  CHECK_THAT(both.out, ContainsSubstring("Judge half: no parameter was fitted to these"));
  CHECK_THAT(both.out, ContainsSubstring("so they are no evidence"));
  const Captured fit = test::payoff({"validate", "--half", "fit", judged, fitted});
  CHECK(fit.out.find("Judge half") == std::string::npos);
  std::istringstream lines(both.out);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(line.size() <= 100);
  }
}

namespace {

// Two tables of eight ranks. An all-reduce of 1 GiB in 10 ms: 107.37 GB/s, and 1.75 times that as
// bus bandwidth; 201.32 GB/s are 1.875 times, which 16 ranks have.
const char* const two_tables = R"(tables:
- id: wrong-ranks
  gpus: 8
  nodes: 1
  cluster: {gpu: a100-sxm-80, gpus_per_node: 8, nodes: 1, intra: nvswitch3, transport: none, launch: process-per-gpu}
  collective: all_reduce
  source: a page
  provenance: quoted
  columns: [bytes, time_us, busbw_GBps]
  rows:
  - [536870912, 5000, 187.90]
  - [1073741824, 10000, 201.32]
- id: from-nowhere
  gpus: 8
  nodes: 1
  cluster: {gpu: a100-sxm-80, gpus_per_node: 8, nodes: 1, intra: nvswitch3, transport: none, launch: process-per-gpu}
  collective: all_reduce
  source: a page
  columns: [bytes, time_us]
  rows:
  - [536870912, 5000]
)";

}  // namespace

TEST_CASE("measurements that contradict themselves or name no origin stop the run, all at once") {
  const ScratchFolder folder;
  folder.write("t.yaml", two_tables);
  const Captured run = test::payoff({"validate", folder.path("t.yaml"), "--json"});
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring("wrong-ranks: busbw 201.32 GB/s contradicts 8 ranks"));
  CHECK_THAT(run.err, ContainsSubstring("16 ranks would explain it"));
  CHECK_THAT(run.err, ContainsSubstring("t.yaml:12:5"));
  CHECK_THAT(run.err, ContainsSubstring("- [1073741824, 10000, 201.32]\n"));
  CHECK_THAT(run.err, ContainsSubstring("^^^^"));
  CHECK_THAT(run.err, ContainsSubstring("from-nowhere: provenance is missing"));
  CHECK_THAT(run.err, ContainsSubstring("2 errors"));
}

TEST_CASE("what contradicts itself can be left out, with a warning that names it") {
  const ScratchFolder folder;
  folder.write("t.yaml", two_tables);
  const Captured run = test::payoff({"validate", folder.path("t.yaml"), "--leave-out", "--json"});
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.err, ContainsSubstring("t.yaml:12:5"));
  CHECK_THAT(run.err, ContainsSubstring("the entry is left out"));
  const json result = json::parse(run.out);
  REQUIRE(result["cases"].size() == 1);  // the row of 512 MiB
  CHECK(result["cases"][0]["id"] == "wrong-ranks 512 MiB");
  CHECK(result["findings"].size() == 2);
}

TEST_CASE("a training row that contradicts itself is refused or left out, and named") {
  const ScratchFolder folder;
  std::string text = test::read_text(training_file("megatron_sc21"));
  const std::string layout = "dp: ";
  const std::size_t place = text.find(layout) + layout.size();
  text.replace(place, 1, "7");
  folder.write("sc21.yaml", text);
  const Captured refused = test::payoff({"validate", folder.path("sc21.yaml")});
  CHECK(refused.code == ExitCode::bad_input);
  CHECK(refused.out.empty());
  const Captured run = test::payoff({"validate", folder.path("sc21.yaml"), "--leave-out"});
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.err, ContainsSubstring("left out"));
  CHECK_THAT(run.err, ContainsSubstring("sc21.yaml:"));
}

TEST_CASE("the worst cases say where the time goes, what is suspect, and what would settle it",
          "[once]") {
  const std::string file = training_file("megatron_sc21");
  const Captured run = test::payoff({"validate", file, "--half", "judge", "--worst"});
  REQUIRE(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("The worst 10 of step, judge half"));
  CHECK_THAT(run.out, ContainsSubstring("  waterfall  forward"));
  std::istringstream lines(run.out);
  int settled = 0;
  for (std::string line; std::getline(lines, line);) {
    CHECK(line.size() <= 100);
    settled += line.starts_with("  settled by ") ? 1 : 0;
  }
  CHECK(settled == 10);
  const Captured three = test::payoff({"validate", "--worst", "3", file, "--half", "judge"});
  CHECK_THAT(three.out, ContainsSubstring("The worst 3 of step"));
  const Captured tables = test::payoff({"validate", "--worst=0", file, "--half", "judge"});
  CHECK(tables.out.find("The worst") == std::string::npos);
}

TEST_CASE("the waterfall of a worst case adds up to what was predicted") {
  const std::string table = PAYOFF_SOURCE_DIR "/tests/validation/nccl/github_issues.yaml";
  const Captured run =
      test::payoff({"validate", table, training_file("megatron_sc21"), "--worst", "20", "--json"});
  REQUIRE(run.code == ExitCode::success);
  const json result = json::parse(run.out);
  REQUIRE(result["worst"].size() > 20);  // of both kinds
  for (const json& worst : result["worst"]) {
    double sum = 0;
    for (const json& term : worst["waterfall"]) {
      sum += term["term_seconds"].get<double>();
    }
    for (const json& each : result["cases"]) {
      if (each["id"] == worst["id"]) {
        INFO(worst.dump());
        CHECK(std::abs(sum / each["predicted"].get<double>() - 1) < 1e-6);
      }
    }
  }
}

TEST_CASE("the shipped codec laws are what their fit gives") {
  CHECK(test::payoff({"calibrate", "fit", "codecs", "--check"}).code == ExitCode::success);
}

TEST_CASE("a law that was changed by hand is found, with its value and the fit's") {
  const ScratchFolder folder;
  std::filesystem::copy(PAYOFF_SOURCE_DIR "/profiles", folder.path("profiles"),
                        std::filesystem::copy_options::recursive);
  std::string law = test::read_text(folder.path("profiles/fitted/codecs.yaml"));
  const std::string value = "dispatch: {value: 7.995 us";
  law.replace(law.find(value), value.size(), "dispatch: {value: 9.5 us");
  folder.write("profiles/fitted/codecs.yaml", law);
  const Captured run = test::payoff_with(
      folder.path("profiles"),
      {"calibrate", "fit", "codecs", "--check", "--data", PAYOFF_SOURCE_DIR "/tests/validation"});
  CHECK(run.code == ExitCode::check_failed);
  CHECK_THAT(run.out, ContainsSubstring("implementation.framework_ops.dispatch"));
  CHECK_THAT(run.out, ContainsSubstring("9.5 us"));
  CHECK_THAT(run.out, ContainsSubstring("-15.8 %"));  // 7.995 / 9.5 - 1
}

TEST_CASE("a fit writes the profile that is shipped, where it is told to") {
  const ScratchFolder folder;
  const Captured run = test::payoff({"calibrate", "fit", "codecs", "--out", folder.path("")});
  CHECK(run.code == ExitCode::success);
  CHECK(test::read_text(folder.path("codecs.yaml")) ==
        test::read_text(PAYOFF_SOURCE_DIR "/profiles/fitted/codecs.yaml"));
  const Captured wrong = test::payoff({"calibrate", "fit", "codec"});
  CHECK(wrong.code == ExitCode::bad_input);
  CHECK_THAT(wrong.err, ContainsSubstring("did you mean `codecs`?"));
}
