// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/collective.hpp"
#include "model/exchange_graph.hpp"
#include "model/expression.hpp"
#include "model/hardware.hpp"
#include "model/problem.hpp"
#include "model/units.hpp"

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
// As profiles and samples spell them.
inline constexpr std::array<std::pair<std::string_view, Implementation>, 3> implementation_names{{
    {"framework_ops", Implementation::framework_ops},
    {"library", Implementation::library},
    {"fused", Implementation::fused},
}};
[[nodiscard]] constexpr std::string_view name(Implementation implementation) {
  return implementation_names.at(static_cast<std::size_t>(implementation)).first;
}
[[nodiscard]] constexpr std::optional<Implementation> find_implementation(std::string_view text) {
  for (const auto& [known, implementation] : implementation_names) {
    if (known == text) {
      return implementation;
    }
  }
  return std::nullopt;
}

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
  // Of such products in fp32, where it was measured: goes before the share of the peak, and is
  // taken for narrower ones too, which are bound by the traffic of their factors.
  FlopRate product_rate{};
  FitRange<Bytes> gathers{};   // of scattered sectors of a kernel, likewise
  FitRange<Flops> products{};  // arithmetic of a kernel, likewise
};

// What its products reach on a GPU.
[[nodiscard]] inline FlopRate product_rate(const CodecLaw& law, const Gpu& gpu,
                                           Precision arithmetic) {
  return law.product_rate > FlopRate{} ? law.product_rate
                                       : gpu.peak[arithmetic] * law.gemm_efficiency;
}

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
  Expression host_seconds;  // work of the host for which the GPU waits, beyond its launches
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
  bool in_network{};        // a switch adds what its rounds send: nothing else can do it instead
  bool bypasses_buckets{};  // takes gradients where backward leaves them: no copies into buckets
  // What it sends is the optimizer's own, or the model's: it waits for all of backward, unless a
  // plan says otherwise.
  bool after_backward{};
  std::map<std::string, double> parameters;  // defaults, overridden by a plan
  std::vector<Expression> where;             // parts of formulas, worked out once for each tensor
  std::vector<RoundFormula> rounds;
  PassFormula decode;
  PassFormula dense;  // of a tensor that travels dense: packed and copied back
  Expression worth;   // > 0 where a tensor is compressed, else it travels dense; empty: always
  // > 0 for a tensor that the parameters suit (a rank that it can have); one of those that are
  // compressed must be; empty: all are.
  Expression fits;
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

// The same method with other formulas in the place of its own, where there are any.
[[nodiscard]] Method with_formulas(const Method& method, const std::optional<OtherFormulas>& other);

}  // namespace payoff
