// SPDX-License-Identifier: Apache-2.0
#include "profiles/experiment_model.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>

#include "profiles/read_layer_times.hpp"
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

// Of a decoder beside an encoder; the tokens of all others are `sequence`.
void set_decoder_sequence(TransformerShape& shape, const Value& sequence, std::int64_t tokens) {
  if (!sequence) {
    return;
  }
  if (shape.decoder.layers == 0) {
    sequence.error("has no meaning for a model without an encoder and a decoder",
                   "its tokens are `sequence`");
  } else {
    shape.decoder.sequence = tokens;
  }
}

void refuse_lengths(std::initializer_list<Value> lengths, const std::string& model) {
  for (const Value& length : lengths) {
    length.error("has no meaning for " + model);
  }
}

std::optional<Profile<ModelDescription>> read_named(const Section& section,
                                                    const ReadContext& context) {
  section.known_elsewhere_as("base", "profile");  // `model: NAME` with --set model.sequence
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
  const std::size_t errors = context.diagnostics.error_count();
  const std::string path = file.text();
  if (!file || context.diagnostics.error_count() > errors) {
    return std::nullopt;
  }
  try {
    return read_model_file(own_file(path, file.span(), context.sources), context);
  } catch (const std::runtime_error& error) {  // it cannot be read
    context.diagnostics.error(file.span(), error.what());
    return std::nullopt;
  }
}

// A file, named from the place where the key is written.
void read_times(const Value& name, Precision precision, const ReadContext& context,
                ModelSection& model) {
  const std::string written = name.text();
  if (written.empty()) {
    return;
  }
  const std::string file = own_file(written, name.span(), context.sources).string();
  try {
    std::string text = read_text_file(file);
    const std::size_t length = text.size();
    if (length > largest_file) {
      name.error("names a file larger than 1 MiB");
      return;
    }
    const std::size_t source = context.sources.add_file(file, std::move(text));
    // Layers as they are named however many ranks there are.
    if (auto times = parse_layer_times({source, 0, length},
                                       *undivided(model.value, activation_size(precision)),
                                       context.sources, context.diagnostics)) {
      model.layer_times = *std::move(times);
      Fact fact;
      fact.path = "layer_times";
      fact.kind = Provenance::measured;
      fact.value_text = std::to_string(model.layer_times.size()) + " measured times of layers";
      fact.citation = "given in " + file;
      model.facts.push_back(std::move(fact));
    }
  } catch (const std::runtime_error& error) {
    context.diagnostics.error(name.span(), error.what());
  }
}

}  // namespace

std::optional<ModelSection> read_model_section(const Section& section, Precision precision,
                                               const ReadContext& context) {
  auto model = read_named(section, context);
  const Value sequence = section.optional("sequence");
  const Value decoder_sequence = section.optional("decoder_sequence");
  const Value times = section.optional("layer_times");
  const IntegerRules rules{.fallback = 0, .min = 1, .max = 1 << 30};
  const auto tokens = sequence.integer(rules);
  const auto decoded = decoder_sequence.integer(rules);
  if (!model) {
    return std::nullopt;
  }
  ModelSection result;
  result.facts = std::move(model->facts);
  if (auto* shape = std::get_if<TransformerShape>(&model->value)) {
    set_sequence(*shape, sequence, tokens);
    set_decoder_sequence(*shape, decoder_sequence, decoded);
    result.value = std::move(*shape);
  } else if (const auto* recommender = std::get_if<RecommenderShape>(&model->value)) {
    refuse_lengths({sequence, decoder_sequence}, "a recommender");
    // As one GPU would run it; model/experiment divides it.
    result.value = recommender_workload(*recommender, 1, activation_size(precision));
  } else {
    const auto& table = std::get<ConvnetTable>(model->value);
    refuse_lengths({sequence, decoder_sequence}, "a table of layers");
    result.value = convnet_workload(table.name, table.rows, activation_size(precision));
  }
  read_times(times, precision, context, result);
  return result;
}

}  // namespace payoff
