// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/collective.hpp"
#include "model/hardware.hpp"
#include "model/method.hpp"
#include "model/units.hpp"
#include "model/workload.hpp"

// What a plan compresses, with which methods, and what that costs for the tensors of a call: passes
// over memory, bytes in every round, state.

namespace payoff {

// What a method compresses: gradients of data parallelism; activations and their gradients that
// tensor-parallel ranks sum, or that go from one pipeline stage to the next; tokens that are sent
// to the ranks of their experts, backward the gradients of the experts' outputs on the same way
// (dispatch), and what comes back of them: outputs, backward the gradients of tokens (combine);
// weights that sharded data parallelism gathers; vectors of embedding tables on the way to the
// ranks of their samples, backward their gradients.
enum class Traffic {
  dp_gradients,
  tp_activations,
  pp_activations,
  ep_dispatch,
  ep_combine,
  dp_weights,
  embeddings
};

// Blocks of a transformer, numbered from 0: `first` and `last` among them.
struct BlockRange {
  std::int64_t first{};
  std::int64_t last{std::numeric_limits<std::int64_t>::max()};

  [[nodiscard]] bool holds(std::int64_t block) const { return block >= first && block <= last; }
  bool operator==(const BlockRange&) const = default;
};

// A method with its parameters for what model-parallel ranks send each other. A send between stages
// belongs to the block whose output it carries.
struct ActivationCompression {
  Method method;
  Traffic traffic{Traffic::tp_activations};
  bool forward{true};  // activations
  bool backward{};     // their gradients
  BlockRange blocks;
};

// A method for the weights that sharded data parallelism gathers, but for those of experts.
struct WeightCompression {
  Method method;
  bool copy_in_node{};  // zero 3: each node keeps all weights, and gathers for backward inside
};

// Buckets of gradients, numbered from 0 on every stage in the order in which backward completes
// them. No range: all of them.
struct BucketSet {
  std::vector<BlockRange> ranges{};  // ascending, with a gap between two

  [[nodiscard]] bool is_all() const { return ranges.empty(); }
  [[nodiscard]] bool holds(std::size_t bucket) const;
  [[nodiscard]] bool overlaps(const BucketSet& other) const;
  bool operator==(const BucketSet&) const = default;
};

// A method with its parameters for the gradients of some buckets.
struct BucketCompression {
  Method method;
  BucketSet buckets{};
};

// A strategy: a method with its parameters for each kind of traffic that it compresses, or one for
// each of several sets of buckets. The first plan of every experiment is "none".
struct CompressionPlan {
  std::string label;                               // as the user wrote it: "powersgd:rank=4"
  std::optional<Method> method;                    // of gradients; nullopt: uncompressed
  std::vector<ActivationCompression> activations;  // at most one for each kind of traffic
  std::optional<WeightCompression> weights;
  Placement placement{Placement::compute_stream};  // of the codecs of gradients
  bool overlap{true};   // compress and send bucket by bucket while backward runs
  BucketSet buckets{};  // that `method` compresses; others travel dense, or as `others` say
  std::vector<BucketCompression> others{};  // of gradients; no bucket has two methods

  [[nodiscard]] bool compresses() const { return method || weights || !activations.empty(); }
  // Whether it treats buckets of gradients differently.
  [[nodiscard]] bool chooses_buckets() const { return !buckets.is_all() || !others.empty(); }
  // Its codecs, the gradients' first, where it compresses them, the weights' last: Work::method
  // counts in this order.
  [[nodiscard]] std::vector<const Method*> methods() const;
  [[nodiscard]] std::vector<const Method*> gradient_methods() const;
  [[nodiscard]] const BucketSet& buckets_of(std::size_t gradient_method) const {
    return gradient_method == 0 ? buckets : others[gradient_method - 1].buckets;
  }
  // What `placement` is where nobody says it.
  [[nodiscard]] Placement usual_placement() const;
};

// A method's cost for one call on one tensor or bucket.
struct PassCost {
  Bytes bytes{};
  Bytes random_bytes{};
  Flops flops{};
  double kernels{};
  double host_syncs{};
  Bytes block_bytes{};
  bool on_host{};
  Bytes copied{};
  Seconds host_time{};

  PassCost& operator+=(const PassCost& other);
  bool operator==(const PassCost&) const = default;
};

struct RoundCost {
  PassCost encode;
  Collective collective{};
  Bytes message{};
  Among among{};
  int neighbours{};  // of an exchange over a graph of nodes; 0: with all
};

// nccl-tests counts the gathered buffer of an all-gather; a method states what one worker sends.
[[nodiscard]] Bytes collective_size(const RoundCost& round, int workers);

struct CallCost {
  std::vector<RoundCost> rounds;  // empty where every tensor travels dense
  PassCost decode;
  PassCost dense;         // packing of what travels dense
  Bytes dense_message{};  // what travels uncompressed (vectors, tensors not worth it)
  Bytes state{};
  Bytes saved{};
  std::size_t method{};  // of CompressionPlan::methods(), in the costs of a plan
};

// How many workers there are, and how many of them share a node.
struct Workers {
  int all{};
  int in_node{};
};

// Tensors of equal shape that one call of the encoder sees. Calls are numbered from 0.
struct EqualTensors {
  ParameterTensor tensor;
  std::size_t call{};
  std::int64_t count{1};

  bool operator==(const EqualTensors&) const = default;
};

// What `method` does to the tensors of several calls, all evaluated together. `element` is the size
// of an uncompressed element.
[[nodiscard]] std::vector<CallCost> compress_calls(const Method& method,
                                                   std::span<const EqualTensors> tensors,
                                                   std::size_t calls, Bytes element,
                                                   const Workers& group);

// The same for one call.
[[nodiscard]] CallCost compress(const Method& method, std::span<const ParameterTensor> tensors,
                                Bytes element, int workers, int local_workers);

// What of a pass goes to memory: all but what stays in the L2 cache.
[[nodiscard]] Bytes memory_traffic(const PassCost& cost, const Gpu& gpu);

// Time of one pass on a GPU (docs/model.md, "Codecs"):
//   max(kernels * dispatch, kernels * launch + streaming + random + arithmetic) + syncs * host_sync
//     + host_time
// where streaming is split at the L2 size of the GPU by the traffic of an average kernel. Zero for
// a pass that does nothing there: one on the host is priced by model/host_codec.
[[nodiscard]] Seconds price_pass(const PassCost& cost, const CodecLaw& law, const Gpu& gpu,
                                 Precision arithmetic);

}  // namespace payoff
