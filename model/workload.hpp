// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/context_parallel.hpp"
#include "model/recommender.hpp"
#include "model/units.hpp"

// What one sample costs to train: layers in forward order, each with the operators that one GPU
// runs, the parameters whose gradients it yields, and the activations it keeps. A transformer
// (model/transformer.hpp) and a per-layer table (profiles/model) both become this form, already
// divided by the tensor-parallel degree. So does a recommender (model/recommender.hpp). Shapes
// follow the BLAS convention rows x depth times depth x columns.

namespace payoff {

// A count as a factor of bytes and operations; exact up to 2^53.
[[nodiscard]] constexpr double real(std::int64_t count) { return static_cast<double>(count); }

enum class OperatorKind {
  gemm,         // rows = tokens or samples
  convolution,  // as an implicit GEMM: rows = output positions, depth = in_channels * kernel^2
  attention,    // batch of rows x depth x columns score products and their transposed twins
  memory        // element-wise, normalisation, softmax, pooling, embedding: bytes only
};

struct Operator {
  OperatorKind kind{};
  double rows_per_sample{};  // gemm, convolution, attention: rows of one batch member
  double columns{};
  double depth{};
  double batch_per_sample{1};  // attention: heads on this GPU; grouped convolution: groups
  double causal_fraction{1};   // attention: share of the score matrix that a fused kernel computes
  double window{1};            // convolution: elements of the window, a factor of depth
  bool unit_stride{};          // convolution: neighbouring windows overlap by all but one column
  // Traffic of the forward and of the backward pass. memory: all of it, read + written; a pass
  // without traffic launches nothing (the sum of a bias's gradient has no forward).
  // convolution: input and output (the weights follow from the shape). attention: dropout of the
  // scores, which only an unfused implementation has in memory. gemm: follows from the shape.
  Bytes bytes_per_sample{};
  Bytes bytes_fixed{};  // what does not grow with the batch (gradient of an embedding table)
  Bytes backward_bytes_per_sample{};
  Bytes backward_bytes_fixed{};
  int kernels{1};             // memory: launches in an unfused implementation
  int fused_kernels{1};       // memory: launches in a fused implementation; 0 = disappears
  bool input_gradient{true};  // false for the first product of a model: no one needs its gradient
  bool in_16_bits{};          // gemm: fp8 training leaves it in 16 bits (ends of a model, routers)
  // memory: mixed precision computes it in 32 bits, with casts around it (norms, softmax and
  // residual sums of transformers); false where kernels read and write 16 bits as they are
  // (cuDNN's batch normalisation, ReLU and pooling).
  bool casts{true};
};

// What is bound by memory: bytes of a sample forward and backward, launches of an unfused and of a
// fused implementation.
[[nodiscard]] Operator memory_pass(Bytes forward, Bytes backward, int kernels = 1,
                                   int fused_kernels = 1);
// The same without casts.
[[nodiscard]] Operator uncast_pass(Bytes forward, Bytes backward, int kernels = 1,
                                   int fused_kernels = 1);

// One parameter tensor as its optimiser sees it on this GPU. A matrix is shape[0] x (the rest), as
// low-rank methods reshape it; vectors (biases, normalisation) have columns = 1 and is_matrix
// false.
struct ParameterTensor {
  std::int64_t rows{};
  std::int64_t columns{1};
  bool is_matrix{};
  bool of_expert{};  // summed over the ranks that hold the same expert
  bool is_copy{};    // of another layer's, on another pipeline stage: no parameter of its own

  bool operator==(const ParameterTensor&) const = default;
  [[nodiscard]] std::int64_t elements() const { return rows * columns; }
};

// Operators `before` to `after` of the forward list work on one tensor-parallel part. Forward
// all-reduces (or halves, with sequence parallelism) the output of `after`; backward does the same
// to the gradient that `before` hands down. The two ends of a model have only one of them.
struct TensorParallelSync {
  std::size_t before{};
  std::size_t after{};
  Bytes bytes_per_sample{};  // full tensor, at the precision of the activations
  bool forward{true};
  bool backward{true};
  // What operator `before` reads is no output of this layer but the encoder's: gathered forward
  // where ranks have parts of it (once `after` has run), its gradients summed or scattered
  // backward.
  bool of_encoder{};
};

// An attention whose ranks hold parts of the sequences (model/context_parallel.hpp).
struct ContextSync {
  std::size_t attention{};  // the operator
  ContextParts parts;
  Bytes query_per_sample{};      // of this rank's tokens; as large as the output
  Bytes key_value_per_sample{};  // both, of its part of what is attended to
};

// Operators `before` to `after` are the experts' products (model/expert_parallel.hpp).
struct ExpertSync {
  std::size_t before{};
  std::size_t after{};
  Bytes bytes_per_sample{};         // that the busiest rank gets of its tokens, and gives back
  Bytes tensor_bytes_per_sample{};  // whole, of the ranks that divide an expert; 0: one does not
  bool gathers{};                   // these have different tokens
  Bytes tokens_per_sample{};        // of this rank, each once,
  Bytes copies_per_sample{};        // and as often as it has experts
};

// Rows of embedding tables that a GPU holds (model/recommender.hpp): nobody sums their gradients.
struct HeldTables {
  Bytes weights{};
  Bytes state{};  // what their optimizer keeps
};

// Vectors from embedding tables of other ranks come beside this layer, backward their gradients go
// beside it (model/table_exchange.hpp).
struct TableExchange {
  Bytes sent_per_sample{};      // by the rank with most tables, for one sample of every rank
  Bytes received_per_sample{};  // by each rank for its own sample: one vector a table
};

// Of one micro-batch, in place of what the operators would take (model/layer_times.hpp).
struct MeasuredLayer {
  Seconds forward{};
  Seconds backward{};
};

struct Layer {
  std::string name;
  std::vector<Operator> forward;
  std::vector<ParameterTensor> parameters;  // forward order of declaration
  std::vector<TensorParallelSync> syncs;    // empty when tp = 1
  std::vector<ContextSync> contexts;        // where cp > 1: of each attention
  std::optional<ExpertSync> experts;        // where ep > 1 and there are experts
  std::optional<MeasuredLayer> measured;
  Bytes activation_per_sample{};            // kept for backward without recomputation
  Bytes selective_activation_per_sample{};  // kept with selective recomputation
  Bytes boundary_per_sample{};  // the layer's full input: kept with full recomputation, sent by pp
  // In a pipeline of an encoder with a decoder: what the stage hands on for the other stack, and,
  // of the decoder's blocks, the encoder's output that they read, as kept.
  Bytes passed_per_sample{};
  Bytes source_per_sample{};
  bool recomputable{};  // full recomputation runs its forward again
  HeldTables tables{};
  std::optional<TableExchange> exchange{};  // where ranks divide the tables of a recommender
};

struct Workload {
  std::string name;
  std::vector<Layer> layers;    // forward order; identical neighbours share nothing but values
  double tokens_per_sample{1};  // sequence length, or 1 for images
  std::int64_t width{};         // of the activations between layers: a transformer's hidden size
  std::string sample_name{"sample"};  // "sequence", "image"
  // What the layers were made of, for one number of ranks: tables divide otherwise for another.
  std::optional<RecommenderShape> recommender{};

  // Of layers that are replicated: none of tables. Copies are not counted.
  [[nodiscard]] std::int64_t parameters() const;
};

}  // namespace payoff
