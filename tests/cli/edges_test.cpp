// SPDX-License-Identifier: Apache-2.0
// Numbers at the edges of their ranges, and beyond: what is answered is finite and not negative,
// what is not has a diagnostic, and more of a resource never costs time.
#include <cmath>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using nlohmann::json;
using test::Captured;

namespace {

using Words = std::vector<std::string>;

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Where a number of a result is not finite, JSON has null: named here, with those below zero.
std::string bad_numbers(const json& value, const std::string& path) {
  std::string found;
  if (value.is_number() && (!std::isfinite(value.get<double>()) ||
                            (path.ends_with("_seconds") && value.get<double>() < 0.0))) {
    return path + " is " + value.dump() + "\n";
  }
  if (value.is_null() && (path.ends_with("_seconds") || path.ends_with("_bytes"))) {
    return path + " is null\n";
  }
  if (value.is_structured()) {
    for (const auto& [key, inner] : value.items()) {
      found += bad_numbers(inner, path + "." + key);
    }
  }
  return found;
}

// Whether it was answered; else it was refused in words.
bool is_answered(const Words& words) {
  const Captured run = test::payoff(joined(words, {"--json"}));
  INFO(run.err);
  CHECK((run.code == ExitCode::success || run.code == ExitCode::bad_input));
  if (run.code != ExitCode::success) {
    CHECK(run.out.empty());
    CHECK(run.err.find("error: ") != std::string::npos);
    return false;
  }
  CHECK(bad_numbers(json::parse(run.out), "").empty());
  const std::string text = test::payoff(words).out;
  for (const char* wrong : {" nan", " inf", "-nan", "-inf"}) {
    CHECK(text.find(wrong) == std::string::npos);
  }
  return true;
}

struct Edge {
  Words words;
  bool is_answered;
};

const Words small{"--model",       "gpt2", "--cluster",   "p3-8xlarge", "--nodes",    "2",
                  "--micro-batch", "1",    "--precision", "fp16",       "--sequence", "128"};

const std::vector<Edge> edges = {
    {{"--set", "cluster.nodes=1", "--set", "cluster.gpus_per_node=1"}, true},
    {{"--set", "cluster.nodes=0"}, false},
    {{"--set", "cluster.nodes=262144"}, true},  // 2^20 ranks
    {{"--set", "cluster.nodes=9223372036854775807"}, false},
    {{"--bandwidth", "1 b/s"}, false},
    {{"--bandwidth", "1 kb/s"}, true},
    {{"--bandwidth", "1000 Tb/s"}, true},
    {{"--bandwidth", "1e18 B/s"}, false},
    {{"--set", "cluster.intra.bandwidth=1 b/s"}, false},
    {{"--set", "cluster.intra.bandwidth=1e18 B/s"}, false},
    {{"--compress", "topk:ratio=1e-9"}, false},
    {{"--compress", "topk:ratio=1e-6"}, true},
    {{"--compress", "topk:ratio=1"}, true},
    {{"--compress", "powersgd:rank=1"}, true},
    {{"--compress", "powersgd:rank=9223372036854775807"}, false},
    {{"--bucket", "1 B", "--first-bucket", "1 B"}, true},
    {{"--bucket", "1 PB", "--first-bucket", "1 PB"}, true},
    {{"--bucket", "1e300 B"}, false},
    {{"--set", "training.data_time=0"}, true},
    {{"--set", "training.data_time=1 s"}, true},
    {{"--set", "training.data_time=1e300 s"}, false},
    {{"--set", "cluster.jitter=0"}, true},
};

// Four GPUs in a ring of links.
std::string ring(const std::string& rate, const std::string& latency) {
  return "topology: ring\nserver: {gpus: 1, nics: {count: 1, bandwidth: 100 Gb/s}}\nservers: 4\n"
         "network: {kind: ring, bandwidth: " +
         rate + ", latency: " + latency + "}\n";
}

double seconds_of(const Words& words) {
  const json result = test::json_of(joined({"predict"}, words));
  return result["plans"][0]["step_seconds"].get<double>();
}

}  // namespace

TEST_CASE("predictions at the edge of every range are finite, or refused in words") {
  for (const Edge& edge : edges) {
    INFO(edge.words[0] << " " << edge.words[1]);
    CHECK(is_answered(joined(joined({"predict"}, small), edge.words)) == edge.is_answered);
  }
}

TEST_CASE("simulations at the edge of every range are finite, or refused in words") {
  for (const Edge& edge : edges) {
    INFO(edge.words[0] << " " << edge.words[1]);
    CHECK(is_answered(joined(joined({"simulate"}, small), edge.words)) == edge.is_answered);
  }
}

TEST_CASE("collectives of one byte to a petabyte on two to a million ranks are finite") {
  for (const char* kind : {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
                           "all_to_all", "send_recv"}) {
    for (const char* nodes : {"1", "2", "131072"}) {
      INFO(kind << " on " << nodes);
      CHECK(is_answered({"collective", kind, "--cluster", "dgx-h100", "--nodes", nodes, "--sizes",
                         "1B,1MiB,1PB"}));
    }
  }
  CHECK_FALSE(is_answered({"collective", "all_reduce", "--cluster", "dgx-h100", "--sizes", "0"}));
  CHECK_FALSE(
      is_answered({"collective", "all_reduce", "--cluster", "dgx-h100", "--sizes", "1e300 B"}));
}

TEST_CASE(
    "links of no latency and of a second, of a kilobit and of a petabit, carry a collective") {
  const test::ScratchFolder folder;
  const std::vector<std::pair<std::string, std::string>> links = {
      {"100 Gb/s", "0"}, {"100 Gb/s", "1 s"}, {"1 kb/s", "1 us"}, {"1000 Tb/s", "1 us"}};
  for (const auto& [rate, latency] : links) {
    folder.write("ring.yaml", ring(rate, latency));
    INFO(rate << " " << latency);
    CHECK(is_answered({"collective", "all_reduce", "--cluster", "p3-8xlarge", "--ranks", "4",
                       "--level", "steps", "--topology", folder.path("ring.yaml"), "--sizes",
                       "1B,1MiB"}));
  }
  folder.write("ring.yaml", ring("1 b/s", "1 us"));
  CHECK_FALSE(
      is_answered({"collective", "all_reduce", "--cluster", "p3-8xlarge", "--ranks", "4", "--level",
                   "steps", "--topology", folder.path("ring.yaml"), "--sizes", "1B"}));
}

TEST_CASE(
    "a step of one algorithm takes no longer with more bandwidth, from one end to the other") {
  double before = 1e300;
  for (const char* rate : {"1 kb/s", "1 Mb/s", "1 Gb/s", "10 Gb/s", "100 Gb/s", "10 Tb/s"}) {
    INFO(rate);
    const double seconds = seconds_of(joined(small, {"--bandwidth", rate}));
    CHECK(seconds <= before);
    before = seconds;
  }
}
