// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/collective_words.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using nlohmann::json;
using payoff::test::Captured;
using payoff::test::collective;
using payoff::test::example;
using payoff::test::ScratchFolder;
using payoff::test::steps_of;

TEST_CASE("every collective has the program of the algorithm that NCCL chooses or that is pinned") {
  const std::vector<std::string> two{"--cluster", "dgx-h100", "--nodes", "2"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), two.begin(), two.end());
    return more;
  };
  const auto program = [&](const std::string& operation, std::vector<std::string> more) {
    const json row = steps_of(operation, with(more));
    // On the cluster's own links sends take at least the price; how much more is in docs/model.md.
    CHECK_THAT(row["steps"]["alone_seconds"].get<double>(),
               WithinRel(row["steps"]["price_seconds"].get<double>(), 1e-6));
    CHECK(row["steps"]["time_seconds"].get<double>() >=
          row["steps"]["price_seconds"].get<double>() * (1 - 1e-6));
    CHECK(row["steps"]["alpha_beta_seconds"].get<double>() > 0);
    return row["steps"]["program"].get<std::string>();
  };
  CHECK(program("all_reduce", {"--algo", "ring"}) == "rings on rails");
  CHECK(program("all_reduce", {"--algo", "tree"}) == "double trees on rails");
  CHECK(program("all_reduce", {"--algo", "nvls_tree"}) == "NVLS and trees");
  CHECK(program("all_gather", {}) == "rings on rails");
  CHECK(program("reduce_scatter", {}) == "rings on rails");
  CHECK(program("broadcast", {}) == "chains on rails");
  CHECK(program("reduce", {}) == "chains on rails");
  CHECK(program("all_to_all", {}) == "pairwise");
  CHECK(program("all_reduce", {"--program", "hierarchical"}) == "hierarchical");
  CHECK(program("all_reduce", {"--program", "halving_doubling"}) == "halving and doubling");
  CHECK(program("all_reduce", {"--program", "two_shot"}) == "two-shot");
  CHECK(program("all_gather", {"--program", "bruck"}) == "Bruck");
  CHECK(program("all_to_all", {"--program", "pxn"}) == "PXN");
  CHECK(program("all_reduce", {"--program", "parameter_server"}) == "parameter server");
  CHECK(program("all_reduce", {"--program", "gossip"}) == "gossip");
  CHECK(program("all_gather", {"--program", "sparse_all_gatherv"}) == "sparse all-gather");
}

TEST_CASE("servers, neighbours and uneven parts are asked for beside their program") {
  const std::vector<std::string> four{"--cluster", "dgx-h100", "--nodes", "4", "--program"};
  const auto sends = [&](const std::string& operation, std::vector<std::string> more) {
    more.insert(more.begin(), four.begin(), four.end());
    return steps_of(operation, more)["steps"]["sends"].get<int>();
  };
  CHECK(sends("all_reduce", {"parameter_server"}) == 2 * 32 * 31);
  CHECK(sends("all_reduce", {"parameter_server", "--servers", "8"}) == 2 * 24 * 8);
  CHECK(sends("all_reduce", {"gossip"}) == 2 * 32);
  CHECK(sends("all_reduce", {"gossip", "--neighbours", "exponential"}) == 5 * 32);
  CHECK(sends("all_reduce", {"gossip", "--neighbours", "complete"}) == 31 * 32);
  // Pairs of a file, and the links of a hybrid cube: four lead from every GPU to others.
  const std::string square =
      (std::filesystem::path(PAYOFF_SOURCE_DIR) / "profiles" / "keys" / "gossip.all.yaml").string();
  CHECK(steps_of("all_reduce", {"--cluster", "dgx-1v", "--gpus-per-node", "4", "--program",
                                "gossip", "--neighbours", square})["steps"]["sends"] == 2 * 2 + 2);
  CHECK(steps_of("all_reduce", {"--cluster", "dgx-1v", "--program", "gossip", "--neighbours",
                                "links"})["steps"]["sends"] == 8 * 4);
  const auto seconds = [&](const std::string& imbalance) {
    const json row = steps_of("all_gather", {"--cluster", "dgx-h100", "--nodes", "4", "--program",
                                             "sparse_all_gatherv", "--imbalance", imbalance});
    return row["steps"]["time_seconds"].get<double>();
  };
  // As if all had four times as much, at 256 MiB and more nearly in proportion.
  CHECK(seconds("4") > 3 * seconds("1"));
  CHECK(seconds("4") < 4 * seconds("1"));
}

TEST_CASE("trees on meshes are counted once they are packed, and refused where they are too many") {
  const Captured run =
      test::payoff({"collective", "all_reduce", "--cluster", "dgx-1v", "--nodes", "1024", "--level",
                    "steps", "--program", "packed_trees", "--sizes", "1GiB"});
  INFO(run.err);
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring("sends; at most 50000000 are simulated") &&
                          ContainsSubstring("--> argument 6: 1024"));
}

TEST_CASE("packed trees broadcast, too, and pass servers in three phases") {
  const auto program = [](const std::string& operation, const char* cluster, const char* nodes) {
    return steps_of(operation, {"--cluster", cluster, "--nodes", nodes, "--program",
                                "packed_trees"})["steps"]["program"]
        .get<std::string>();
  };
  CHECK(program("all_reduce", "dgx-1v", "2") == "packed trees in three phases");
  CHECK(program("all_reduce", "dgx-h100", "2") == "packed trees in three phases");
  CHECK(program("all_reduce", "dgx-h100", "1") == "packed trees");
  CHECK(program("broadcast", "dgx-1v", "1") == "packed trees");
  CHECK(program("reduce", "dgx-h100", "1") == "packed trees");
}

TEST_CASE("what is wrong with a graph of gossip is told at its place, all of it at once") {
  const ScratchFolder folder;
  folder.write("bad.yaml",
               "gossip: bad\n"
               "ranks: 6\n"
               "both_ways: [[0, 1], [1, 1], [1, 0], [2, 9], [0, 1, 2], 4]\n"
               "one_way: [[x, 2], [-1, 3], [0, 1]]\n");
  const std::vector<std::pair<std::string, std::string>> mistakes{
      {"`both_ways.1` is rank 1 and itself", "bad.yaml:3:21"},
      {"`both_ways.2` is there twice: rank 0 sends to rank 1 already", "bad.yaml:3:29"},
      {"`both_ways.3.1` is not there: ranks are 0 to 5", "bad.yaml:3:41"},
      {"`both_ways.4` has 3 ranks, a pair has two", "bad.yaml:3:45"},
      {"`both_ways.5` is not a list", "bad.yaml:3:56"},
      {"`one_way.0.0` is not a whole number", "bad.yaml:4:12"},
      {"`one_way.1.0` is too small", "bad.yaml:4:20"},
      {"`one_way.2` is there twice: rank 0 sends to rank 1 already", "bad.yaml:4:28"}};
  const Captured checked = test::payoff({"check", folder.path("bad.yaml")});
  const Captured asked =
      test::payoff(collective("all_reduce", {"--cluster", "dgx-1v", "--ranks", "6", "--program",
                                             "gossip", "--neighbours", folder.path("bad.yaml")}));
  for (const Captured* run : {&checked, &asked}) {
    CHECK(run->code == ExitCode::bad_input);
    CHECK(run->out.empty());
    for (const auto& [message, place] : mistakes) {
      CHECK_THAT(run->err, ContainsSubstring(message) && ContainsSubstring(place));
    }
    CHECK_THAT(run->err, ContainsSubstring("8 errors"));
  }
  folder.write("lonely.yaml", "gossip: lonely\nranks: 9\none_way: [[0, 1]]\n");
  CHECK_THAT(test::payoff({"check", folder.path("lonely.yaml")}).err,
             ContainsSubstring("`one_way` has no pairs of ranks 2, 3, 4, 5, 6 and 2 more") &&
                 ContainsSubstring("lonely.yaml:3:10"));
  folder.write("two.yaml", "gossip: two\nranks: 2\none_way: [[0, 1]]\n");
  CHECK_THAT(test::payoff({"check", folder.path("two.yaml")}).out,
             ContainsSubstring("2 ranks, 1 sends in a round, 1 at most by one rank"));
  const Captured other =
      test::payoff(collective("all_reduce", {"--cluster", "dgx-1v", "--program", "gossip",
                                             "--neighbours", folder.path("two.yaml")}));
  CHECK(other.code == ExitCode::bad_input);
  CHECK_THAT(other.err, ContainsSubstring("the graph has 2 ranks, the group 8") &&
                            ContainsSubstring("two.yaml:2:8"));
  const Captured bare = test::payoff(collective(
      "all_reduce", {"--cluster", "dgx-h100", "--program", "gossip", "--neighbours", "links"}));
  CHECK_THAT(bare.err, ContainsSubstring("no link leads from the GPU of rank 0"));
}

TEST_CASE("NVLS on one node runs in the switch of the node") {
  const json row = steps_of("all_reduce", {"--cluster", "dgx-h100", "--algo", "nvls"});
  CHECK(row["steps"]["program"] == "NVLS");
  CHECK_THAT(row["steps"]["time_seconds"].get<double>(),
             WithinRel(row["steps"]["price_seconds"].get<double>(), 1e-6));
}

TEST_CASE("sums in switches and packed trees have an assumed price, and say so") {
  const json sharp =
      steps_of("all_reduce", {"--cluster", "dgx-h100", "--nodes", "2", "--program", "sharp"});
  CHECK(sharp["steps"]["price_assumed_sd"].get<double>() > 0.5);  // and the law's own
  CHECK(sharp["steps"]["alpha_beta_seconds"].get<double>() > 0);
  CHECK(sharp["steps"]["price_seconds"].get<double>() > 0);
  const json hierarchical = steps_of(
      "all_reduce", {"--cluster", "dgx-h100", "--nodes", "2", "--program", "hierarchical"});
  CHECK(hierarchical["steps"]["price_assumed_sd"].is_null());
  const Captured trees =
      test::payoff(collective("all_reduce", {"--cluster", "dgx-1v", "--program", "packed_trees"}));
  CHECK(trees.code == ExitCode::success);
  CHECK_THAT(trees.out, ContainsSubstring("packed trees"));
  CHECK_THAT(trees.out, ContainsSubstring("The price is assumed, as nobody has published"));
  CHECK_THAT(trees.out, ContainsSubstring("part of the price"));
}

TEST_CASE("a program that cannot be laid on the group is a mistake of whoever asks for it") {
  for (const auto& [program, cluster, nodes, reason] :
       {std::tuple{"halving_doubling", "dgx-h100", "3", "a power of two of ranks, not 24"},
        {"sharp", "dgx-h100", "1", "a tree of switches between the servers"},
        {"packed_trees", "g4dn-metal", "1", "on a switch, or where links join 3 to 10 GPUs"},
        {"packed_trees", "g4dn-metal", "2",
         "the switches of servers, or where links join up to"}}) {
    const Captured run = test::payoff(
        collective("all_reduce", {"--cluster", cluster, "--nodes", nodes, "--program", program}));
    INFO(program << ": " << run.err);
    CHECK(run.code == ExitCode::bad_input);
    CHECK(run.out.empty());
    CHECK_THAT(run.err,
               ContainsSubstring(std::string(program) + " cannot be laid on these ranks") &&
                   ContainsSubstring(reason) && ContainsSubstring("--> argument"));
  }
  const Captured alone = test::payoff(
      collective("all_reduce", {"--cluster", "dgx-h100", "--ranks", "1", "--program", "gossip"}));
  CHECK(alone.code == ExitCode::bad_input);
  CHECK_THAT(alone.err, ContainsSubstring("two ranks or more"));
}

TEST_CASE("a collective that takes longer than the clock is told at the topology, or at its size") {
  const ScratchFolder folder;
  folder.write("slow.yaml",
               "topology: slow\n"
               "server: {gpus: 8, fabric: {kind: switch, bandwidth: 450 GB/s}, "
               "nics: {count: 8, bandwidth: 1 Kb/s}}\n"
               "servers: 2\n"
               "network: {kind: switch}\n");
  // Between servers each of eight NICs passes an eighth of 16 GiB: more than 198 days.
  const Captured run =
      test::payoff({"collective", "all_reduce", "--cluster", "dgx-h100", "--nodes", "2", "--sizes",
                    "16GiB", "--level", "steps", "--topology", folder.path("slow.yaml")});
  INFO(run.err);
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring("takes more than 106 days on these links") &&
                          ContainsSubstring("1 error; stopped, and nothing was written") &&
                          ContainsSubstring("slow.yaml\n"));
  const Captured checked = test::payoff({"check", folder.path("slow.yaml")});
  CHECK(checked.code == ExitCode::success);
}

TEST_CASE("links that together carry more than can be counted are refused") {
  const ScratchFolder folder;
  // Of 1,024 servers eight NICs of 100 TB/s each: 8e17 bytes a second up from their leaf.
  folder.write("wide.yaml",
               "topology: wide\n"
               "server: {gpus: 8, fabric: {kind: switch, bandwidth: 450 GB/s}, "
               "nics: {count: 8, bandwidth: 100 TB/s}}\n"
               "servers: 2048\n"
               "network: {kind: fat_tree, servers_per_leaf: 1024, spines: 1}\n");
  const Captured run =
      test::payoff({"collective", "all_reduce", "--cluster", "dgx-h100", "--nodes", "2", "--sizes",
                    "1GiB", "--level", "steps", "--topology", folder.path("wide.yaml")});
  INFO(run.err);
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("carries more than can be simulated"));
}

TEST_CASE("a collective runs on the links of a topology file") {
  const json row =
      steps_of("all_reduce", {"--cluster", "dgx-1v", "--topology", example("dgx-1v.yaml")});
  CHECK(row["steps"]["program"] == "rings along links");
  // Six rings of 25 GB/s: 2 * 7 / 8 of 256 MiB.
  CHECK_THAT(row["steps"]["alpha_beta_seconds"].get<double>(),
             WithinRel(256 * 1048576.0 * 1.75 / 150e9, 0.05));
  const ScratchFolder folder;
  folder.write("slow.yaml",
               "topology: slow\n"
               "server: {gpus: 8, fabric: {kind: switch, bandwidth: 450 GB/s}, "
               "nics: {count: 8, bandwidth: 400 Gb/s}}\n"
               "servers: 2\n"
               "network: {kind: fat_tree, servers_per_leaf: 1, spines: 2, oversubscription: 8}\n"
               "routing: {balance: ideal}\n");
  const json slow = steps_of("all_reduce", {"--cluster", "dgx-h100", "--nodes", "2", "--algo",
                                            "ring", "--topology", folder.path("slow.yaml")});
  CHECK(slow["steps"]["time_seconds"].get<double>() >
        3 * slow["steps"]["price_seconds"].get<double>());
}
