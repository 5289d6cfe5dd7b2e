// SPDX-License-Identifier: Apache-2.0
#include "study/spread.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/node_kinds.hpp"

namespace payoff {
namespace {

// Messages below are ruled by latency rather than bandwidth on every network of the profiles.
constexpr Bytes small_message = 1_MiB;

// Of a message's variance, the part that all messages of the machine share; assumed.
constexpr double shared_variance = 0.5;

std::size_t family(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
    case Collective::reduce_scatter:
    case Collective::reduce:
      return 0;
    case Collective::all_gather:
    case Collective::broadcast:
      return 1;
    case Collective::all_to_all:
    case Collective::send_recv:
      return 2;
  }
  return 0;
}

void scale_message(const Message& from, Message& to, const Latents& latents) {
  to.alone = from.alone > 0_s ? from.alone * message_factor(from, latents) : from.alone;
}

Seconds messages_of(MessageKind kind, const std::vector<Piece>& pieces) {
  Seconds sum;
  for (const Piece& piece : pieces) {
    sum += piece.message.kind == kind ? piece.message.alone : 0_s;
  }
  return sum;
}

}  // namespace

std::size_t message_latent(const Message& message) {
  return latent::first_of_messages + 2 * family(message.collective) +
         (message.size < small_message ? 0U : 1U);
}

double message_deviation(const Message& message, const Latents& latents) {
  const auto of = [&](std::size_t latent) {
    return latents[latent] +
           (message.in_node ? latents[latent - latent::network + latent::first_inside] : 0.0);
  };
  return std::sqrt(shared_variance) * of(latent::network) +
         std::sqrt(1.0 - shared_variance) * of(message_latent(message));
}

double message_factor(const Message& message, const Latents& latents) {
  return std::max(message.least_share,
                  std::exp(message.relative_sd * message_deviation(message, latents)));
}

struct Ensemble::Factors {
  double compute{};
  std::vector<double> codecs;  // by method
  const Latents& latents;

  // Bucket copies and updates are the framework's, whatever the codec.
  [[nodiscard]] Work scaled(const Work& work) const {
    const Seconds copy = work.bucket_copy * compute;
    const Seconds update = work.update * compute;
    const double codec = codecs.empty() ? 1.0 : codecs[work.method];
    return {work.kind, work.codec() * codec + copy + update,
            copy,      work.memory_share,
            work.mix,  work.method,
            update};
  }

  // By the cores; `beside`: the GPU's part of the same pass.
  [[nodiscard]] Seconds scaled_on_host(Seconds work, const Work& beside) const {
    return codecs.empty() ? work : work * codecs[beside.method];
  }

  // Of pieces; returns what their messages take.
  Seconds scale(const std::vector<Piece>& from, std::vector<Piece>& to, CodecTime& codec) const {
    Seconds messages;
    codec = {};
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (is_codec(from[i].work.kind)) {
        to[i].work = scaled(from[i].work);
        (to[i].work.kind == WorkKind::encode ? codec.encode : codec.decode) += to[i].work.alone;
      } else {
        to[i].work.alone = from[i].work.alone * compute;
      }
      scale_message(from[i].message, to[i].message, latents);
      messages += to[i].message.alone;
    }
    return messages;
  }
};

std::vector<UncertainCodec> uncertain_codecs(const CompressionPlan& plan,
                                             std::map<std::string, std::size_t>& known) {
  std::vector<UncertainCodec> codecs;
  for (const Method* method : plan.methods()) {
    const std::size_t latent = known.try_emplace(method->name, known.size() + 1).first->second;
    codecs.push_back({method->law.relative_sd, latent});
  }
  return codecs;
}

UncertainPlan uncertain_plan(const PreparedExperiment& job, const CompressionPlan& plan,
                             std::map<std::string, std::size_t>& known) {
  return {.plan = job.plan(plan), .codecs = uncertain_codecs(plan, known)};
}

double compute_sd(const Experiment& experiment) {
  double of_gpu = 0;  // of several kinds, the least known
  for (const Cluster& nodes : each_kind(experiment.cluster)) {
    of_gpu = std::max(of_gpu, nodes.gpu.law.relative_sd);
  }
  return std::hypot(of_gpu, experiment.software.relative_sd);
}

Ensemble::Ensemble(std::vector<UncertainPlan> plans, double compute_sd)
    : plans_(std::move(plans)), compute_sd_(compute_sd) {
  for (const UncertainPlan& uncertain : plans_) {
    const std::size_t plan = scaled_.size();
    StepPlan& copy = scaled_.emplace_back(uncertain.plan);
    for (StagePlan& stage : copy.stages) {
      auto& mine = computes_[stage.compute.get()];
      if (!mine) {
        mine = std::make_shared<StageCompute>(*stage.compute);
        originals_.push_back({stage.compute, plan});
      }
      stage.compute = mine;
    }
  }
}

std::size_t Ensemble::codecs() const {
  std::size_t count = 1;
  for (const UncertainPlan& plan : plans_) {
    for (const UncertainCodec& codec : plan.codecs) {
      count = std::max(count, codec.latent + 1);
    }
  }
  return count;
}

Ensemble::Factors Ensemble::factors(std::size_t plan, const Draw& draw) const {
  Factors factors{std::exp(compute_sd_ * draw.shared[latent::compute]), {}, draw.shared};
  for (const UncertainCodec& codec : plans_[plan].codecs) {
    const double z = draw.codecs.empty() ? 0.0 : draw.codecs[codec.latent];
    factors.codecs.push_back(std::exp(codec.sd * z));
  }
  return factors;
}

// Shared by all plans of a draw: done when the latents change.
void Ensemble::scale_compute(const Draw& draw) {
  if (is_scaled_ && scaled_for_ == draw.shared && codecs_for_ == draw.codecs) {
    return;
  }
  for (const Original& original : originals_) {
    const Factors by = factors(original.plan, draw);
    const StageCompute& from = *original.compute;
    StageCompute& to = *computes_.at(original.compute.get());
    to.forward_messages = by.scale(from.forward, to.forward, to.forward_codec);
    to.backward_messages = by.scale(from.backward, to.backward, to.backward_codec);
    to.context_messages = messages_of(MessageKind::cp_activations, to.forward) +
                          messages_of(MessageKind::cp_activations, to.backward);
    to.expert_messages = messages_of(MessageKind::ep_activations, to.forward) +
                         messages_of(MessageKind::ep_activations, to.backward) +
                         messages_of(MessageKind::etp_activations, to.forward) +
                         messages_of(MessageKind::etp_activations, to.backward) +
                         messages_of(MessageKind::table_activations, to.forward) +
                         messages_of(MessageKind::table_activations, to.backward);
    to.forward_work = from.forward_work * by.compute;
    to.backward_work = from.backward_work * by.compute;
    to.recompute_work = from.recompute_work * by.compute;
  }
  scaled_for_ = draw.shared;
  codecs_for_ = draw.codecs;
  is_scaled_ = true;
}

void Ensemble::scale_stage(const StagePlan& from, StagePlan& to, const Factors& factors) {
  scale_message(from.send_forward, to.send_forward, factors.latents);
  scale_message(from.send_backward, to.send_backward, factors.latents);
  scale_message(from.gather_weights, to.gather_weights, factors.latents);
  scale_message(from.gather_experts, to.gather_experts, factors.latents);
  to.optimizer.alone = from.optimizer.alone * factors.compute;
}

void Ensemble::scale_kind(const BucketKind& from, BucketKind& to, const Factors& factors) {
  to.decode = factors.scaled(from.decode);
  to.host_decode.work = factors.scaled_on_host(from.host_decode.work, from.decode);
  for (std::size_t r = 0; r < from.rounds.size(); ++r) {
    to.rounds[r].encode = factors.scaled(from.rounds[r].encode);
    to.rounds[r].host.work =
        factors.scaled_on_host(from.rounds[r].host.work, from.rounds[r].encode);
    scale_message(from.rounds[r].message, to.rounds[r].message, factors.latents);
  }
}

const StepPlan& Ensemble::scaled(std::size_t plan, const Draw& draw) {
  scale_compute(draw);
  const UncertainPlan& from = plans_[plan];
  StepPlan& to = scaled_[plan];
  const Factors factors = this->factors(plan, draw);
  for (std::size_t s = 0; s < to.stages.size(); ++s) {
    scale_stage(from.plan.stages[s], to.stages[s], factors);
  }
  for (std::size_t k = 0; k < to.kinds.size(); ++k) {
    scale_kind(from.plan.kinds[k], to.kinds[k], factors);
  }
  scale_message(from.plan.tied_gradients, to.tied_gradients, factors.latents);
  to.host = from.plan.host * factors.compute;
  to.pair_quantile = normal_probability(draw.pairs);
  return to;
}

Seconds Ensemble::step(std::size_t plan, const Draw& draw) {
  return evaluate(scaled(plan, draw)).step / plans_[plan].batches;
}

Seconds central_step(const StepPlan& plan, const Experiment& experiment, const Latents& mean) {
  if (mean == Latents{}) {
    return evaluate(plan).step;
  }
  return Ensemble({{plan}}, compute_sd(experiment)).step(0, {mean, {}});
}

std::vector<std::vector<Seconds>> sample_steps(Ensemble& ensemble, const std::vector<Draw>& draws) {
  std::vector<std::vector<Seconds>> steps(ensemble.size());
  for (std::vector<Seconds>& of_plan : steps) {
    of_plan.reserve(draws.size());
  }
  for (const Draw& draw : draws) {
    for (std::size_t plan = 0; plan < ensemble.size(); ++plan) {
      steps[plan].push_back(ensemble.step(plan, draw));
    }
  }
  return steps;
}

}  // namespace payoff
