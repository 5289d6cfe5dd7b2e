// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>
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
using payoff::test::json_of;

namespace {

// GPT-2 on 8 GPUs of two nodes at 10 Gb/s.
const std::vector<std::string> job{"--model",    "gpt2", "--cluster",   "p3-8xlarge",
                                   "--nodes",    "2",    "--precision", "fp16",
                                   "--sequence", "1024", "--software",  "megatron-2020"};

std::vector<std::string> search_small(std::vector<std::string> more) {
  std::vector<std::string> words{"search", "--micro-batch", "4"};
  words.insert(words.end(), job.begin(), job.end());
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<std::string> words_after(const std::string& text, const std::string& begin) {
  const std::size_t start = text.find(begin) + begin.size();
  std::istringstream line(text.substr(start, text.find('\n', start) - start));
  std::vector<std::string> words;
  for (std::string word; line >> word;) {
    word.erase(std::remove(word.begin(), word.end(), '\''), word.end());  // the shell's
    words.push_back(word);
  }
  return words;
}

}  // namespace

TEST_CASE("the options that a search prints give the step that it found") {
  const std::vector<std::string> asked{"--compress", "powersgd:rank=4", "--keep",      "cp",
                                       "--keep",     "schedule",        "--finalists", "1"};
  const Captured run = test::payoff(search_small(asked));
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  const json found = json_of(search_small(asked));
  std::vector<std::string> words = words_after(run.out, "layout as options: ");
  words.insert(words.begin(), "predict");
  words.insert(words.end(), job.begin(), job.end());
  const json predicted = json_of(words);
  CHECK(predicted["plans"][0]["step_seconds"].get<double>() ==
        found["uncompressed"][0]["analytical_step_seconds"].get<double>());
}

TEST_CASE("the options that a search prints go over whatever the job says of its layout") {
  const auto said =
      GENERATE(std::vector<std::string>{"--zero", "3", "--shard-ranks", "4"},
               std::vector<std::string>{"--pp", "2", "--micro-batches", "4", "--schedule", "zb-h1"},
               std::vector<std::string>{"--pp", "2", "--micro-batches", "4", "--set",
                                        "layout.stage_layers=[5, 7]"});
  const test::ScratchFolder folder;
  const std::string file = folder.path("job.yaml");
  std::vector<std::string> save{"predict", "--save", file};
  save.insert(save.end(), job.begin(), job.end());
  save.insert(save.end(), said.begin(), said.end());
  REQUIRE(test::payoff(save).code == ExitCode::success);
  const std::vector<std::string> search{"search",     file,          "--keep", "cp",
                                        "--keep",     "micro_batch", "--keep", "recompute",
                                        "--compress", "fp16"};
  const Captured run = test::payoff(search);
  INFO(run.out + run.err);
  REQUIRE(run.code == ExitCode::success);
  std::vector<std::string> predict = words_after(run.out, "layout as options: ");
  predict.insert(predict.begin(), {"predict", file});
  const json found = json_of(search);
  CHECK(json_of(predict)["plans"][0]["step_seconds"].get<double>() ==
        found["uncompressed"][0]["analytical_step_seconds"].get<double>());
}

TEST_CASE("every candidate of a search is counted once") {
  const json found = json_of(search_small({"--compress", "signsgd", "--keep", "cp"}));
  const json& counts = found["candidates"];
  CHECK(counts["considered"] == 2 * counts["layouts"].get<int>());
  CHECK(counts["considered"] == counts["refused"].get<int>() + counts["no_memory"].get<int>() +
                                    counts["ruled_out"].get<int>() + counts["priced"].get<int>());
  CHECK(found["complete"] == true);
}

TEST_CASE("the best layout is no slower than the job as given, and compression is held to it") {
  const json found = json_of(search_small({"--compress", "powersgd:rank=4"}));
  const json& best = found["uncompressed"][0];
  CHECK(best["analytical_step_seconds"] <= found["given"]["analytical_step_seconds"]);
  CHECK_THAT(found["compression_gain"]["speedup"].get<double>(),
             WithinRel(best["step_seconds"].get<double>() /
                           found["compressed"][0]["step_seconds"].get<double>(),
                       1e-12));
  for (const json& finalist : found["compressed"]) {
    CHECK(finalist["strategy"] == "powersgd:rank=4");
    CHECK(finalist["fits"] == true);
  }
}

TEST_CASE(
    "without plans of its own a job is searched with the usual ones, with none where it says so") {
  const std::vector<std::string> keep{"--keep", "cp", "--keep", "schedule",
                                      "--keep", "tp", "--keep", "micro_batch"};
  CHECK(json_of(search_small(keep))["strategies"].size() == 11);
  std::vector<std::string> none = keep;
  none.insert(none.begin(), {"--set", "compress=[]"});
  const json found = json_of(search_small(none));
  CHECK(found["strategies"] == json{"none"});
  CHECK(found["compressed"].empty());
  CHECK(found["compression_gain"].is_null());
}

TEST_CASE("a part that no layout has is told with what was meant") {
  const Captured run = test::payoff(search_small({"--keep", "micro_bach", "--finalists", "99"}));
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring("micro_batch"));
  CHECK_THAT(run.err, ContainsSubstring("--finalists"));
}

TEST_CASE("a search takes plans that the job as given cannot have, and another layout can") {
  const std::vector<std::string> asked{
      "--compress", "qwz:traffic=dp_weights + qgz", "--keep", "cp", "--keep", "schedule"};
  const Captured run = test::payoff(search_small(asked));
  INFO(run.err);
  CHECK(run.code == ExitCode::success);
  const json found = json_of(search_small(asked));
  REQUIRE_FALSE(found["compressed"].empty());
  CHECK(found["compressed"][0]["layout"]["zero"].get<int>() > 0);
}

TEST_CASE("a search refuses all plans that no layout of it can have, together") {
  const Captured run =
      test::payoff(search_small({"--compress", "qgz", "--compress", "signsgd", "--compress",
                                 "qwz:traffic=dp_weights", "--keep", "zero"}));
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("`qgz` leaves each rank the sum of its own part"));
  CHECK_THAT(run.err, ContainsSubstring("compresses weights, and none are gathered; no layout"));
  CHECK_THAT(run.err, ContainsSubstring("2 errors"));
}
