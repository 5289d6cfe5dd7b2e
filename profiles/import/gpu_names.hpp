// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// What drivers call GPUs, and which of the shipped profiles is meant.

namespace payoff {

// "NVIDIA A100-SXM4-80GB" gives a100-sxm-80; a name that is not known is returned as it is.
[[nodiscard]] std::string gpu_id(const std::string& device_name);

// Whether a driver may call the GPU of this shipped profile so: of a name that is not known,
// whether the model is in it ("Tesla V100-DGXS-32GB" may be any v100).
[[nodiscard]] bool may_be_called(const std::string& id, const std::string& device_name);

}  // namespace payoff
