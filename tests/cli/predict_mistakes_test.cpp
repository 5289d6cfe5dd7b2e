// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
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

TEST_CASE("a number that is none has no multiples, and makes no batch") {
  const auto errors = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"--model", "gpt2", "--cluster", "p3-8xlarge", "--nodes", "2"});
    const Captured run = predict(std::move(more));
    INFO(run.err);
    CHECK(run.code == ExitCode::bad_input);
    CHECK_THAT(run.err, ContainsSubstring("\n1 error;"));
  };
  errors({"--micro-batch", "1", "--global-batch", "many"});
  errors({"--micro-batch", "1", "--global-batch", "0"});
  errors({"--micro-batch", "x", "--global-batch", "12"});
  errors({"--micro-batch", "1", "--dp", "x", "--global-batch", "12"});
  errors({"--micro-batch", "1", "--tp", "x", "--global-batch", "12"});
  errors({"--micro-batch", "1", "--micro-batches", "x", "--global-batch", "16"});
  // Three of one micro-batch of 8 GPUs is what was meant, and is wrong.
  errors({"--micro-batch", "1", "--global-batch", "12"});
}

TEST_CASE("what is wrong with one strategy hides nothing of another") {
  const Captured run =
      predict(small_experiment({"--zero", "3", "--compress", "qwz", "--compress", "topk"}));
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("`qwz` does not compress dp_gradients"));
  CHECK_THAT(run.err, ContainsSubstring("`topk` needs the whole gradient"));
}

TEST_CASE("a rate without a unit does not hide a layout that does not fill the cluster") {
  const Captured run = predict({"--model", "bert-large", "--cluster", "p3-8xlarge", "--nodes", "8",
                                "--dp", "31", "--bandwidth", "10"});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("has no unit"));
  CHECK_THAT(run.err, ContainsSubstring("31 ranks, but the cluster has 32 GPUs"));
}

TEST_CASE("a key that resembles none of ours does not hide an impossible layout") {
  const Captured run = predict({"--model", "bert-large", "--cluster", "p3-8xlarge", "--nodes", "8",
                                "--tp", "3", "--set", "foo.bar=1"});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("unknown key `foo`"));
  CHECK_THAT(run.err, ContainsSubstring("do not fill nodes of 4 GPUs evenly"));
}

TEST_CASE("a part of the cluster that is no text is one mistake, not also an unknown name") {
  const Captured run = predict(small_experiment({"--set", "cluster.network={bandwidth: 10}"}));
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("1 error; nothing was run"));
}

TEST_CASE("a misspelt name that other tools use is answered with ours") {
  const Captured run = predict(small_experiment({"--set", "cluster.bandwith='10 Gb/s'"}));
  CHECK_THAT(run.err, ContainsSubstring("did you mean `inter.bandwidth`?"));
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

TEST_CASE("a file that is not there hides no mistake of the user's, whichever is found first") {
  const Captured run = predict({"no/such/experiment.yaml", "--band", "much", "--observed",
                                "gone.json", "--save", "no/such/folder/out.yaml"});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("--band"));
  CHECK_THAT(run.err, ContainsSubstring("cannot read `no/such/experiment.yaml`"));
}

TEST_CASE("a measurement that is a file is told where there is none of its name") {
  const Captured run = predict(small_experiment({"--observed", "gone.json"}));
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("`gone.json` is no file"));
  CHECK_THAT(run.err, ContainsSubstring("1 error;"));
}

TEST_CASE("tokens that are no number are one mistake, whatever is to be priced with them") {
  const Captured run =
      predict(small_experiment({"--tokens", "x", "--price", "2 USD/h", "--network-price", "5"}));
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("--tokens"));
  CHECK_THAT(run.err, !ContainsSubstring("without --tokens"));
  CHECK_THAT(run.err, ContainsSubstring("1 error;"));
}
