// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/units.hpp"
#include "model/workload.hpp"

// A convolutional network from its table of layers (profiles/model/*.yaml). Every row becomes a
// layer of the workload, so that gradients appear tensor by tensor. Convolutions are implicit
// matrix products; batch normalisation reads its input twice forward (statistics, then values) and
// input and gradient twice backward; activations work in place. Valid for dense training on one
// GPU: a table of layers is not divided by tensor or pipeline parallelism.

namespace payoff {

enum class ConvnetOperator { convolution, norm, linear, elementwise, add, pool };

// One row. Shapes are of one image; rows that keep the channels have in == out.
struct ConvnetRow {
  std::string name;
  ConvnetOperator op{};
  std::int64_t in{};
  std::int64_t out{};
  std::int64_t kernel{1};
  std::int64_t stride{1};
  std::int64_t groups{1};
  std::int64_t height{1};  // of the output
  std::int64_t width{1};
  bool bias{};
};

// `activation` is the size of a stored activation element.
[[nodiscard]] Workload convnet_workload(const std::string& name,
                                        const std::vector<ConvnetRow>& rows, Bytes activation);

}  // namespace payoff
