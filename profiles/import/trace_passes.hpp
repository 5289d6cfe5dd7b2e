// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profiles/import/kineto_trace.hpp"
#include "profiles/import/trace_launches.hpp"
#include "profiles/import/trace_layers.hpp"

// Which pass of which layer each kernel of a trace belongs to (internal to trace_layers).

namespace payoff::import_detail {

enum class LayerPass : std::uint8_t { forward, backward, recomputation };

// One time that a layer was open on a thread.
struct LayerInstance {
  std::int64_t begin{};
  std::int64_t end{};
  int thread{};
  std::size_t layer{};  // of the names
};

class TracePasses {
 public:
  TracePasses(const KinetoTrace& trace, const std::vector<LayerRule>& rules);

  // Of a GPU event, by its place in the trace; nothing where it belongs to no layer. Instances are
  // counted in the order in which they began.
  [[nodiscard]] std::optional<std::pair<std::size_t, LayerPass>> of(std::size_t event) const;
  [[nodiscard]] const std::string& layer(std::size_t instance) const {
    return names_[instances_[instance].layer];
  }

 private:
  // An operator of forward: whoever has its sequence number later belongs to the same layer.
  struct MadeNode {
    std::int64_t sequence;
    std::int64_t begin;
    int instance;  // -1: it was made outside of layers
    int backward;  // operator around it, which recomputes; -1: none
  };
  // What is open on a thread at some time.
  struct Context {
    std::int64_t end = 0;
    int instance = -1;
    int backward = -1;  // operator
  };
  struct Moment;

  void find_instances(const KinetoTrace& trace, const std::vector<LayerRule>& rules);
  [[nodiscard]] std::vector<Moment> moments_of(const KinetoTrace& trace) const;
  void open(const Moment& moment, const KinetoTrace& trace, std::vector<Context>& stack);
  void walk(const KinetoTrace& trace);
  [[nodiscard]] int made_by(const TraceOperator& backward) const;
  [[nodiscard]] const MadeNode* node_of(const TraceOperator& backward) const;

  std::vector<std::string> names_;
  std::vector<LayerInstance> instances_;
  std::vector<MadeNode> made_;
  std::vector<Context> contexts_;         // of each GPU event
  std::vector<TraceOperator> operators_;  // of backward, that contexts name
};

}  // namespace payoff::import_detail
