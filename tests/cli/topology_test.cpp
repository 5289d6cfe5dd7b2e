// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using payoff::test::Captured;
using payoff::test::ScratchFolder;

namespace {

Captured check(const std::string& text) {
  const ScratchFolder folder;
  folder.write("t.yaml", text);
  return test::payoff({"check", folder.path("t.yaml")});
}

}  // namespace

TEST_CASE("payoff check prints the bisection bandwidth of a topology") {
  // A ring is cut at two links.
  const Captured run = check(
      "topology: ring\nserver: {gpus: 1}\nservers: 6\nnetwork: {kind: ring, bandwidth: 10 GB/s}\n");
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("bisection bandwidth: 20 GB/s"));
}

TEST_CASE("payoff check finds ranks that are cut off beside a rank order that is none") {
  const Captured run = check(
      "topology: t\n"
      "graph:\n"
      "  gpus: [a, b, c]\n"
      "  links: [{between: [a, b], bandwidth: 10 GB/s}]\n"
      "rank_order: [0, 1, 1]\n");
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring("no permutation"));
  CHECK_THAT(run.err, ContainsSubstring("no way leads from rank 0 (a) to rank 2 (c)"));
}

TEST_CASE("payoff check does not take a misspelt end of a link for a rank that is cut off") {
  const Captured run = check(
      "topology: t\n"
      "graph:\n"
      "  gpus: [ab, cd]\n"
      "  links: [{between: [ab, ce], bandwidth: 10 GB/s}]\n");
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, !ContainsSubstring("no way leads"));
}

TEST_CASE("a fault of a link that is not there is refused at its place") {
  const Captured run = check(
      "topology: t\nserver: {gpus: 2, fabric: {kind: switch, bandwidth: 10 GB/s}}\n"
      "failed: [[gpu0, switch1]]\n");
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("t.yaml:3:10"));
}
