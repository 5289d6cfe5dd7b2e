// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "model/transformer.hpp"
#include "model/units.hpp"
#include "model/workload.hpp"

// What is trained, as its user describes it: a transformer by its shape, anything else layer by
// layer.

namespace payoff {

// Not divided by tp. Copies share it: an experiment is copied for every job that is tried beside
// it, and copying the layers would be most of the work.
class LayerTable {
 public:
  LayerTable() : LayerTable(Workload{}) {}
  LayerTable(Workload layers)  // NOLINT(google-explicit-constructor): a table is its layers
      : layers_(std::make_shared<const Workload>(std::move(layers))) {}

  [[nodiscard]] const Workload& operator*() const { return *layers_; }
  [[nodiscard]] const Workload* operator->() const { return layers_.get(); }
  [[nodiscard]] const std::shared_ptr<const Workload>& shared() const { return layers_; }

 private:
  std::shared_ptr<const Workload> layers_;
};

using Model = std::variant<TransformerShape, LayerTable>;

// Null for a transformer.
[[nodiscard]] const Workload* table_of(const Model& model);

// Its layers as one GPU would run all of them, activations so large an element.
[[nodiscard]] std::shared_ptr<const Workload> undivided(const Model& model, Bytes activation);

[[nodiscard]] const std::string& name_of(const Model& model);

// Each once, however many ranks hold it.
[[nodiscard]] std::int64_t parameter_count(const Model& model);

}  // namespace payoff
