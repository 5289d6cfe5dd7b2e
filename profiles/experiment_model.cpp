// SPDX-License-Identifier: Apache-2.0
#include "profiles/experiment_model.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "profiles/read_model.hpp"

namespace payoff {
namespace {

void set_sequence(TransformerShape& shape, const Value& sequence, std::int64_t tokens) {
  if (!sequence) {
    return;
  }
  if (shape.image_patch > 0) {
    sequence.error("of an image model follows from its patches");
  } else if (shape.positions > 0 && tokens > shape.positions) {
    sequence.error("is " + std::to_string(tokens) + ", but the model has " +
                   std::to_string(shape.positions) + " positions");
  } else {
    shape.sequence = tokens;
  }
}

std::optional<Profile<ModelDescription>> read_named(const Section& section,
                                                    const ReadContext& context) {
  const Value name = section.optional("profile");
  const Value file = section.optional("file");
  if (name && file) {
    section.error("has both a `profile` and a `file`");
  } else if (!name && !file) {
    (void)section.required("profile");
  }
  if (name) {
    return read_model(name.text(), name.span(), context);
  }
  return file ? read_model_file(std::filesystem::path(file.text()), context) : std::nullopt;
}

}  // namespace

std::optional<Profile<std::variant<TransformerShape, Workload>>> read_model_section(
    const Section& section, Precision precision, const ReadContext& context) {
  auto model = read_named(section, context);
  const Value sequence = section.optional("sequence");
  const auto tokens = sequence.integer({.fallback = 0, .min = 1, .max = 1 << 30});
  if (!model) {
    return std::nullopt;
  }
  Profile<std::variant<TransformerShape, Workload>> result;
  result.facts = std::move(model->facts);
  if (auto* shape = std::get_if<TransformerShape>(&model->value)) {
    set_sequence(*shape, sequence, tokens);
    result.value = std::move(*shape);
    return result;
  }
  const auto& table = std::get<ConvnetTable>(model->value);
  if (sequence) {
    sequence.error("has no meaning for a table of layers");
  }
  result.value = convnet_workload(table.name, table.rows, element_size(precision));
  return result;
}

}  // namespace payoff
