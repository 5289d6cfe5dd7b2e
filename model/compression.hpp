// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/collective.hpp"
#include "model/exchange_graph.hpp"
#include "model/expression.hpp"
#include "model/hardware.hpp"
#include "model/problem.hpp"
#include "model/units.hpp"
#include "model/workload.hpp"

// A compression method is data: how many bytes it sends, which passes its encoder and decoder make,
// in which rounds and by which collective, what state it keeps. Built-in methods and users' own are
// the same YAML (profiles/compression), their formulas the same expressions; nothing here or in the
// engines knows a method by name.
//
// Variables of every formula: n (elements), rows, columns (of the matrix view), v (bytes per
// element of the gradient), W (workers of the group), L (workers of the group in one node), T
// (tensors that this call encodes: what a call does once is written per tensor as x/T), and the
// method's own parameters (rank, ratio, bits, group ...).

namespace payoff {

inline constexpr std::array<std::string_view, 7> formula_variables{"n", "rows", "columns", "v",
                                                                   "W", "L",    "T"};
// Their places.
namespace formula {
enum Variable : std::uint16_t {
  elements,
  rows,
  columns,
  element_size,
  workers,
  local_workers,
  tensors
};
}  // namespace formula
inline constexpr std::size_t formula_parameter_limit = 17;  // parameters and parts together

// The names a method's formulas may use, in the order in which compress() gives their values: after
// these come the names of the method's parts (`where`), each for the formulas after it.
[[nodiscard]] std::vector<std::string> formula_names(
    const std::map<std::string, double>& parameters);

enum class Implementation { framework_ops, library, fused };
enum class Granularity { tensor, bucket };  // what one call of the encoder sees
// Where a codec runs: on the compute stream, on a stream of its own (of the same priority as the
// compute stream's, of a lower or a higher one), or when backward is through.
enum class Placement {
  compute_stream,
  side_stream,
  after_backward,
  low_priority_stream,
  high_priority_stream
};
[[nodiscard]] constexpr bool has_own_stream(Placement placement) {
  return placement == Placement::side_stream || placement == Placement::low_priority_stream ||
         placement == Placement::high_priority_stream;
}

// What kernels of one implementation class achieve; fitted (profiles/fitted/codecs.yaml). A stage
// of framework operators takes as long as the host needs to queue them or the GPU to run them,
// whichever is more: `dispatch` is zero where one call launches everything.
struct CodecLaw {
  Seconds dispatch{};            // of the host, for each kernel
  Seconds host_sync{};           // the host waits for the GPU and fills its queue again
  double resident_efficiency{};  // share of the memory bandwidth, traffic that fits the L2 cache
  double memory_efficiency{};    // and the part of a kernel's traffic beyond it
  double random_efficiency{};    // share of the memory bandwidth for scattered 32 B sectors
  double gemm_efficiency{};      // share of peak arithmetic for tall and narrow products
  FitRange<Bytes> streams;       // traffic of a kernel in the timings that it was fitted to
  double relative_sd{};          // of a predicted encode or decode time
};

// How fast the cores of a host run a codec's loops, as its implementation has them: the traffic
// (read + written) that passes through one core. A method's own numbers, since they differ more
// between implementations than between hosts.
struct HostCodec {
  Seconds call{};         // starting the threads of one loop
  Bandwidth core{};       // of loops that stream
  Bandwidth irregular{};  // of loops that decide, pack or draw for each element
  int threads{};          // that one GPU's codec starts
  double relative_sd{};   // of a predicted encode or decode time
};

// One stage of work, on the GPU or by the cores of its host.
struct PassFormula {
  Expression bytes;         // read + written in memory, streaming
  Expression random_bytes;  // gathered or scattered, counted as 32 B sectors
  Expression flops;         // matrix arithmetic
  Expression kernels;       // launches of the dependent chain
  Expression host_syncs;    // times the host waits for the GPU
  Expression block_bytes;   // read + written by kernels of one thread block, which has one SM
  // On the host `kernels` are loops, `random_bytes` the traffic of irregular ones, `block_bytes` of
  // irregular ones of a single thread, and `copied` what a copy engine moves: to the host before
  // it, or back after it.
  bool on_host{};
  Expression copied;
};

// Which workers of a group take part in a round: all; those of one node; those with the same place
// in every node.
enum class Among { all, node, nodes };

struct RoundFormula {
  PassFormula encode;  // before the message; empty expressions are zero
  Collective collective{Collective::all_reduce};
  Expression message;  // bytes one worker contributes (for all_gather: its own share)
  Among among{Among::all};
};

// Bytes that one worker contributes for a tensor, all rounds together: what the method's paper
// says, and what the code named in the profile sends. The rounds' messages add up to one of them.
struct WireFormula {
  Expression as_published;
  Expression as_implemented;
};

// Rounds and decoder that take the place of a method's own.
struct OtherFormulas {
  std::vector<RoundFormula> rounds;
  PassFormula decode;
};

struct Method {
  std::string name;
  std::string description;
  Implementation implementation{};
  Granularity granularity{};
  bool matrices_only{};       // vectors then travel dense, in one extra all-reduce
  bool sums_in_collective{};  // the payload can be reduced on the way
  bool elementwise{};         // a shard of the payload is the payload of a shard: composes
                              // with reduce-scatter (casts)
  bool scatters{};            // its rounds leave each worker the sum of its own part: a
                              // reduce-scatter, as sharded optimisers want it
  // NCCL adds the numbers that the rounds reduce on GPUs of this architecture and later ones only.
  std::optional<Architecture> reduces_from;
  std::optional<ExchangeGraph> graph;  // of nodes, over which those exchanges go
  bool among_nodes{};                  // made by across_nodes() of a method among all workers
  Bytes smallest{};                    // that from_size() has it compress; 0: `worth` is its own
  bool bypasses_buckets{};  // takes gradients where backward leaves them: no copies into buckets
  std::map<std::string, double> parameters;  // defaults, overridden by a plan
  std::vector<Expression> where;             // parts of formulas, worked out once for each tensor
  std::vector<RoundFormula> rounds;
  PassFormula decode;
  PassFormula dense;       // of a tensor that travels dense: packed and copied back
  Expression worth;        // > 0 where a tensor is compressed, else it travels dense; empty: always
  Expression state_bytes;  // kept per tensor (error feedback, warm factors)
  Expression saved_bytes;  // of an activation, kept from its forward to its backward
  // From one rank to another, where nothing is summed; left out: the rounds, of one worker.
  std::optional<OtherFormulas> sent;
  // Of the gradient of an activation that was compressed; left out: as activations are, with no
  // regard to them.
  std::optional<OtherFormulas> backward;
  bool learned{};  // encoder and decoder are layers of the model: `backward` is theirs
  WireFormula wire;
  CodecLaw law;                      // of its implementation class, or of its own kernels
  std::vector<std::string> kernels;  // of payoff-kernels, that are its passes over gradients
  std::optional<HostCodec> host;     // where a pass runs there
};

// Whether any of its passes over gradients does.
[[nodiscard]] bool runs_on_host(const Method& method);

// What cannot be priced: no round, too many parameters, a formula that is negative or infinite for
// a tensor that training has. Paths as in the method's file.
[[nodiscard]] Problems check_method(const Method& method);

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
  Placement placement{Placement::compute_stream};  // of the codec of gradients
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

struct CallCost {
  std::vector<RoundCost> rounds;  // empty where every tensor travels dense
  PassCost decode;
  PassCost dense;         // packing of what travels dense
  Bytes dense_message{};  // what travels uncompressed (vectors, tensors not worth it)
  Bytes state{};
  Bytes saved{};
  std::size_t method{};  // of CompressionPlan::methods(), in the costs of a plan
};

// A group, and how many of it share a node. `element` is the size of an uncompressed gradient
// element. Formulas are evaluated for many shapes at once.
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

// The same method with other formulas in the place of its own, where there are any.
[[nodiscard]] Method with_formulas(const Method& method, const std::optional<OtherFormulas>& other);

// What `method` does to the tensors of several calls, all evaluated together.
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
// where streaming is split at the L2 size of the GPU by the traffic of an average kernel. Zero for
// a pass that does nothing there: one on the host is priced by model/host_codec.
[[nodiscard]] Seconds price_pass(const PassCost& cost, const CodecLaw& law, const Gpu& gpu,
                                 Precision arithmetic);

}  // namespace payoff
