// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/explanation_parts.hpp"
#include "model/collective_links.hpp"
#include "model/groups.hpp"

// The messages that terms are sums of.

namespace payoff {
namespace {

// Bytes of the message through the busiest link over what the link achieves.
std::string wire_text(const LinkTerms& link) {
  const std::string nominal = fmt::format("{} * {}", put_in(link.nominal.si), put_in(link.share));
  const std::string each =
      link.sockets > Bandwidth{}
          ? fmt::format("(({})^(-6) + ({})^(-6))^(1/6)", nominal, put_in(link.sockets.si))
          : fmt::format("/ ({})", nominal);
  return fmt::format("{} {}{}{}", put_in(link.bytes), each.starts_with('/') ? "" : "* ", each,
                     link.congestion > 1 ? " * " + put_in(link.congestion) : "");
}

double full_of(const LinkTerms& link) { return 1 / (link.per_root_full * link.per_root_full); }

// One message with what docs/model.md, 8.2, puts into its price.
struct Priced {
  const Cluster& cluster;
  CollectiveModel network;
  Collective collective{};
  Bytes size{};
  CollectivePrice price = network.price(collective, size);
  GroupPaths paths = paths_of(cluster, network.group());
  CollectiveTerms terms = *terms_of(collective, price.algorithm, price.protocol, paths);
  LinkTerms in = terms_inside(cluster, terms, price.algorithm, price.protocol, paths);
  LinkTerms out = terms_between(cluster, terms, price.protocol, paths,
                                network.tuner().most_channels(), node_limit(cluster.network));
  double per_byte = pipelined(in.seconds_per_byte(), out.seconds_per_byte());

  [[nodiscard]] std::string choice() const {
    return fmt::format("{}, {}/{}", name(collective), name(price.algorithm), name(price.protocol));
  }
  // One thread block copies no faster to a peer.
  [[nodiscard]] bool by_channel() const {
    return price.algorithm == Algorithm::direct && paths.domains == 1 &&
           cluster.fabric.law.channel > Bandwidth{};
  }
};

// The equation with the numbers of the message; those of `wire_numbers` in one.
std::string price_text(const Priced& m) {
  const std::string bytes = put_in(m.size.si);
  std::string text = put_in(std::max(m.in.launch, m.out.launch).si);
  for (const LinkTerms& link : {m.in, m.out}) {
    if (link.steps > 0) {
      text += fmt::format(" + {} * {}", put_in(link.steps), put_in(link.step.si));
    }
    if (link.posting > 0_s) {
      text += " + " + put_in(link.posting.si);
    }
  }
  text += m.by_channel() ? fmt::format(" + {} * max({}, 1 / ({} * {}))", bytes, put_in(m.per_byte),
                                       m.price.channels, put_in(m.cluster.fabric.law.channel.si))
                         : fmt::format(" + {} * {}", bytes, put_in(m.per_byte));
  if (m.in.root > 0) {
    text += fmt::format(" + sqrt({} * {})", put_in(m.in.root * m.in.root), bytes);
  }
  if (m.out.root > 0) {
    text += fmt::format(" + sqrt({} * {})", put_in(m.out.root * m.out.root), bytes);
    text += m.out.per_root_full > 0
                ? fmt::format(" / (1 + sqrt({} / {}))", bytes, put_in(full_of(m.out)))
                : "";
  }
  const Rendezvous rendezvous = rendezvous_of(m.cluster, m.terms, m.price.protocol, m.paths);
  if (rendezvous.time > 0_s && m.size > rendezvous.eager) {
    text += " + " + put_in(rendezvous.time.si);
  }
  return text;
}

// What all messages of a choice share.
std::vector<InsertedNumber> wire_numbers(const Priced& m) {
  std::vector<InsertedNumber> numbers;
  const auto add = [&](std::string symbol, const std::string& value, std::string_view meaning) {
    numbers.push_back({std::move(symbol), value, fmt::format("{}: {}", m.choice(), meaning)});
  };
  if (m.in.bytes > 0) {
    add("w_i", wire_text(m.in), "s/B inside a node, bytes on the wire over what a GPU reaches");
    add("r d / B",
        fmt::format("{} * {} / {}", put_in(m.in.ramp.si), put_in(m.in.depth),
                    put_in(m.in.nominal.si)),
        "ramp, stages and bandwidth, for fill_i");
  }
  if (m.out.bytes > 0) {
    add("w_o", wire_text(m.out),
        m.out.sockets > Bandwidth{} ? "s/B between nodes, with sockets and NICs in series"
                                    : "s/B between nodes");
    add("r d w", fmt::format("{} * {} * w_o", put_in(m.out.ramp.si), put_in(m.out.depth)),
        "ramp, stages and time on the wire, for fill_o");
  }
  return numbers;
}

class MessageParts {
 public:
  explicit MessageParts(const ExplainedPlan& plan) : experiment_(plan.experiment()) {}

  void add(const Message& message, const Group& group, double times = 1) {
    if (message.alone <= 0_s) {
      return;
    }
    const std::string_view what = message.kind == MessageKind::tied_gradients
                                      ? "word embedding of both ends of the pipeline, "
                                      : "";
    const CollectiveModel network(experiment_.cluster, group);
    const AllReduceBy by = network.price(message.collective, message.size).by;
    if (by != AllReduceBy::nccl) {  // which has no equation of one algorithm
      add_part({fmt::format("{}{} of {} B, {}", what, name(message.collective),
                            put_in(message.size.si), name(by)),
                times, put_in(message.alone.si), message.alone},
               result_.parts);
      return;
    }
    const Priced priced{experiment_.cluster, network, message.collective, message.size};
    // Of hops that computation hides in part only what is left is known.
    const bool whole = priced.price.time == message.alone;
    add_part(
        {fmt::format(
             "{}{} of {} B, {}", what, name(message.collective), put_in(message.size.si),
             whole ? fmt::format("{}/{}", name(priced.price.algorithm), name(priced.price.protocol))
                   : "what is not hidden"),
         times, whole ? price_text(priced) : put_in(message.alone.si), message.alone},
        result_.parts);
    for (InsertedNumber& number : wire_numbers(priced)) {
      number.meaning.insert(0, what);
      if (whole && std::find(result_.numbers.begin(), result_.numbers.end(), number) ==
                       result_.numbers.end()) {
        result_.numbers.push_back(std::move(number));
      }
    }
  }
  void add(const Message& message, double times = 1) {
    add(message, group_of(message.kind, experiment_.layout, experiment_.cluster.gpus_per_node),
        times);
  }

  [[nodiscard]] ExplainedMessages result() && { return std::move(result_); }

 private:
  const Experiment& experiment_;
  ExplainedMessages result_;
};

}  // namespace

ExplainedMessages activation_messages(const ExplainedPlan& plan, MessageKind kind) {
  MessageParts parts(plan);
  for (const auto* pieces : {&plan.stage.compute->forward, &plan.stage.compute->backward}) {
    for (const Piece& piece : *pieces) {
      const bool of_tokens = is_of_experts(kind) && is_of_experts(piece.message.kind);
      if (piece.message.kind == kind || of_tokens) {
        parts.add(piece.message);
      }
    }
  }
  return std::move(parts).result();
}

ExplainedMessages transfer_messages(const ExplainedPlan& plan) {
  const Group boundary =
      boundary_group(plan.experiment().layout, plan.experiment().cluster.gpus_per_node,
                     static_cast<int>(plan.stage_index));
  MessageParts parts(plan);
  parts.add(plan.stage.send_forward, boundary);
  parts.add(plan.stage.send_backward, boundary);
  return std::move(parts).result();
}

ExplainedMessages gradient_messages(const ExplainedPlan& plan) {
  MessageParts parts(plan);
  const double reductions =
      plan.step.reduces_every_micro_batch ? plan.experiment().layout.passes() : 1;
  const auto add_kind = [&](const BucketKind& kind, double times) {
    for (const BucketRound& round : kind.rounds) {
      parts.add(round.message, times);
    }
  };
  for (const Bucket& bucket : plan.step.buckets(plan.stage_index)) {
    add_kind(plan.step.kind(bucket), reductions);
  }
  for (const auto* gathers : {&plan.stage.forward_gathers, &plan.stage.backward_gathers}) {
    for (const WeightGather& gather : *gathers) {
      add_kind(plan.step.kinds[gather.kind],
               plan.step.gathers_once ? 1 : plan.experiment().layout.passes());
    }
  }
  if (plan.step.sums_tied(plan.stage_index)) {
    parts.add(plan.step.tied_gradients);
  }
  parts.add(plan.stage.gather_weights);
  parts.add(plan.stage.gather_experts);
  return std::move(parts).result();
}

}  // namespace payoff
