// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/collective.hpp"
#include "model/expression.hpp"
#include "model/hardware.hpp"
#include "model/units.hpp"
#include "model/workload.hpp"

// A compression method is data: how many bytes it sends, which passes its encoder and decoder make,
// in which rounds and by which collective, what state it keeps. Built-in methods and users' own are
// the same YAML (profiles/compression), their formulas the same expressions; nothing here or in the
// engines knows a method by name.
//
// Variables of every formula: n (elements), rows, columns (of the matrix view), v (bytes per
// element of the gradient), W (workers of the group), L (workers of the group in one node), and the
// method's own parameters (rank, ratio, bits, group ...).

namespace payoff {

enum class Implementation { framework_ops, library, fused };
enum class Granularity { tensor, bucket };  // what one call of the encoder sees
enum class Placement { compute_stream, side_stream, after_backward };

// One stage of work on the GPU.
struct PassFormula {
  Expression bytes;        // read + written in memory, streaming
  Expression random_bytes; // gathered or scattered, counted as 32 B sectors
  Expression flops;        // matrix arithmetic
  Expression kernels;      // launches of the dependent chain
  Expression host_syncs;   // times the host waits for the GPU
};

struct RoundFormula {
  PassFormula encode;      // before the message; empty expressions are zero
  Collective collective{Collective::all_reduce};
  Expression message;      // bytes one worker contributes (for all_gather: its own share)
};

struct Method {
  std::string name;
  std::string description;
  Implementation implementation{};
  Granularity granularity{};
  bool matrices_only{};                     // vectors then travel dense, in one extra all-reduce
  bool sums_in_collective{};                // the payload can be reduced on the way
  bool elementwise{};                       // each sent element encodes one element: a shard of the payload
                                            // is the payload of a shard, so it composes with reduce-scatter
  std::map<std::string, double> parameters; // defaults, overridden by a plan
  std::vector<RoundFormula> rounds;
  PassFormula decode;
  Expression worth;                         // > 0 where compressing a tensor pays in bytes; else it travels dense
  Expression state_bytes;                   // kept per tensor (error feedback, warm factors)
  double memory_efficiency{};               // of this implementation class, as a share of streaming bandwidth
  double relative_sd{};                     // of encode and decode times
};

// A strategy: one method with its parameters, for one kind of traffic. The first plan of every
// experiment is "none".
enum class Traffic { dp_gradients, tp_activations, pp_activations };

struct CompressionPlan {
  std::string label;  // as the user wrote it: "powersgd:rank=4"
  std::optional<Method> method;  // nullopt: uncompressed
  Traffic traffic{Traffic::dp_gradients};
  Placement placement{Placement::compute_stream};
  bool overlap{true};  // compress and send bucket by bucket while backward runs
};

// A method's cost for one call on one tensor or bucket.
struct PassCost {
  Bytes bytes{};
  Bytes random_bytes{};
  Flops flops{};
  double kernels{};
  double host_syncs{};

  PassCost& operator+=(const PassCost& other);
};

struct RoundCost {
  PassCost encode;
  Collective collective{};
  Bytes message{};
};

struct CallCost {
  std::vector<RoundCost> rounds;
  PassCost decode;
  Bytes dense_message{};  // what travels uncompressed (vectors, tensors not worth it)
  Bytes state{};
};

// What `method` does to the tensors of one bucket for a group of `workers`, `local_workers` of them
// in a node; `element` is the size of an uncompressed gradient element.
[[nodiscard]] CallCost compress(const Method& method, const std::vector<ParameterTensor>& tensors,
                                Bytes element, int workers, int local_workers);

// Time of one pass on a GPU: launches, streaming, random access and arithmetic (docs/model.md,
// "Codecs"). Random access is priced at a fixed share of streaming bandwidth per 32 B sector.
[[nodiscard]] Seconds price_pass(const PassCost& cost, const Method& method, const Gpu& gpu,
                                 Precision arithmetic);

}  // namespace payoff
