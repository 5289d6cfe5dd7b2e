// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "study/row_catalogue.hpp"
#include "study/row_experiment.hpp"
#include "study/row_prior.hpp"
#include "tests/catch.hpp"
#include "tests/study/rows.hpp"

using namespace payoff;
using test::catalogue;
using test::shipped_row;
using test::varies;

// What a row leaves open of its cluster: GPUs, boards, cards and their network.

// The page states 2.4 TB/s and a limit of 500 W, where the data sheet has 3.35 TB/s and 700 W.
TEST_CASE("a variant of a GPU has its own memory, and a limit on power lowers its clock") {
  const RowExperiment mapped = row_experiment(
      row_prior(shipped_row("llama3_torchtitan", "tt_70b_n256_vanillaTP_bf16"), catalogue()).likely,
      catalogue());
  REQUIRE(mapped.experiment);
  const Gpu& gpu = mapped.experiment->cluster.gpu;
  const Gpu& sheet = catalogue().gpus.at("h100-sxm");
  CHECK(gpu.memory_bandwidth == 2.4_TBps);
  CHECK_THAT(gpu.peak[Precision::bf16] / sheet.peak[Precision::bf16],
             Catch::Matchers::WithinRel(std::cbrt(500.0 / 700.0), 1e-12));
}

namespace {

// Two nodes of four GPUs whose name is `gpu`, and nothing on their links.
TrainingRow nodes_of_four(const std::string& gpu) {
  TrainingRow row;
  row.cluster.gpu = gpu;
  row.cluster.gpus = 8;
  row.cluster.nodes = 2;
  row.cluster.gpus_per_node = 4;
  row.cluster.transport = "ib";
  row.cluster.nics_per_node = 1;
  row.cluster.nic_bandwidth = 100_Gbps;
  return row;
}

}  // namespace

// The card of V100 was sold with 16 GB first; its profile has as much.
TEST_CASE("four V100 of a node are cards unless their name says SXM2") {
  const RowPrior plain = row_prior(nodes_of_four("v100"), catalogue());
  CHECK(plain.likely.cluster.gpu == "v100-pcie");
  CHECK(plain.likely.cluster.intra == "pcie3");
  REQUIRE(plain.others.size() == 1);
  CHECK(plain.others[0].row.cluster.gpu == "v100-sxm2-16");
  CHECK(plain.others[0].row.cluster.intra == "nvlink-mesh-v2");
  const RowPrior large = row_prior(nodes_of_four("v100-32"), catalogue());
  CHECK(large.likely.cluster.gpu == "v100-32");
  CHECK(large.likely.cluster.intra == "pcie3");
  const RowPrior module = row_prior(nodes_of_four("v100-sxm2-32"), catalogue());
  CHECK(module.likely.cluster.intra == "nvlink-mesh-v2");
}

TEST_CASE("of a network's cards a row keeps what it states") {
  TrainingRow row = nodes_of_four("a100");
  row.cluster.intra = "nvlink-mesh-v3";
  row.cluster.nic_bandwidth.reset();
  row.cluster.nics_per_node = 3;
  const RowPrior rate = row_prior(row, catalogue());
  CHECK(rate.likely.cluster.nics_per_node == 3);
  CHECK(rate.likely.cluster.nic_bandwidth == 100_Gbps);
  REQUIRE_FALSE(rate.others.empty());
  for (const RowAlternative& other : rate.others) {
    CHECK(other.row.cluster.nics_per_node == 3);
  }
  row.cluster.nics_per_node.reset();
  row.cluster.nic_bandwidth = 25_Gbps;
  row.cluster.transport.reset();  // slow cards: TCP, or InfiniBand
  const RowPrior count = row_prior(row, catalogue());
  CHECK(count.likely.cluster.transport == "tcp");
  CHECK(count.likely.cluster.nics_per_node == 1);
  CHECK(varies(count, [](const TrainingRow& r) { return r.cluster.transport; }));
  for (const RowAlternative& other : count.others) {
    CHECK(other.row.cluster.nics_per_node);
    CHECK(other.row.cluster.nic_bandwidth == 25_Gbps);
  }
}

TEST_CASE("a network of which nothing is said is one field") {
  TrainingRow row = nodes_of_four("a100");
  row.cluster.intra = "nvlink-mesh-v3";
  row.cluster.transport = "unknown";
  row.cluster.nics_per_node.reset();
  row.cluster.nic_bandwidth.reset();
  const RowPrior prior = row_prior(row, catalogue());
  CHECK(prior.likely.cluster.transport == "ib");
  CHECK(prior.likely.cluster.nics_per_node);
  CHECK(std::count_if(prior.assumptions.begin(), prior.assumptions.end(),
                      [](const std::string& text) { return text.starts_with("InfiniBand"); }) == 1);
  CHECK(varies(prior, [](const TrainingRow& r) { return r.cluster.transport; }));
  CHECK(varies(prior, [](const TrainingRow& r) { return r.cluster.nic_bandwidth; }));
}

// Jiang et al. 2020: beside the workers as many bytes as a ring, on machines of their own half.
TEST_CASE("servers beside the workers are an all-reduce, or half of one on machines of their own") {
  TrainingRow row = nodes_of_four("a100");
  row.cluster.intra = "nvlink-mesh-v3";
  row.cluster.nics_per_node = 1;
  row.cluster.nic_bandwidth = 25_Gbps;
  row.layout.dp_collective = "ps";
  const RowPrior prior = row_prior(row, catalogue());
  CHECK(prior.likely.cluster.nic_bandwidth == 25_Gbps);
  CHECK(std::any_of(prior.others.begin(), prior.others.end(), [](const RowAlternative& other) {
    return other.row.cluster.nic_bandwidth == 50_Gbps;
  }));
  row.layout.dp_collective = "all-reduce";
  CHECK_FALSE(varies(row_prior(row, catalogue()),
                     [](const TrainingRow& r) { return r.cluster.nic_bandwidth; }));
  // A kind of recomputation in detail may be more than attention.
  row.layout.recompute = "selective";
  row.layout.recompute_detail = "per-op";
  CHECK(
      varies(row_prior(row, catalogue()), [](const TrainingRow& r) { return r.layout.recompute; }));
}

TEST_CASE("a row that states its GPUs alone had them on boards of their kind") {
  TrainingRow row = shipped_row("korthikanti_2022", "korth_t5_175B_selective");
  row.cluster.nodes.reset();
  row.cluster.gpus_per_node.reset();
  const RowPrior boards = row_prior(row, catalogue());
  CHECK(boards.likely.cluster.nodes == 8);
  CHECK(boards.likely.cluster.gpus_per_node == 8);
  CHECK(boards.assumptions == std::vector<std::string>{"nodes of 8 GPUs"});
  row.cluster.gpu = "unknown";  // so no board is known
  const RowExperiment mapped = row_experiment(row_prior(row, catalogue()).likely, catalogue());
  CHECK(std::ranges::count(mapped.reasons, "number of nodes not stated") == 1);
}
