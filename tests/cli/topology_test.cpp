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
  CHECK_THAT(run.out, ContainsSubstring("by max-flow"));
}

TEST_CASE("payoff check counts one GPU as one") {
  const Captured run = check("topology: t\nserver: {gpus: 1}\n");
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("\n1 GPU; routes"));
}

TEST_CASE("payoff check counts what the traffic of others leaves of the links") {
  const std::string ring =
      "topology: ring\nserver: {gpus: 1}\nservers: 6\nnetwork: {kind: ring, bandwidth: 10 GB/s}\n";
  // A ring of 6: 2 x 5 / 6 x 256 MiB at 10 GB/s, or at 6.
  CHECK_THAT(check(ring).out, ContainsSubstring("| 44.7 ms |"));
  const Captured loaded = check(ring + "background: {fabric: 40 %}\n");
  CHECK(loaded.code == ExitCode::success);
  CHECK_THAT(loaded.out, ContainsSubstring("bisection bandwidth: 12 GB/s"));
  CHECK_THAT(loaded.out, ContainsSubstring("6 GB/s |  72 GB/s |"));  // left by others, together
  CHECK_THAT(loaded.out, ContainsSubstring("| 74.6 ms |"));
}

TEST_CASE("payoff check lays rings along the links of a mesh, and cuts trees where that helps") {
  const Captured run = check(
      "topology: t\nserver: {gpus: 8, fabric: {kind: mesh, links: dgx1-volta, bandwidth: 25 "
      "GB/s}}\n");
  // Six rings: 2 x 7 / 8 x 256 MiB at 150 GB/s.
  CHECK_THAT(run.out, ContainsSubstring("rings along links    |  765 ns | 3.13 ms |"));
}

TEST_CASE("payoff check says what it does not work out, and why") {
  const std::string pod =
      "topology: t\nserver: {gpus: 8, fabric: {kind: switch, bandwidth: 450 GB/s}, "
      "nics: {count: 8, bandwidth: 400 Gb/s}}\n";
  const Captured many = check(pod + "servers: 17\nnetwork: {kind: switch}\n");
  CHECK_THAT(many.out, ContainsSubstring("bisection bandwidth: at most"));
  CHECK_THAT(many.out,
             ContainsSubstring("collectives are not simulated: 136 GPUs are more than 128"));
  const Captured more = check(pod + "servers: 1025\nnetwork: {kind: switch}\n");
  CHECK(more.code == ExitCode::success);
  CHECK_THAT(more.out, ContainsSubstring("not worked out, 8200 GPUs are more than 8192"));
  CHECK_THAT(more.out, ContainsSubstring("no closed form: servers do not fill halves"));
  CHECK_THAT(more.out, ContainsSubstring("links: not listed"));
}

// Half of the NICs, 8 of 50 GB/s in each of 131072 servers, half as much above the leaves.
TEST_CASE("payoff check prints the bisection bandwidth of a million GPUs, in closed form") {
  const Captured run = check(
      "topology: t\nserver: {gpus: 8, fabric: {kind: switch, bandwidth: 450 GB/s}, "
      "nics: {count: 8, bandwidth: 400 Gb/s}}\nservers: 131072\nnetwork: {kind: fat_tree, rails: "
      "true, servers_per_leaf: 32, spines: 8, oversubscription: 2}\n");
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("bisection bandwidth: at most 13.1 PB/s, 25 GB/s for each "
                                        "GPU of a half, in closed form"));
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

TEST_CASE("payoff check finds faults and ranks that are cut off beside mistakes of other fields") {
  const Captured run = check(
      "topology: t\n"
      "server: {gpus: 3, fabric: {kind: mesh, links: [[0, 1, 0], [1, 0, 0], [0, 0, 0]], "
      "bandwidth: 10}}\n"
      "failed: [[gpu0, gpu7]]\n"
      "background: {fabric: 200 %}\n"
      "rank_order: [0, 1, 1]\n");
  CHECK(run.code == ExitCode::bad_input);
  INFO(run.err);
  for (const char* wanted :
       {"`server.fabric.bandwidth` has no unit", "there is no `gpu7` in this topology",
        "`background.fabric`", "no permutation", "no way leads from rank 0 (gpu0) to rank 2"}) {
    CHECK_THAT(run.err, ContainsSubstring(wanted));
  }
}

TEST_CASE("a topology in an experiment tells its ranks that are cut off beside everything else") {
  const std::string of_cluster = "cluster:\n  profile: dgx-a100\n  nodes: 1\n  gpus_per_node: 3\n";
  const std::string rest =
      "  slow_gpus: [{gpu: 9, slowdown: 1.5}]\n"
      "model: {profile: bert-large}\n"
      "layout: {dp: 5}\n";
  const std::string graph =
      "graph: {gpus: [a, b, c], links: [{between: [a, b], bandwidth: 10 GB/s}]}";
  const ScratchFolder folder;
  folder.write("t.yaml", "topology: t\n" + graph + "\nrank_order: [0, 1, 1]\n");
  folder.write("inside.yaml",
               of_cluster + "  topology: {" + graph + ", rank_order: [0, 1, 1]}\n" + rest);
  folder.write("file.yaml", of_cluster + "  topology: " + folder.path("t.yaml") + "\n" + rest);
  for (const char* file : {"inside.yaml", "file.yaml"}) {
    for (const char* command : {"check", "simulate", "predict"}) {
      const Captured run = test::payoff({command, folder.path(file)});
      INFO(command << " " << file << "\n" << run.err);
      CHECK(run.code == ExitCode::bad_input);
      CHECK(run.out.empty());
      CHECK_THAT(run.err, ContainsSubstring("no permutation"));
      CHECK_THAT(run.err, ContainsSubstring("no way leads from rank 0 (a) to rank 2 (c)"));
      CHECK_THAT(run.err, ContainsSubstring("the cluster has GPUs 0 to 2"));
      CHECK_THAT(run.err, ContainsSubstring("layout"));
    }
  }
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

TEST_CASE("a mistake of the network hides no fault inside the servers") {
  const std::string server =
      "topology: t\nserver: {gpus: 4, fabric: {kind: switch, bandwidth: 450 GB/s}";
  const std::string faults =
      "failed: [[s0.gpu0, s0.gpu99], [leaf0, spine9], [s0.nic0, s9.nic0], [s1.gpu0, s1.switch0]]\n"
      "degraded: [{link: [s1.switch0, s1.gpu0], ratio: 0.5}]\n";
  const Captured misspelt = check(server +
                                  ", nics: {count: 4, bandwidth: 400 Gb/s}}\nservers: 4\n"
                                  "network: {kind: fat_tre, servers_per_leaf: 2, spines: 2}\n" +
                                  faults);
  CHECK(misspelt.code == ExitCode::bad_input);
  for (const char* wanted : {"did you mean `fat_tree`?", "there is no `s0.gpu99`",
                             "its parts are `s0.gpu0` to `s3.gpu3`", "there is no `s9.nic0`",
                             "is in `failed.3` already"}) {
    CHECK_THAT(misspelt.err, ContainsSubstring(wanted));
  }
  CHECK_THAT(misspelt.err, !ContainsSubstring("spine9`"));  // nobody knows what there is
  // Without NICs there is nothing to say of one.
  const Captured bare = check(server +
                              "}\nservers: 4\n"
                              "network: {kind: fat_tree, servers_per_leaf: 2, spines: 2}\n" +
                              faults + "background: {fabric: 200 %}\n");
  CHECK_THAT(bare.err, ContainsSubstring("a fat tree is joined by NICs") &&
                           ContainsSubstring("there is no `s0.gpu99`") &&
                           ContainsSubstring("`background.fabric`") &&
                           !ContainsSubstring("nic0`: ") && !ContainsSubstring("`s9.nic0`"));
}

TEST_CASE("payoff check says that sums find no way back over links that go one way") {
  const Captured run = check(
      "topology: t\n"
      "graph:\n"
      "  gpus: [a, b, c]\n"
      "  links:\n"
      "    - {from_to: [a, b], bandwidth: 25 GB/s}\n"
      "    - {from_to: [b, c], bandwidth: 25 GB/s}\n"
      "    - {from_to: [c, a], bandwidth: 25 GB/s}\n");
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("broadcast by 1 packed tree: 25 GB/s") &&
                          ContainsSubstring("all-reduce by packed trees or rings both ways: none"));
  CHECK_THAT(run.out, !ContainsSubstring(" 0 B/s") &&
                          !ContainsSubstring("| all-reduce | packed trees") &&
                          ContainsSubstring("| broadcast  | packed trees"));
  const Captured chain = check(
      "topology: t\n"
      "graph:\n"
      "  gpus: [a, b, c]\n"
      "  links:\n"
      "    - {between: [a, b], bandwidth: 25 GB/s}\n"
      "    - {between: [b, c], bandwidth: 25 GB/s}\n");
  CHECK_THAT(chain.out, ContainsSubstring("all-reduce by 1 packed tree: 25 GB/s") &&
                            ContainsSubstring("all-reduce by rings: none"));
}
