// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using nlohmann::json;
using payoff::test::Captured;
using payoff::test::lines_of;
using payoff::test::predict;
using payoff::test::predicted;
using payoff::test::ScratchFolder;
using payoff::test::small_experiment;

namespace {}  // namespace

TEST_CASE("every strategy is a row of the table, and the last line is the verdict") {
  const Captured run = predict(small_experiment());
  REQUIRE(run.code == ExitCode::success);
  const std::vector<std::string> lines = lines_of(run.out);
  for (const char* start : {"| uncompressed ", "| powersgd:rank=4 ", "| topk:ratio=0.01 "}) {
    INFO(start);
    CHECK(std::any_of(lines.begin(), lines.end(),
                      [&](const std::string& line) { return line.starts_with(start); }));
  }
  CHECK_THAT(lines.front(), ContainsSubstring("gpt2 · 2 x p3-8xlarge"));
  CHECK_THAT(lines.back(), ContainsSubstring("times as fast as uncompressed"));
  CHECK(run.err.empty());
}

TEST_CASE("intervals are printed by their ends") {
  const Captured run = predict(small_experiment());
  CHECK_THAT(run.out, !ContainsSubstring("±"));
  const std::vector<std::string> lines = lines_of(run.out);
  const auto row = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("| uncompressed ");
  });
  REQUIRE(row != lines.end());
  CHECK_THAT(*row, ContainsSubstring(" to "));
  CHECK_THAT(lines.back(), ContainsSubstring(" to "));
}

TEST_CASE("the band of noise is the user's, and named in the result") {
  CHECK(predicted()["band_ratio"] == 0.01);
  CHECK(predicted({"--band", "5 %"})["band_ratio"] == 0.05);
}

TEST_CASE("the uncompressed job has no verdict") {
  CHECK(predicted()["plans"][0]["verdict"].is_null());
  const ScratchFolder folder;
  const Captured run = predict(small_experiment({"--csv", folder.path("a.csv")}));
  const std::vector<std::string> lines = lines_of(test::read_text(folder.path("a.csv")));
  REQUIRE(lines.size() == 4);
  CHECK(lines[1].starts_with("analytical,none,"));
  CHECK(lines[1].ends_with(","));
  CHECK_FALSE(lines[2].ends_with(","));
}

TEST_CASE("the CSV has a row for every engine that was asked and answers") {
  const ScratchFolder folder;
  const Captured run =
      predict(small_experiment({"--engine", "agarwal2022", "--csv", folder.path("a.csv")}));
  REQUIRE(run.code == ExitCode::success);
  const std::vector<std::string> lines = lines_of(test::read_text(folder.path("a.csv")));
  const auto commas = [](const std::string& line) {
    return std::count(line.begin(), line.end(), ',');
  };
  std::size_t theirs = 0;
  for (const std::string& line : lines) {
    CHECK(commas(line) == commas(lines.front()));
    theirs += line.starts_with("agarwal2022-reconstructed,") ? 1U : 0U;
  }
  CHECK(theirs == 3);  // the job and its two strategies
  CHECK(lines.size() == 4 + theirs);
}

TEST_CASE("a job that does not fit is not called one that pays") {
  const Captured text = predict({"--model", "llama-2-7b", "--cluster", "p3-8xlarge", "--nodes", "2",
                                 "--micro-batch", "1", "--compress", "fp16"});
  REQUIRE(text.code == ExitCode::success);
  CHECK_THAT(lines_of(text.out).back(),
             Catch::Matchers::StartsWith("The job does not fit, compressed or not: fp16 needs"));
  CHECK_THAT(text.out, !ContainsSubstring("pays at"));
}

TEST_CASE("a measurement far from the profiles is believed, and said to be far") {
  const Captured run = predict(small_experiment({"--observed", "step=100s"}));
  REQUIRE(run.code == ExitCode::success);
  CHECK_THAT(run.out,
             ContainsSubstring("standard deviations outside what the profiles allow. The "));
  CHECK_THAT(run.out, ContainsSubstring("would have to be "));
  CHECK_THAT(lines_of(run.out).back(),
             Catch::Matchers::StartsWith("By your measurement, which the profiles hardly allow: "));
}

TEST_CASE("the last line names the iterations that convergence may take") {
  double speedup = 0;
  const json answer = predicted();
  for (const json& plan : answer["plans"]) {
    if (plan["label"] != "none") {
      speedup = std::max(speedup, plan["against_remedy"]["speedup"].get<double>());
    }
  }
  const std::string last = lines_of(predict(small_experiment()).out).back();
  const std::size_t at = last.find("; convergence ");
  REQUIRE(at != std::string::npos);
  const std::string clause = last.substr(at);
  const double share = std::stod(clause.substr(clause.find_first_of("0123456789"))) / 100;
  const double slack = clause.ends_with("more iterations.") ? share : -share;
  CHECK_THAT(slack, Catch::Matchers::WithinAbs(speedup - 1, 0.006));  // printed to the percent
}

TEST_CASE("one sample a GPU by default is said beside the verdict") {
  std::vector<std::string> words = {"--model",    "gpt2",   "--cluster",  "p3-8xlarge",
                                    "--nodes",    "2",      "--compress", "powersgd:rank=4",
                                    "--compress", "signsgd"};
  const std::vector<std::string> lines = lines_of(predict(words).out);
  CHECK_THAT(lines.at(lines.size() - 2), Catch::Matchers::StartsWith("No micro-batch was given"));
  words.insert(words.end(), {"--micro-batch", "8"});
  CHECK_THAT(predict(words).out, !ContainsSubstring("No micro-batch was given"));
}

TEST_CASE("the same question gets the same bytes") {
  CHECK(predict(small_experiment({"--json"})).out == predict(small_experiment({"--json"})).out);
}

TEST_CASE("a key set on the command line is a key of the file") {
  const json by_option = predicted({"--bucket", "50 MiB"});
  const json by_key = predicted({"--set", "training.bucket=50 MiB"});
  CHECK(by_option["plans"] == by_key["plans"]);
  CHECK(by_option["plans"] != predicted()["plans"]);
  CHECK(by_option["experiment"]["sha256"] == by_key["experiment"]["sha256"]);
}

TEST_CASE("what --save writes predicts the same") {
  const ScratchFolder folder;
  const std::string saved = folder.path("saved.yaml");
  const json result = predicted({"--save", saved});
  const Captured again = predict({saved, "--json"});
  REQUIRE(again.code == ExitCode::success);
  const json other = json::parse(again.out);
  CHECK(other["plans"] == result["plans"]);
  CHECK(other["experiment"]["sha256"] == result["experiment"]["sha256"]);
}

TEST_CASE("results go to files beside the table") {
  const ScratchFolder folder;
  const Captured run =
      predict(small_experiment({"--json", folder.path("a.json"), "--csv", folder.path("a.csv")}));
  REQUIRE(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("| uncompressed "));
  CHECK(json::parse(test::read_text(folder.path("a.json")))["kind"] == "predict");
  CHECK(lines_of(test::read_text(folder.path("a.csv"))).size() == 4);  // header and three plans
}

TEST_CASE("a script may ask for an exit code when nothing pays") {
  // Four GPUs on NVLink: there is nothing that compression could save.
  const std::vector<std::string> words{"--model",
                                       "gpt2",
                                       "--cluster",
                                       "p3-8xlarge",
                                       "--nodes",
                                       "1",
                                       "--micro-batch",
                                       "4",
                                       "--precision",
                                       "fp16",
                                       "--compress",
                                       "topk:ratio=0.01",
                                       "--fail-if-no-payoff"};
  const Captured run = predict(words);
  CHECK(run.code == ExitCode::check_failed);
  CHECK_THAT(run.out, ContainsSubstring("No plan pays here"));
}

TEST_CASE("the user's own measurement conditions the prediction") {
  const json before = predicted();
  const double step = before["plans"][0]["step_seconds"];
  const json after = predicted({"--observed", "step=" + std::to_string(step * 1.1 * 1e3) + " ms"});
  const auto width = [](const json& plan) {
    return (plan["step_high_seconds"].get<double>() - plan["step_low_seconds"].get<double>()) /
           plan["step_seconds"].get<double>();
  };
  CHECK_THAT(after["plans"][0]["step_seconds"].get<double>(), WithinRel(step * 1.1, 0.03));
  CHECK(width(after["plans"][0]) < width(before["plans"][0]));
}

TEST_CASE("a paper's model answers beside ours, under its own name") {
  const json result = predicted({"--engine", "agarwal2022"});
  REQUIRE(result["engines"].size() == 1);
  CHECK(result["engines"][0]["engine"] == "agarwal2022-reconstructed");
  CHECK(result["engines"][0]["plans"].size() == 3);
  const Captured text = predict(small_experiment({"--engine", "agarwal2022"}));
  CHECK_THAT(text.out, ContainsSubstring("agarwal2022-reconstructed"));
}

TEST_CASE("every strategy has its numbers of training, and a run of so many tokens when asked") {
  const auto plain = predicted();
  CHECK(plain["plans"][0]["training"]["run"].is_null());
  const auto asked = predicted({"--tokens", "1e9", "--price", "36 USD/h"});
  for (const auto& plan : asked["plans"]) {
    const auto& training = plan["training"];
    const double step = plan["step_seconds"];
    // Two nodes of 4 GPUs, dp 8 of 4 samples of 1024 tokens.
    CHECK_THAT(training["tokens_per_second"].get<double>(), WithinRel(8 * 4 * 1024 / step, 1e-9));
    const auto& run = training["run"];
    CHECK(run["steps"] == std::ceil(1e9 / (8 * 4 * 1024)));
    CHECK_THAT(run["time_seconds"].get<double>(),
               WithinRel(run["steps"].get<double>() * step, 1e-9));
    CHECK_THAT(run["cost_usd"].get<double>(),
               WithinRel(2 * 36.0 / 3600 * run["time_seconds"].get<double>(), 1e-9));
  }
}

TEST_CASE("what a network costs that makes compression pointless is said where it is asked") {
  const Captured run = predict(
      small_experiment({"--tokens", "1e9", "--price", "36 USD/h", "--network-price", "12"}));
  REQUIRE(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("costs 12 USD for each Gb/s of a NIC"));
  CHECK_THAT(run.out, ContainsSubstring("power of a GPU") && !ContainsSubstring("price of a node"));
  CHECK_THAT(predict(small_experiment({"--network-price", "12"})).err,
             ContainsSubstring("`--network-price` without --tokens"));
  CHECK_THAT(predict(small_experiment({"--tokens", "1e9", "--network-price", "12 USD"})).err,
             ContainsSubstring("--network-price"));
}

TEST_CASE("a price without a number of tokens is a mistake, and so is one without a unit") {
  CHECK_THAT(predict(small_experiment({"--price", "36 USD/h"})).err,
             ContainsSubstring("add --tokens"));
  CHECK_THAT(predict(small_experiment({"--tokens", "1e9", "--price", "36"})).err,
             ContainsSubstring("has no unit"));
}
