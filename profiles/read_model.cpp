// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_model.hpp"

#include <array>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "profiles/hf_config.hpp"
#include "profiles/section.hpp"

namespace payoff {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<std::string_view, ConvnetOperator>, 6> operators{{
    {"conv", ConvnetOperator::convolution},
    {"norm", ConvnetOperator::norm},
    {"linear", ConvnetOperator::linear},
    {"elementwise", ConvnetOperator::elementwise},
    {"add", ConvnetOperator::add},
    {"pool", ConvnetOperator::pool},
}};

// Above any network that exists; keeps products of shapes within 64 bits.
constexpr IntegerRules size_rules{.fallback = 1, .min = 1, .max = 1 << 20};

ConvnetRow read_row(const Section& section) {
  ConvnetRow row;
  row.name = section.required("name").text();
  row.op = section.required("op").choice(operators, ConvnetOperator::elementwise);
  const bool changes_channels = row.op == ConvnetOperator::convolution || row.op == ConvnetOperator::linear;
  if (changes_channels) {
    row.in = section.required("in").integer(size_rules);
    row.out = section.required("out").integer(size_rules);
    row.bias = section.required("bias").boolean();
  } else {
    row.in = row.out = section.required("channels").integer(size_rules);
  }
  if (row.op == ConvnetOperator::convolution || row.op == ConvnetOperator::pool) {
    row.kernel = section.required("kernel").integer(size_rules);
    row.stride = section.required("stride").integer(size_rules);
    row.height = section.required("out_height").integer(size_rules);
    row.width = section.required("out_width").integer(size_rules);
  } else if (row.op != ConvnetOperator::linear) {
    row.height = section.required("height").integer(size_rules);
    row.width = section.required("width").integer(size_rules);
  }
  if (row.op == ConvnetOperator::convolution) {
    row.groups = section.required("groups").integer(size_rules);
  }
  return row;
}

std::optional<Profile<ModelDescription>> read_table(const Document& document, const ReadContext& context) {
  const std::size_t errors = context.diagnostics.error_count();
  Reader reader(document.root, context.sources, context.diagnostics);
  const Section root = reader.root();
  ConvnetTable table;
  table.name = root.required("model").text();
  (void)root.required("family").choice(std::array<std::pair<std::string_view, int>, 1>{{{"cnn", 0}}});
  Profile<ModelDescription> profile;
  profile.description = root.required("description").text();
  (void)root.optional("citations").section().entries();
  const Section input = root.required("input").section();
  for (const char* key : {"channels", "height", "width"}) {
    (void)input.required(key).integer(size_rules);
  }
  for (const Value& row : root.required("layers").list()) {
    table.rows.push_back(read_row(row.section()));
  }
  const Value total = root.required("parameters");
  const std::int64_t stated = total.integer();
  const std::int64_t counted = convnet_workload(table.name, table.rows, 4_B).parameters();
  if (context.diagnostics.error_count() == errors && stated != counted) {
    total.error("is " + std::to_string(stated) + ", but the layers have " + std::to_string(counted),
                "the table and its total disagree");
  }
  reader.finish();
  if (context.diagnostics.error_count() > errors) {
    return std::nullopt;
  }
  profile.value = std::move(table);
  return profile;
}

std::optional<Profile<ModelDescription>> read_config(const fs::path& file, const ReadContext& context) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) {
    throw std::runtime_error("cannot read " + file.string());
  }
  const std::string content = text.str();
  const std::size_t source = context.sources.add_file(file.string(), content);
  auto shape = read_hf_config({source, 0, content.size()}, context.sources, context.diagnostics);
  if (!shape) {
    return std::nullopt;
  }
  shape->name = file.stem().string();
  return Profile<ModelDescription>{std::move(*shape), "transformer, " + file.filename().string(), {}};
}

// Where a shipped model comes from, and the length it is usually trained with.
void add_source(std::string_view name, Profile<ModelDescription>& profile, const ReadContext& context) {
  const fs::path file = context.library.folder() / "model" / "sources.yaml";
  const auto document = load_yaml_file(file.string(), context.sources, context.diagnostics);
  const Entry* entry = document ? document->root.find(name) : nullptr;
  if (entry == nullptr) {
    return;
  }
  Fact fact;
  fact.path = "shape";
  for (const Entry& field : entry->value.entries) {
    if (field.key == "text") {
      fact.citation = field.value.text;
    } else if (field.key == "date") {
      fact.date = field.value.text;
    } else if (field.key == "parameters") {
      fact.value_text = field.value.text + " parameters";
    } else if (field.key == "kind") {
      fact.kind = field.value.text == "published" ? Provenance::published : Provenance::assumed;
    }
  }
  if (auto* shape = std::get_if<TransformerShape>(&profile.value); shape && shape->image_patch == 0) {
    if (const Entry* length = entry->value.find("seq")) {
      shape->sequence = std::stoll(length->value.text);
    }
  }
  profile.facts.push_back(std::move(fact));
}

}  // namespace

std::optional<Profile<ModelDescription>> read_model_file(const fs::path& file, const ReadContext& context) {
  if (file.extension() == ".json") {
    return read_config(file, context);
  }
  const auto document = load_yaml_file(file.string(), context.sources, context.diagnostics);
  return document ? read_table(*document, context) : std::nullopt;
}

std::optional<Profile<ModelDescription>> read_model(std::string_view name, std::optional<Span> asked,
                                                    const ReadContext& context) {
  if (context.library.has(ProfileKind::model, name)) {
    auto profile = read_model_file(context.library.path(ProfileKind::model, name), context);
    if (profile) {
      add_source(name, *profile, context);
    }
    return profile;
  }
  (void)context.library.load(ProfileKind::model, name, asked, context.sources, context.diagnostics);
  return std::nullopt;
}

}  // namespace payoff
