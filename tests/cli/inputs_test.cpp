// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using payoff::test::Captured;
using payoff::test::read_text;
using payoff::test::ScratchFolder;

namespace {

const std::string job = test::small_job;

std::string with_plans(const std::string& plans) { return job + "compress: " + plans + "\n"; }

std::vector<std::string> labels(const Captured& run) {
  std::vector<std::string> result;
  const auto json = nlohmann::json::parse(run.out);
  for (const auto& plan : json["plans"]) {
    result.push_back(plan["label"]);
  }
  return result;
}

Captured predict(const ScratchFolder& folder, const std::string& text,
                 std::vector<std::string> more = {}) {
  folder.write("job.yaml", text);
  std::vector<std::string> words{"predict", folder.path("job.yaml"), "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return test::payoff(words);
}

}  // namespace

TEST_CASE("a plan written as a mapping is the plan written as a text") {
  const ScratchFolder folder;
  const Captured text = predict(folder, with_plans("[\"powersgd:rank=2\"]"));
  REQUIRE(text.err.empty());
  const auto wanted = nlohmann::json::parse(text.out)["plans"];
  for (const char* plans : {"[powersgd: {rank: 2}]", "[{base: powersgd, rank: 2}]"}) {
    const Captured mapping = predict(folder, with_plans(plans));
    CHECK(mapping.err.empty());
    CHECK(nlohmann::json::parse(mapping.out)["plans"] == wanted);
  }
}

TEST_CASE("setting compress.0.rank changes the first plan, in either form") {
  const ScratchFolder folder;
  for (const char* plans :
       {"[\"powersgd:rank=4\", fp16]", "[powersgd: {rank: 4}, fp16]", "[powersgd, fp16]"}) {
    const Captured run = predict(folder, with_plans(plans), {"--set", "compress.0.rank=2"});
    CHECK(run.err.empty());
    CHECK(labels(run) == std::vector<std::string>{"none", "powersgd:rank=2", "fp16"});
  }
}

TEST_CASE("what is wrong in a plan's mapping is shown under the key") {
  const ScratchFolder folder;
  const Captured run = predict(folder, with_plans("[powersgd: {rnk: 4}]"));
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("job.yaml:5:23"));
  CHECK_THAT(run.err, ContainsSubstring("did you mean `rank`?"));
  CHECK_THAT(predict(folder, with_plans("[{rank: 4}]")).err, ContainsSubstring("names no method"));
}

TEST_CASE("a result is not written over the experiment it came from") {
  const ScratchFolder folder;
  for (const char* option : {"--csv", "--save"}) {
    const Captured run = predict(
        folder, job, {"--force", option, folder.path("./job.yaml"), "--set", "layout.dp=8"});
    CHECK(run.code == ExitCode::bad_input);
    CHECK(run.out.empty());
    CHECK_THAT(run.err, ContainsSubstring("is an input of this run"));
    CHECK(read_text(folder.path("job.yaml")) == job);
  }
}

TEST_CASE("saving replaces another file only by force") {
  const ScratchFolder folder;
  folder.write("mine.yaml", "precious\n");
  const Captured refused = predict(folder, job, {"--save", folder.path("mine.yaml")});
  CHECK(refused.code == ExitCode::bad_input);
  CHECK_THAT(refused.err, ContainsSubstring("the file exists"));
  CHECK(read_text(folder.path("mine.yaml")) == "precious\n");
  const Captured forced = predict(folder, job, {"--save", folder.path("mine.yaml"), "--force"});
  CHECK(forced.code == ExitCode::success);
  CHECK_THAT(read_text(folder.path("mine.yaml")), ContainsSubstring("resnet-50"));
}

TEST_CASE("a file that cannot be read is an error of the world, in the format asked for") {
  const Captured text = test::payoff({"predict", "no-such-file.yaml"});
  CHECK(text.code == ExitCode::failure);
  CHECK_THAT(text.err, ContainsSubstring("error: cannot read `no-such-file.yaml`"));
  const Captured json = test::payoff({"predict", "no-such-file.yaml", "--error-format", "json"});
  CHECK(json.code == ExitCode::failure);
  const auto errors = nlohmann::json::parse(json.err)["errors"];
  REQUIRE(errors.size() == 1);
  CHECK_THAT(errors[0]["message"].get<std::string>(), ContainsSubstring("no-such-file.yaml"));
}

TEST_CASE("a name behind --json that ends otherwise is refused with the form that takes it") {
  const ScratchFolder folder;
  const Captured run = predict(folder, job, {"--set", "layout.dp=8"});
  REQUIRE(run.code == ExitCode::success);
  const Captured wrong =
      test::payoff({"predict", folder.path("job.yaml"), "--json", folder.path("out")});
  CHECK(wrong.code == ExitCode::bad_input);
  CHECK_THAT(wrong.err, ContainsSubstring("--json=" + folder.path("out")));
}

TEST_CASE("an empty experiment is one mistake") {
  const ScratchFolder folder;
  folder.write("empty.yaml", "");
  const Captured run = test::payoff({"check", folder.path("empty.yaml")});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("1 error; nothing was run"));
}

TEST_CASE("a model's file is named from the experiment's folder, however it is named") {
  const ScratchFolder folder;
  folder.write("shape.json", R"({"model_type": "gpt2", "n_layer": 2, "n_embd": 64, "n_head": 2,
    "n_positions": 128, "vocab_size": 512})");
  for (const std::string key : {"file", "profile"}) {
    const Captured run =
        predict(folder, "cluster: {profile: p3-8xlarge}\nmodel: {" + key + ": shape.json}\n");
    INFO(run.err);
    CHECK(run.code == ExitCode::success);
  }
}

TEST_CASE("a name where a section belongs is answered with the section") {
  const ScratchFolder folder;
  const Captured run = predict(folder, "cluster: p3-8xlarge\nmodel: bert-large\n");
  CHECK_THAT(run.err, ContainsSubstring("`model: {profile: NAME}`"));
  CHECK_THAT(run.err, ContainsSubstring("`cluster: {profile: NAME}`"));
}

TEST_CASE("a key in the wrong section is answered with its place") {
  const ScratchFolder folder;
  const Captured run =
      predict(folder, job + "precision: bf16\n", {"--set", "cluster.nic='200 Gb/s'"});
  CHECK_THAT(run.err, ContainsSubstring("did you mean `training.precision`?"));
  CHECK_THAT(run.err, ContainsSubstring("did you mean `inter.bandwidth`?"));
}

TEST_CASE("more GPUs than are modelled are refused where they are asked for") {
  const Captured run = test::payoff(
      {"predict", "--model", "resnet-50", "--cluster", "p3-8xlarge", "--nodes", "1048576"});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("makes 4194304 GPUs; at most 1048576 are modelled"));
  CHECK_THAT(run.err, ContainsSubstring("argument 7: 1048576"));
}

TEST_CASE("mistakes of --observed name the field and show the form") {
  const ScratchFolder folder;
  CHECK_THAT(predict(folder, job, {"--observed", "step=1s,exposed=2s"}).err,
             ContainsSubstring("`exposed` is not shorter than the step it is a part of"));
  CHECK_THAT(predict(folder, job, {"--observed", "step=412"}).err,
             ContainsSubstring("--observed step=412ms,exposed=110ms@dp=32"));
}
