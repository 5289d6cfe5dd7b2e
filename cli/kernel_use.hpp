// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/experiment.hpp"
#include "model/hardware.hpp"

// The kernels of a step beside those that their laws were fitted to.

namespace payoff {

using AmountRange = std::variant<FitRange<Flops>, FitRange<Bytes>>;

struct KernelUse {
  std::string plan;  // empty: of every strategy
  WorkKind work{};
  std::string kernel;  // "bf16 products", "streams"
  AmountRange used;
  AmountRange measured;  // empty where nobody measured such a kernel

  [[nodiscard]] bool extrapolated() const;
};

// Of everything that no strategy changes: the layers', and what its plan adds to them.
[[nodiscard]] std::vector<KernelUse> kernels_of_layers(const PreparedExperiment& prepared);
[[nodiscard]] std::vector<KernelUse> kernels_of_buckets(const PreparedExperiment& prepared,
                                                        const StepPlan& uncompressed);
// Of its encoders and decoders. `step` and `calls`: what plan() and codec_costs() say of it.
[[nodiscard]] std::vector<KernelUse> kernels_of_codec(const PreparedExperiment& prepared,
                                                      const CompressionPlan& compression,
                                                      const StepPlan& step,
                                                      std::span<const CallCost> calls);

// "2.1 GFLOP to 1.3 TFLOP", "64 KB", or "nothing".
[[nodiscard]] std::string range_text(const AmountRange& range);
// "backward: bf16 products of 2.1 GFLOP to 1.3 TFLOP; measured on this GPU: nothing".
[[nodiscard]] std::string sentence(const KernelUse& use);
[[nodiscard]] nlohmann::ordered_json to_json(const KernelUse& use);

}  // namespace payoff
