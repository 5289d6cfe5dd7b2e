// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

// `payoff check` reads the file that was named, whatever else has its name.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using payoff::test::Captured;
using payoff::test::read_text;
using payoff::test::ScratchFolder;

namespace {

const std::string profiles = PAYOFF_SOURCE_DIR "/profiles/";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a profile is checked as it lies there, not the shipped one of its name") {
  const ScratchFolder folder;
  const std::string shipped = read_text(profiles + "cluster/p3-8xlarge.yaml");
  folder.write("p3-8xlarge.yaml", shipped);
  const std::string file = folder.path("p3-8xlarge.yaml");
  CHECK(test::payoff({"check", file}).out == file + ": cluster, no mistakes\n");

  const std::size_t rate = shipped.find("nic_bandwidth:");
  const std::size_t end = shipped.find('\n', rate);
  folder.write("p3-8xlarge.yaml",
               std::string(shipped).replace(rate, end - rate, "nic_bandwidth: 10"));
  const Captured wrong = test::payoff({"check", file});
  CHECK(wrong.code == ExitCode::bad_input);
  CHECK_THAT(wrong.err, ContainsSubstring(file));
  CHECK_THAT(wrong.err, ContainsSubstring("has no unit"));
}

TEST_CASE("a profile under a name of its own is found, of every kind") {
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"cluster/dgx-a100", "cluster"},     {"gpu/t4", "gpu"},
      {"fabric/nvlink-mesh-v2", "fabric"}, {"network/ib", "network"},
      {"model/resnet-50", "model"},        {"software/pytorch-2", "software"},
      {"compression/topk", "compression"}};
  for (const auto& [name, kind] : kinds) {
    const ScratchFolder folder;
    const std::string text = read_text(profiles + name + ".yaml");
    if (text.empty()) {
      FAIL("no profile " << name);
    }
    folder.write("mine.yaml", text);
    const Captured good = test::payoff({"check", folder.path("mine.yaml")});
    INFO(good.err);
    CHECK(good.out == folder.path("mine.yaml") + ": " + kind + ", no mistakes\n");
    folder.write("mine.yaml", text + "no_such_key: 1\n");
    const Captured wrong = test::payoff({"check", folder.path("mine.yaml")});
    CHECK_THAT(wrong.err, ContainsSubstring("unknown key `no_such_key`"));
    CHECK_THAT(wrong.err, ContainsSubstring(folder.path("mine.yaml")));
  }
}

TEST_CASE("a shipped profile is held to a source for every number") {
  CHECK(test::payoff({"check", profiles + "gpu/t4.yaml"}).code == ExitCode::success);
}

TEST_CASE("a profile may begin with any key, and an experiment is none") {
  const ScratchFolder folder;
  const std::string gpu = read_text(profiles + "gpu/t4.yaml");
  const std::size_t line = gpu.find("gpu: ");
  const std::string named = gpu.substr(line, gpu.find('\n', line) + 1 - line);
  folder.write("gpu.yaml", replaced(gpu, named, "") + named);
  CHECK_THAT(test::payoff({"check", folder.path("gpu.yaml")}).out, ContainsSubstring(": gpu, no"));
  folder.write("job.yaml",
               "software: pytorch-2\ncluster: {profile: p3-8xlarge}\nmodel: {profile: gpt2}\n");
  CHECK_THAT(test::payoff({"check", folder.path("job.yaml")}).out,
             ContainsSubstring(": experiment, no mistakes"));
}

TEST_CASE("an empty file is said to be empty, and no other") {
  const ScratchFolder folder;
  folder.write("bad.yaml", "cluster: {profil: p3-8xlarge}\nmodel: {profile: gpt2}\n");
  folder.write("empty.yaml", "");
  const Captured run = test::payoff(
      {"check", folder.path("bad.yaml"), folder.path("empty.yaml"), "--error-format", "json"});
  CHECK(run.code == ExitCode::bad_input);
  int empty = 0;
  const auto json = nlohmann::json::parse(run.err);
  for (const auto& error : json["errors"]) {
    if (error["message"] == "the document is empty") {
      CHECK(error["file"] == folder.path("empty.yaml"));
      ++empty;
    }
  }
  CHECK(empty == 1);
  const Captured alone =
      test::payoff({"check", "--error-format", "json", folder.path("empty.yaml")});
  CHECK(nlohmann::json::parse(alone.err)["errors"][0]["file"] == folder.path("empty.yaml"));
}

TEST_CASE("a file that cannot be read does not keep the others from being checked") {
  const ScratchFolder folder;
  folder.write("bad.yaml", "nonsense: 1\n");
  const Captured run = test::payoff({"check", "no/such/file.yaml", folder.path("bad.yaml")});
  CHECK(run.code == ExitCode::failure);
  CHECK_THAT(run.err, ContainsSubstring("no/such/file.yaml"));
  CHECK_THAT(run.err, ContainsSubstring("unknown key `nonsense`"));
}

TEST_CASE("JSON of check says of each file what it is, and how many mistakes it has") {
  const ScratchFolder folder;
  folder.write("good.yaml", test::small_job);
  folder.write("bad.yaml", std::string(test::small_job) + "layuot: {}\n");
  const Captured run = test::payoff({"check", folder.path("good.yaml"), folder.path("bad.yaml"),
                                     folder.path("gone.yaml"), "--json"});
  CHECK(run.code == ExitCode::failure);  // of the file that is not there
  const auto files = nlohmann::json::parse(run.out)["files"];
  REQUIRE(files.size() == 3);
  CHECK(files[0]["kind"] == "experiment");
  CHECK(files[0]["mistakes"] == 0);
  CHECK(files[1]["mistakes"] == 1);
  CHECK(files[2].contains("unreadable"));
}
