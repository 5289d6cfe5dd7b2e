// SPDX-License-Identifier: Apache-2.0
#include "model/host_codec.hpp"

#include <algorithm>
#include <vector>

#include "model/compute.hpp"
#include "model/group_paths.hpp"
#include "model/rank_order.hpp"

namespace payoff {
namespace {

constexpr Seconds assumed_copy_start = 10_us;

// All that the loops of a pass read and write, as if all of them streamed: what of the cores they
// take.
Bytes host_traffic(const PassCost& pass, const HostCodec& codec) {
  return pass.bytes + (codec.core / codec.irregular) * (pass.random_bytes + pass.block_bytes);
}

}  // namespace

bool runs_on_host(const Method& method) {
  return method.decode.on_host ||
         std::any_of(method.rounds.begin(), method.rounds.end(),
                     [](const RoundFormula& round) { return round.encode.on_host; });
}

Bandwidth copy_rate(const Cluster& cluster) {
  if (cluster.host.copy > Bandwidth{}) {
    return cluster.host.copy;
  }
  const Gpu& gpu = cluster.gpu;
  return gpu.copies.rate > Bandwidth{} ? gpu.copies.rate : pcie_slot(gpu.architecture) * copy_share;
}

Seconds start_of_copy(const Gpu& gpu) {
  return gpu.copies.rate > Bandwidth{} ? gpu.copies.start : assumed_copy_start;
}

Seconds copy_time(Bytes bytes, const Cluster& cluster) {
  return bytes > 0_B ? start_of_copy(cluster.gpu) + bytes / copy_rate(cluster) : 0_s;
}

int sharers_of_host(const Cluster& cluster, const ParallelLayout& layout) {
  return has_usual_order(layout) ? std::min(cluster.gpus_per_node, layout.stage_ranks())
                                 : stage_ranks_in_node(layout, cluster.gpus_per_node);
}

Seconds host_time(const PassCost& pass, const HostCodec& codec, const Host& host, int sharers) {
  const double share = static_cast<double>(host.cores) / sharers;
  const double threads = std::min(static_cast<double>(codec.threads), share);
  return pass.kernels * codec.call + pass.bytes / (codec.core * threads) +
         pass.random_bytes / (codec.irregular * threads) +
         pass.block_bytes / (codec.irregular * std::min(1.0, share));
}

Bandwidth host_capacity(const Host& host, const CompressionPlan& plan) {
  for (const Method* method : plan.gradient_methods()) {
    if (method->host) {
      return host.cores * method->host->core;
    }
  }
  return Bandwidth{};
}

HostWork host_work(const PassCost& pass, const HostPass& place, const HostCodec& codec,
                   const Cluster& cluster, int sharers) {
  HostWork work{true, place.from_gpu, place.to_gpu};
  work.work = host_time(pass, codec, cluster.host, sharers);
  work.traffic = host_traffic(pass, codec);
  if (place.from_gpu || place.to_gpu) {
    work.copied = pass.copied;
    work.copy = copy_time(pass.copied, cluster);
    work.copy_memory_share = memory_share(pass.copied, work.copy, cluster.gpu);
  }
  return work;
}

void check_host_passes(const Method& method, Problems& problems) {
  bool on_host = false;  // the data
  for (std::size_t i = 0; i < method.rounds.size(); ++i) {
    const RoundFormula& round = method.rounds[i];
    const std::string path = "rounds[" + std::to_string(i) + "].encode";
    if (!round.encode.on_host && on_host) {
      problems.push_back({path, "runs on the GPU, and the round before left its data on the host",
                          "say `runs_on: host`, or send that round among `node`"});
    } else if (round.encode.on_host && !on_host && round.among != Among::nodes) {
      problems.push_back({path, "runs on the host, from where only rounds among `nodes` send",
                          "set among: nodes; GPUs of a node share what is in its host's memory"});
    }
    on_host = round.encode.on_host && round.among == Among::nodes;
  }
  if (method.decode.on_host != on_host) {
    problems.push_back({"decode",
                        on_host ? "runs on the GPU, and the last round left its data on the host"
                                : "runs on the host, and the last round left its data on the GPU",
                        on_host ? "say `runs_on: host`" : "leave `runs_on` out"});
  }
  if (runs_on_host(method) != method.host.has_value()) {
    problems.push_back({method.host ? "host" : "rounds",
                        method.host ? "says how fast cores are, and no pass runs on the host"
                                    : "has a pass on the host, and nothing says how fast cores are",
                        method.host ? "say `runs_on: host` where one does" : "give `host`"});
  }
}

Problems check_host(const CompressionPlan& plan, const Cluster& cluster,
                    const ParallelLayout& layout, const std::string& path) {
  Problems problems;
  const auto add = [&](const std::string& what, std::string help) {
    problems.push_back({path, "`" + plan.label + "` " + what, std::move(help)});
  };
  const bool others =
      (plan.weights && runs_on_host(plan.weights->method)) ||
      std::any_of(plan.activations.begin(), plan.activations.end(),
                  [](const ActivationCompression& of) { return runs_on_host(of.method); });
  if (others) {
    add("runs on the host, which is modelled for gradients of data parallelism alone",
        "use a method of the GPU there");
  }
  std::vector<const Method*> on_host = plan.gradient_methods();
  std::erase_if(on_host, [](const Method* method) { return !runs_on_host(*method); });
  if (on_host.empty()) {
    return problems;
  }
  // Cores are shared by the bytes that streaming loops take through them.
  if (std::any_of(on_host.begin(), on_host.end(), [&](const Method* method) {
        return method->host->core != on_host.front()->host->core;
      })) {
    add("runs two methods on the host whose loops stream at different rates, which is not modelled",
        "use one method there");
  }
  if (cluster.host.cores == 0) {
    add("runs on the host, and the cluster does not say how many cores a node has",
        "set cluster.host.cores");
  }
  if (layout.zero > 0) {
    add("runs on the host, from where no part of a sum is scattered", "set layout.zero to 0");
  }
  return problems;
}

}  // namespace payoff
