// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far a user lets the uncompressed rivals of a compression go (study/remedy.hpp searches among
// them). What is not allowed here is not offered as an alternative.

namespace payoff {

struct RemedyLimits {
  double global_batch{};  // samples of a step that accumulation may reach; 0: keep the one given
  bool change_gradient_precision{true};
  bool change_buckets{true};
  bool change_algorithm{true};  // NCCL_ALGO
};

}  // namespace payoff
