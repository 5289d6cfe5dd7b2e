// SPDX-License-Identifier: Apache-2.0
#include "cli/facts_read.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/host_facts.hpp"
#include "cli/names.hpp"
#include "model/groups.hpp"
#include "model/spread_band.hpp"

namespace payoff {
namespace {

using Keys = std::set<std::string, std::less<>>;

std::string key_of(Algorithm algorithm, Protocol protocol) {
  if (algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree) {
    return "nvls";
  }
  return protocol == Protocol::ll ? "ll" : protocol == Protocol::ll128 ? "ll128" : "simple";
}

// Keys of the laws of a fabric and of a network that messages of a job need.
class LinkKeys {
 public:
  explicit LinkKeys(const Cluster& cluster) : cluster_(cluster) {}

  void add(const MessageUse& use) {
    const GroupPaths paths = paths_of(cluster_, use.group);
    const CollectiveModel model(cluster_, use.group);
    for (const Bytes size : use.sizes) {
      const CollectivePrice price = model.price(use.collective, size);
      if (paths.local > 1) {
        inside(price, paths);
      }
      if (paths.domains > 1) {
        between(price, paths);
      }
      spreads(use, size, paths.domains > 1 ? network : fabric);
    }
  }

  Keys fabric;
  Keys network;

 private:
  // Keys that a law does not have say nothing.
  static void spreads(const MessageUse& use, Bytes size, Keys& keys) {
    const std::string band = spread_band_names.at(spread_band(size));
    const auto family = static_cast<std::size_t>(family_of(use.collective));
    keys.insert({"relative_sd_" + band, "relative_sd_more_ranks_" + band,
                 "relative_sd_" + std::string(collective_family_names.at(family)) + "_" + band});
  }

  void inside(const CollectivePrice& price, const GroupPaths& paths) {
    const std::string key = key_of(price.algorithm, price.protocol);  // of others as of rings
    fabric.insert({"launch", "ramp", "step_" + key, "share_" + key});
    if (price.algorithm == Algorithm::direct && paths.domains == 1) {
      fabric.insert("channel");
    }
    if (price.algorithm == Algorithm::nvls_tree) {
      network.insert("share_nvls");
    }
  }

  void between(const CollectivePrice& price, const GroupPaths& paths) {
    const std::string key = key_of(Algorithm::none, price.protocol);
    network.insert({"launch", "ramp", "chunk", "step_" + key, "share_" + key});
    if (paths.domains > 2) {
      network.insert("congestion_per_doubling");
    }
    if (!cluster_.network.node_limit) {
      network.insert({"node_limit", "relative_sd_node_limit"});
    }
    if (price.protocol == Protocol::ll) {
      network.insert({"rendezvous", "switched_hosts"});
    }
  }

  const Cluster& cluster_;
};

// Keys of the law of a GPU and of the software that the kernels of a job need.
Keys kernel_keys(const Experiment& experiment, const Workload& workload) {
  Keys keys{"memory_efficiency", "launch", "relative_sd", "host_per_kernel", "host_per_step"};
  for (const Layer& layer : workload.layers) {
    for (const Operator& op : layer.forward) {
      const bool fused = op.kind == OperatorKind::attention && experiment.software.fused_attention;
      if (op.kind != OperatorKind::memory && !fused) {
        keys.insert("depth_half");
      }
      if (op.kind == OperatorKind::convolution) {
        keys.insert("convolution_efficiency");
      }
      if (fused) {
        keys.insert("attention_efficiency");
      }
    }
  }
  if (element_size(experiment.training.precision) < 4_B) {
    keys.insert("memory_traffic_ratio");
  }
  return keys;
}

// What the passes of a codec read of its law.
Keys codec_keys(const std::vector<PassCost>& passes, const Gpu& gpu) {
  Keys keys{"relative_sd"};
  for (const PassCost& cost : passes) {
    if (cost.on_host) {  // the method's own numbers
      continue;
    }
    if (cost.kernels > 0) {
      keys.insert("dispatch");
    }
    const Bytes cached = gpu.l2 * std::max(cost.kernels, 1.0);
    if (cost.bytes > 0_B) {
      keys.insert("resident_efficiency");
    }
    if (cost.bytes > cached || cost.block_bytes > 0_B) {
      keys.insert("memory_efficiency");
    }
    if (cost.random_bytes > 0_B) {
      keys.insert("random_efficiency");
    }
    if (cost.flops > 0_flop) {
      keys.insert({"gemm_efficiency", "product_rate"});
    }
    if (cost.host_syncs > 0) {
      keys.insert("host_sync");
    }
  }
  return keys;
}

void add_passes(const CallCost& call, std::vector<PassCost>& passes) {
  passes.push_back(call.dense);
  passes.push_back(call.decode);
  for (const RoundCost& round : call.rounds) {
    passes.push_back(round.encode);
  }
}

// Paths of the laws of a plan's codecs, and what is read of each. In a plan of one method its name
// is left out (profiles/read_plan.cpp).
std::vector<std::pair<std::string, Keys>> codec_laws(const PreparedExperiment& prepared,
                                                     const CompressionPlan& plan) {
  std::map<std::string, std::vector<PassCost>> passes;
  const std::vector<const Method*> methods = plan.methods();
  for (const CallCost& call : prepared.codec_costs(plan)) {
    add_passes(call, passes[methods[call.method]->name]);
  }
  if (plan.weights) {
    for (const CallCost& call : prepared.weight_costs(plan, prepared.plan(plan))) {
      add_passes(call, passes[methods[call.method]->name]);
    }
  }
  for (const CodecPass& pass : prepared.codec_passes(plan)) {
    passes[methods[pass.work.method]->name].push_back(pass.cost);
  }
  std::vector<std::pair<std::string, Keys>> laws;
  for (const auto& [name, costs] : passes) {
    const Keys keys = codec_keys(costs, prepared.experiment().cluster.gpu);
    const std::string start = "compress." + plan.label + ".";
    laws.emplace_back(start + name + ".law.", keys);
    if (passes.size() == 1) {
      laws.emplace_back(start + "law.", keys);
    }
  }
  return laws;
}

class FactsReader {
 public:
  FactsReader(const PreparedExperiment& prepared, const std::vector<MessageUse>& messages)
      : experiment_(prepared.experiment()),
        links_(experiment_.cluster),
        kernels_(kernel_keys(experiment_, prepared.workload())) {
    for (const MessageUse& use : messages) {
      links_.add(use);
    }
    for (const CompressionPlan& plan : experiment_.plans) {
      for (auto& law : codec_laws(prepared, plan)) {
        codecs_.push_back(std::move(law));
      }
    }
  }

  [[nodiscard]] bool reads(std::string_view path) const {
    for (const auto& [start, keys] : codecs_) {
      if (path.starts_with(start)) {
        return keys.contains(path.substr(start.size()));
      }
    }
    const auto under = [&](std::string_view start) { return path.starts_with(start); };
    for (const std::string_view table : {"cluster.gpu.peak.", "cluster.gpu.law.gemm_efficiency."}) {
      if (under(table)) {
        return multiplies_in(path.substr(table.size()));
      }
    }
    for (const auto& [start, keys] :
         {std::pair(std::string_view("cluster.fabric.law."), &links_.fabric),
          std::pair(std::string_view("cluster.network.law."), &links_.network),
          std::pair(std::string_view("cluster.gpu.law."), &kernels_),
          std::pair(std::string_view("software.law."), &kernels_)}) {
      if (under(start)) {
        return keys->contains(path.substr(start.size()));
      }
    }
    if (under("cluster.host.") || under("cluster.gpu.copies.")) {
      return encodes_on_hosts(experiment_);
    }
    if (under("cluster.fabric.")) {
      return !links_.fabric.empty();
    }
    if (under("cluster.network.") || under("cluster.nic")) {
      return !links_.network.empty() && path != "cluster.network.rates";
    }
    const bool of_buckets =
        path == "software.bucket_copy_passes" || path == "software.copies_each_tensor";
    return !of_buckets || experiment_.layout.data_ranks() > 1;
  }

 private:
  // Attention multiplies in 16 bits where the products are fp8.
  [[nodiscard]] bool multiplies_in(std::string_view precision) const {
    const Precision own = experiment_.training.precision;
    return precision == name_of(own) ||
           (own == Precision::fp8 && precision == name_of(Precision::bf16));
  }

  const Experiment& experiment_;
  LinkKeys links_;
  Keys kernels_;
  std::vector<std::pair<std::string, Keys>> codecs_;
};

}  // namespace

Facts facts_read(const PreparedExperiment& prepared, const std::vector<MessageUse>& messages,
                 const Facts& facts) {
  const FactsReader reader(prepared, messages);
  Facts read;
  std::copy_if(facts.begin(), facts.end(), std::back_inserter(read), [&](const Fact& fact) {
    return !fact.path.ends_with(".quality") &&  // of the model, not of the time
           reader.reads(path_of_one_kind(fact.path));
  });
  add_assumed_copies(prepared.experiment(), read);
  return read;
}

std::string path_of_one_kind(std::string_view path) {
  constexpr std::string_view kinds = "cluster.node_kinds.";
  constexpr std::size_t none = std::string_view::npos;
  const std::size_t key = path.starts_with(kinds) ? path.find('.', kinds.size()) : none;
  return key == none ? std::string(path) : "cluster" + std::string(path.substr(key));
}

Facts distinct(const Facts& facts) {
  constexpr std::string_view law = ".law.";
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  Facts once;
  for (const Fact& fact : facts) {
    const std::size_t at = fact.path.rfind(law);
    const bool of_codec = fact.path.starts_with("compress.") && at != std::string::npos;
    const std::string key = of_codec ? "compress" + fact.path.substr(at) : fact.path;
    if (seen.emplace(key, of_codec ? fact.value_text : "", of_codec ? fact.citation : "").second) {
      once.push_back(fact);
    }
  }
  return once;
}

}  // namespace payoff
