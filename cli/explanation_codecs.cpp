// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "cli/explanation_parts.hpp"
#include "model/host_codec.hpp"
#include "profiles/method_notes.hpp"

// The calls of codecs that terms are sums of.

namespace payoff {
namespace {

// max(k d, k l + S_r / (e_r B) + S_m / (e_m B) + S_x / (e_x B) + F / (e_g P)) + h t_h
std::string pass_numbers(const PassCost& cost, const CodecLaw& law, const Experiment& experiment) {
  const Gpu& gpu = experiment.cluster.gpu;
  const Bytes streams = cost.bytes;
  const Bytes resident = std::min(streams, gpu.l2 * std::max(cost.kernels, 1.0));
  std::string text =
      fmt::format("max({} * {}, {} * {}", put_in(cost.kernels), put_in(law.dispatch.si),
                  put_in(cost.kernels), put_in(gpu.law.launch.si));
  const auto bytes = [&](Bytes traffic, double efficiency) {
    if (traffic > 0_B) {
      text += fmt::format(" + {} / ({} * {})", put_in(traffic.si), put_in(efficiency),
                          put_in(gpu.memory_bandwidth.si));
    }
  };
  bytes(resident, law.resident_efficiency);
  bytes(streams - resident, law.memory_efficiency);
  bytes(cost.random_bytes, law.random_efficiency);
  if (cost.block_bytes > 0_B) {
    text += fmt::format(" + {} / ({} * {} / {})", put_in(cost.block_bytes.si),
                        put_in(law.memory_efficiency), put_in(gpu.memory_bandwidth.si),
                        gpu.compute_units);
  }
  if (cost.flops > 0_flop && law.product_rate > FlopRate{}) {
    text += fmt::format(" + {} / {}", put_in(cost.flops.si), put_in(law.product_rate.si));
  } else if (cost.flops > 0_flop) {
    text += fmt::format(" + {} / ({} * {})", put_in(cost.flops.si), put_in(law.gemm_efficiency),
                        put_in(gpu.peak[experiment.training.precision].si));
  }
  text += ")";
  if (cost.host_syncs > 0) {
    text += fmt::format(" + {} * {}", put_in(cost.host_syncs), put_in(law.host_sync.si));
  }
  if (cost.host_time > 0_s) {
    text += fmt::format(" + {}", put_in(cost.host_time.si));
  }
  return text;
}

// What a codec takes, at the speed that the job gives all of them.
std::string at_speed(std::string text, const Experiment& experiment) {
  const double speed = experiment.training.codec_speed;
  return speed == 1.0 ? text : fmt::format("({}) / {}", text, put_in(speed));
}

// Of all micro-batches of the stage.
std::vector<ExplainedPart> parts_of_activation_codecs(const ExplainedPlan& plan, bool encode) {
  std::vector<ExplainedPart> parts;
  const Experiment& experiment = plan.experiment();
  const std::vector<const Method*> methods = plan.compression.methods();
  const StageCompute& compute = *plan.stage.compute;
  for (const CodecPass& pass : plan.prepared.codec_passes(plan.compression)) {
    if ((pass.work.kind == WorkKind::encode) != encode) {
      continue;
    }
    for (const auto* pieces : {&compute.forward, &compute.backward}) {
      const auto count = std::count_if(pieces->begin(), pieces->end(),
                                       [&](const Piece& piece) { return piece.work == pass.work; });
      if (count > 0) {
        const std::string direction = pieces == &compute.forward ? "forward" : "backward";
        add_part({fmt::format("{} of {}, {}", methods[pass.work.method]->name,
                              name_of(pass.traffic), direction),
                  static_cast<double>(count) * experiment.layout.passes(),
                  at_speed(pass_numbers(pass.cost, methods[pass.work.method]->law, experiment),
                           experiment),
                  pass.work.alone},
                 parts);
      }
    }
  }
  return parts;
}

// Of weights that are gathered when they are needed, each gather by itself: what their codec takes
// is given as a number.
void add_gather_parts(const ExplainedPlan& plan, bool encode, std::vector<ExplainedPart>& parts) {
  const double times = plan.step.gathers_once ? 1 : plan.experiment().layout.passes();
  const auto add = [&](const Work& work, std::string what) {
    if (work.codec() > 0_s) {
      add_part({std::move(what), times, put_in(work.codec().si), work.codec()}, parts);
    }
  };
  for (const auto* gathers : {&plan.stage.forward_gathers, &plan.stage.backward_gathers}) {
    for (const WeightGather& gather : *gathers) {
      const BucketKind& kind = plan.step.kinds[gather.kind];
      const std::string what = fmt::format("gather of {} weights", kind.elements);
      if (!encode) {
        add(kind.decode, what);
        continue;
      }
      for (std::size_t round = 0; round < kind.rounds.size(); ++round) {
        add(kind.rounds[round].encode, fmt::format("{}, round {}", what, round + 1));
      }
    }
  }
}

// Copied, and passed through the cores.
void add_host_parts(const PassCost& cost, const HostCodec& codec, const std::string& what,
                    const ExplainedPlan& plan, std::vector<ExplainedPart>& parts) {
  const Experiment& experiment = plan.experiment();
  const Cluster& cluster = experiment.cluster;
  const double share =
      static_cast<double>(cluster.host.cores) / sharers_of_host(cluster, experiment.layout);
  const double threads = std::min(static_cast<double>(codec.threads), share);
  const double speed = experiment.training.codec_speed;
  add_part(
      {what + ", by the cores", 1,
       at_speed(
           fmt::format("{} * {} + ({} / {} + {} / {}) / {} + {} / {} / {}", put_in(cost.kernels),
                       put_in(codec.call.si), put_in(cost.bytes.si), put_in(codec.core.si),
                       put_in(cost.random_bytes.si), put_in(codec.irregular.si), put_in(threads),
                       put_in(cost.block_bytes.si), put_in(codec.irregular.si),
                       put_in(std::min(1.0, share))),
           experiment),
       host_time(cost, codec, cluster.host, sharers_of_host(cluster, experiment.layout)) / speed},
      parts);
  if (cost.copied > 0_B) {
    add_part({what + ", copied", 1,
              at_speed(fmt::format("{} + {} / {}", put_in(start_of_copy(cluster.gpu).si),
                                   put_in(cost.copied.si), put_in(copy_rate(cluster).si)),
                       experiment),
              copy_time(cost.copied, cluster) / speed},
             parts);
  }
}

}  // namespace

std::vector<ExplainedPart> parts_of_codec(const ExplainedPlan& plan, bool encode) {
  std::vector<ExplainedPart> parts = parts_of_activation_codecs(plan, encode);
  add_gather_parts(plan, encode, parts);
  if (!plan.compression.method) {
    return parts;
  }
  const Experiment& experiment = plan.experiment();
  const std::vector<const Method*> methods = plan.compression.gradient_methods();
  const std::vector<CallCost> costs = plan.prepared.codec_costs(plan.compression);
  const auto add_pass = [&](const PassCost& cost, const Method& method, const std::string& what) {
    const Seconds each =
        price_pass(cost, method.law, experiment.cluster.gpu, experiment.training.precision) /
        experiment.training.codec_speed;
    if (each > 0_s) {
      add_part({what, 1, at_speed(pass_numbers(cost, method.law, experiment), experiment), each},
               parts);
    }
    if (cost.on_host) {
      add_host_parts(cost, *method.host, what, plan, parts);
    }
  };
  for (const Bucket& bucket : plan.step.buckets(plan.stage_index)) {
    const CallCost& call = costs.at(bucket.kind);
    const Method& method = *methods[call.method];
    const std::string what = of_elements(plan.step.kind(bucket)) +
                             (methods.size() > 1 ? " by " + method.name : std::string());
    if (!encode) {
      add_pass(call.decode, method, what);
      continue;
    }
    if (call.dense_message > 0_B) {
      add_pass(call.dense, method, what + ", what travels dense");
    }
    for (std::size_t round = 0; round < call.rounds.size(); ++round) {
      add_pass(call.rounds[round].encode, method, fmt::format("{}, round {}", what, round + 1));
    }
  }
  return parts;
}

}  // namespace payoff
