// SPDX-License-Identifier: Apache-2.0
// Numbers at the edges of their ranges, and beyond: what is answered is finite and not negative,
// what is not has a diagnostic, and more of a resource never costs time.
#include <cmath>
#include <limits>
#include <string>
#include <utility>
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
  if (value.is_null() && path.ends_with("_seconds")) {
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

const Words small{"--model", "gpt2",        "--cluster", "p3-8xlarge", "--micro-batch",
                  "1",       "--precision", "fp16",      "--sequence", "128"};

const std::vector<Edge> edges = {
    {{"--nodes", "1", "--gpus-per-node", "1"}, true},
    {{"--nodes", "0"}, false},
    {{"--nodes", "262144"}, true},  // 2^20 ranks
    {{"--nodes", "9223372036854775807"}, false},
    {{"--nodes", "2", "--bandwidth", "1 b/s"}, false},
    {{"--nodes", "2", "--bandwidth", "1 kb/s"}, true},
    {{"--nodes", "2", "--bandwidth", "1000 Tb/s"}, true},
    {{"--nodes", "2", "--bandwidth", "1e18 B/s"}, false},
    {{"--nodes", "2", "--set", "cluster.intra.bandwidth=1 b/s"}, false},
    {{"--nodes", "2", "--set", "cluster.intra.bandwidth=1e18 B/s"}, false},
    {{"--nodes", "2", "--compress", "topk:ratio=1e-9"}, false},
    {{"--nodes", "2", "--compress", "topk:ratio=1e-6"}, true},
    {{"--nodes", "2", "--compress", "topk:ratio=1"}, true},
    {{"--nodes", "2", "--compress", "powersgd:rank=1"}, true},
    {{"--nodes", "2", "--compress", "powersgd:rank=9223372036854775807"}, false},
    {{"--nodes", "2", "--bucket", "1 B", "--first-bucket", "1 B"}, true},
    {{"--nodes", "2", "--bucket", "1 TiB", "--first-bucket", "1 TiB"}, true},
    {{"--nodes", "2", "--bucket", "1 PB"}, false},
    {{"--nodes", "2", "--bucket", "1e300 B"}, false},
    {{"--nodes", "2", "--set", "training.data_time=0"}, true},
    {{"--nodes", "2", "--set", "training.data_time=1 s"}, true},
    {{"--nodes", "2", "--set", "training.data_time=1e300 s"}, false},
    {{"--nodes", "2", "--set", "cluster.jitter=0"}, true},
};

// A method of one's own: every value once, with one formula changed.
struct OwnMethod {
  std::string bytes{"v * n"};
  std::string kernels{"1"};
  std::string message{"2 * n"};

  [[nodiscard]] std::string text() const {
    return "method: mine\ndescription: mine\nimplementation: fused\ngranularity: tensor\n"
           "sums_in_collective: true\nrounds:\n- encode: {bytes: \"" +
           bytes + "\", kernels: \"" + kernels + "\"}\n  collective: all_reduce\n  message: \"" +
           message + "\"\ndecode: {bytes: \"v * n\", kernels: \"1\"}\nwire: {as_published: \"" +
           message + "\", as_implemented: \"" + message + "\", used: as_published}\n";
  }
};

// Four GPUs in a ring of links.
std::string ring(const std::string& rate, const std::string& latency) {
  return "topology: ring\nserver: {gpus: 1, nics: {count: 1, bandwidth: 100 Gb/s}}\nservers: 4\n"
         "network: {kind: ring, bandwidth: " +
         rate + ", latency: " + latency + "}\n";
}

// Of a ring all-reduce, every send on the links of the file.
json ring_on(const std::string& topology) {
  const json result = test::json_of({"collective", "all_reduce", "--cluster", "p3-8xlarge",
                                     "--ranks", "4", "--level", "steps", "--topology", topology,
                                     "--algo", "ring", "--proto", "simple", "--sizes", "1MiB"});
  return result["rows"][0]["steps"];
}

}  // namespace

TEST_CASE("predictions at the edge of every range are finite, or refused in words") {
  for (const Edge& edge : edges) {
    CAPTURE(edge.words);
    CHECK(is_answered(joined(joined({"predict"}, small), edge.words)) == edge.is_answered);
  }
}

TEST_CASE("simulations at the edge of every range are finite, or refused in words") {
  for (const Edge& edge : edges) {
    CAPTURE(edge.words);
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
  CHECK(is_answered({"collective", "all_reduce", "--cluster", "dgx-h100", "--sizes", "0"}));
  CHECK_FALSE(
      is_answered({"collective", "all_reduce", "--cluster", "dgx-h100", "--sizes", "1e300 B"}));
}

TEST_CASE(
    "links of no latency and of a second, of a kilobit and of a petabit, carry a collective") {
  const test::ScratchFolder folder;
  const std::vector<std::pair<std::string, std::string>> links = {
      {"100 Gb/s", "0"}, {"100 Gb/s", "1 s"}, {"1 kb/s", "1 us"}, {"800 Tb/s", "1 us"}};
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

TEST_CASE("a ring takes no longer with faster links, from a kilobit to a petabit") {
  const test::ScratchFolder folder;
  double before = std::numeric_limits<double>::infinity();
  for (const char* rate : {"1 kb/s", "1 Mb/s", "1 Gb/s", "100 Gb/s", "10 Tb/s", "800 Tb/s"}) {
    folder.write("ring.yaml", ring(rate, "1 us"));
    INFO(rate);
    const double seconds = ring_on(folder.path("ring.yaml"))["time_seconds"].get<double>();
    CHECK(seconds <= before);
    before = seconds;
  }
}

TEST_CASE("the textbook's ring takes no less time over slower links, up to a second each") {
  const test::ScratchFolder folder;
  double before = 0.0;
  // With 0 on every link the law's own latency of a step stands in.
  for (const char* latency : {"1 ns", "1 us", "1 ms", "1 s"}) {
    folder.write("ring.yaml", ring("100 Gb/s", latency));
    INFO(latency);
    const double seconds = ring_on(folder.path("ring.yaml"))["alpha_beta_seconds"].get<double>();
    CHECK(seconds >= before);
    before = seconds;
  }
  CHECK(before >= 6.0);  // 2 (4 - 1) steps of a second each
}

TEST_CASE("formulas of a method at their limits are answered, beyond them refused at their place") {
  struct Asked {
    OwnMethod method;
    bool is_predicted;
    bool is_simulated;
  };
  // gpt2 has 148 tensors. 1e9 kernels of 4 us for each are 7 days, which the clock of 106 has room
  // for; 1e18 bytes at 1e12 a second are 12 days for each, which it has not.
  const std::vector<Asked> all = {
      {{}, true, true},
      {{.kernels = "1e5"}, true, true},
      {{.kernels = "1e9"}, true, true},
      {{.kernels = "1.001e9"}, false, false},
      {{.kernels = "1e307"}, false, false},
      {{.bytes = "1e18"}, true, false},
      {{.bytes = "1.001e18"}, false, false},
      {{.bytes = "1e307"}, false, false},
      {{.message = "1e18"}, true, false},
      {{.message = "1.5e308"}, false, false},
      // Of 1024 x 768, the table of positions, which no probe is.
      {{.bytes = "if(n == 786432, 1e307, v * n)"}, false, false},
      {{.bytes = "if(n == 786432, 0 - n, v * n)"}, false, false},
  };
  const test::ScratchFolder folder;
  const std::string file = folder.path("mine.yaml");
  for (const Asked& asked : all) {
    folder.write("mine.yaml", asked.method.text());
    INFO(asked.method.text());
    const Words job = joined(small, {"--nodes", "2", "--compress", file});
    CHECK(is_answered(joined({"predict"}, job)) == asked.is_predicted);
    CHECK(is_answered(joined({"simulate"}, job)) == asked.is_simulated);
  }
  folder.write("mine.yaml", OwnMethod{.kernels = "1e12"}.text());
  const std::string told =
      test::payoff(joined({"predict"}, joined(small, {"--nodes", "2", "--compress", file}))).err;
  CHECK(told.find("mine.yaml:7:37") != std::string::npos);
  CHECK(told.find("more than 1e9 for a tensor of 1 x 1") != std::string::npos);
}

TEST_CASE("a formula that the activations of a job make negative or too large is refused") {
  const test::ScratchFolder folder;
  const Words job = joined(small, {"--nodes", "2", "--pp", "2", "--compress",
                                   folder.path("mine.yaml") + ":traffic=pp_activations"});
  const auto is_taken = [&](const std::string& bytes) {
    folder.write("mine.yaml",
                 "method: mine\ndescription: mine\nimplementation: fused\ngranularity: tensor\n"
                 "traffic: [pp_activations]\nrounds:\n- encode: {bytes: \"" +
                     bytes +
                     "\", kernels: \"1\"}\n  collective: send_recv\n  message: n\n"
                     "wire: {as_published: n, as_implemented: n, used: as_published}\n");
    CAPTURE(bytes);
    const bool predicted = is_answered(joined({"predict"}, job));
    CHECK(is_answered(joined({"simulate"}, job)) == predicted);
    return predicted;
  };
  CHECK(is_taken("v * n"));
  // Of 128 tokens of 768.
  CHECK_FALSE(is_taken("if(n == 128 * 768, 0 - n, v * n)"));
  CHECK_FALSE(is_taken("if(n == 128 * 768, 1e300, v * n)"));
}

TEST_CASE("what trained tokens cost is finite up to the dearest node, and refused beyond it") {
  const Words job = joined({"predict"}, joined(small, {"--nodes", "2", "--tokens", "1e18"}));
  CHECK(is_answered(joined(job, {"--price", "1000000 USD/h"})));
  const json run =
      test::json_of(joined(job, {"--price", "1000000 USD/h"}))["plans"][0]["training"]["run"];
  CHECK_THAT(run["cost_usd"].get<double>(),
             Catch::Matchers::WithinRel(2 * 1e6 / 3600 * run["time_seconds"].get<double>(), 1e-12));
  for (const char* price :
       {"1000001 USD/h", "278 USD/s", "1e300 USD/h", "1e308 USD/h", "0 USD/h"}) {
    INFO(price);
    CHECK_FALSE(is_answered(joined(job, {"--price", price})));
    CHECK_FALSE(is_answered(
        {"run", PAYOFF_SOURCE_DIR "/examples/10-accordion-resnet18", "--price", price}));
  }
}
