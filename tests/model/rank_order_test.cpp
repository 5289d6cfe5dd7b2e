// SPDX-License-Identifier: Apache-2.0
#include "model/rank_order.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "model/groups.hpp"
#include "model/layout.hpp"
#include "tests/catch.hpp"
#include "tests/model/collective_clusters.hpp"

// Ranks in another order than tp, cp, dp, pp.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr RankOrder tp_pp_dp{Degree::tp, Degree::pp, Degree::dp, Degree::cp};
constexpr RankOrder dp_tp_pp{Degree::dp, Degree::tp, Degree::pp, Degree::cp};

ParallelLayout layout_of(int tp, int pp, int dp, RankOrder order = usual_order) {
  ParallelLayout layout;
  layout.tp = tp;
  layout.pp = pp;
  layout.dp = dp;
  layout.micro_batches = pp;
  layout.order = order;
  return layout;
}

Cluster nodes_of_eight(int nodes) {
  Cluster cluster = test::dgx_h100();
  cluster.nodes = nodes;
  return cluster;
}

}  // namespace

TEST_CASE(
    "every order puts every rank on a GPU of its own, and the usual one where it is counted") {
  RankOrder order = usual_order;
  do {
    ParallelLayout layout = layout_of(2, 3, 4, order);
    layout.cp = 2;
    std::vector<int> gpus = gpus_of_ranks(layout);
    if (order == usual_order) {
      CHECK(std::is_sorted(gpus.begin(), gpus.end()));
    }
    std::sort(gpus.begin(), gpus.end());
    std::vector<int> all(48);
    std::iota(all.begin(), all.end(), 0);
    CHECK(gpus == all);
  } while (std::next_permutation(order.begin(), order.end()));
}

// Megatron-LM's --use-tp-pp-dp-mapping: rank = t + tp (p + pp d).
TEST_CASE("with tp-pp-dp the stages of a pipeline are neighbours, and replicas are far apart") {
  const ParallelLayout layout = layout_of(2, 4, 4, tp_pp_dp);
  const int stage = layout.stage_ranks();
  for (int t = 0; t < 2; ++t) {
    for (int d = 0; d < 4; ++d) {
      for (int p = 0; p < 4; ++p) {
        CHECK(gpu_of_rank(layout, p * stage + d * 2 + t) == t + 2 * (p + 4 * d));
      }
    }
  }
  CHECK(order_text(layout.order) == "tp-pp-dp-cp");
  // On nodes of eight: a pipeline a node, and each GPU's replicas on the other nodes; two of a
  // stage in a node.
  CHECK(tensor_group(layout, 8) == Group{2, 2, 4, 1});
  CHECK(data_group(layout, 8) == Group{4, 1, 2, 1});
  for (int boundary = 0; boundary < 3; ++boundary) {
    CHECK(boundary_group(layout, 8, boundary) == Group{2, 2, 2, 2});
  }
  CHECK(ends_group(layout, 8).ranks_per_node == 2);
  CHECK(check_order(layout, nodes_of_eight(4)).empty());
}

TEST_CASE("degrees of one are neighbours of anything") {
  CHECK(has_usual_order(layout_of(2, 1, 4, tp_pp_dp)));
  CHECK(has_usual_order(layout_of(1, 4, 4)));
  CHECK_FALSE(has_usual_order(layout_of(1, 4, 4, tp_pp_dp)));
  CHECK_FALSE(has_usual_order(layout_of(2, 1, 4, dp_tp_pp)));
}

TEST_CASE("with dp innermost tensor-parallel groups leave the node where replicas fill it") {
  const ParallelLayout layout = layout_of(4, 1, 8, dp_tp_pp);
  CHECK(tensor_group(layout, 8) == Group{4, 1, 8, 1});
  CHECK(data_group(layout, 8) == Group{8, 8, 1, 1});
  const ParallelLayout halves = layout_of(4, 1, 4, dp_tp_pp);  // two replica groups a node
  CHECK(tensor_group(halves, 8) == Group{4, 2, 4, 4});
  CHECK(data_group(halves, 8) == Group{4, 4, 2, 1});
}

TEST_CASE("groups that an order spreads in more than one way are refused, all kinds at once") {
  // Six GPUs hold a pipeline of three: two replicas and a bit in a node of eight.
  const ParallelLayout layout = layout_of(2, 3, 4, tp_pp_dp);
  const Problems problems = check_layout(layout, nodes_of_eight(3), 48);
  REQUIRE(problems.size() == 1);
  CHECK(problems.front().path == "layout.order");
  CHECK_THAT(problems.front().message, ContainsSubstring("data-parallel groups of 4 ranks"));
  CHECK(check_layout(layout_of(2, 4, 4, tp_pp_dp), nodes_of_eight(4), 48).empty());
}

// Copies are the outermost of dp: with pipelines innermost the GPUs of a node hold both halves of
// one pipeline, and its middle goes from one half to the other.
TEST_CASE("both copies of a pipeline with two ends are placed as replicas are") {
  ParallelLayout layout = layout_of(1, 8, 4, tp_pp_dp);
  layout.schedule = PipelineSchedule::dualpipe;
  layout.virtual_stages = 2;
  CHECK(check_order(layout, nodes_of_eight(4)).empty());
  const int stage = layout.stage_ranks();
  for (int copy = 0; copy < 2; ++copy) {
    for (int d = 0; d < 4; ++d) {
      for (int p = 0; p < 4; ++p) {
        CHECK(gpu_of_rank(layout, p * stage + copy * 4 + d) == p + 4 * (copy * 4 + d));
      }
    }
  }
  CHECK(boundary_group(layout, 8, 0) == Group{2, 2, 2, 1});   // two pipelines in a node
  CHECK(boundary_group(layout, 8, 3) == Group{2, 1, 2, 16});  // to the copy two nodes on
  CHECK(data_group(layout, 8) == Group{8, 2, 1, 4});
}

// Of eight GPUs a node: two pipelines of four, or half of one; never one and a half.
TEST_CASE("nodes hold equal parts of stages where neighbours fill or divide them") {
  CHECK(fills_nodes_in_order(layout_of(1, 4, 16, tp_pp_dp), 8));
  CHECK(fills_nodes_in_order(layout_of(1, 16, 4, tp_pp_dp), 8));
  CHECK(fills_nodes_in_order(layout_of(2, 4, 4), 8));
  CHECK_FALSE(fills_nodes_in_order(layout_of(1, 12, 4, tp_pp_dp), 8));
}
