// SPDX-License-Identifier: Apache-2.0
#include "model/model.hpp"

namespace payoff {

const Workload* table_of(const Model& model) {
  const auto* table = std::get_if<LayerTable>(&model);
  return table != nullptr ? &**table : nullptr;
}

std::shared_ptr<const Workload> undivided(const Model& model, Bytes activation) {
  if (const auto* table = std::get_if<LayerTable>(&model)) {
    return table->shared();
  }
  return std::make_shared<const Workload>(
      transformer_workload(std::get<TransformerShape>(model), 1, false, activation));
}

const std::string& name_of(const Model& model) {
  const Workload* table = table_of(model);
  return table != nullptr ? table->name : std::get<TransformerShape>(model).name;
}

std::int64_t parameter_count(const Model& model) {
  const Workload* table = table_of(model);
  return table != nullptr ? table->parameters()
                          : parameter_count(std::get<TransformerShape>(model));
}

}  // namespace payoff
