// SPDX-License-Identifier: Apache-2.0
// What a run of payoff-kernels is worth by its exit status and the file that it leaves.
#include "cli/run_kernels.hpp"

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;

namespace {

// A program that does so and ends with a status, 1 as with failed points; $2 is the file to write.
KernelRun run_of(const test::ScratchFolder& folder, const std::string& action, int status = 1) {
  folder.write("program.sh", "#!/bin/sh\n" + action + "\nexit " + std::to_string(status) + "\n");
  std::filesystem::permissions(folder.path("program.sh"), std::filesystem::perms::owner_all);
  return {folder.path("program.sh"), {"--out", folder.path("samples.json")}};
}

}  // namespace

TEST_CASE("a run in which some points failed is kept where its file was written, and only there") {
  const test::ScratchFolder folder;
  CHECK_THROWS_AS(run_kernels(run_of(folder, "true")), std::runtime_error);
  const std::string whole = R"(echo new > "$2.part"; mv "$2.part" "$2")";
  CHECK_NOTHROW(run_kernels(run_of(folder, whole)));
  // An earlier file is not this run's.
  CHECK_THROWS_AS(run_kernels(run_of(folder, "true")), std::runtime_error);
  CHECK_NOTHROW(run_kernels(run_of(folder, whole)));
  // Ended in its middle.
  CHECK_THROWS_AS(run_kernels(run_of(folder, R"(echo part > "$2.part")")), std::runtime_error);
  CHECK_THROWS_AS(run_kernels(run_of(folder, whole + "; exit 2")), std::runtime_error);
}

TEST_CASE("a program that ends well and leaves no file has measured nothing") {
  const test::ScratchFolder folder;
  const std::string whole = R"(echo new > "$2.part"; mv "$2.part" "$2")";
  CHECK_THROWS_WITH(run_kernels(run_of(folder, "true", 0)), ContainsSubstring("wrote no "));
  CHECK_NOTHROW(run_kernels(run_of(folder, whole, 0)));
  CHECK_THROWS_AS(run_kernels(run_of(folder, "true", 0)), std::runtime_error);  // an earlier file
  KernelRun into_device = run_of(folder, R"(echo new > "$2")", 0);
  into_device.words = {"--out", "/dev/null"};
  CHECK_NOTHROW(run_kernels(into_device));
  KernelRun dry = run_of(folder, "true", 0);
  dry.words = {"--dry-run"};
  CHECK_NOTHROW(run_kernels(dry));
}

TEST_CASE("a file that is no samples file is not told as one that was written") {
  const test::ScratchFolder folder;
  const KernelRun half = run_of(folder, R"(echo '{"schema": "payoff-kernels-' > "$2")", 0);
  const test::Captured run = test::payoff(
      {"calibrate", "run", "--program", half.program, "-o", folder.path("samples.json")});
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring("samples.json"));
}

TEST_CASE("names that payoff-kernels does not know are the user's mistake") {
  const test::ScratchFolder folder;
  const std::string program = run_of(folder, "true", 2).program;  // its status for such
  const std::string out = folder.path("samples.json");
  const std::vector<std::string> run{"calibrate", "run", "--program", program};
  const auto answer = [&](std::vector<std::string> more) {
    more.insert(more.begin(), run.begin(), run.end());
    return test::payoff(more);
  };
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{"-o", out}, {"--dry-run"}}) {
    std::vector<std::string> words = more;
    words.insert(words.end(), {"--only", "zzz"});
    const test::Captured refused = answer(words);
    CHECK(refused.code == ExitCode::bad_input);
    CHECK_THAT(refused.err, ContainsSubstring(": zzz\n") &&
                                ContainsSubstring("payoff-kernels refuses its arguments"));
    CHECK(answer(more).code == ExitCode::failure);  // nothing that the user gave is wrong
  }
  CHECK(folder.files() == std::vector<std::string>{"program.sh"});
}
