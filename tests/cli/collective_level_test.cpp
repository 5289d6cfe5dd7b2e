// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/collective_words.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using payoff::test::Captured;
using payoff::test::collective;
using payoff::test::example;
using payoff::test::ScratchFolder;

// What `payoff collective --level steps` refuses before it runs.

TEST_CASE("every mistake of a topology file and of the options is told at once, nothing printed") {
  const ScratchFolder folder;
  folder.write("bad.yaml",
               "topology: bad\n"
               "graph:\n"
               "  gpus: [a, b, c, d]\n"
               "  links:\n"
               "    - {between: [a, b], bandwidth: 25 GB/s}\n"
               "    - {between: [b, c], bandwidth: 25 GB/s}\n"
               "  routes:\n"
               "    - [a, b, a, b, c]\n"
               "rank_order: [0, 1, 2, 2]\n"
               "rooting: {balance: ideal}\n");
  const Captured run =
      test::payoff(collective("all_reduce", {"--cluster", "dgx-1v", "--ranks", "4", "--topology",
                                             folder.path("bad.yaml"), "--program", "packed_tree"}));
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring("no permutation"));
  CHECK_THAT(run.err, ContainsSubstring("no way leads from rank 0 (a) to rank 3 (d)"));
  CHECK_THAT(run.err, ContainsSubstring("bad.yaml:8:"));  // the route that goes in a circle
  CHECK_THAT(run.err, ContainsSubstring("did you mean `routing`?"));
  CHECK_THAT(run.err, ContainsSubstring("did you mean `packed_trees`?"));
}

TEST_CASE("options of sends are refused without sends, and misspelt levels answered") {
  const auto wrong = [](std::vector<std::string> more) {
    std::vector<std::string> words{"collective", "all_reduce", "--cluster",
                                   "dgx-h100",   "--sizes",    "1MiB"};
    words.insert(words.end(), more.begin(), more.end());
    const Captured run = test::payoff(words);
    CHECK(run.code == ExitCode::bad_input);
    CHECK(run.out.empty());
    return run.err;
  };
  CHECK_THAT(wrong({"--level", "step"}), ContainsSubstring("did you mean `steps`?"));
  CHECK_THAT(wrong({"--topology", example("dgx-1v.yaml"), "--program", "bruck"}),
             ContainsSubstring("--topology needs --level steps") &&
                 ContainsSubstring("--program needs --level steps"));
  CHECK_THAT(wrong({"--level", "steps", "--program", "bruck"}),
             ContainsSubstring("bruck is a program of all_gather"));
  CHECK_THAT(wrong({"--level", "steps", "--program", "gossip", "--servers", "2", "--imbalance", "2",
                    "--neighbours", "rings"}),
             ContainsSubstring("--servers needs --program parameter_server") &&
                 ContainsSubstring("--imbalance needs --program sparse_all_gatherv") &&
                 ContainsSubstring("did you mean `ring`?"));
  CHECK_THAT(wrong({"--level", "steps", "--program", "parameter_server", "--servers", "8"}),
             ContainsSubstring("--servers") && ContainsSubstring("7"));
  CHECK_THAT(wrong({"--level", "steps", "--program", "two_shot", "--algo", "ring"}),
             ContainsSubstring("leave one of them away"));
  CHECK_THAT(wrong({"--level", "steps", "--topology", example("own-graph.yaml")}),
             ContainsSubstring("the topology has 4 GPUs, the group 8 ranks"));
  CHECK_THAT(wrong({"--on-gpus", "0..3", "--level", "steps"}),
             ContainsSubstring("--on-gpus needs a --topology"));
  const std::vector<std::string> pod{"--level", "steps", "--topology", example("rail-pod.yaml"),
                                     "--on-gpus"};
  const auto on = [&](const std::string& gpus) {
    std::vector<std::string> words = pod;
    words.push_back(gpus);
    return wrong(words);
  };
  CHECK_THAT(on("0..6,512"),
             ContainsSubstring("there is no GPU 512") && !ContainsSubstring("servers"));
  CHECK_THAT(on("0..6,8"), ContainsSubstring("on 2 servers, the group on 1 node"));
  CHECK_THAT(on("0..6,6"), ContainsSubstring("GPU 6 is there twice"));
  CHECK_THAT(on("0..6"), ContainsSubstring("7 GPUs are listed, the group has 8 ranks"));
  CHECK_THAT(on("0..x"), ContainsSubstring("--on-gpus"));
  CHECK_THAT(on("9,9,x,512"), ContainsSubstring("x") && ContainsSubstring("GPU 9 is there twice") &&
                                  ContainsSubstring("there is no GPU 512") &&
                                  !ContainsSubstring("are listed"));
  // All at once, and where the topology has mistakes of its own.
  CHECK_THAT(on("0,0,512"), ContainsSubstring("3 GPUs are listed, the group has 8 ranks") &&
                                ContainsSubstring("GPU 0 is there twice") &&
                                ContainsSubstring("there is no GPU 512"));
  const ScratchFolder folder;
  folder.write("bad.yaml", "topology: bad\nserver: {gpus: none}\n");
  CHECK_THAT(wrong({"--level", "steps", "--topology", folder.path("bad.yaml"), "--on-gpus", "0,0"}),
             ContainsSubstring("bad.yaml:2:16") && ContainsSubstring("GPU 0 is there twice"));
}

TEST_CASE("many sends are announced, and more than can be run are refused before the first one") {
  const std::vector<std::string> ring{"--cluster",       "dgx-a100", "--nodes", "4096",
                                      "--gpus-per-node", "1",        "--algo",  "ring"};
  const auto of_sizes = [&](const std::string& nodes, const std::string& sizes) {
    std::vector<std::string> words{"collective", "all_reduce", "--level",
                                   "steps",      "--sizes",    sizes};
    words.insert(words.end(), ring.begin(), ring.end());
    words[9] = nodes;
    return test::payoff(words);
  };
  // 2 x 4096 x 4095 sends a size.
  const Captured refused = of_sizes("4096", "1GiB,4GiB");
  CHECK(refused.code == ExitCode::bad_input);
  CHECK(refused.out.empty());
  CHECK_THAT(refused.err, ContainsSubstring("these 2 sizes are 67092480 sends"));
  CHECK_THAT(refused.err, ContainsSubstring("one is up to 33546240"));
  CHECK_THAT(refused.err, ContainsSubstring("--sizes"));
  const Captured announced = of_sizes("1600", "4GiB");
  CHECK(announced.code == ExitCode::success);
  CHECK_THAT(announced.err, ContainsSubstring("note: 5.1 million sends") &&
                                ContainsSubstring("up to four times: about 3 s"));
  CHECK_THAT(announced.out, ContainsSubstring("| 5116800 |"));
}

TEST_CASE("what has too many sends at any size is refused before it is laid") {
  struct Case {
    std::vector<std::string> words;
    const char* sends;
  };
  // A pair each; 8 rings of all ranks; twice all pairs.
  const std::vector<Case> cases{
      {{"all_to_all", "--nodes", "131072"}, "1099510579200"},  // n (n - 1), n = 2^20
      {{"all_reduce", "--nodes", "16384", "--algo", "ring"}, "274875809792"},  // 8 x 2 n (n - 1)
      {{"all_reduce", "--nodes", "131072", "--program", "gossip", "--neighbours", "complete"},
       "1099510579200"}};
  for (const Case& one : cases) {
    std::vector<std::string> words{"collective"};
    words.insert(words.end(), one.words.begin(), one.words.end());
    words.insert(words.end(), {"--cluster", "dgx-a100", "--level", "steps", "--sizes", "1MB"});
    INFO(one.words.front());
    const auto since = std::chrono::steady_clock::now();
    const Captured refused = test::payoff(words);
    const auto took = std::chrono::steady_clock::now() - since;
    CHECK(refused.code == ExitCode::bad_input);
    CHECK(refused.out.empty());
    CHECK_THAT(refused.err,
               ContainsSubstring(one.sends) && ContainsSubstring("ask for fewer ranks"));
    CHECK_THAT(refused.err, ContainsSubstring(": " + one.words[2] + "\n"));  // of --nodes
    CHECK(took < std::chrono::seconds(5));  // laid, they take half a minute and more
  }
}
