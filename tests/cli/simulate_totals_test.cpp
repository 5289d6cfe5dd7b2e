// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

// What `simulate --json` says of a step, derived again from the timeline of the same run: every
// total is a sum over its spans.

using namespace payoff;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using nlohmann::json;
using payoff::test::Captured;
using payoff::test::ScratchFolder;

namespace {

struct Span {
  std::string name;
  std::size_t stage;
  std::size_t track;  // 0 compute, 1 codec, 2 gradients, 3 activations, then sends
  double begin;       // seconds
  double time;
  double alone;
  double bytes;  // of a message
  std::string collective;
  std::string item;

  [[nodiscard]] double end() const { return begin + time; }
  [[nodiscard]] bool is_message() const { return !collective.empty(); }
};

std::vector<Span> spans_of(const json& trace) {
  std::vector<Span> spans;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") {
      const json& about = event["args"];
      spans.push_back({event["name"], event["pid"], event["tid"], event["ts"].get<double>() * 1e-6,
                       event["dur"].get<double>() * 1e-6, about["alone_us"].get<double>() * 1e-6,
                       about.value("bytes", 0.0), about.value("collective", ""),
                       about.value("item", "")});
    }
  }
  return spans;
}

template <class Wanted, class Value>
double sum(const std::vector<Span>& spans, Wanted&& wanted, Value&& value) {
  double total = 0;
  for (const Span& span : spans) {
    total += wanted(span) ? value(span) : 0.0;
  }
  return total;
}

// Time in which a span of the one kind runs and none of the other.
template <class One, class Other>
double only(const std::vector<Span>& spans, One&& one, Other&& other) {
  std::vector<std::pair<double, int>> changes;  // dates; +-1 of the one, +-2^20 of the other
  constexpr int many = 1 << 20;
  for (const Span& span : spans) {
    const int weight = one(span) ? 1 : other(span) ? many : 0;
    changes.emplace_back(span.begin, weight);
    changes.emplace_back(span.end(), -weight);
  }
  std::sort(changes.begin(), changes.end());
  double total = 0;
  int running = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (i > 0 && running > 0 && running < many) {
      total += changes[i].first - changes[i - 1].first;
    }
    running += changes[i].second;
  }
  return total;
}

struct Run {
  json plan;
  std::vector<Span> spans;  // of all stages
  std::vector<Span> last;   // of the stage that ends last

  [[nodiscard]] double of(const char* key) const { return plan[key].get<double>(); }
  [[nodiscard]] double term(const std::string& name) const {
    return plan["waterfall"][name + "_seconds"].get<double>();
  }
};

Run run(std::vector<std::string> words, const std::string& plan) {
  const ScratchFolder folder;
  const std::string file = folder.path("step.json");
  words.insert(words.begin(), "simulate");
  words.insert(words.end(), {"--plan", plan, "--trace", file, "--json"});
  const Captured captured = test::payoff(words);
  INFO(captured.err);
  REQUIRE(captured.code == ExitCode::success);
  Run result{
      json::parse(captured.out)["plans"][0], spans_of(json::parse(test::read_text(file))), {}};
  const std::size_t last = result.plan["last_stage"];
  std::copy_if(result.spans.begin(), result.spans.end(), std::back_inserter(result.last),
               [&](const Span& span) { return span.stage == last; });
  return result;
}

// Of the last span of all.
double end_of(const Run& step) {
  double end = 0;
  for (const Span& span : step.spans) {
    end = std::max(end, span.end());
  }
  return end;
}

void check_causes(const Run& step) {
  const auto time = [](const Span& span) { return span.time; };
  const auto alone = [](const Span& span) { return span.alone; };
  const auto named = [](const char* name) {
    return [name](const Span& span) { return span.name == name; };
  };
  const auto computes = [](const Span& span) { return span.track == 0 || span.track == 3; };
  const auto near = [](double value) { return WithinAbs(value, 1e-9); };
  const double end = end_of(step);

  CHECK_THAT(step.of("step_seconds"), near(end));
  // What both ends of the pipeline sum is one message, on the timelines of both.
  const auto tied = std::count_if(step.spans.begin(), step.spans.end(), [](const Span& span) {
    return span.item == "word embedding of both ends";
  });
  CHECK(step.plan["events"].get<std::size_t>() + static_cast<std::size_t>(tied) / 2 ==
        step.spans.size());

  for (const char* cause : {"forward", "backward", "recompute", "optimizer", "host"}) {
    CHECK_THAT(step.term(cause), near(sum(step.last, named(cause), alone)));
  }
  const auto codec = [](const Span& span) {
    return span.name == "encode" || span.name == "decode" || span.name == "bucket_copy";
  };
  CHECK_THAT(step.term("encode") + step.term("decode") + step.term("bucket_copy"),
             near(sum(step.last, codec, alone)));
  const auto kernel = [](const Span& span) { return span.track == 0 && !span.is_message(); };
  CHECK_THAT(step.term("interference"),
             near(sum(step.last, kernel, time) - sum(step.last, kernel, alone)));
  // The compute stream does something or waits.
  CHECK_THAT(step.term("exposed_dp") + step.term("exposed_pp") + step.term("bubble"),
             near(end - sum(step.last, computes, time)));
}

void check_messages(const Run& step) {
  const auto time = [](const Span& span) { return span.time; };
  const auto bytes = [](const Span& span) { return span.bytes; };
  const auto named = [](const char* name) {
    return [name](const Span& span) { return span.name == name; };
  };
  const auto computes = [](const Span& span) { return span.track == 0 || span.track == 3; };
  const auto gradients = [](const Span& span) { return span.track == 2; };
  const auto near = [](double value) { return WithinAbs(value, 1e-9); };

  const json& dp = step.plan["traffic"]["dp"];
  CHECK_THAT(dp["in_flight_seconds"].get<double>(), near(sum(step.last, gradients, time)));
  CHECK(dp["hidden_seconds"].get<double>() ==
        dp["in_flight_seconds"].get<double>() - dp["exposed_seconds"].get<double>());
  CHECK_THAT(dp["bytes"].get<double>(), WithinRel(sum(step.last, gradients, bytes), 1e-12));
  CHECK_THAT(step.plan["traffic"]["tp"]["bytes"].get<double>(),
             WithinRel(sum(step.last, computes, bytes), 1e-12));
  CHECK_THAT(step.term("exposed_tp"), near(sum(step.last, named("tp_message"), time)));
  const auto sends = [](const Span& span) { return span.track > 3; };
  CHECK_THAT(step.of("pp_bytes"), WithinRel(sum(step.last, sends, bytes), 1e-12));
  // Of sends the row says what comes to the stage, bytes and time alike.
  const std::string to = "to stage " + step.plan["last_stage"].dump();
  const auto received = [&](const Span& span) { return span.item.ends_with(to); };
  const json& pp = step.plan["traffic"]["pp"];
  CHECK_THAT(pp["bytes"].get<double>(), WithinRel(sum(step.spans, received, bytes), 1e-12));
  CHECK_THAT(pp["in_flight_seconds"].get<double>(),
             near(only(step.spans, received, [](const Span&) { return false; })));
}

void check_totals(const Run& step) {
  check_causes(step);
  check_messages(step);
  const double end = end_of(step);
  for (const json& link : step.plan["links"]) {
    const double could = link["capacity_bytes_per_second"].get<double>() * end;
    CHECK_THAT(link["utilization_ratio"].get<double>(),
               WithinRel(link["bytes"].get<double>() / could, 1e-9));
  }
}

}  // namespace

TEST_CASE("the totals of a simulated step are the sums of its timeline") {
  const std::string plan = GENERATE("none", "powersgd:rank=4", "topk:ratio=0.01");
  const Run step = run(test::small_experiment(), plan);
  check_totals(step);
  // One stage: gradients are exposed where they move and the compute stream does nothing.
  const double exposed = only(
      step.last, [](const Span& span) { return span.track == 2; },
      [](const Span& span) { return span.track == 0; });
  CHECK_THAT(step.plan["traffic"]["dp"]["exposed_seconds"].get<double>(), WithinAbs(exposed, 1e-9));
  CHECK(step.term("bubble") == 0.0);
}

TEST_CASE("so are those of a pipeline with tensor parallelism") {
  const Run step = run({"--model", "gpt2", "--cluster", "dgx-a100", "--tp", "2", "--pp", "2",
                        "--dp", "2", "--micro-batches", "4"},
                       "none");
  check_totals(step);
  CHECK(std::any_of(step.spans.begin(), step.spans.end(), [](const Span& span) {
    return span.item == "word embedding of both ends";  // GPT-2 ties its embeddings
  }));
  CHECK(step.term("exposed_tp") > 0.0);
  CHECK(step.plan["traffic"]["pp"]["bytes"].get<double>() > 0.0);
}

TEST_CASE("the NICs of a node carry what a ring of all its ranks sends") {
  // 8 ranks, 4 in a node: a ring enters and leaves a node once, with 2 (n - 1) / n of each sum. A
  // tree sends no more, and is counted with what it could have sent at most.
  const Run step = run(test::small_experiment(), "none");
  const double ring = sum(
      step.last, [](const Span& span) { return span.collective == "all_reduce"; },
      [](const Span& span) { return span.bytes * 2 * 7 / 8; });
  const json& nics = step.plan["links"][0];
  CHECK(nics["name"] == "NICs out of the node of stage 0");
  CHECK(nics["bytes"].get<double>() <= ring * (1 + 1e-9));
  CHECK(nics["bytes"].get<double>() > ring / 2);
}

TEST_CASE("a timeline names stages, and places where ranks of a stage differ") {
  // One of 1,024 GPUs is slow: every stage has ranks that it delays, and ranks that it does not.
  const ScratchFolder folder;
  const std::string file = folder.path("step.json");
  const Captured captured =
      test::payoff({"simulate", PAYOFF_SOURCE_DIR "/bench/gpt3-1024-straggler.yaml", "--set",
                    "layout.micro_batches=8", "--trace", file});
  INFO(captured.err);
  REQUIRE(captured.code == ExitCode::success);
  std::vector<int> places(8);
  const json trace = json::parse(test::read_text(file));
  for (const json& event : trace["traceEvents"]) {
    if (event["name"] == "process_name") {
      const std::string name = event["args"]["name"];  // stage 3, place 17
      CHECK(name.ends_with(", place " + event["pid"].dump()));
      ++places.at(std::stoul(name.substr(std::string("stage ").size())));
    }
  }
  CHECK(std::all_of(places.begin(), places.end(), [](int count) { return count > 1; }));
}

// Eight slots of a DGX A100 carry 252 GB/s out of its node: less than its NICs from 300 Gb/s each.
TEST_CASE("the link that is blamed for late messages decides the step, and a wider one does not") {
  const auto answer = [](const std::string& bandwidth) {
    const Captured run = test::predict(
        {"--engine",    "sim",     "--model",       "gpt3-175b", "--cluster",      "selene",
         "--nodes",     "128",     "--tp",          "8",         "--pp",           "8",
         "--dp",        "16",      "--micro-batch", "1",         "--global-batch", "128",
         "--bandwidth", bandwidth, "--json"});
    REQUIRE(run.code == ExitCode::success);
    return json::parse(run.out)["engines"][0]["plans"][0];
  };
  INFO(answer("300 Gb/s").dump());
  CHECK(answer("300 Gb/s")["note"] == "contended: PCIe slot out of the GPU of stage 1");
  CHECK(answer("300 Gb/s")["step_seconds"] == answer("400 Gb/s")["step_seconds"]);
  CHECK(answer("200 Gb/s")["note"] == "contended: NICs out of the node of stage 1");
  CHECK(answer("200 Gb/s")["step_seconds"] > answer("300 Gb/s")["step_seconds"]);
}
