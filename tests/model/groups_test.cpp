// SPDX-License-Identifier: Apache-2.0
#include "model/groups.hpp"

#include <set>
#include <vector>

#include "tests/catch.hpp"

using namespace payoff;

namespace {

// The ranks of a group counted one by one: rank = (stage * dp + replica) * tp + part.
struct Counted {
  int ranks{};
  int ranks_per_node{};
};

Counted count(const std::vector<int>& ranks, int gpus_per_node) {
  std::multiset<int> nodes;
  for (const int rank : ranks) {
    nodes.insert(rank / gpus_per_node);
  }
  return {static_cast<int>(ranks.size()), static_cast<int>(nodes.count(*nodes.begin()))};
}

ParallelLayout layout(int dp, int tp, int pp) {
  ParallelLayout result;
  result.dp = dp;
  result.tp = tp;
  result.pp = pp;
  return result;
}

}  // namespace

TEST_CASE("groups are what counting ranks one by one finds") {
  const int node = GENERATE(1, 4, 8);
  const int tp = GENERATE(1, 2, 4, 8, 16);
  const int dp = GENERATE(1, 2, 16);
  if (tp > node ? tp % node != 0 : node % tp != 0) {
    return;  // layouts that are refused
  }
  std::vector<int> tensor;
  for (int part = 0; part < tp; ++part) {
    tensor.push_back(part);
  }
  std::vector<int> data;
  for (int replica = 0; replica < dp; ++replica) {
    data.push_back(replica * tp);
  }
  const Group t = tensor_group(layout(dp, tp, 1), node);
  CHECK(t.ranks == count(tensor, node).ranks);
  CHECK(t.ranks_per_node == count(tensor, node).ranks_per_node);
  const Group d = data_group(layout(dp, tp, 1), node);
  CHECK(d.ranks == count(data, node).ranks);
  CHECK(d.ranks_per_node == count(data, node).ranks_per_node);
}

TEST_CASE("shards are neighbours, and their equals stand one shard apart") {
  const int node = GENERATE(4, 8);
  const int tp = GENERATE(1, 2);
  const int shard = GENERATE(1, 2, 4, 16);
  ParallelLayout hybrid = layout(32, tp, 1);
  hybrid.zero = 3;
  hybrid.shard = shard;
  std::vector<int> part;
  for (int replica = 0; replica < shard; ++replica) {
    part.push_back(replica * tp);
  }
  std::vector<int> equals;
  for (int replica = 0; replica < 32; replica += shard) {
    equals.push_back(replica * tp);
  }
  const Group s = shard_group(hybrid, node);
  CHECK(s.ranks == count(part, node).ranks);
  CHECK(s.ranks_per_node == count(part, node).ranks_per_node);
  CHECK(s.rivals * s.ranks_per_node == node);  // every GPU of a node is in one of them
  const Group r = replica_group(hybrid, node);
  CHECK(r.ranks == count(equals, node).ranks);
  CHECK(r.ranks_per_node == count(equals, node).ranks_per_node);
  CHECK(r.rivals * r.ranks_per_node == node);
}

TEST_CASE("ranks that divide experts are neighbours, and those with the same ones ep apart") {
  const int node = GENERATE(1, 4, 8);
  const int ep = GENERATE(1, 2, 8, 32);
  if (ep > node ? ep % node != 0 : node % ep != 0) {
    return;  // layouts that are refused
  }
  ParallelLayout mixture = layout(16, 2, 1);
  mixture.ep = ep;
  std::vector<int> experts;
  for (int rank = 0; rank < ep; ++rank) {
    experts.push_back(rank);
  }
  std::vector<int> equals;
  for (int rank = 0; rank < 32; rank += ep) {
    equals.push_back(rank);
  }
  const Group e = expert_group(mixture, node);
  CHECK(e.ranks == count(experts, node).ranks);
  CHECK(e.ranks_per_node == count(experts, node).ranks_per_node);
  CHECK(e.rivals * e.ranks_per_node == node);      // every GPU of a node is in one of them
  CHECK(replica_group(mixture, node).ranks == 1);  // without zero nobody holds a part
  CHECK(expert_replica_group(mixture, node).ranks == 1);
  const Group d = expert_data_group(mixture, node);
  CHECK(d.ranks == count(equals, node).ranks);
  CHECK(d.ranks_per_node == count(equals, node).ranks_per_node);
}

TEST_CASE("with tp 8 on nodes of 8, eight data-parallel groups share the node's NICs") {
  const Group group = data_group(layout(16, 8, 1), 8);
  CHECK(group.nodes() == 16);
  CHECK(group.ranks_per_node == 1);
  CHECK(group.rivals == 8);
}

TEST_CASE("a pipeline crosses a node only where a stage ends with it") {
  // tp 4 on nodes of 8: stages 0 and 1 share a node, 1 and 2 do not.
  CHECK(boundary_group(layout(1, 4, 4), 8, 0).nodes() == 1);
  CHECK(boundary_group(layout(1, 4, 4), 8, 1).nodes() == 2);
  CHECK(boundary_group(layout(1, 4, 4), 8, 2).nodes() == 1);
  // The last stage hands its last chunk's input back to the first one.
  CHECK(boundary_group(layout(1, 4, 4), 8, 3).nodes() == 2);
}

TEST_CASE("the first and the last stage share a node only where all stages do") {
  for (const ParallelLayout& of : {layout(2, 2, 2), layout(2, 2, 4), layout(16, 1, 2)}) {
    CHECK(ends_group(of, 8).ranks_per_node ==
          count({0, (of.pp - 1) * of.stage_ranks()}, 8).ranks_per_node);
  }
  // tp 2, dp 2, pp 2 on nodes of 8: all of it in one node, four pairs.
  CHECK(ends_group(layout(2, 2, 2), 8).ranks_per_node == 2);
  CHECK(ends_group(layout(2, 2, 2), 8).rivals == 4);
  // pp 4: stages 0 and 1 in the first node, 2 and 3 in the second.
  CHECK(ends_group(layout(2, 2, 4), 8).ranks_per_node == 1);
  CHECK(ends_group(layout(2, 2, 4), 8).rivals == 4);
  // Stages of two nodes each: a pair for each GPU of a node.
  CHECK(ends_group(layout(16, 1, 2), 8).nodes() == 2);
  CHECK(ends_group(layout(16, 1, 2), 8).rivals == 8);
  CHECK(group_of(MessageKind::tied_gradients, layout(2, 2, 4), 8) ==
        ends_group(layout(2, 2, 4), 8));
}
