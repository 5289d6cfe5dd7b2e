// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "model/activation_codecs.hpp"
#include "model/collective.hpp"
#include "model/compute.hpp"
#include "model/layout.hpp"
#include "model/stage_messages.hpp"
#include "model/step_plan.hpp"
#include "model/workload.hpp"

// From layers to the priced pieces of one pipeline stage, and the order in which its gradients
// appear.

namespace payoff {

// A gradient, and the piece of backward that completes it.
struct ReadyGradient {
  ParameterTensor tensor;
  int piece{};
  std::size_t layer{};  // of the stage

  bool operator==(const ReadyGradient&) const = default;
};

// Where a layer begins, recomputation included.
struct FirstPieces {
  std::size_t forward{};   // in StageCompute::forward
  std::size_t backward{};  // in StageCompute::backward
};

struct PreparedStage {
  std::shared_ptr<const StageCompute> compute;
  std::vector<ReadyGradient> gradients;  // in order of readiness
  std::vector<FirstPieces> layers;       // in forward order
};

// `waves` gets what its pieces consist of; `codecs`: of activations that are compressed.
[[nodiscard]] PreparedStage prepare_stage(const Workload& workload,
                                          const std::vector<std::size_t>& layers,
                                          const ParallelLayout& layout,
                                          const ComputeContext& context,
                                          const StageNetworks& networks, WaveTable& waves,
                                          ActivationCodecs* codecs = nullptr);

}  // namespace payoff
