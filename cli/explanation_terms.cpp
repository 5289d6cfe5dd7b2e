// SPDX-License-Identifier: Apache-2.0
#include "cli/explanation_terms.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "model/compute.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

using Numbers = std::vector<InsertedNumber>;

std::string count(double number) { return number_text(number, 12); }

InsertedNumber micro_batches(const ExplainedPlan& plan) {
  return {"m", count(plan.experiment().layout.micro_batches), "micro-batches of a step"};
}

Flops forward_flops_of_sample(const ExplainedPlan& plan) {
  Flops flops{};
  for (const Layer& layer : plan.prepared.workload().layers) {
    for (const Operator& op : layer.forward) {
      flops += forward_flops(op);
    }
  }
  return flops;
}

// Of all stages together: a stage alone has no share of the arithmetic that could be named.
Numbers pass_numbers(const ExplainedPlan& plan, Seconds StageCompute::*work, double passes) {
  Seconds alone{};
  for (const StagePlan& stage : plan.step.stages) {
    alone += (*stage.compute).*work;
  }
  const Flops flops = passes * plan.experiment().layout.micro_batch * forward_flops_of_sample(plan);
  Numbers numbers{
      micro_batches(plan),
      {"b", count(plan.experiment().layout.micro_batch), "samples of a micro-batch"},
      {"t", to_text((*plan.stage.compute).*work), "of a micro-batch, on the stage that ends last"}};
  if (alone > Seconds{}) {
    numbers.push_back(
        {"F", to_text(flops), "arithmetic of a micro-batch, on one tensor-parallel rank"});
    numbers.push_back({"F / t", to_text(flops / alone), "achieved, over all stages"});
    numbers.push_back(
        {"F / (t P)",
         percent_text(flops / alone /
                      plan.experiment().cluster.gpu.peak[plan.experiment().training.precision]),
         "of the data sheet's peak"});
  }
  return numbers;
}

Numbers forward_numbers(const ExplainedPlan& plan) {
  return pass_numbers(plan, &StageCompute::forward_work, 1.0);
}
Numbers backward_numbers(const ExplainedPlan& plan) {
  return pass_numbers(plan, &StageCompute::backward_work, 2.0);
}

Numbers recompute_numbers(const ExplainedPlan& plan) {
  return {micro_batches(plan),
          {"t", to_text(plan.stage.compute->recompute_work), "of a micro-batch"}};
}

Numbers interference_numbers(const ExplainedPlan& plan) {
  return {
      {"C / U", percent_text(plan.step.reserved_share), "of the compute units, held by a message"},
      {"C_s / U", percent_text(plan.step.send_share), "held by a send to another stage"},
      {"U", count(plan.experiment().cluster.gpu.compute_units), "compute units of the GPU"},
      {"busy", to_text(plan.prediction.dp_communication),
       "time with a gradient message in flight"}};
}

double kernels_and_rounds(const ExplainedPlan& plan, bool encode, Seconds& alone) {
  double calls = 0;
  for (const Bucket& bucket : plan.stage.buckets) {
    const BucketKind& kind = plan.step.kind(bucket);
    for (const BucketRound& round : kind.rounds) {
      if (encode) {
        alone += round.encode.codec();
        calls += round.encode.codec() > Seconds{} ? 1 : 0;
      }
    }
    if (!encode) {
      alone += kind.decode.codec();
      calls += kind.decode.codec() > Seconds{} ? 1 : 0;
    }
  }
  return calls;
}

Numbers codec_numbers(const ExplainedPlan& plan, bool encode) {
  Seconds alone{};
  const double calls = kernels_and_rounds(plan, encode, alone);
  return {{"calls", count(calls), "one for each bucket and round"},
          {"alone", to_text(alone), "all of them, when nothing runs beside them"},
          {"buckets", count(static_cast<double>(plan.stage.buckets.size())), "of the stage"}};
}
Numbers encode_numbers(const ExplainedPlan& plan) { return codec_numbers(plan, true); }
Numbers decode_numbers(const ExplainedPlan& plan) { return codec_numbers(plan, false); }

Numbers bucket_numbers(const ExplainedPlan& plan) {
  std::int64_t elements = 0;
  for (const Bucket& bucket : plan.stage.buckets) {
    elements += plan.step.kind(bucket).elements;
  }
  const Bytes size =
      static_cast<double>(elements) * element_size(plan.experiment().training.gradient);
  return {{"buckets", count(static_cast<double>(plan.stage.buckets.size())), "of the stage"},
          {"S", to_text(size), "their gradients, uncompressed"},
          {"passes", count(plan.experiment().software.bucket_copy_passes), "over memory"}};
}

Numbers tensor_numbers(const ExplainedPlan& plan) {
  return {micro_batches(plan),
          {"t",
           to_text(plan.stage.compute->forward_messages + plan.stage.compute->backward_messages -
                   plan.stage.compute->context_messages),
           "of a micro-batch, forward and backward"}};
}

Numbers context_numbers(const ExplainedPlan& plan) {
  return {micro_batches(plan),
          {"t", to_text(plan.stage.compute->context_messages),
           "of a micro-batch, forward and backward: what is longer than a block of scores"}};
}

Numbers pipeline_numbers(const ExplainedPlan& plan) {
  return {
      {"forward", to_text(plan.stage.send_forward.alone), "activations to the next stage"},
      {"backward", to_text(plan.stage.send_backward.alone), "their gradients to the previous one"}};
}

Numbers gradient_numbers(const ExplainedPlan& plan) {
  Numbers numbers{
      {"busy", to_text(plan.prediction.dp_communication), "time with a message in flight"},
      {"hidden", to_text(plan.prediction.hidden_dp), "of it, beside backward"},
      {"buckets", count(static_cast<double>(plan.stage.buckets.size())), "of the stage"},
      {"bytes", to_text(plan.prediction.dp_bytes),
       "messages of one GPU, as nccl-tests counts them"}};
  if (!plan.stage.buckets.empty()) {
    Seconds last{};
    double memory{};
    for (const BucketRound& round : plan.step.kind(plan.stage.buckets.back()).rounds) {
      last += round.message.alone;
      memory = std::max(memory, round.message.memory_share);
    }
    numbers.push_back({"d_m", percent_text(memory),
                       "of the memory, asked for by a message; late beside work that leaves less"});
    numbers.push_back({"last", to_text(last), "the last bucket, ready only when backward ends"});
  }
  return numbers;
}

Numbers bubble_numbers(const ExplainedPlan& plan) {
  const ParallelLayout& layout = plan.experiment().layout;
  return {{"p", count(layout.pp), "stages"},
          micro_batches(plan),
          {"v", count(layout.virtual_stages), "chunks of a stage"},
          {"t_f + t_b",
           to_text(plan.stage.compute->forward_time() + plan.stage.compute->backward_time()),
           "of a micro-batch"}};
}

Numbers optimizer_numbers(const ExplainedPlan& plan) {
  const Training& training = plan.experiment().training;
  return {
      {"n", count(static_cast<double>(plan.stage.compute->parameters)), "parameters of the GPU"},
      {"traffic", to_text(training.optimizer_traffic_per_parameter), "of one parameter"},
      {"B", to_text(plan.experiment().cluster.gpu.memory_bandwidth), "memory bandwidth"}};
}

Numbers host_numbers(const ExplainedPlan& plan) {
  return {{"T_host", to_text(plan.step.host), "of a step, hidden by nothing"}};
}

constexpr std::string_view gpu_law = "cluster.gpu.law.";
constexpr std::string_view memory = "cluster.gpu.memory_bandwidth";
constexpr std::string_view peaks = "cluster.gpu.peak.";

}  // namespace

const std::vector<TermRule>& term_rules() {
  static const std::vector<TermRule> rules{
      {"forward",
       "forward passes of the stage",
       &Waterfall::forward,
       "m Σ_op [ max(F / (e P), bytes / (e_m B)) + launch ]",
       "4 Compute",
       forward_numbers,
       {peaks, memory, gpu_law, "software."},
       {},
       WorkKind::forward},
      {"recompute",
       "forward work that is done again for backward",
       &Waterfall::recompute,
       "m t, with t as forward",
       "4 Compute",
       recompute_numbers,
       {peaks, memory, gpu_law},
       {},
       WorkKind::recompute},
      {"backward",
       "backward passes of the stage",
       &Waterfall::backward,
       "m Σ_op [ max(F / (e P), bytes / (e_m B)) + launch ], two products for each of forward",
       "4 Compute",
       backward_numbers,
       {peaks, memory, gpu_law, "software."},
       {},
       WorkKind::backward},
      {"interference",
       "compute that is slowed by messages beside it",
       &Waterfall::interference,
       "work beside a message runs at the rate 1 - C / U, beside a send 1 - C_s / U",
       "2.2 Gradients beside backward",
       interference_numbers,
       {"cluster.gpu.compute_units"},
       {}},
      {"encode",
       "compression on the critical path",
       &Waterfall::encode,
       "max(k d, k l + S_r / (e_r B) + S_m / (e_m B) + S_x / (e_x B) + F / (e_g P)) + h t_h",
       "3 Codecs",
       encode_numbers,
       {memory, "cluster.gpu.l2", "compress."},
       {},
       WorkKind::encode},
      {"decode",
       "decompression on the critical path",
       &Waterfall::decode,
       "as encode",
       "3 Codecs",
       decode_numbers,
       {memory, "cluster.gpu.l2", "compress."},
       {},
       WorkKind::decode},
      {"bucket_copy",
       "gradients copied into buckets and back",
       &Waterfall::bucket_copy,
       "buckets launch + passes S / (e_m B)",
       "2.2 Gradients beside backward",
       bucket_numbers,
       {memory, gpu_law, "software.bucket_copy_passes"},
       {},
       WorkKind::bucket_copy},
      {"exposed_tp",
       "tensor-parallel messages, which everything waits for",
       &Waterfall::exposed_tp,
       "m Σ message",
       "1 What a step sends",
       tensor_numbers,
       {"cluster.fabric.", "cluster.network.", "cluster.nic"},
       {MessageKind::tp_activations}},
      {"exposed_cp",
       "context-parallel messages that attention does not hide",
       &Waterfall::exposed_cp,
       "m Σ message",
       "1 What a step sends",
       context_numbers,
       {"cluster.fabric.", "cluster.network.", "cluster.nic"},
       {MessageKind::cp_activations}},
      {"exposed_pp",
       "what the transfers between stages add",
       &Waterfall::exposed_pp,
       "end of the stage with transfers - without",
       "2.1 Pipeline",
       pipeline_numbers,
       {"cluster.fabric.", "cluster.network.", "cluster.nic"},
       {MessageKind::pp_activations}},
      {"exposed_dp",
       "gradient messages that nothing hides",
       &Waterfall::exposed_dp,
       "busy - hidden",
       "2.2 Gradients beside backward",
       gradient_numbers,
       {"cluster.fabric.", "cluster.network.", "cluster.nic"},
       {MessageKind::dp_gradients, MessageKind::dp_replicas, MessageKind::dp_weights}},
      {"bubble",
       "the stage waits for its neighbours",
       &Waterfall::bubble,
       "(p - 1) / v (t_f + t_b) for equal stages",
       "2.1 Pipeline",
       bubble_numbers,
       {},
       {}},
      {"optimizer",
       "the update of the weights",
       &Waterfall::optimizer,
       "n traffic / (e_m B) + launches",
       "4 Compute",
       optimizer_numbers,
       {memory, gpu_law},
       {},
       WorkKind::optimizer},
      {"host",
       "the framework's own time",
       &Waterfall::host,
       "T_host",
       "2.3 One step",
       host_numbers,
       {"software.host_per_step"},
       {}},
  };
  return rules;
}

}  // namespace payoff
