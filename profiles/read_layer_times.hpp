// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "model/layer_times.hpp"
#include "profiles/diagnostics.hpp"
#include "profiles/source_map.hpp"

// Measured times of layers from a table: a line of names, then one line a layer. Columns:
//
//   layer           name of a layer of the model (`embedding`, `block 3`, `head`, a row of a layer
//                   table), or `block`: all blocks that have no line of their own
//   micro_batch     samples that were computed
//   forward_ms      or forward_ns, forward_us, forward_s: 1 ns to 1 h
//   backward_ms     or in another unit: gradients of inputs and of weights together
//   tp, cp, ep, etp ranks that shared the layer; optional, 1 where absent
//
// Lines that begin with # are remarks; no cell holds a comma or a quote. Everything that is wrong
// is reported at its line and column, and a file with any mistake gives nothing.

namespace payoff {

// `model`: whose layers they are.
[[nodiscard]] std::optional<LayerTimes> parse_layer_times(Span text, const Workload& model,
                                                          const SourceMap& sources,
                                                          Diagnostics& diagnostics);

}  // namespace payoff
