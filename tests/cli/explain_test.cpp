// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/expression.hpp"
#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using nlohmann::json;

namespace {

json explained(std::vector<std::string> words) {
  words.insert(words.begin(), "explain");
  words.emplace_back("--json");
  const test::Captured run = test::payoff(std::move(words));
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  return json::parse(run.out);
}

// What a reader works out of what is printed, with a calculator.
double worked_out(const std::string& text) {
  INFO(text);
  const auto result = Expression::parse(text, {});
  REQUIRE(result.errors.empty());
  return result.expression.evaluate({});
}

// Six digits are printed.
constexpr double printed = 2e-5;

const json& term_of(const json& explanation, const std::string& name) {
  const json& terms = explanation["terms"];
  const auto found = std::find_if(terms.begin(), terms.end(),
                                  [&](const json& term) { return term["term"] == name; });
  REQUIRE(found != terms.end());
  return *found;
}

const std::vector<std::vector<std::string>>& jobs() {
  static const std::vector<std::vector<std::string>> all{
      test::small_experiment(),
      {"--model", "resnet-50", "--cluster", "p3-8xlarge", "--nodes", "4", "--micro-batch", "32",
       "--compress", "topk:ratio=0.01"},
      {"--model",
       "llama-2-7b",
       "--cluster",
       "dgx-a100",
       "--nodes",
       "8",
       "--tp",
       "4",
       "--pp",
       "2",
       "--micro-batch",
       "1",
       "--micro-batches",
       "8",
       "--precision",
       "bf16",
       "--compress",
       "qsgd:bits=8",
       "--set",
       "layout.recompute=full"}};
  return all;
}

}  // namespace

TEST_CASE("every term of a step can be worked out from the numbers that are printed") {
  for (const auto& words : jobs()) {
    const json explanation = explained(words);
    double sum = 0;
    for (const json& term : explanation["terms"]) {
      INFO(term["term"] << ": " << term["inserted"]);
      const double time = term["time_seconds"];
      CHECK_THAT(worked_out(term["inserted"]), WithinAbs(time, printed * time + 1e-7));
      sum += time;
      for (const json& part : term["parts"]) {
        INFO(part["part"] << ": " << part["numbers"]);
        CHECK_THAT(worked_out(part["numbers"]),
                   WithinRel(part["each_seconds"].get<double>(), printed));
      }
    }
    CHECK(sum > 0);
  }
}

TEST_CASE("experts are divided among ranks of their own, in what is put in too") {
  for (const char* zero : {"2", "3"}) {
    const json explanation =
        explained({"--model", "mixtral-8x7b", "--cluster", "dgx-h100", "--nodes", "4", "--ep", "8",
                   "--micro-batch", "1", "--zero", zero});
    const json& update = term_of(explanation, "optimizer");
    INFO(update["inserted"]);
    const double time = update["time_seconds"];
    CHECK_THAT(worked_out(update["inserted"]), WithinAbs(time, printed * time));
    for (const json& part : term_of(explanation, "bucket_copy")["parts"]) {
      INFO(part["part"] << ": " << part["numbers"]);
      CHECK_THAT(worked_out(part["numbers"]),
                 WithinRel(part["each_seconds"].get<double>(), printed));
    }
  }
}

TEST_CASE("the price of a message is printed by steps and by bytes of both links") {
  for (const auto& words : jobs()) {
    const json term = term_of(explained(words), "exposed_dp");
    CHECK(term["part_section"] == "8.2 Price");
    // In the order of inside, between; of the first choice that is printed.
    std::vector<double> per_byte;
    std::string choice;
    for (const json& number : term["numbers"]) {
      const std::string symbol = number["symbol"];
      if (symbol != "w_i" && symbol != "w_o") {
        continue;
      }
      const std::string meaning = number["meaning"];
      const std::string of = meaning.substr(0, meaning.find(':'));
      choice = choice.empty() ? of : choice;
      if (of == choice) {
        per_byte.push_back(worked_out(number["value"]));
      }
    }
    REQUIRE(per_byte.size() == 2);
    const double both = std::pow(std::pow(per_byte[0], 6) + std::pow(per_byte[1], 6), 1.0 / 6);
    const std::string words_of_choice = choice.substr(choice.find(", "));
    std::size_t with = 0;
    for (const json& part : term["parts"]) {
      const std::string what = part["part"];
      const std::string numbers = part["numbers"];
      if (what.ends_with(words_of_choice) && what.starts_with(choice.substr(0, choice.find(',')))) {
        CHECK_THAT(numbers, ContainsSubstring(fmt::format("* {:.6g} +", both)));
        ++with;
      }
    }
    CHECK(with > 0);
  }
}

TEST_CASE("the kernels that are printed are those that the passes consist of") {
  for (const auto& words : jobs()) {
    const json explanation = explained(words);
    for (const char* name : {"forward", "backward"}) {
      const json& term = term_of(explanation, name);
      double gpu = 0;
      for (const json& part : term["parts"]) {
        gpu += part["count"].get<double>() * part["each_seconds"].get<double>();
      }
      double micro_batches = 0;
      for (const json& number : term["numbers"]) {
        micro_batches =
            number["symbol"] == "m" ? std::stod(number["value"].get<std::string>()) : micro_batches;
      }
      INFO(name);
      // Launches that the GPU waits for come on top.
      CHECK(micro_batches * gpu <= term["time_seconds"].get<double>() * (1 + 1e-9));
      CHECK(micro_batches * gpu > 0.5 * term["time_seconds"].get<double>());
    }
  }
}

TEST_CASE("codecs of weights are told: of each gather, or as part of the update") {
  const auto with = [](const char* zero) {
    return explained({"--model", "llama-2-7b", "--cluster", "dgx-a100", "--nodes", "4", "--zero",
                      zero, "--micro-batch", "1", "--compress", "qwz:traffic=dp_weights"});
  };
  const json sharded = with("3");
  for (const char* name : {"encode", "decode"}) {
    INFO(name);
    const json& term = term_of(sharded, name);
    double alone = 0;
    for (const json& part : term["parts"]) {
      alone += part["count"].get<double>() * part["each_seconds"].get<double>();
    }
    // What runs beside other work is slowed by it, and by less than its half.
    CHECK(alone > 0.5 * term["time_seconds"].get<double>());
  }
  // The codec is in the time of the update, and not in its equation without one.
  const json whole = with("1");
  const json& update = term_of(whole, "optimizer");
  const double time = update["time_seconds"];
  CHECK_THAT(worked_out(update["inserted"]), WithinAbs(time, printed * time));
}

TEST_CASE("sums of experts' gradients are among the messages of the term that is their time") {
  using Kinds = std::set<std::string>;
  const auto kinds_with = [](const char* zero) {
    const json explanation =
        explained({"--model", "mixtral-8x7b", "--cluster", "dgx-h100", "--nodes", "4", "--ep", "8",
                   "--micro-batch", "1", "--zero", zero});
    Kinds kinds;
    for (const json& message : term_of(explanation, "exposed_dp")["messages"]) {
      kinds.insert(message["message"].get<std::string>());
    }
    return kinds;
  };
  CHECK(kinds_with("0") == Kinds{"gradients", "gradients of experts"});
  // The weights of a layer and of its experts are gathered before it runs.
  CHECK(kinds_with("3") ==
        Kinds{"gradients", "gradients of experts", "weights", "weights of experts"});
}

TEST_CASE("the host's time names its source") {
  const json explanation = explained(jobs().front());
  const json& facts = term_of(explanation, "host")["facts"];
  REQUIRE(facts.size() == 1);
  CHECK(facts[0]["path"] == "software.law.host_per_step");
  CHECK_FALSE(facts[0]["citation"].get<std::string>().empty());
}

TEST_CASE("a law counts once however many strategies use it, and what nothing reads not at all") {
  const auto trust = [](std::vector<std::string> more) {
    std::vector<std::string> words{"--model", "gpt2",          "--cluster", "p3-8xlarge", "--nodes",
                                   "2",       "--micro-batch", "4",         "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const test::Captured run = test::predict(words);
    REQUIRE(run.code == ExitCode::success);
    return json::parse(run.out)["trust"];
  };
  const json one = trust({"--compress", "powersgd:rank=4"});
  const json two = trust({"--compress", "powersgd:rank=4", "--compress", "powersgd:rank=8"});
  CHECK(one["assumed"].size() == two["assumed"].size());
  const auto reads = [](const json& of, const std::string& path) {
    return std::any_of(of["assumed"].begin(), of["assumed"].end(),
                       [&](const json& each) { return each.get<std::string>().ends_with(path); });
  };
  CHECK_FALSE(reads(one, "network.rates"));          // for people
  CHECK_FALSE(reads(one, ".law.step_ll128"));        // sockets go without LL128
  CHECK_FALSE(reads(one, "law.random_efficiency"));  // nothing is gathered
  CHECK(reads(trust({"--compress", "topk:ratio=0.01"}), "law.random_efficiency"));
  CHECK(reads(one, "law.gemm_efficiency"));  // PowerSGD multiplies
  CHECK_FALSE(reads(trust({"--compress", "fp16"}), "compress.fp16.law.gemm_efficiency"));
  // On one node nothing of the network.
  const test::Captured alone =
      test::predict({"--model", "gpt2", "--cluster", "p3-8xlarge", "--nodes", "1", "--micro-batch",
                     "4", "--json", "--compress", "fp16"});
  const json node = json::parse(alone.out)["trust"];
  for (const json& path : node["assumed"]) {
    CHECK_FALSE(path.get<std::string>().starts_with("cluster.network."));
  }
}

TEST_CASE("a misspelt term of a step gets the nearest one, the step itself included") {
  std::vector<std::string> words = test::small_experiment();
  words.insert(words.begin(), "explain");
  words.emplace_back("stp");
  const test::Captured run = test::payoff(words);
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("did you mean `step`?"));
}
