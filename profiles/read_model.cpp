// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_model.hpp"

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "profiles/hf_config.hpp"
#include "profiles/read_recommender.hpp"
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

enum class Family { cnn, dlrm };
constexpr std::array<std::pair<std::string_view, Family>, 2> families{
    {{"cnn", Family::cnn}, {"dlrm", Family::dlrm}}};

constexpr std::array<std::pair<std::string_view, Provenance>, 2> source_kinds{{
    {"published", Provenance::published},
    {"assumed", Provenance::assumed},
}};

// Above any network that exists. A row has at most 2^18 * 2^18 * 2^12 parameters, and a file of
// 1 MiB less than 2^14 rows: counts stay within 64 bits. Channels that were refused read as 0, and
// are held against nothing.
constexpr IntegerRules channel_rules{.fallback = 0, .min = 1, .max = 1 << 18};
constexpr IntegerRules kernel_rules{.fallback = 1, .min = 1, .max = 1 << 6};
constexpr IntegerRules side_rules{.fallback = 1, .min = 1, .max = 1 << 20};

void read_channels(const Section& section, ConvnetRow& row) {
  if (row.op != ConvnetOperator::convolution && row.op != ConvnetOperator::linear) {
    row.in = row.out = section.required("channels").integer(channel_rules);
    return;
  }
  row.in = section.required("in").integer(channel_rules);
  row.out = section.required("out").integer(channel_rules);
  row.bias = section.required("bias").boolean();
  if (row.op == ConvnetOperator::convolution) {
    const Value groups = section.required("groups");
    row.groups = groups.integer(channel_rules);
    const bool known = row.in > 0 && row.out > 0 && row.groups > 0;
    if (known && (row.in % row.groups != 0 || row.out % row.groups != 0)) {
      groups.error("do not divide the channels",
                   std::to_string(row.in) + " in, " + std::to_string(row.out) + " out");
    }
  }
}

ConvnetRow read_row(const Section& section) {
  ConvnetRow row;
  row.name = section.required("name").text();
  const Value op = section.required("op");
  row.op = op.choice(operators, ConvnetOperator::elementwise);
  read_channels(section, row);
  if (row.op == ConvnetOperator::convolution || row.op == ConvnetOperator::pool) {
    row.kernel = section.required("kernel").integer(kernel_rules);
    row.stride = section.required("stride").integer(kernel_rules);
    row.height = section.required("out_height").integer(side_rules);
    row.width = section.required("out_width").integer(side_rules);
  } else if (row.op != ConvnetOperator::linear) {
    row.height = section.required("height").integer(side_rules);
    row.width = section.required("width").integer(side_rules);
  }
  return row;
}

void read_rows(const Section& root, ConvnetTable& table) {
  const Section input = root.required("input").section();
  const Value channels = input.required("channels");
  const std::int64_t given = channels.integer(channel_rules);
  (void)input.required("height").integer(side_rules);
  (void)input.required("width").integer(side_rules);
  const Value layers = root.required("layers");
  for (const Value& row : layers.list()) {
    table.rows.push_back(read_row(row.section()));
  }
  if (layers && table.rows.empty()) {
    layers.error("has no layer");
    return;
  }
  const std::int64_t taken = table.rows.empty() ? 0 : table.rows.front().in;
  if (given > 0 && taken > 0 && given != taken) {
    channels.error("are " + std::to_string(given) + ", but the first layer takes " +
                   std::to_string(taken));
  }
}

// Of what a YAML file describes.
std::int64_t parameters_of(const ModelDescription& model) {
  if (const auto* recommender = std::get_if<RecommenderShape>(&model)) {
    return parameter_count(*recommender);
  }
  const auto& table = std::get<ConvnetTable>(model);
  return convnet_workload(table.name, table.rows, 4_B).parameters();
}

std::optional<Profile<ModelDescription>> read_table(const Document& document,
                                                    const ReadContext& context) {
  const std::size_t errors = context.diagnostics.error_count();
  Reader reader(document.root, context.sources, context.diagnostics);
  const Section root = reader.root();
  const std::string name = root.required("model").text();
  const Family family = root.required("family").choice(families);
  Profile<ModelDescription> profile;
  profile.description = root.required("description").text();
  if (family == Family::dlrm) {
    profile.value = read_recommender(root, name);
  } else {
    ConvnetTable table{name, {}};
    read_rows(root, table);
    profile.value = std::move(table);
  }
  const Value total = root.required("parameters");
  const std::int64_t stated = total.integer({.fallback = 0, .min = 0});
  reader.finish();
  if (context.diagnostics.error_count() > errors) {
    return std::nullopt;
  }
  const std::int64_t counted = parameters_of(profile.value);
  if (stated != counted) {
    total.error("is not the sum over the layers", "the layers have " + std::to_string(counted));
    return std::nullopt;
  }
  return profile;
}

std::optional<Profile<ModelDescription>> read_config(const fs::path& file,
                                                     const ReadContext& context) {
  const auto before = context.sources.file(file.string());
  std::string text = before ? context.sources[*before].text : read_text_file(file.string());
  const std::size_t length = text.size();
  if (length > largest_file) {
    const std::size_t source = context.sources.add_file(file.string(), std::string());
    context.diagnostics.error(Span{source, 0, 0}, "the file is larger than 1 MiB");
    return std::nullopt;
  }
  const std::size_t source = context.sources.add_file(file.string(), std::move(text));
  auto shape = read_hf_config({source, 0, length}, context.sources, context.diagnostics);
  if (!shape) {
    return std::nullopt;
  }
  shape->name = file.stem().string();
  return Profile<ModelDescription>{
      std::move(*shape), "transformer, " + file.filename().string(), {}};
}

// One entry of sources.yaml: where a shipped model comes from, and how long its samples are in
// training where the shape does not say (sides of images follow from patches and tables).
void read_source(const Section& entry, Profile<ModelDescription>& profile) {
  Fact fact;
  fact.path = "shape";
  fact.kind = entry.required("kind").choice(source_kinds, Provenance::assumed);
  fact.citation = entry.required("text").text();
  fact.date = entry.required("date").text();
  const std::int64_t parameters = entry.required("parameters").integer({.fallback = 0, .min = 1});
  fact.value_text = std::to_string(parameters) + " parameters";
  const Value length = entry.required("seq");
  auto* shape = std::get_if<TransformerShape>(&profile.value);
  const bool tokens = shape != nullptr && shape->image_patch == 0;
  const std::int64_t longest = tokens && shape->positions > 0 ? shape->positions : 1 << 28;
  const std::int64_t sequence = length.integer({.fallback = 1, .min = 1, .max = longest});
  if (tokens) {
    shape->sequence = sequence;
  }
  if (shape != nullptr && shape->decoder.layers > 0) {
    const Value decoded = entry.required("decoder_seq");
    shape->decoder.sequence = decoded.integer({.fallback = 1, .min = 1, .max = longest});
  }
  profile.facts.push_back(std::move(fact));
}

void add_source(std::string_view name, Profile<ModelDescription>& profile,
                const ReadContext& context) {
  const fs::path file = context.library.folder() / "model" / "sources.yaml";
  const auto document = load_yaml_file(file.string(), context.sources, context.diagnostics);
  if (!document) {
    return;
  }
  const Entry* entry = document->root.find(name);
  if (entry == nullptr) {
    context.diagnostics.error(Span{document->source, 0, 0},
                              "no source of model " + backquoted(name));
    return;
  }
  // Only this entry: the file holds all models.
  Node part;
  part.kind = Node::Kind::map;
  part.span = entry->value.span;
  part.entries.push_back(*entry);
  Reader reader(part, context.sources, context.diagnostics);
  read_source(reader.root().required(name).section(), profile);
  reader.finish();
}

// A user's own file is its own source.
void add_own(const fs::path& file, Profile<ModelDescription>& profile) {
  Fact fact;
  fact.path = "shape";
  fact.value_text = file.filename().string();
  fact.citation = "given in " + file.string();
  profile.facts.push_back(std::move(fact));
}

std::optional<Profile<ModelDescription>> read_any(const fs::path& file,
                                                  const ReadContext& context) {
  if (file.extension() == ".json") {
    return read_config(file, context);
  }
  const auto document = load_yaml_file(file.string(), context.sources, context.diagnostics);
  return document ? read_table(*document, context) : std::nullopt;
}

}  // namespace

std::optional<Profile<ModelDescription>> read_model_file(const fs::path& file,
                                                         const ReadContext& context) {
  auto profile = read_any(file, context);
  if (profile) {
    add_own(file, *profile);
  }
  return profile;
}

std::optional<Profile<ModelDescription>> read_model(std::string_view name,
                                                    std::optional<Span> asked,
                                                    const ReadContext& context) {
  if (is_own_file(name)) {
    try {
      return read_model_file(own_file(name, asked, context.sources), context);
    } catch (const std::runtime_error& error) {
      context.diagnostics.error(asked, error.what());
      return std::nullopt;
    }
  }
  if (!context.library.has(ProfileKind::model, name)) {
    context.library.report_unknown(ProfileKind::model, name, asked, context.diagnostics);
    return std::nullopt;
  }
  const std::size_t errors = context.diagnostics.error_count();
  auto profile = read_any(context.library.path(ProfileKind::model, name), context);
  if (profile) {
    add_source(name, *profile, context);
  }
  return context.diagnostics.error_count() > errors ? std::nullopt : profile;
}

}  // namespace payoff
