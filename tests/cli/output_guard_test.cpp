// SPDX-License-Identifier: Apache-2.0
#include "cli/output_guard.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using payoff::test::Captured;
using payoff::test::read_text;
using payoff::test::ScratchFolder;

namespace {

const std::string job = std::string(test::small_job) + "compress: [\"powersgd:rank=4\"]\n";

// Words that make the command work, but for its outputs.
std::vector<std::string> working(const Command& command, const ScratchFolder& folder) {
  if (command.name == "collective") {
    return {"collective", "all_reduce", "--cluster", "p3-8xlarge", "--sizes", "1MiB"};
  }
  if (command.name == "profiles") {
    return {"profiles", "show", "p3-8xlarge"};
  }
  if (command.name == "methods") {
    return {"methods", "show", "powersgd"};
  }
  if (command.name == "validate") {
    return {"validate"};
  }
  if (command.name == "calibrate") {
    return {"calibrate", "fit", "network"};
  }
  if (command.name == "import") {
    return {"import", "nccl-log", PAYOFF_SOURCE_DIR "/examples/12-own-trace/nccl.log"};
  }
  if (command.name == "survey") {
    return {"survey", folder.path("job.yaml"), "--over", "nodes=2"};
  }
  if (command.name == "rerun") {
    folder.write("kept.json", R"({"command_line": "payoff profiles list --json"})");
    return {"rerun", folder.path("kept.json")};
  }
  if (command.name == "run") {
    return {"run", folder.path("job.yaml"), "--set", "run.phases=[{iterations: 10}]"};
  }
  return {std::string(command.name), folder.path("job.yaml")};
}

// A name that the option takes and that says what it is.
std::string named(const OptionSpec& option, const ScratchFolder& folder) {
  const bool draws = option.name == "-o" || option.name == "--plot";
  return folder.path(draws ? "result.svg" : "result.json");
}

std::vector<OptionSpec> writing(const Command& command) {
  std::vector<OptionSpec> found;
  for (const OptionSpec& option : command.options) {
    if (option.writes) {
      found.push_back(option);
    }
  }
  return found;
}

std::string name_of_option(const OptionSpec& option) { return std::string(option.name); }

void check_refused(const Captured& run, const std::string& why) {
  INFO(run.err);
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring(why));
}

}  // namespace

TEST_CASE("two results of any command do not share a file") {
  const ScratchFolder folder;
  folder.write("job.yaml", job);
  int pairs = 0;
  for (const Command& command : all_commands()) {
    const std::vector<OptionSpec> outputs = writing(command);
    for (std::size_t i = 1; i < outputs.size(); ++i) {
      INFO(command.name << " " << outputs[0].name << " " << outputs[i].name);
      const std::string file = named(outputs[i], folder);
      std::vector<std::string> words = working(command, folder);
      // The second is spelt otherwise: it is the file that counts.
      const std::string respelt =
          folder.path("./" + std::filesystem::path(file).filename().string());
      words.insert(words.end(),
                   {name_of_option(outputs[0]), file, name_of_option(outputs[i]), respelt});
      check_refused(test::payoff(words), "both write");
      ++pairs;
    }
  }
  CHECK(pairs >= 6);
  CHECK(folder.files() == std::vector<std::string>{"job.yaml"});
}

TEST_CASE("two results do not share standard output") {
  check_refused(test::payoff({"collective", "all_reduce", "--cluster", "p3-8xlarge", "--sizes",
                              "1MiB", "--json", "--csv", "-"}),
                "both write standard output");
}

TEST_CASE("no result of any command is written over the experiment") {
  const ScratchFolder folder;
  for (const Command& command : all_commands()) {
    for (const OptionSpec& option : writing(command)) {
      if (working(command, folder).back() != folder.path("job.yaml")) {
        continue;
      }
      INFO(command.name << " " << option.name);
      // What is drawn has a name that says so: the experiment is read whatever it is called.
      const std::string drawn = command.name == "report" ? "job.html" : "job.gp";
      const std::string name = option.name == "-o" ? drawn : "job.json.yaml";
      folder.write(name, job);
      std::vector<std::string> words{std::string(command.name), folder.path(name)};
      if (command.name == "predict") {
        words.emplace_back("--force");
      }
      words.push_back(name_of_option(option) == "--json" ? "--json=" + folder.path(name)
                                                         : name_of_option(option));
      if (option.name != "--json") {
        words.push_back(folder.path(name));
      }
      check_refused(test::payoff(words), "is an input of this run");
      CHECK(read_text(folder.path(name)) == job);
    }
  }
}

TEST_CASE("no result is written over a profile that is read") {
  const ScratchFolder folder;
  folder.write("mine.yaml", read_text(PAYOFF_SOURCE_DIR "/profiles/cluster/p3-8xlarge.yaml"));
  const std::string profile = read_text(folder.path("mine.yaml"));
  const std::string mine = folder.path("mine.yaml");
  const std::vector<std::vector<std::string>> runs = {
      {"collective", "all_reduce", "--cluster", mine, "--csv", mine},
      {"predict", "--model", "resnet-50", "--cluster", mine, "--nodes", "2", "--csv", mine},
      {"simulate", "--model", "resnet-50", "--set", "cluster.profile=" + mine, "--cluster", mine,
       "--nodes", "2", "--trace", mine}};
  for (const std::vector<std::string>& words : runs) {
    CHECK_THAT(test::payoff(words).err, ContainsSubstring("is an input of this run"));
    CHECK(read_text(mine) == profile);
  }
}

TEST_CASE("showing a profile does not replace it") {
  const ScratchFolder folder;
  std::filesystem::copy(PAYOFF_SOURCE_DIR "/profiles", folder.path("profiles"),
                        std::filesystem::copy_options::recursive);
  const std::string file = folder.path("profiles/gpu/t4.yaml");
  const std::string before = read_text(file);
  check_refused(
      test::payoff_with(folder.path("profiles"), {"profiles", "show", "t4", "--csv", file}),
      "is an input of this run");
  CHECK(read_text(file) == before);
}

TEST_CASE("showing a method of a file of one's own does not replace it") {
  const ScratchFolder folder;
  folder.write("mine.yaml", read_text(PAYOFF_SOURCE_DIR "/profiles/compression/fp16.yaml"));
  const std::string mine = folder.path("mine.yaml");
  const std::string before = read_text(mine);
  check_refused(test::payoff({"methods", "show", mine, "--csv", mine}), "is an input of this run");
  CHECK(read_text(mine) == before);
}

TEST_CASE("validating replaces no measurement, and fitting neither") {
  const ScratchFolder folder;
  const std::filesystem::path data = folder.path("validation");
  std::filesystem::create_directories(data / "nccl");
  const std::string split = "group,half\n";
  folder.write("validation/split.csv", split);
  folder.write("validation/network.yaml", "mine\n");
  check_refused(
      test::payoff({"validate", "--data", data.string(), "--csv", (data / "split.csv").string()}),
      "is an input of this run");
  CHECK(read_text((data / "split.csv").string()) == split);
  folder.write("rows.yaml", "rows\n");
  check_refused(test::payoff({"validate", folder.path("rows.yaml"), "--csv",
                              folder.path("rows.yaml"), "--data", data.string()}),
                "is an input of this run");
  CHECK(read_text(folder.path("rows.yaml")) == "rows\n");
  folder.write("rows.gp", "rows\n");
  check_refused(test::payoff({"validate", folder.path("rows.gp"), "--set", "step", "--plot",
                              folder.path("rows.gp"), "--data", data.string()}),
                "is an input of this run");
  CHECK(read_text(folder.path("rows.gp")) == "rows\n");
  check_refused(test::payoff({"calibrate", "fit", "network", "--data", data.string(), "--out",
                              data.string()}),
                "is an input of this run");
  CHECK(read_text((data / "network.yaml").string()) == "mine\n");
}

TEST_CASE("a result may be written over another result, and nowhere") {
  const ScratchFolder folder;
  folder.write("old.csv", "old\n");
  const std::vector<std::string> ask{
      "collective", "all_reduce", "--cluster", "p3-8xlarge",
      "--sizes",    "1MiB",       "--csv",     folder.path("old.csv")};
  CHECK(test::payoff(ask).code == ExitCode::success);
  CHECK(read_text(folder.path("old.csv")) != "old\n");
  CHECK(test::payoff({"collective", "all_reduce", "--cluster", "p3-8xlarge", "--sizes", "1MiB",
                      "--csv", "/dev/null", "--json=/dev/null"})
            .code == ExitCode::success);
}
