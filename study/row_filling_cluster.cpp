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

// Four V100 of a node, by their name: one that says SXM2 is a module on NVIDIA's board with NVLink;
// one that says neither SXM2 nor PCIe is the card, unless it has more memory than the card's
// profile, or else that module. Pairs and whole boards go by study/row_cluster.cpp.
void RowFilling::links() {
  const TrainingCluster& cluster = row().cluster;
  const std::string stated = cluster.gpu.value_or("");
  const bool used = cluster.gpus.value_or(1) > cluster.nodes.value_or(1);
  const bool module = stated.starts_with("v100-sxm2");
  if (!unknown(cluster.intra) || !used || cluster.gpus_per_node.value_or(0) != 4 ||
      !(module || stated == "v100" || stated == "v100-32")) {
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

// Boards of DGX go by their data sheet; TCP without a rate could be anything.
bool needs_cards(const TrainingCluster& cluster) {
  const std::string transport = cluster.transport.value_or("unknown");
  const bool board = cluster.gpus_per_node.value_or(0) >= 8;
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

}  // namespace

// One card of 100 Gb/s, what servers of Volta and Ampere had at least, up to four of 200; servers
// of Hopper and later have one of 400 for each GPU. Of what a row states, half is kept.
void RowFilling::cards() {
  const TrainingCluster stated = row().cluster;
  const Gpu* known = gpu();
  if (!needs_cards(stated) || known == nullptr) {
    return;
  }
  const bool modern = known->architecture >= Architecture::hopper;
  const int gpus = stated.gpus_per_node.value_or(1);
  const std::vector<Cards> usual =
      modern ? std::vector<Cards>{{gpus, 400_Gbps}, {gpus, 200_Gbps}, {1, 400_Gbps}}
             : std::vector<Cards>{{1, 100_Gbps}, {2, 100_Gbps}, {4, 200_Gbps}};
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
  fill<Cards>(usual.front(), others, text, [](TrainingRow& to, const Cards& cards) {
    if (needs_cards(to.cluster)) {
      to.cluster.nics_per_node = to.cluster.nics_per_node.value_or(cards.count);
      to.cluster.nic_bandwidth = to.cluster.nic_bandwidth.value_or(cards.rate);
    }
  });
}

}  // namespace payoff
