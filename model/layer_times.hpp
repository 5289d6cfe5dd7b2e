// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/layout.hpp"
#include "model/problem.hpp"
#include "model/units.hpp"
#include "model/workload.hpp"

// Times of layers that somebody measured on the GPU of the experiment, in its precision and
// software: they replace what model/compute says of these layers. Of one micro-batch on one rank,
// launches included, messages of tensor, context and expert parallelism not; a layer that is cut by
// such messages keeps the proportions of its parts. They hold for the sizes that they were measured
// at and for no others: nothing is scaled.

namespace payoff {

struct LayerTime {
  std::string layer;  // of Workload::layers, or `every_block`
  int micro_batch{1};
  int tp{1};
  int cp{1};
  int ep{1};
  int etp{1};
  Seconds forward{};
  Seconds backward{};  // gradients of inputs and of weights

  bool operator==(const LayerTime&) const = default;
};

using LayerTimes = std::vector<LayerTime>;

// All blocks of a transformer that have no time of their own.
inline constexpr std::string_view every_block = "block";

// Layers that were measured, but not at the sizes of the layout; path "model.layer_times".
[[nodiscard]] Problems check_layer_times(const LayerTimes& times, const ParallelLayout& layout);

// To the layers that were measured at the sizes of the layout.
void use_layer_times(const LayerTimes& times, const ParallelLayout& layout, Workload& workload);

}  // namespace payoff
