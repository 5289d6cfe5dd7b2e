// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;
using payoff::test::Captured;
using payoff::test::ScratchFolder;

// `cluster.node_kinds`: nodes of several kinds, as users write and see them.

namespace {

constexpr const char* a100_and_h100 =
    "cluster:\n"
    "  node_kinds:\n"
    "  - {profile: dgx-a100, nodes: 2}\n"
    "  - {profile: dgx-h100, nodes: 2}\n";
constexpr const char* rest =
    "model: {profile: gpt2-medium}\n"
    "layout: {tp: 4, pp: 2, micro_batch: 1, micro_batches: 8}\n"
    "compress: [powersgd:rank=4]\n";

Captured run(const std::string& command, const std::string& cluster,
             const std::vector<std::string>& more = {}) {
  const ScratchFolder folder;
  folder.write("e.yaml", cluster + rest);
  std::vector<std::string> words{command, folder.path("e.yaml")};
  words.insert(words.end(), more.begin(), more.end());
  return test::payoff(words);
}

json result(const std::string& command, const std::string& cluster,
            std::vector<std::string> more = {}) {
  more.emplace_back("--json");
  const Captured captured = run(command, cluster, more);
  INFO(captured.err);
  REQUIRE(captured.code == ExitCode::success);
  return json::parse(captured.out);
}

double step(const json& result, std::size_t plan = 0) {
  return result["plans"][plan]["step_seconds"];
}

std::string errors(const std::string& cluster, const std::vector<std::string>& more = {}) {
  const Captured captured = run("predict", cluster, more);
  CHECK(captured.code == ExitCode::bad_input);
  CHECK(captured.out.empty());
  return captured.err;
}

std::string kinds(const std::string& list) { return "cluster: {node_kinds: [" + list + "]}\n"; }

}  // namespace

TEST_CASE(
    "a job on two generations takes longer than on the newer one alone, and less than on "
    "the older") {
  const json both = result("predict", a100_and_h100);
  const double old_ones = step(result("predict", "cluster: {profile: dgx-a100, nodes: 4}\n"));
  const double new_ones = step(result("predict", "cluster: {profile: dgx-h100, nodes: 4}\n"));
  CHECK(step(both) > new_ones);
  CHECK(step(both) < old_ones);
  const json simulated = result("simulate", a100_and_h100);
  CHECK(std::abs(step(simulated) / step(both) - 1) < 0.05);
}

TEST_CASE("one kind, or two that are equal, are a cluster as it always was") {
  const json alike = result("predict", "cluster: {profile: dgx-a100, nodes: 4}\n");
  const json one = result("predict", kinds("{profile: dgx-a100, nodes: 4}"));
  CHECK(step(one) == step(alike));
  CHECK(step(one, 1) == step(alike, 1));
  const json two =
      result("predict", kinds("{profile: dgx-a100, nodes: 1}, {profile: dgx-a100, nodes: 3}"));
  CHECK(std::abs(step(two) / step(alike) - 1) < 1e-9);
  CHECK(std::abs(step(two, 1) / step(alike, 1) - 1) < 1e-9);
  CHECK(two["plans"][1]["verdict"] == alike["plans"][1]["verdict"]);
}

TEST_CASE("the headline names all kinds, a sweep and --set reach into them") {
  const Captured text = run("predict", a100_and_h100);
  CHECK_THAT(text.out, ContainsSubstring("2 x dgx-a100 (8 a100-sxm-80, 8 x 200 Gb/s ib) + 2 x "
                                         "dgx-h100 (8 h100-sxm, 8 x 400 Gb/s ib)"));
  const json set =
      result("predict", a100_and_h100, {"--set", "cluster.node_kinds.1.inter.bandwidth=100 Gb/s"});
  CHECK(step(set) > step(result("predict", a100_and_h100)));

  const ScratchFolder folder;
  folder.write("e.yaml", std::string(a100_and_h100) + rest);
  const Captured sweep = test::payoff({"sweep", folder.path("e.yaml"), "--over",
                                       "layout.micro_batches=8,16", "-o", folder.path("s.jsonl")});
  INFO(sweep.err);
  REQUIRE(sweep.code == ExitCode::success);
  std::vector<double> steps;
  const std::string lines = test::read_text(folder.path("s.jsonl"));
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    const json line = json::parse(lines.substr(at, end - at));
    if (line.contains("strategy") && line["strategy"] == "none") {
      steps.push_back(line["step_seconds"]);
    }
    at = end + 1;
  }
  const double more = step(result("predict", a100_and_h100, {"--micro-batches", "16"}));
  CHECK(std::any_of(steps.begin(), steps.end(),
                    [&](double s) { return std::abs(s / more - 1) < 1e-9; }));
}

TEST_CASE("mistakes in kinds of nodes are told at their place, all in one run") {
  const std::string many = errors(
      kinds("{profile: dgx-a10, nodes: 2}, {profile: dgx-h100, nodes: 0}, {profile: dgx-h100, "
            "nods: 2}, {profile: dgx-h100, gpu: h10-sxm}"));
  CHECK_THAT(many, ContainsSubstring("dgx-a10"));
  CHECK_THAT(many, ContainsSubstring("did you mean"));
  CHECK_THAT(many, ContainsSubstring("node_kinds.1.nodes") || ContainsSubstring("nodes: 0"));
  CHECK_THAT(many, ContainsSubstring("nods"));
  CHECK_THAT(many, ContainsSubstring("h10-sxm"));

  CHECK_THAT(errors("cluster: {node_kinds: []}\n"), ContainsSubstring("names no nodes"));
  CHECK_THAT(errors(kinds("dgx-a100")), ContainsSubstring("{profile: dgx-a100, nodes: 4}"));
  const std::string beside = errors(
      "cluster:\n  profile: dgx-a100\n  nodes: 4\n  jitter: 1 %\n  node_kinds:\n  - {profile: "
      "dgx-a100, nodes: 2}\n  - {profile: dgx-h100, nodes: 2}\n");
  CHECK_THAT(beside, ContainsSubstring("`cluster.profile` stands beside `node_kinds`"));
  CHECK_THAT(beside, ContainsSubstring("`cluster.nodes` stands beside `node_kinds`"));
  CHECK_THAT(beside,
             ContainsSubstring("`cluster.jitter` is not modelled for nodes of several kinds"));
  CHECK_THAT(errors(a100_and_h100, {"--nodes", "8"}), ContainsSubstring("`node_kinds`"));

  const std::string unlike =
      errors(kinds("{profile: dgx-a100, nodes: 2}, {profile: p4d-24xlarge, nodes: 1}, {profile: "
                   "p3-8xlarge, nodes: 1}"));
  CHECK_THAT(unlike, ContainsSubstring("no network joins these nodes to those of the first kind"));
  CHECK_THAT(unlike, ContainsSubstring("nodes of 4 GPUs beside nodes of 8"));
}

TEST_CASE("counts and layouts of all kinds together are checked as those of one") {
  CHECK_THAT(errors(a100_and_h100, {"--dp", "8"}), ContainsSubstring("the cluster has 32 GPUs"));
  CHECK_THAT(errors(kinds("{profile: dgx-h100, nodes: 2}, {profile: dgx-a100, nodes: 2}"),
                    {"--precision", "fp8"}),
             ContainsSubstring("fp8"));
  // One kind that NCCL does not add fp8 on is enough.
  const std::vector<std::string> fp8{"--compress", "fp8"};
  CHECK_THAT(errors(a100_and_h100, fp8), ContainsSubstring("a100-sxm-80 is older"));
  CHECK(run("predict", "cluster: {profile: dgx-h100, nodes: 4}\n", fp8).code == ExitCode::success);
}

TEST_CASE("several kinds of nodes are drawn, but against more of them") {
  const auto at = [](const std::string& rate) {
    const std::string inter = ", inter: {bandwidth: " + rate + "}";
    return "cluster:\n  node_kinds:\n  - {profile: dgx-a100, nodes: 2" + inter +
           "}\n  - {profile: dgx-h100, nodes: 2" + inter + "}\n";
  };
  // What is drawn at 100 Gb/s is what is predicted of the file that says so.
  const Captured drawn =
      run("plot", a100_and_h100,
          {"--x", "bandwidth", "--from", "100 Gb/s", "--quantity", "step_time", "--csv", "-"});
  INFO(drawn.err);
  REQUIRE(drawn.code == ExitCode::success);
  const Captured predicted = run("predict", at("100 Gb/s"), {"--json"});
  INFO(predicted.err);
  REQUIRE(predicted.code == ExitCode::success);
  const json result = json::parse(predicted.out);
  for (const json& plan : result.at("plans")) {
    const std::string label = plan.at("label") == "none" ? "uncompressed" : plan.at("label");
    const std::string row = "\n" + label + ",100,";
    const std::size_t begin = drawn.out.find(row);
    REQUIRE(begin != std::string::npos);
    CHECK_THAT(std::stod(drawn.out.substr(begin + row.size())),
               Catch::Matchers::WithinRel(plan.at("step_seconds").get<double>(), 1e-9));
  }
  for (const std::vector<std::string>& picture :
       {std::vector<std::string>{"--waterfall"},
        {"--roofline"},
        {"--tornado"},
        {"--x", "model", "--from", "1e8", "--to", "1e9"}}) {
    std::vector<std::string> words = picture;
    words.insert(words.end(), {"--csv", "-"});
    CHECK(run("plot", a100_and_h100, words).code == ExitCode::success);
  }
  for (const std::vector<std::string>& gpus : {std::vector<std::string>{"--csv", "-"},
                                               {"--x", "bandwidth", "--y", "gpus", "--csv", "-"}}) {
    const Captured refused = run("plot", a100_and_h100, gpus);
    CHECK(refused.code == ExitCode::bad_input);
    CHECK_THAT(refused.err, ContainsSubstring("nobody says of which kind") &&
                                ContainsSubstring("`--x bandwidth` and `--x model`"));
  }
}

TEST_CASE("commands that know one kind of nodes say so") {
  for (const char* command : {"search", "explain", "advise"}) {
    const Captured captured = run(command, a100_and_h100);
    INFO(command << ": " << captured.err);
    CHECK(captured.code == ExitCode::bad_input);
    CHECK(captured.out.empty());
    CHECK_THAT(captured.err, ContainsSubstring("knows nodes of one kind only"));
  }
  const ScratchFolder folder;
  folder.write("alike.yaml", std::string("cluster: {profile: dgx-a100, nodes: 4}\n") + rest);
  folder.write("mixed.yaml", std::string(a100_and_h100) + rest);
  for (const auto& [one, other] :
       {std::pair("alike.yaml", "mixed.yaml"), {"mixed.yaml", "alike.yaml"}}) {
    const Captured diff = test::payoff({"diff", folder.path(one), folder.path(other)});
    CHECK(diff.code == ExitCode::bad_input);
    CHECK_THAT(diff.err, ContainsSubstring("`payoff diff` knows nodes of one kind only"));
  }
  CHECK_THAT(errors(a100_and_h100, {"--tokens", "1e9", "--network-price", "100"}),
             ContainsSubstring("knows nodes of one kind only"));
  const Captured steps = run("simulate", a100_and_h100, {"--level", "steps"});
  CHECK(steps.code == ExitCode::bad_input);
  CHECK_THAT(steps.err, ContainsSubstring("and not send by send"));
}
