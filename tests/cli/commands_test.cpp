// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using nlohmann::json;
using payoff::test::Captured;
using payoff::test::ScratchFolder;
using payoff::test::small_experiment;

namespace {

std::vector<std::string> command(std::string name, std::vector<std::string> words) {
  words.insert(words.begin(), std::move(name));
  return words;
}

}  // namespace

TEST_CASE("a predicted collective table has nccl-tests' bandwidths") {
  const Captured run = test::payoff({"collective", "all_reduce", "--cluster", "dgx-a100", "--nodes",
                                     "2", "--sizes", "8B..8GiB:x8", "--json"});
  REQUIRE(run.code == ExitCode::success);
  const json result = json::parse(run.out);
  REQUIRE(result["rows"].size() == 11);
  double before = 0;
  for (const json& row : result["rows"]) {
    const double time = row["time_seconds"];
    CHECK_THAT(row["algbw_bytes_per_second"].get<double>(),
               WithinRel(row["size_bytes"].get<double>() / time, 1e-12));
    // busbw = algbw 2 (n - 1) / n with n = 16
    CHECK_THAT(row["busbw_bytes_per_second"].get<double>(),
               WithinRel(row["algbw_bytes_per_second"].get<double>() * 30.0 / 16.0, 1e-12));
    CHECK(time >= before);
    before = time;
  }
}

TEST_CASE("a pinned algorithm that NCCL does not have for a collective is refused") {
  const Captured run = test::payoff(
      {"collective", "all_gather", "--cluster", "dgx-a100", "--algo", "tree", "--sizes", "1MiB"});
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
}

TEST_CASE("a group that a node cannot hold is refused, a misspelt cluster answered") {
  CHECK(test::payoff({"collective", "all_reduce", "--cluster", "dgx-a100", "--gpus-per-node", "16"})
            .code == ExitCode::bad_input);
  const Captured wrong = test::payoff({"collective", "all_redcue", "--cluster", "dgx-a10"});
  CHECK(wrong.code == ExitCode::bad_input);
  CHECK_THAT(wrong.err, ContainsSubstring("did you mean `all_reduce`?"));
  CHECK_THAT(wrong.err, ContainsSubstring("did you mean `dgx-a100`?"));
}

TEST_CASE("every shipped profile of hardware is shown with a source for every number") {
  const Captured run = test::payoff({"profiles", "show", "dgx-a100", "--json"});
  REQUIRE(run.code == ExitCode::success);
  const json result = json::parse(run.out);
  const json& profile = result["profiles"][0];
  CHECK(profile["kind"] == "cluster");
  CHECK(profile["values"].size() > 40);
  for (const json& value : profile["values"]) {
    if (value.contains("provenance")) {
      INFO(value["path"]);
      CHECK(value["source"].get<std::size_t>() <= profile["sources"].size());
    }
  }
  for (const json& source : profile["sources"]) {
    CHECK(!source["text"].get<std::string>().empty());
  }
}

TEST_CASE("the list names the kinds asked for") {
  const Captured run = test::payoff({"profiles", "list", "gpu", "fabric", "--csv", "-"});
  REQUIRE(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("gpu,h100-sxm,"));
  CHECK_THAT(run.out, ContainsSubstring("fabric,nvswitch3,"));
  CHECK(run.out.find("cluster,") == std::string::npos);
}

TEST_CASE("the explained terms add up to the step that is predicted") {
  const Captured explained = test::payoff(command("explain", small_experiment({"--json"})));
  REQUIRE(explained.code == ExitCode::success);
  double step = 0;
  const json explanation = json::parse(explained.out);
  for (const json& term : explanation["terms"]) {
    step += term["time_seconds"].get<double>();
    CHECK(!term["equation"].get<std::string>().empty());
    for (const json& fact : term["facts"]) {
      CHECK(!fact["citation"].get<std::string>().empty());
    }
  }
  const Captured predicted = test::payoff(command("predict", small_experiment({"--json"})));
  CHECK_THAT(step,
             WithinRel(json::parse(predicted.out)["plans"][1]["step_seconds"].get<double>(), 1e-9));
}

TEST_CASE("a term that does not exist is answered with the nearest one") {
  const ScratchFolder folder;
  REQUIRE(
      test::payoff(command("predict", small_experiment({"--save", folder.path("a.yaml")}))).code ==
      ExitCode::success);
  const Captured run = test::payoff({"explain", folder.path("a.yaml"), "exposed-dp"});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("did you mean `exposed_dp`?"));
}

TEST_CASE("check accepts every example and tells every mistake of a broken one") {
  std::vector<std::string> words{"check"};
  for (const char* name : {"01-resnet50-v100", "05-gpt3-175b-a100", "07-gpt3-175b-h100"}) {
    words.push_back(std::string(PAYOFF_SOURCE_DIR "/examples/") + name + "/experiment.yaml");
  }
  const Captured good = test::payoff(words);
  INFO(good.err);
  CHECK(good.code == ExitCode::success);

  const ScratchFolder folder;
  folder.write("bad.yaml",
               "cluster:\n  profil: dgx-a100\nmodel:\n  profile: gpt2\nlayout:\n  dp: 1.5\n"
               "training:\n  bucket: 25\n  bucket: 26 MiB\n");
  const Captured bad = test::payoff({"check", folder.path("bad.yaml")});
  CHECK(bad.code == ExitCode::bad_input);
  CHECK_THAT(bad.err, ContainsSubstring("did you mean `profile`?"));
  CHECK_THAT(bad.err, ContainsSubstring("bad.yaml:6:7"));
  CHECK_THAT(bad.err, ContainsSubstring("has no unit"));
}

TEST_CASE("a plot is a picture, or the script of one") {
  const ScratchFolder folder;
  const auto plot = [&](const std::string& name, const std::string& axis) {
    return test::payoff(
        command("plot", small_experiment({"--x", axis, "--to", axis == "gpus" ? "16" : "100 Gb/s",
                                          "-o", folder.path(name)})));
  };
  REQUIRE(plot("a.gp", "gpus").code == ExitCode::success);
  CHECK_THAT(test::read_text(folder.path("a.gp")), ContainsSubstring("set xlabel 'GPUs'"));
  REQUIRE(plot("a.svg", "bandwidth").code == ExitCode::success);
  CHECK_THAT(test::read_text(folder.path("a.svg")), ContainsSubstring("<svg"));
  REQUIRE(plot("a.png", "bandwidth").code == ExitCode::success);
  CHECK(test::read_text(folder.path("a.png")).starts_with("\x89PNG"));
  CHECK(plot("a.jpg", "gpus").code == ExitCode::bad_input);
  CHECK(folder.files() == std::vector<std::string>{"a.gp", "a.png", "a.svg"});
}

TEST_CASE("a plot says why it shows nothing where one replica is all there is, or nothing fits") {
  const ScratchFolder folder;
  // 32 GPUs hold one replica of this layout.
  const Captured run = test::payoff({"plot",
                                     "--model",
                                     "llama-2-7b",
                                     "--cluster",
                                     "p3-8xlarge",
                                     "--nodes",
                                     "16",
                                     "--tp",
                                     "4",
                                     "--pp",
                                     "8",
                                     "--micro-batch",
                                     "1",
                                     "--micro-batches",
                                     "8",
                                     "--compress",
                                     "powersgd:rank=4",
                                     "--from",
                                     "32",
                                     "--to",
                                     "64",
                                     "-o",
                                     folder.path("a.gp")});
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  const std::string script = test::read_text(folder.path("a.gp"));
  CHECK_THAT(script, ContainsSubstring("Nothing to compress at 32 GPUs: one replica"));
  const Captured large = test::payoff({"plot", "--model", "llama-2-7b", "--cluster", "p3-8xlarge",
                                       "--nodes", "2", "--micro-batch", "1", "--compress",
                                       "powersgd:rank=4", "--to", "16", "-o", folder.path("b.gp")});
  REQUIRE(large.code == ExitCode::success);
  CHECK_THAT(test::read_text(folder.path("b.gp")),
             ContainsSubstring("does not fit a GPU, compressed or not"));
}

TEST_CASE("without gnuplot a plot says what to install, and leaves nothing") {
  const ScratchFolder folder;
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  const Captured run =
      test::payoff(command("plot", small_experiment({"-o", folder.path("a.png")})));
  setenv("PATH", path.c_str(), 1);
  CHECK(run.code == ExitCode::failure);
  CHECK_THAT(run.err, ContainsSubstring("gnuplot is not installed"));
  CHECK(folder.files().empty());
}
