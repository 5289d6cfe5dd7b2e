// SPDX-License-Identifier: Apache-2.0
// Files and options that an action of calibrate has no use for, and runs that give nothing.
#include <filesystem>
#include <string>
#include <vector>

#include "cli/exit_code.hpp"
#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"
#include "tests/cli/invented_samples.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using payoff::test::invented::samples_of;

TEST_CASE("files that are no samples are refused by every action, whichever of them they are") {
  const test::ScratchFolder folder;
  folder.write("good.json", samples_of());
  folder.write("empty.json", "");
  folder.write("binary.json", std::string("\x00\x01\xff\xfe[{", 6));
  folder.write("profile.json", "gpu: h100\ndescription: x\n");
  folder.write("other.json", "{\"context\": {}, \"benchmarks\": []}");
  std::filesystem::create_directories(folder.path("folder.json"));
  const auto run = [&](std::vector<std::string> words, ExitCode code, const std::string& reason) {
    words.insert(words.begin(), "calibrate");
    const test::Captured captured = test::payoff(words);
    INFO(words[1] << ": " << captured.err);
    CHECK(captured.code == code);
    CHECK_THAT(captured.err, ContainsSubstring(reason));
    CHECK(captured.out.empty());
  };
  for (const char* wrong : {"empty", "binary", "profile", "other"}) {
    const std::string file = folder.path(std::string(wrong) + ".json");
    const std::string place = std::string(wrong) + ".json:1:1";
    run({"show", file}, ExitCode::bad_input, place);
    run({"fit", file, "-o", folder.path("out.yaml")}, ExitCode::bad_input, place);
    run({"check", folder.path("good.json"), file}, ExitCode::bad_input, place);
    run({"check", file, folder.path("good.json")}, ExitCode::bad_input, place);
    run({"import", file, "-o", folder.path("out.json")}, ExitCode::bad_input,
        std::string(wrong) + ".json:");
  }
  for (const char* absent : {"absent", "folder"}) {
    const std::string file = folder.path(std::string(absent) + ".json");
    run({"show", file}, ExitCode::failure, absent);
    run({"check", folder.path("good.json"), file}, ExitCode::failure, absent);
    // What is wrong with the others is told all the same.
    run({"show", file, folder.path("empty.json")}, ExitCode::bad_input, "empty.json:1:1");
    run({"show", file, folder.path("empty.json")}, ExitCode::bad_input, absent);
    run({"import", file, "-o", folder.path("out.json")}, ExitCode::failure, absent);
    run({"import", file, folder.path("empty.json"), "-o", folder.path("out.json")},
        ExitCode::bad_input, "empty.json:1:1");
  }
  run({"fit", folder.path("folder.json"), "-o", folder.path("out.yaml")}, ExitCode::failure,
      "is a folder");
}

TEST_CASE("files, actions and places that are missing are named") {
  const test::ScratchFolder folder;
  folder.write("samples.json", samples_of());
  const std::string samples = folder.path("samples.json");
  CHECK_THAT(test::payoff({"calibrate", "fit", samples}).err,
             ContainsSubstring("nothing says where the profile goes"));
  CHECK_THAT(test::payoff({"calibrate", "fit", samples, "-o", samples}).err,
             ContainsSubstring("input of this run"));
  CHECK_THAT(test::payoff({"calibrate", "check", samples}).err, ContainsSubstring("not 1 files"));
  CHECK_THAT(test::payoff({"calibrate", "shew", samples}).err, ContainsSubstring("did you mean"));
  CHECK_THAT(test::payoff({"calibrate", "run"}).err,
             ContainsSubstring("nothing says where the samples go"));
}

TEST_CASE("a run says why there are no samples") {
  const auto run = [](const std::string& program) {
    return test::payoff({"calibrate", "run", "-o", "samples.json", "--program", program});
  };
  CHECK(run("/bin/false").code == ExitCode::failure);
  CHECK_THAT(run("/nowhere/payoff-kernels").err, ContainsSubstring("is not there"));
  CHECK_THAT(run("/bin/false").err, ContainsSubstring("exit status 1"));
}

TEST_CASE("a fit without samples, or with options of other actions, writes no law") {
  const test::ScratchFolder folder;
  const std::string profile = folder.path("x.yaml");
  const test::Captured laws =
      test::payoff({"calibrate", "fit", "-o", profile, "--out", folder.path("")});
  CHECK(laws.code == ExitCode::bad_input);
  CHECK_THAT(laws.err, ContainsSubstring("`fit LAW` has no use for `-o`") &&
                           ContainsSubstring("name the samples to fit"));
  const test::Captured samples = test::payoff(
      {"calibrate", "fit", folder.path("a.json"), "-o", profile, "--check", "--only", "copy"});
  CHECK(samples.code == ExitCode::bad_input);
  CHECK_THAT(samples.err, ContainsSubstring("`fit SAMPLES` has no use for `--check`") &&
                              ContainsSubstring("`fit SAMPLES` has no use for `--only`"));
  CHECK(folder.files().empty());
}

// Half a minute of fits would be lost: nothing is printed of any.
TEST_CASE("laws that would go to a folder that is not there are not fitted") {
  const test::ScratchFolder folder;
  const test::Captured run =
      test::payoff({"calibrate", "fit", "all", "--out", folder.path("missing")});
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring("`--out`: there is no folder `" + folder.path("missing")));
}

TEST_CASE("a dry run of measuring needs no file to write, and goes with nothing else") {
  const test::Captured run = test::payoff({"calibrate", "run", "--dry-run", "--program", "true"});
  INFO(run.err);
  CHECK(run.code == ExitCode::success);
  CHECK(run.out.empty());  // what is told is told by the program
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"calibrate", "fit", "network", "--dry-run"},
                                             {"calibrate", "show", "x.yaml", "--dry-run"}}) {
    const test::Captured other = test::payoff(words);
    CHECK(other.code == ExitCode::bad_input);
    CHECK_THAT(other.err, ContainsSubstring("` has no use for `--dry-run`"));
  }
}
