// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "model/collective.hpp"
#include "model/compute.hpp"
#include "model/layout.hpp"
#include "model/step_plan.hpp"
#include "model/workload.hpp"

// What the ranks that share the layers of a stage send each other between two operators.
//
// * Tensor parallelism: all-reduces, or with sequence parallelism their two halves. Those that the
//   layout overlaps (layout.tp_overlap) are cut in pieces with their products, each message beside
//   the product of another piece: only what that adds to the product is a message of the plan.
// * Expert parallelism: tokens to the ranks of their experts, and back; their gradients likewise.
//   Ranks that divide an expert gather the tokens of all of them there, and scatter the sums.
// * Context parallelism, all_to_all: queries, keys and values before attention, its output after.
// * Context parallelism, ring: cp - 1 hops of keys and values, each beside the computation of one
//   block of scores. Only what is longer than a block is a message of the plan: what is hidden
//   holds neither links nor compute units. In backward the gradients of keys and values follow
//   behind, and go home when all blocks are added up (Megatron-Core's and Transformer Engine's
//   p2p).
// * Embedding tables that ranks divide: vectors to the ranks of their samples, their gradients
//   back (model/table_exchange.hpp).

namespace payoff {

struct StageNetworks {
  const CollectiveModel& tensor;
  const CollectiveModel& context;
  const CollectiveModel& experts;
  const CollectiveModel& expert_tensor;
  const CollectiveModel& tables;
};

class StageMessages {
 public:
  using Messages = std::vector<Message>;

  StageMessages(const ParallelLayout& layout, const ComputeContext& compute,
                const StageNetworks& networks)
      : layout_(layout), compute_(compute), networks_(networks) {}

  // Forward, once an operator of the layer has run.
  [[nodiscard]] Messages after_forward(const Layer& layer, std::size_t op) const;
  // Backward, once the gradient of the operator's input is there.
  [[nodiscard]] Messages before_backward(const Layer& layer, std::size_t op) const;
  // When attention alone is computed again, from the queries, keys and values of this rank.
  [[nodiscard]] Messages around_again(const Layer& layer) const;

 private:
  void add_sync(Messages& messages, const Layer& layer, const TensorParallelSync& sync,
                bool forward) const;
  void add_encoder_sync(Messages& messages, const Layer& layer, const TensorParallelSync& sync,
                        bool forward) const;
  [[nodiscard]] double cast_share() const;
  [[nodiscard]] Message beside(const Message& whole, const Operator& product, bool forward) const;
  void add_tokens(Messages& messages, const ExpertSync& experts) const;
  void add_gather(Messages& messages, const ExpertSync& experts) const;
  void add_sum(Messages& messages, const ExpertSync& experts) const;
  void add_tables(Messages& messages, const Layer& layer, bool forward) const;
  void add_exchange(Messages& messages, Collective collective, Bytes per_sample) const;
  void add_hops(Messages& messages, const ContextSync& context, Bytes per_sample,
                Seconds all_blocks) const;
  void add_forward_context(Messages& messages, const Layer& layer, const ContextSync& context,
                           std::size_t op) const;
  void add_backward_context(Messages& messages, const Layer& layer, const ContextSync& context,
                            std::size_t op) const;
  void add_forward_ring(Messages& messages, const Layer& layer, const ContextSync& context) const;

  const ParallelLayout& layout_;
  const ComputeContext& compute_;
  StageNetworks networks_;
};

}  // namespace payoff
