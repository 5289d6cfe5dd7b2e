// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/compression.hpp"

// Gradients compressed from a size on: what is smaller travels dense, as the thresholds of systems
// have it (BytePS: BYTEPS_MIN_COMPRESS_BYTES, bytedance/byteps at f5df52f,
// byteps/common/global.cc). What has a size is what one call of the encoder sees, a tensor or a
// bucket.

namespace payoff {

// Valid for `smallest` above zero. What the method itself does not find worth it stays dense.
[[nodiscard]] Method from_size(const Method& method, Bytes smallest);

}  // namespace payoff
