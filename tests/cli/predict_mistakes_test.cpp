// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using payoff::test::Captured;
using payoff::test::predict;
using payoff::test::ScratchFolder;
using payoff::test::small_experiment;

TEST_CASE("all mistakes of a command line are told at once, and nothing is written") {
  const ScratchFolder folder;
  const Captured run = predict({"--model",    "gtp2",
                                "--cluster",  "p3-8xlage",
                                "--nodes",    "2",
                                "--dp",       "x",
                                "--bucket",   "25",
                                "--compress", "powersgd:rnk=4",
                                "--set",      "layuot.tp=2",
                                "--observed", "step=3",
                                "--engine",   "agarwal2020",
                                "--save",     folder.path("a.yaml"),
                                "--json",     folder.path("a.json"),
                                "--csv",      folder.path("a.csv")});
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  for (const char* text :
       {"did you mean `gpt2`?", "did you mean `p3-8xlarge`?", "is not a whole number",
        "`training.bucket` has no unit", "did you mean `rank`?", "did you mean `layout`?",
        "`--observed step` has no unit", "did you mean `agarwal2022",
        "8 errors; nothing was run"}) {
    INFO(text);
    CHECK_THAT(run.err, ContainsSubstring(text));
  }
  CHECK(folder.files().empty());
}

TEST_CASE("a layout that does not fill the cluster is refused at the option that asks for it") {
  const Captured run = predict(small_experiment({"--tp", "3"}));
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("--> argument"));
  CHECK_THAT(run.err, ContainsSubstring("nothing was run"));
}

TEST_CASE("without a file, model and cluster are needed") {
  const Captured run = predict({"--nodes", "2"});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("--model"));
  CHECK_THAT(run.err, ContainsSubstring("--cluster"));
}

TEST_CASE("a file that is not there is the world's fault, not the user's input") {
  CHECK(predict({"no/such/experiment.yaml"}).code == ExitCode::failure);
}
