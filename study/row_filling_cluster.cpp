// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "model/units_text.hpp"
#include "study/row_filling.hpp"
#include "study/row_parts.hpp"
#include "study/unstated_gpu.hpp"

namespace payoff {
namespace {

bool unknown(const std::optional<std::string>& field) { return !field || *field == "unknown"; }

}  // namespace

const Gpu* RowFilling::gpu() const {
  const auto known = catalogue_.gpus.find(gpu_profile(row().cluster.gpu.value_or("")));
  return known == catalogue_.gpus.end() ? nullptr : &known->second;
}

// A row that states its GPUs alone had them on boards of their kind.
void RowFilling::nodes() {
  const TrainingCluster& stated = row().cluster;
  const Gpu* known = gpu();
  if (stated.nodes || !stated.gpus || known == nullptr || row().misses("nodes")) {
    return;
  }
  const int board = stated.gpus_per_node.value_or(board_of(gpu_profile(*stated.gpu)));
  const bool several = *stated.gpus > board;
  const auto set = [&](TrainingRow& to, int count) {
    to.cluster.nodes = count;
    to.cluster.gpus_per_node = board;
  };
  if (!several) {
    change_all([&](TrainingRow& to) { set(to, 1); });
    prior_.minor.emplace_back("one node");
  } else if (board > 0 && *stated.gpus % board == 0) {
    fill<int>(*stated.gpus / board, {}, "nodes of " + std::to_string(board) + " GPUs", set);
  }
}

// Told by runs on one GPU, which are told by nothing else.
void RowFilling::unnamed_gpu() {
  const UnstatedGpu* told = unstated_gpu(row(), catalogue_);
  if (told == nullptr || row().cluster.gpus.value_or(1) == 1) {
    return;
  }
  std::vector<Choice<std::string>> others;
  others.reserve(told->others.size());
  for (const auto& [profile, words] : told->others) {
    others.push_back({profile, words});
  }
  fill<std::string>(told->likely, others, told->assumption,
                    [](TrainingRow& to, const std::string& name) { to.cluster.gpu = name; });
}

// Cards are in slots, of their time's generation, under one root or two.
void RowFilling::links_of_cards() {
  const Gpu* known = gpu();
  if (known == nullptr || !known->card) {
    return;
  }
  const std::string slots = known->architecture >= Architecture::ampere ? "pcie4" : "pcie3";
  fill<std::string>(slots, {{slots + "-numa", "two sockets"}},
                    "PCI Express cards on one socket, or on two",
                    [](TrainingRow& to, const std::string& links) { to.cluster.intra = links; });
}

// Four V100 of a node, by their name: one that says SXM2 is a module on NVIDIA's board with NVLink;
// one that says neither SXM2 nor PCIe is the card, unless it has more memory than the card's
// profile, or else that module. Pairs and whole boards go by study/row_cluster.cpp.
void RowFilling::links() {
  const TrainingCluster& cluster = row().cluster;
  const std::string stated = cluster.gpu.value_or("");
  const bool used = cluster.gpus.value_or(1) > cluster.nodes.value_or(1);
  const bool module = stated.starts_with("v100-sxm2");
  if (!unknown(cluster.intra) || !used) {
    return;
  }
  if (cluster.gpus_per_node.value_or(0) != 4 ||
      !(module || stated == "v100" || stated == "v100-32")) {
    links_of_cards();
    return;
  }
  struct Links {
    std::string gpu;
    std::string intra;
  };
  const auto set = [](TrainingRow& to, const Links& links) {
    to.cluster.gpu = links.gpu;
    to.cluster.intra = links.intra;
  };
  const Links board{gpu_profile(stated), "nvlink-mesh-v2"};
  if (module) {
    fill<Links>(board, {{{stated, "pcie3"}, "PCI Express"}},
                "the NVLink board of SXM2 modules, or PCI Express", set);
    return;
  }
  const auto card = catalogue_.gpus.find("v100-pcie");
  const Gpu* known = gpu();
  const bool fits =
      card != catalogue_.gpus.end() && known != nullptr && known->memory <= card->second.memory;
  fill<Links>({fits ? card->first : stated, "pcie3"}, {{board, "SXM2 modules on an NVLink board"}},
              "PCI Express cards, or SXM2 modules on an NVLink board", set);
}

// A cluster of fast cards without a word on what they speak; a few slow ones may speak TCP.
void RowFilling::network() {
  const int nodes = row().cluster.nodes.value_or(1);
  const std::string transport = row().cluster.transport.value_or("unknown");
  if (nodes <= 1 || (transport != "unknown" && transport != "none")) {
    return;
  }
  const auto set = [](TrainingRow& to, const std::string& name) { to.cluster.transport = name; };
  if (row().cluster.nic_bandwidth.value_or(400_Gbps) < 100_Gbps) {
    fill<std::string>("tcp", {{"ib", "InfiniBand"}}, "TCP between nodes, or InfiniBand", set);
  } else {
    fill<std::string>("ib", {{"efa", "EFA"}}, "InfiniBand between nodes, or EFA", set);
  }
}

namespace {

struct Cards {
  int count{};
  Bandwidth rate;
};

bool is_board(const TrainingCluster& cluster, const Gpu& gpu) {
  return cluster.gpus_per_node.value_or(0) >= 8 && !gpu.card && has_usual_nics(gpu.name);
}

// Boards of DGX go by their data sheet; TCP without a rate could be anything.
bool needs_cards(const TrainingCluster& cluster, const Gpu& gpu) {
  const std::string transport = cluster.transport.value_or("unknown");
  const bool board = is_board(cluster, gpu);
  return cluster.nodes.value_or(1) > 1 && !(cluster.nics_per_node && cluster.nic_bandwidth) &&
         transport != "unknown" && transport != "none" && !(board && transport == "ib") &&
         (transport != "tcp" || cluster.nic_bandwidth);
}

std::string words_of(const Cards& cards, const TrainingCluster& stated) {
  const std::string count = std::to_string(cards.count) + (cards.count == 1 ? " NIC" : " NICs");
  const std::string rate = number_text(cards.rate / 1_Gbps, 6) + " Gb/s";
  return stated.nics_per_node   ? "NICs of " + rate
         : stated.nic_bandwidth ? count
                                : count + " of " + rate;
}

std::vector<Cards> usual_cards(const Gpu& gpu, int gpus_per_node) {
  return gpu.architecture >= Architecture::hopper
             ? std::vector<Cards>{{gpus_per_node, 400_Gbps},
                                  {gpus_per_node, 200_Gbps},
                                  {1, 400_Gbps}}
             : std::vector<Cards>{{1, 100_Gbps}, {2, 100_Gbps}, {4, 200_Gbps}};
}

// Nothing is said of what is between nodes, which is one thing not said: RDMA on the usual cards,
// or TCP on the first of them.
struct Between {
  std::string transport;
  Cards cards;
};

}  // namespace

void RowFilling::whole_network() {
  const TrainingCluster& stated = row().cluster;
  const Gpu* known = gpu();
  if (stated.nodes.value_or(1) <= 1 || stated.transport.value_or("unknown") != "unknown" ||
      stated.nics_per_node || stated.nic_bandwidth || known == nullptr ||
      is_board(stated, *known)) {
    return;
  }
  const std::vector<Cards> usual = usual_cards(*known, stated.gpus_per_node.value_or(1));
  std::vector<Choice<Between>> others;
  std::string text = "InfiniBand, " + words_of(usual.front(), stated) + " a node";
  for (const Cards& cards : usual) {
    if (&cards != &usual.front()) {
      others.push_back({{"ib", cards}, words_of(cards, stated)});
      text += ", or " + others.back().words;
    }
  }
  others.push_back({{"tcp", usual.front()}, "TCP"});
  text += ", or TCP";
  fill<Between>({"ib", usual.front()}, others, text, [](TrainingRow& to, const Between& between) {
    to.cluster.transport = between.transport;
    to.cluster.nics_per_node = between.cards.count;
    to.cluster.nic_bandwidth = between.cards.rate;
  });
}

// One card of 100 Gb/s, what servers of Volta and Ampere had at least, up to four of 200; servers
// of Hopper and later have one of 400 for each GPU. Of what a row states, half is kept.
void RowFilling::cards() {
  const TrainingCluster stated = row().cluster;
  const Gpu* known = gpu();
  if (known == nullptr || !needs_cards(stated, *known)) {
    return;
  }
  const std::vector<Cards> usual = usual_cards(*known, stated.gpus_per_node.value_or(1));
  std::vector<std::string> words{words_of(usual.front(), stated)};
  std::vector<Choice<Cards>> others;
  std::string text = words.front() + " a node";
  for (const Cards& cards : usual) {
    const std::string each = words_of(cards, stated);
    if (std::find(words.begin(), words.end(), each) == words.end()) {
      words.push_back(each);
      others.push_back({cards, each});
      text += ", or " + each;
    }
  }
  fill<Cards>(usual.front(), others, text, [&](TrainingRow& to, const Cards& cards) {
    if (needs_cards(to.cluster, *known)) {
      to.cluster.nics_per_node = to.cluster.nics_per_node.value_or(cards.count);
      to.cluster.nic_bandwidth = to.cluster.nic_bandwidth.value_or(cards.rate);
    }
  });
}

// How many servers there are and where, rows do not say: beside the workers, or on as many machines
// of their own, which is what NICs of twice the rate would make of an all-reduce.
void RowFilling::servers() {
  const TrainingCluster& cluster = row().cluster;
  if (!sums_on_servers(row()) || cluster.nodes.value_or(1) <= 1 || !cluster.nic_bandwidth) {
    return;
  }
  fill<double>(1.0, {{2.0, "on machines of their own"}},
               "servers beside the workers, or on as many machines of their own",
               [](TrainingRow& to, double factor) {
                 if (to.cluster.nic_bandwidth) {
                   to.cluster.nic_bandwidth = factor * *to.cluster.nic_bandwidth;
                 }
               });
}

}  // namespace payoff
