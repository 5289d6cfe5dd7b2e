// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/expression.hpp"
#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

// What a step takes around its work, as a user states it and reads it.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using nlohmann::json;
using payoff::test::Captured;
using payoff::test::predicted;
using payoff::test::small_experiment;

namespace {

const std::vector<std::string>& stated() {
  static const std::vector<std::string> all{
      "--set", "training.data_time=1 s",
      "--set", "training.host_jitter.mean=2 ms",
      "--set", "training.host_jitter.distribution=half_normal",
      "--set", "training.checkpoint.every=100",
      "--set", "training.checkpoint.storage=10 MB/s",
      "--set", "training.checkpoint.asynchronous=true",
      "--set", "training.checkpoint.host_copy=10 GB/s"};
  return all;
}

json explained(const std::vector<std::string>& more) {
  std::vector<std::string> words = small_experiment(more);
  words.insert(words.begin(), "explain");
  return test::json_of(words);
}

}  // namespace

TEST_CASE("a result names overheads where the job states some, and not where it states none") {
  const json without = predicted()["plans"][0];
  const json with = predicted(stated())["plans"][0];
  for (const char* key : {"host_jitter_seconds", "data_stall_seconds", "checkpoint_seconds"}) {
    CHECK_FALSE(without["waterfall"].contains(key));
    CHECK(with["waterfall"][key].get<double>() > 0);
  }
  double sum = 0;
  for (const auto& [term, seconds] : with["waterfall"].items()) {
    sum += seconds.get<double>();
  }
  CHECK_THAT(sum, WithinRel(with["step_seconds"].get<double>(), 1e-9));
}

TEST_CASE("every overhead can be worked out from the numbers that are printed") {
  const json explanation = explained(stated());
  for (const char* name : {"host_jitter", "data_stall", "checkpoint"}) {
    const auto term = std::find_if(explanation["terms"].begin(), explanation["terms"].end(),
                                   [&](const json& each) { return each["term"] == name; });
    REQUIRE(term != explanation["terms"].end());
    const std::string inserted = (*term)["inserted"];
    INFO(name << ": " << inserted);
    const auto worked_out = Expression::parse(inserted, {});
    REQUIRE(worked_out.errors.empty());
    CHECK_THAT(worked_out.expression.evaluate({}),
               WithinRel((*term)["time_seconds"].get<double>(), 2e-5));
  }
}

TEST_CASE("updates in backward are explained bucket by bucket") {
  const json explanation = explained({"--set", "training.optimizer_in_backward=true"});
  const auto term = std::find_if(explanation["terms"].begin(), explanation["terms"].end(),
                                 [](const json& each) { return each["term"] == "optimizer"; });
  CHECK_THAT((*term)["equation"].get<std::string>(), ContainsSubstring("buckets"));
  for (const json& part : (*term)["parts"]) {
    const auto worked_out = Expression::parse(part["numbers"].get<std::string>(), {});
    REQUIRE(worked_out.errors.empty());
    CHECK_THAT(worked_out.expression.evaluate({}),
               WithinRel(part["each_seconds"].get<double>(), 2e-5));
  }
}

TEST_CASE("the table has a column for overheads, the file of values one more") {
  std::vector<std::string> words = stated();
  words.insert(words.end(), {"--csv", "-"});
  const Captured table = test::predict(small_experiment(stated()));
  CHECK_THAT(table.out, ContainsSubstring("| overheads |"));
  const Captured csv = test::predict(small_experiment(words));
  CHECK_THAT(csv.out, ContainsSubstring("verdict,overheads_seconds\n"));
  const Captured without = test::predict(small_experiment({"--csv", "-"}));
  CHECK_THAT(without.out, ContainsSubstring("fits,verdict\n"));
}

TEST_CASE("all mistakes about overheads are told at once") {
  const Captured run = test::predict(small_experiment(
      {"--set", "training.data_time=30", "--set", "training.host_jitter.distribution=normal",
       "--set", "training.checkpoint.every=0", "--set", "training.checkpoint.host_copy=1 GB/s"}));
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  for (const char* text :
       {"`training.data_time` has no unit", "one of: exponential, half_normal",
        "missing key `mean` in `training.host_jitter`", "`training.checkpoint.every`",
        "missing key `storage` in `training.checkpoint`", "is of asynchronous checkpoints"}) {
    INFO(text);
    CHECK_THAT(run.err, ContainsSubstring(text));
  }
}
