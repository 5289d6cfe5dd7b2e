// SPDX-License-Identifier: Apache-2.0
#include "model/activation_check.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "model/activation_codecs.hpp"
#include "model/compression_effect.hpp"
#include "model/layer_division.hpp"

namespace payoff {
namespace {

// Products of the same numbers in another order differ in their last bits.
constexpr double rounding = 1e-9;

std::string in_backquotes(const std::string& text) { return "`" + text + "`"; }

std::string range_text(std::int64_t first, std::int64_t last) {
  return std::to_string(first) + "-" + std::to_string(last);
}

// One kind of traffic of a plan.
class Check {
 public:
  Check(const ActivationCompression& of, const ParallelLayout& layout, const std::string& path,
        Problems& problems)
      : of_(of), layout_(layout), path_(path), problems_(problems) {}

  void layout_has_it() const {
    if (is_of_tables() && layout_.data_ranks() == 1) {
      add("dp is 1: no vectors of embedding tables come from other ranks that " + method() +
              " could compress",
          "give the job more GPUs, or compress other traffic");
    }
    if (is_tokens() && layout_.ep == 1) {
      add("ep is 1: no tokens are sent to experts of other ranks that " + method() +
              " could compress",
          "set layout.ep above 1 for a model with experts, or compress other traffic");
    }
    if (is_tensor() && layout_.tp == 1) {
      add("tp is 1: no activations are summed that " + method() + " could compress",
          "set layout.tp above 1, or compress other traffic");
    }
    if (is_tensor() && layout_.tp_overlap > 1) {
      add("tp_overlap cuts messages in pieces, which " + method() + " does not compress",
          "set layout.tp_overlap to 1, or compress other traffic");
    }
    if (is_send() && layout_.pp == 1) {
      add("pp is 1: no activations are sent to another stage that " + method() + " could compress",
          "set layout.pp above 1, or compress other traffic");
    }
    if (is_send() && is_v_shaped(layout_.schedule)) {
      add("sends between stages that a schedule in a V crosses both ways are not compressed",
          "choose another schedule, or compress other traffic");
    }
  }

  void directions_are_known() const {
    if (!of_.method.backward) {
      return;
    }
    if (is_tokens()) {
      add(method() +
              " compresses gradients of what it has compressed, and those of tokens come back from "
              "experts in other messages",
          "compress other traffic, or use a method without `backward`");
    } else if (is_tensor() && of_.backward) {
      add(method() +
              " compresses gradients of what it has compressed, and the sums of the backward "
              "pass are of other tensors",
          "use directions=forward");
    } else if ((is_send() || is_of_tables()) && !of_.forward) {
      add(method() + " compresses gradients of what it has compressed", "use directions=both");
    } else if ((is_send() || is_of_tables()) && of_.method.learned && !of_.backward) {
      add(method() + " has no gradients but those of what it has compressed",
          "use directions=both");
    }
  }

  void collectives_are_known() const {
    const Method sent = with_formulas(of_.method, of_.method.sent);
    if (is_tensor() && layout_.sequence_parallel && sent.sums_in_collective &&
        sent.rounds.size() > 1) {
      add(method() + " sums in " + std::to_string(sent.rounds.size()) +
              " rounds over whole tensors, which sequence_parallel leaves scattered",
          "set layout.sequence_parallel to false, or use a method of one round");
    }
    const Method& used = is_tensor() && !layout_.sequence_parallel ? of_.method : sent;
    if (std::any_of(used.rounds.begin(), used.rounds.end(),
                    [](const RoundFormula& round) { return round.among != Among::all; })) {
      add(method() +
              " has rounds among the ranks of a node, and activations go among all of a group",
          "use a method whose rounds are among all ranks");
    }
  }

  void blocks_exist(std::int64_t count) const {
    const bool open = of_.blocks.last == BlockRange{}.last;
    if (of_.blocks.first >= count || (!open && of_.blocks.last >= count)) {
      add("the model has blocks 0 to " + std::to_string(count - 1) + ", " + method() +
              " is to compress blocks " +
              (open ? std::to_string(of_.blocks.first) + "-"
                    : range_text(of_.blocks.first, of_.blocks.last)),
          "choose layers among them");
    }
  }

  void experts_exist(const Workload& workload) const {
    if (is_tokens() && sending_layer(workload) == nullptr) {
      const std::vector<std::int64_t> blocks = blocks_of_layers(workload);
      std::string have;
      for (std::size_t i = 0; i < blocks.size() && have.empty(); ++i) {
        have = workload.layers[i].experts
                   ? "the first one with experts is " + std::to_string(blocks[i])
                   : "";
      }
      add("none of the blocks that " + method() + " is to compress sends tokens to experts", have);
    }
  }

  void tables_exist(const Workload& workload) const {
    if (!is_of_tables()) {
      return;
    }
    if (!workload.recommender) {
      add("the model has no embedding tables that ranks divide, whose vectors " + method() +
              " could compress",
          "compress other traffic");
    } else if (!(of_.blocks == BlockRange{})) {
      add("a recommender has no blocks that `layers` could choose", "leave `layers` out");
    }
  }

  // The layer beside which vectors of tables come, where they do.
  void vectors_get_smaller(const Workload& workload, Bytes element) const {
    for (const Layer& layer : workload.layers) {
      if (layer.exchange) {
        rows_get_smaller(layer, layer.exchange->sent_per_sample, workload.width, element,
                         "samples of " + in_backquotes(layer.name));
      }
    }
  }

  void boundaries_exist(const Workload& workload) const {
    if (!is_send()) {
      return;
    }
    const std::vector<std::int64_t> blocks = blocks_of_layers(workload);
    std::string last;
    bool any = false;
    for (const auto& layers : divide_layers(workload, layout_)) {
      std::optional<bool> compressed;
      for (std::size_t i = 0; i < layers.size(); ++i) {
        const bool stays = i + 1 < layers.size() && layers[i + 1] == layers[i] + 1;
        if (stays || layers[i] + 1 == workload.layers.size()) {
          continue;
        }
        const bool here = of_.blocks.holds(blocks[layers[i]]);
        last += (last.empty() ? "" : ", ") + workload.layers[layers[i]].name;
        any = any || here;
        if (compressed && *compressed != here) {
          add("a stage sends the output of " + in_backquotes(workload.layers[layers[i]].name) +
                  (here ? " compressed" : " as it is") + " and that of another chunk not so",
              "choose layers so that all chunks of a stage send alike");
          return;
        }
        compressed = here;
      }
    }
    if (!any) {
      add("none of the blocks that " + method() + " is to compress sends to another stage",
          "those that send are: " + last);
    }
  }

  void gets_smaller(const Workload& workload, Bytes element, const Group& tensor) const {
    const Layer* layer = sending_layer(workload);
    if (layer == nullptr) {
      return;
    }
    if (is_tokens()) {
      rows_get_smaller(*layer, layer->experts->bytes_per_sample, workload.width, element,
                       "tokens of " + in_backquotes(layer->name));
    } else {
      gets_smaller(*layer, workload.width, element, tensor);
    }
  }

 private:
  [[nodiscard]] bool is_tensor() const { return of_.traffic == Traffic::tp_activations; }
  [[nodiscard]] bool is_send() const { return of_.traffic == Traffic::pp_activations; }
  [[nodiscard]] bool is_tokens() const {
    return of_.traffic == Traffic::ep_dispatch || of_.traffic == Traffic::ep_combine;
  }
  [[nodiscard]] bool is_of_tables() const { return of_.traffic == Traffic::embeddings; }
  [[nodiscard]] std::string method() const { return in_backquotes(of_.method.name); }
  void add(std::string message, std::string help) const {
    problems_.push_back({path_, std::move(message), std::move(help)});
  }

  // The first block of the range that has such traffic, where blocks have experts; all that have it
  // send alike.
  [[nodiscard]] const Layer* sending_layer(const Workload& workload) const {
    const std::vector<std::int64_t> blocks = blocks_of_layers(workload);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const Layer& layer = workload.layers[i];
      if (blocks[i] >= 0 && of_.blocks.holds(blocks[i]) && (!is_tokens() || layer.experts)) {
        return &layer;
      }
    }
    return nullptr;
  }

  // With activations as they are, which no probe of check_method() may be like.
  void can_be_priced(const Method& method, const ParameterTensor& activations, Bytes element,
                     const Workers& group) const {
    if (const auto problem = check_amounts(method, {&activations, 1}, element, group)) {
      add(in_backquotes(problem->path) + " of " + in_backquotes(method.name) + " is " +
              problem->message + ", as activations are here",
          "look for a unit or a power that is wrong");
    }
  }

  // What goes to different ranks, row by row.
  void rows_get_smaller(const Layer& layer, Bytes per_sample, std::int64_t width, Bytes element,
                        const std::string& what) const {
    const ParameterTensor tokens =
        activation_tensor(layout_.micro_batch * per_sample, element, width);
    const Method sent = with_formulas(of_.method, of_.method.sent);
    can_be_priced(sent, tokens, element, {1, 1});
    const Bytes together = bytes_sent(sent, tokens, element);
    const Bytes apart =
        static_cast<double>(tokens.rows) * bytes_sent(sent, {1, width, true}, element);
    if (compress(sent, {&tokens, 1}, element, 1, 1).rounds.empty()) {
      add_no_smaller(layer, tokens);
    } else if (std::max(apart, together) > (1 + rounding) * std::min(apart, together)) {
      add(what + " go to different ranks, and what " + method() + " sends of " +
              std::to_string(tokens.rows) + " does not divide into as many equal parts",
          std::string("use a method that encodes every ") + (is_of_tables() ? "sample" : "token") +
              " by itself, with groups that divide " + std::to_string(width) + " elements");
    }
  }

  // One rank to another, the dense part included.
  static Bytes bytes_sent(const Method& sent, const ParameterTensor& tensor, Bytes element) {
    const CallCost call = compress(sent, {&tensor, 1}, element, 1, 1);
    Bytes bytes = call.dense_message;
    for (const RoundCost& round : call.rounds) {
      bytes += round.message;
    }
    return bytes;
  }

  void add_no_smaller(const Layer& layer, const ParameterTensor& activations) const {
    add("the activations of " + in_backquotes(layer.name) + " (" +
            std::to_string(activations.rows) + " x " + std::to_string(activations.columns) +
            ") do not get smaller by " + method(),
        "use a smaller dimension, rank or ratio, or fewer bits");
  }

  void gets_smaller(const Layer& layer, std::int64_t width, Bytes element,
                    const Group& tensor) const {
    const bool sums = is_tensor() && !layout_.sequence_parallel;
    const Bytes size = is_tensor() ? layout_.micro_batch * layer.syncs.front().bytes_per_sample
                                   : boundary_size(layer, layout_);
    const ParameterTensor activations = activation_tensor(size, element, width);
    const Method method = sums ? of_.method : with_formulas(of_.method, of_.method.sent);
    const Workers group = sums ? Workers{tensor.ranks, tensor.ranks_per_node} : Workers{1, 1};
    can_be_priced(method, activations, element, group);
    const CallCost cost = compress(method, {&activations, 1}, element, group.all, group.in_node);
    if (cost.rounds.empty()) {
      add_no_smaller(layer, activations);
    }
  }

  const ActivationCompression& of_;
  const ParallelLayout& layout_;
  const std::string& path_;
  Problems& problems_;
};

}  // namespace

Problems check_activations(const CompressionPlan& plan, const ParallelLayout& layout,
                           const std::string& path) {
  Problems problems;
  for (const ActivationCompression& of : plan.activations) {
    const Check check(of, layout, path, problems);
    check.layout_has_it();
    check.directions_are_known();
    check.collectives_are_known();
  }
  return problems;
}

Problems check_activation_effect(const CompressionPlan& plan, const Workload& workload,
                                 const ParallelLayout& layout, Bytes element, const Group& tensor,
                                 const std::string& path) {
  Problems problems;
  const std::vector<std::int64_t> blocks = blocks_of_layers(workload);
  const std::int64_t count = 1 + *std::max_element(blocks.begin(), blocks.end());
  for (const ActivationCompression& of : plan.activations) {
    const Check check(of, layout, path, problems);
    const std::size_t before = problems.size();
    if (of.traffic == Traffic::embeddings) {
      check.tables_exist(workload);
      if (problems.size() == before) {
        check.vectors_get_smaller(workload, element);
      }
      continue;
    }
    check.blocks_exist(count);
    if (problems.size() == before) {
      check.boundaries_exist(workload);
      check.experts_exist(workload);
      check.gets_smaller(workload, element, tensor);
    }
  }
  return problems;
}

}  // namespace payoff
