// SPDX-License-Identifier: Apache-2.0
#include "model/layout.hpp"

#include <algorithm>

#include "tests/catch.hpp"

using namespace payoff;

namespace {

Cluster nodes_of_8(int nodes) {
  Cluster cluster;
  cluster.gpus_per_node = 8;
  cluster.nodes = nodes;
  return cluster;
}

bool names(const Problems& problems, const std::string& path) {
  return std::any_of(problems.begin(), problems.end(),
                     [&](const Problem& p) { return p.path == path; });
}

}  // namespace

TEST_CASE("layouts of published runs are accepted") {
  // Narayanan et al. 2021: 175B on 1,024 GPUs, interleaved; Korthikanti et al. 2022: 1T on 512.
  CHECK(check_layout({.dp = 16, .tp = 8, .pp = 8, .virtual_stages = 3, .micro_batches = 96},
                     nodes_of_8(128), 96)
            .empty());
  CHECK(check_layout({.tp = 8, .pp = 64, .sequence_parallel = true, .micro_batches = 512},
                     nodes_of_8(64), 128)
            .empty());
  CHECK(check_layout({.dp = 1 << 20}, nodes_of_8(1 << 17), 1).empty());
  CHECK(check_layout({}, Cluster{}, 1).empty());
}

TEST_CASE("ranks that do not match the GPUs are refused with the dp that would fit") {
  const Problems problems = check_layout({.dp = 4, .tp = 8}, nodes_of_8(8), 12);
  REQUIRE(problems.size() == 1);
  CHECK(problems.front().path == "layout.dp");
  CHECK(problems.front().help == "set dp to 8");
}

TEST_CASE("a replica larger than the cluster is refused with the nodes that would hold it") {
  const auto help = [](const ParallelLayout& layout) {
    const Problems problems = check_layout(layout, nodes_of_8(2), 40);
    REQUIRE_FALSE(problems.empty());
    CHECK(problems.front().path == "layout.dp");
    return problems.front().help;
  };
  // 3 x 8 x 5 = 120 ranks are 15 nodes of 8; 3 x 1 x 7 are none.
  CHECK(help({.dp = 3, .tp = 8, .pp = 5}) ==
        "set cluster.nodes to 15, or choose tp, cp and pp whose product divides 16");
  CHECK(help({.dp = 3, .pp = 7}) == "choose tp, cp and pp whose product divides 16");
}

TEST_CASE("the product of ranks does not overflow") {
  const Problems problems =
      check_layout({.dp = 1 << 20, .tp = 1 << 10, .pp = 1 << 10}, nodes_of_8(1), 1 << 20);
  CHECK(names(problems, "layout.dp"));
  // 2^80 are 0 in 64 bits: neither a number of ranks nor nodes that would hold them.
  const Problems wide = check_layout({.dp = 1 << 20, .tp = 1 << 20, .pp = 1 << 20, .cp = 1 << 20},
                                     nodes_of_8(1), 1 << 20);
  REQUIRE(names(wide, "layout.dp"));
  CHECK(wide.front().message ==
        "dp 1048576 x tp 1048576 x cp 1048576 x pp 1048576 are more ranks than can be counted, "
        "but the cluster has 8 GPUs");
  CHECK(wide.front().help == "choose tp, cp and pp whose product divides 8");
}

TEST_CASE("no nodes are suggested that make more GPUs than are modelled") {
  // 2^21 ranks are whole nodes of 8.
  const Problems problems = check_layout({.tp = 1 << 11, .pp = 1 << 10}, nodes_of_8(1), 1 << 10);
  REQUIRE(names(problems, "layout.dp"));
  CHECK(problems.front().help == "choose tp, cp and pp whose product divides 8");
}

TEST_CASE("groups that fill nodes unevenly are refused") {
  CHECK(names(check_layout({.dp = 16, .tp = 3}, nodes_of_8(6), 12), "layout.tp"));
  CHECK(names(check_layout({.dp = 3, .tp = 4, .pp = 2}, nodes_of_8(3), 12), "layout.dp"));
  CHECK(check_layout({.dp = 1, .tp = 16, .pp = 2}, nodes_of_8(4), 12).empty());
  // On one node any division of its GPUs will do.
  Cluster cluster = nodes_of_8(1);
  cluster.gpus_per_node = 6;
  CHECK(check_layout({.dp = 2, .tp = 3}, cluster, 12).empty());
}

TEST_CASE("a pipeline needs a layer for every chunk") {
  CHECK(names(check_layout({.pp = 16}, nodes_of_8(2), 12), "layout.pp"));
  CHECK(names(check_layout({.pp = 8, .virtual_stages = 2, .micro_batches = 8}, nodes_of_8(1), 12),
              "layout.virtual_stages"));
  CHECK(names(check_layout({.pp = 8, .virtual_stages = 2, .micro_batches = 12}, nodes_of_8(1), 16),
              "layout.micro_batches"));
  CHECK(names(check_layout({.dp = 8, .virtual_stages = 2}, nodes_of_8(1), 16),
              "layout.virtual_stages"));
  CHECK(check_layout({.pp = 8}, nodes_of_8(1), 12).empty());  // uneven stages are allowed
}

TEST_CASE("all problems of a layout are reported at once") {
  const Problems problems =
      check_layout({.dp = 0, .zero = 4, .micro_batch = 0, .micro_batches = -1}, nodes_of_8(1), 4);
  CHECK(names(problems, "layout.dp"));
  CHECK(names(problems, "layout.zero"));
  CHECK(names(problems, "layout.micro_batch"));
  CHECK(names(problems, "layout.micro_batches"));
  CHECK(names(check_layout({.dp = 8, .sequence_parallel = true}, nodes_of_8(1), 4),
              "layout.sequence_parallel"));
}

TEST_CASE("a schedule needs a pipeline, and only 1F1B interleaves chunks") {
  CHECK(names(check_layout({.dp = 8, .schedule = PipelineSchedule::zb_h1}, nodes_of_8(1), 16),
              "layout.schedule"));
  CHECK(names(
      check_layout(
          {.pp = 8, .schedule = PipelineSchedule::gpipe, .virtual_stages = 2, .micro_batches = 8},
          nodes_of_8(1), 16),
      "layout.virtual_stages"));
  CHECK(check_layout({.pp = 8, .schedule = PipelineSchedule::zb_h2, .micro_batches = 3},
                     nodes_of_8(1), 16)
            .empty());
}

TEST_CASE("a schedule in a V has two chunks a stage, each of a layer or more") {
  const auto problems = [](int layers, int chunks) {
    return check_layout({.dp = 2,
                         .pp = 4,
                         .schedule = PipelineSchedule::zb_v,
                         .virtual_stages = chunks,
                         .micro_batches = 3},
                        nodes_of_8(1), layers);
  };
  CHECK(problems(16, 2).empty());
  CHECK(names(problems(16, 3), "layout.virtual_stages"));
  CHECK(problems(12, 2).empty());
  CHECK(names(problems(7, 2), "layout.schedule"));
  CHECK(problems(7, 1).size() == 2);
}

TEST_CASE("expert-parallel groups fill nodes evenly and divide the ranks of a stage") {
  CHECK(check_layout({.dp = 32, .ep = 16}, nodes_of_8(4), 1).empty());
  CHECK(names(check_layout({.dp = 32, .ep = 3}, nodes_of_8(4), 1), "layout.ep"));
  CHECK(names(check_layout({.dp = 48, .ep = 12}, nodes_of_8(6), 1), "layout.ep"));
  CHECK(names(check_layout({.dp = 8, .ep = 0}, nodes_of_8(1), 1), "layout.ep"));
}
