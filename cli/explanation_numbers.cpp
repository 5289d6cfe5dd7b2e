// SPDX-License-Identifier: Apache-2.0
#include "cli/explanation_numbers.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/explanation_parts.hpp"
#include "model/compute.hpp"
#include "model/evaluate.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

using Numbers = std::vector<InsertedNumber>;

std::string count(double number) { return number_text(number, 12); }

InsertedNumber micro_batches(const ExplainedPlan& plan) {
  return {"m", count(plan.experiment().layout.passes()), "micro-batches of a step"};
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
void add_achieved(const ExplainedPlan& plan, Seconds StageCompute::*work, double passes,
                  Numbers& numbers) {
  Seconds alone{};
  for (const StagePlan& stage : plan.step.stages) {
    alone += (*stage.compute).*work;
  }
  if (alone <= Seconds{}) {
    return;
  }
  const Flops flops = passes * plan.experiment().layout.micro_batch * forward_flops_of_sample(plan);
  const FlopRate peak = plan.experiment().cluster.gpu.peak[plan.experiment().training.precision];
  numbers.push_back(
      {"F", to_text(flops), "arithmetic of a micro-batch, on one tensor-parallel rank"});
  numbers.push_back({"F / t", to_text(flops / alone), "achieved, over all stages"});
  numbers.push_back({"F / (t P)", percent_text(flops / alone / peak), "of the data sheet's peak"});
}

void fill_work(const ExplainedPlan& plan, WorkKind kind, TermExplanation& term) {
  WorkParts work = parts_of_work(plan, kind);
  const Software& software = plan.experiment().software;
  const double micro = plan.experiment().layout.passes();
  term.numbers = {
      micro_batches(plan),
      {"b", count(plan.experiment().layout.micro_batch), "samples of a micro-batch"},
      {"G", to_text(work.gpu), "on the GPU, all kernels of a micro-batch (below)"},
      {"K", count(work.launches), "their launches"},
      {"h", to_text(software.host_per_kernel), "what the host needs for a launch"},
      {"q", number_text(software.hides_launch), "share of the work whose launches queue ahead"},
      {"R", to_text(work.gpu_bound + work.host_bound),
       "sum over the runs between messages of the larger of their G and K h"}};
  term.inserted = fmt::format("{} * ({} * ({} + {}) + (1 - {}) * ({} + {} * {}))", put_in(micro),
                              put_in(software.hides_launch), seconds_text(work.gpu_bound),
                              seconds_text(work.host_bound), put_in(software.hides_launch),
                              seconds_text(work.gpu), put_in(work.launches),
                              seconds_text(software.host_per_kernel));
  term.parts = std::move(work.kernels);
}

// Sums of the same times in another order differ in their last bits.
Seconds difference(Seconds a, Seconds b) {
  constexpr double rounding = 1e-12;
  const Seconds result = a - b;
  return std::max(result, -1.0 * result) <= rounding * std::max(a, b) ? 0_s : result;
}

// Calls, and what of them runs beside other work.
void fill_exposed(std::vector<ExplainedPart> parts, std::string_view what, TermExplanation& term) {
  const Seconds alone = sum_of(parts);
  const Seconds beside = difference(alone, term.time);
  term.numbers.push_back({"alone", to_text(alone), std::string(what)});
  term.numbers.push_back(
      {"beside", to_text(beside), "of it, beside backward or messages (less than 0: slowed)"});
  term.inserted = fmt::format("{} - {}", seconds_text(alone), seconds_text(beside));
  term.parts = std::move(parts);
}

InsertedNumber buckets_of_stage(const ExplainedPlan& plan) {
  return {"buckets", count(static_cast<double>(plan.step.buckets(plan.stage_index).size())),
          "of the stage"};
}

void codec_numbers(const ExplainedPlan& plan, bool encode, TermExplanation& term) {
  std::vector<ExplainedPart> parts = parts_of_codec(plan, encode);
  double calls = 0;
  for (const ExplainedPart& part : parts) {
    calls += part.count;
  }
  term.numbers = {{"calls", count(calls), "one for each bucket and round"}, buckets_of_stage(plan)};
  fill_exposed(std::move(parts), "all calls, when nothing runs beside them", term);
}

// After its other numbers.
void add_messages(ExplainedMessages messages, TermExplanation& term) {
  term.parts = std::move(messages.parts);
  term.numbers.insert(term.numbers.end(), std::make_move_iterator(messages.numbers.begin()),
                      std::make_move_iterator(messages.numbers.end()));
}

void fill_activations(const ExplainedPlan& plan, MessageKind kind, TermExplanation& term) {
  ExplainedMessages messages = activation_messages(plan, kind);
  const Seconds each = sum_of(messages.parts);
  term.numbers = {micro_batches(plan),
                  {"t", to_text(each), "of a micro-batch, forward and backward (below)"}};
  add_messages(std::move(messages), term);
  const int passes = plan.experiment().layout.passes();
  term.inserted = fmt::format("{} * {}", put_in(passes), seconds_text(each));
  if (const Seconds hidden = difference(passes * each, term.time);
      plan.experiment().layout.overlaps_pairs()) {
    term.numbers.push_back({"hidden", to_text(hidden), "of all, beside the other half of a pair"});
    term.inserted += fmt::format(" - {}", seconds_text(hidden));
  }
}

// How many times as long the stage's backward takes while this share of the units is held.
double slowdown_of_backward(const ExplainedPlan& plan, double held) {
  const Paces paces = plan.step.paces(0, held);
  Seconds alone;
  Seconds beside;
  for (const Piece& piece : plan.stage.compute->backward) {
    alone += piece.work.alone;
    beside += piece.work.alone * paces[piece.work.mix].time;
  }
  return alone > 0_s ? beside / alone : 1.0;
}

}  // namespace

std::string seconds_text(Seconds time) { return fmt::format("{:.10g}", time / 1_s); }

void forward_numbers(const ExplainedPlan& plan, TermExplanation& term) {
  fill_work(plan, WorkKind::forward, term);
  add_achieved(plan, &StageCompute::forward_work, 1.0, term.numbers);
}
void backward_numbers(const ExplainedPlan& plan, TermExplanation& term) {
  fill_work(plan, WorkKind::backward, term);
  add_achieved(plan, &StageCompute::backward_work, 2.0, term.numbers);
}
void recompute_numbers(const ExplainedPlan& plan, TermExplanation& term) {
  fill_work(plan, WorkKind::recompute, term);
}

// The recurrence says which work ran beside a message.
void interference_numbers(const ExplainedPlan& plan, TermExplanation& term) {
  // Without gradient messages the sends alone hold units.
  const double held =
      plan.step.reserved_share > 0 ? plan.step.reserved_share : plan.step.send_share;
  // Where all kernels fit beside it, a message slows a codec alone.
  const double of_backward = slowdown_of_backward(plan, held);
  const double slowdown = of_backward > 1 ? of_backward : 1 / (1 - held);
  const Seconds beside = slowdown > 1 ? term.time / (slowdown - 1) : 0_s;
  term.numbers = {
      {"C / U", percent_text(plan.step.reserved_share), "of the compute units, held by a message"},
      {"C_s / U", percent_text(plan.step.send_share), "held by a send to another stage"},
      {"U", count(plan.experiment().cluster.gpu.compute_units), "compute units of the GPU"},
      {"s", put_in(slowdown), "times as long work takes with either beside all of it"},
      {"w", to_text(beside), "work that this amounts to, had that alone slowed it"},
      {"busy", to_text(plan.prediction.dp_communication),
       "time with a gradient message in flight"}};
  term.inserted = fmt::format("{} * {}", seconds_text(beside), put_in(slowdown - 1));
}

void encode_numbers(const ExplainedPlan& plan, TermExplanation& term) {
  codec_numbers(plan, true, term);
}
void decode_numbers(const ExplainedPlan& plan, TermExplanation& term) {
  codec_numbers(plan, false, term);
}

void bucket_numbers(const ExplainedPlan& plan, TermExplanation& term) {
  std::int64_t elements = 0;
  for (const Bucket& bucket : plan.step.buckets(plan.stage_index)) {
    elements += plan.step.kind(bucket).elements;
  }
  const Bytes size =
      static_cast<double>(elements) * element_size(plan.experiment().training.gradient);
  term.numbers = {buckets_of_stage(plan),
                  {"S", to_text(size), "their gradients, uncompressed"},
                  {"passes", count(plan.experiment().software.bucket_copy_passes), "over memory"}};
  fill_exposed(parts_of_copies(plan), "all copies, when nothing runs beside them", term);
}

void tensor_numbers(const ExplainedPlan& plan, TermExplanation& term) {
  fill_activations(plan, MessageKind::tp_activations, term);
}

// Of hops that computation hides in part, what is left.
void context_numbers(const ExplainedPlan& plan, TermExplanation& term) {
  fill_activations(plan, MessageKind::cp_activations, term);
}

void expert_numbers(const ExplainedPlan& plan, TermExplanation& term) {
  fill_activations(plan, MessageKind::ep_activations, term);
}

void pipeline_numbers(const ExplainedPlan& plan, TermExplanation& term) {
  const StageEnd end = pipeline_ends(plan.step).at(plan.stage_index);
  const Seconds without = end.end - term.time;
  term.numbers = {
      {"forward", to_text(plan.stage.send_forward.alone), "activations to the next stage"},
      {"backward", to_text(plan.stage.send_backward.alone), "their gradients to the previous one"},
      {"with", to_text(end.end), "end of the stage's operations, before gradients"},
      {"without", to_text(without), "the same if transfers took no time"}};
  term.inserted = fmt::format("{} - {}", seconds_text(end.end), seconds_text(without));
  add_messages(transfer_messages(plan), term);
}

void gradient_numbers(const ExplainedPlan& plan, TermExplanation& term) {
  const Seconds busy = plan.prediction.dp_communication;
  const Seconds hidden = difference(busy, term.time);
  term.numbers = {{"busy", to_text(busy), "time with a message in flight"},
                  {"hidden", to_text(hidden), "of it, beside backward"},
                  buckets_of_stage(plan),
                  {"bytes", to_text(plan.prediction.dp_bytes),
                   "messages of one GPU, as nccl-tests counts them"}};
  const std::vector<Bucket>& buckets = plan.step.buckets(plan.stage_index);
  if (!buckets.empty()) {
    Seconds last{};
    double memory{};
    for (const BucketRound& round : plan.step.kind(buckets.back()).rounds) {
      last += round.message.alone;
      memory = std::max(memory, round.message.memory_share);
    }
    term.numbers.push_back({"d_m", percent_text(memory),
                            "of the memory, asked for by a message; late beside work that leaves "
                            "less"});
    term.numbers.push_back(
        {"last", to_text(last), "the last bucket, ready only when backward ends"});
  }
  term.inserted = fmt::format("{} - {}", seconds_text(busy), seconds_text(hidden));
  add_messages(gradient_messages(plan), term);
}

void bubble_numbers(const ExplainedPlan& plan, TermExplanation& term) {
  const ParallelLayout& layout = plan.experiment().layout;
  const Seconds each = plan.stage.compute->forward_time() + plan.stage.compute->backward_time();
  const double share = static_cast<double>(layout.stages() - 1) / layout.virtual_stages;
  const Seconds rest = difference(term.time, share * each);
  term.numbers = {{"p", count(layout.stages()), "stages"},
                  micro_batches(plan),
                  {"v", count(layout.virtual_stages), "chunks of a stage"},
                  {"t_f + t_b", to_text(each), "of a micro-batch"},
                  {"rest", to_text(rest), "because stages differ, or gradients delay them"}};
  term.inserted = fmt::format("({} - 1) / {} * {} + {}", layout.stages(), layout.virtual_stages,
                              seconds_text(each), seconds_text(rest));
}

void optimizer_numbers(const ExplainedPlan& plan, TermExplanation& term) {
  const Experiment& experiment = plan.experiment();
  const Gpu& gpu = experiment.cluster.gpu;
  if (std::vector<ExplainedPart> parts = parts_of_updates(plan); !parts.empty()) {
    term.equation = "Σ buckets [n traffic / (e_m B) + l] - beside";
    term.numbers = {buckets_of_stage(plan)};
    fill_exposed(std::move(parts), "all updates, when nothing runs beside them", term);
    return;
  }
  const std::int64_t experts = plan.stage.compute->expert_parameters;
  const auto part = [](std::int64_t all, int ranks) { return (all + ranks - 1) / ranks; };
  const std::int64_t updated =
      part(plan.stage.compute->parameters - experts, experiment.layout.shard_ranks()) +
      part(experts, experiment.layout.expert_shards());
  const Bytes traffic = experiment.training.optimizer_traffic_per_parameter;
  term.numbers = {{"n", count(static_cast<double>(updated)), "parameters that the GPU updates"},
                  {"traffic", to_text(traffic), "of one parameter"},
                  {"e_m", number_text(gpu.law.memory_efficiency), "share of B that is reached"},
                  {"B", to_text(gpu.memory_bandwidth), "memory bandwidth"},
                  {"l", to_text(gpu.law.launch), "launch on the GPU"}};
  term.inserted = fmt::format("{} * {} / ({} * {}) + {}", put_in(static_cast<double>(updated)),
                              put_in(traffic.si), put_in(gpu.law.memory_efficiency),
                              put_in(gpu.memory_bandwidth.si), seconds_text(gpu.law.launch));
  const Seconds update = streaming_time(static_cast<double>(updated) * traffic, gpu);
  if (const Seconds codec = difference(term.time, update);
      plan.compression.weights && codec > 0_s) {  // it is part of the update (model/weight_codec)
    term.equation += " + codec";
    term.numbers.push_back(
        {"codec", to_text(codec), "encodes and decodes the updated weights for their gather"});
    term.inserted += " + " + seconds_text(codec);
  }
}

}  // namespace payoff
