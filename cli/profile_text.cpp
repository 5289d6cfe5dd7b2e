// SPDX-License-Identifier: Apache-2.0
#include "cli/profile_text.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "model/convnet.hpp"
#include "model/transformer.hpp"
#include "model/units_text.hpp"
#include "model/workload.hpp"
#include "profiles/document.hpp"
#include "profiles/read_method.hpp"
#include "profiles/read_model.hpp"
#include "profiles/section.hpp"

namespace payoff {
namespace {

// What the reader of a kind made of a profile: enough to show it.
struct Read {
  std::string description;
  Facts facts;
};

template <class T>
Read without_value(std::optional<Profile<T>> profile) {
  return profile ? Read{std::move(profile->description), std::move(profile->facts)} : Read{};
}

// The numbers of a profile that no reader of its own joins anything to.
void collect(const Section& section, bool top) {
  for (const auto& [key, value] : section.entries()) {
    if (top && key == "citations") {
      continue;
    }
    if (value.is_section()) {
      const Section inner = value.section();
      if (inner.has("value")) {
        (void)value.sourced().text();
      } else {
        collect(inner, false);
      }
    }
  }
}

Read read_plainly(ProfileKind kind, std::string_view name, const ReadContext& context) {
  const auto document =
      context.library.load(kind, name, std::nullopt, context.sources, context.diagnostics);
  if (!document) {
    return {};
  }
  Reader reader(document->root, context.sources, context.diagnostics);
  const Section root = reader.root();
  Read result{root.optional("description").text(), {}};
  collect(root, true);
  result.facts = reader.facts();
  return result;
}

Read read(ProfileKind kind, std::string_view name, const ReadContext& context) {
  switch (kind) {
    case ProfileKind::gpu:
      return without_value(read_gpu(name, std::nullopt, context));
    case ProfileKind::fabric:
      return without_value(read_fabric(name, std::nullopt, context));
    case ProfileKind::network:
      return without_value(read_network(name, std::nullopt, context));
    case ProfileKind::cluster:
      return without_value(read_cluster(name, std::nullopt, context));
    case ProfileKind::compression:
      return without_value(read_method(name, std::nullopt, context));
    case ProfileKind::model:
      return without_value(read_model(name, std::nullopt, context));
    case ProfileKind::software:
      break;
  }
  return read_plainly(kind, name, context);
}

ProfileNumber number_of(const Fact& fact, ProfileText& profile) {
  return {fact.path, fact.value_text, fact.relative_sd ? percent_text(*fact.relative_sd) : "",
          std::string(name_of(fact.kind)), cite(fact, profile.citations)};
}

// Everything that was written, in its order; numbers with their facts.
void add_written(const Node& node, const std::string& path, Facts& facts, ProfileText& profile) {
  const auto fact = std::find_if(facts.begin(), facts.end(),
                                 [&](const Fact& known) { return known.path == path; });
  if (fact != facts.end()) {
    profile.numbers.push_back(number_of(*fact, profile));
    facts.erase(fact);
    return;
  }
  switch (node.kind) {
    case Node::Kind::scalar:
      profile.numbers.push_back({path, node.text, "", "", 0});
      return;
    case Node::Kind::list:
      for (std::size_t i = 0; i < node.items.size(); ++i) {
        add_written(node.items[i], join_path(path, std::to_string(i)), facts, profile);
      }
      return;
    case Node::Kind::map:
      for (const Entry& entry : node.entries) {
        const bool shown_elsewhere =
            path.empty() && (entry.key == "citations" || entry.key == "description" ||
                             entry.key == folder_of(profile.kind));
        if (!shown_elsewhere && entry.key != "from") {
          add_written(entry.value, path.empty() ? entry.key : join_path(path, entry.key), facts,
                      profile);
        }
      }
      return;
    case Node::Kind::null:
      return;
  }
}

void add_shape(const TransformerShape& shape, ProfileText& profile) {
  const std::pair<const char*, std::int64_t> counts[] = {
      {"parameters", parameter_count(shape)},
      {"layers", shape.layers},
      {"hidden", shape.hidden},
      {"heads", shape.heads},
      {"kv_heads", shape.kv_heads},
      {"head_size", shape.head_size},
      {"feed_forward", shape.feed_forward},
      {"vocabulary", shape.vocabulary},
      {"positions", shape.positions},
      {"sequence", shape.sequence},
      {"decoder_layers", shape.decoder.layers},
      {"decoder_sequence", shape.decoder.sequence}};
  for (const auto& [key, count] : counts) {
    if (count > 0) {
      profile.numbers.push_back({key, std::to_string(count), "", "", 0});
    }
  }
}

void add_tables(const RecommenderShape& shape, ProfileText& profile) {
  const auto add = [&](const char* key, const std::string& value) {
    profile.numbers.push_back({key, value, "", "", 0});
  };
  const auto widths = [](const std::vector<std::int64_t>& layers) {
    return fmt::format("{}", fmt::join(layers, "-"));
  };
  add("parameters", std::to_string(parameter_count(shape)));
  add("tables.parameters", std::to_string(table_elements(shape.tables)));
  add("tables", std::to_string(shape.tables.rows.size()));
  add("tables.dimension", std::to_string(shape.tables.dimension));
  add("tables.lookups", fmt::format("{}", shape.tables.lookups));
  add("dense", std::to_string(shape.dense));
  add("bottom", widths(shape.bottom));
  add("top.inputs", std::to_string(shape.top_inputs()));
  add("top", widths(shape.top));
}

void add_layers(const ConvnetTable& table, ProfileText& profile) {
  const Workload workload = convnet_workload(table.name, table.rows, element_size(Precision::fp32));
  profile.numbers.push_back({"parameters", std::to_string(workload.parameters()), "", "", 0});
  profile.numbers.push_back({"layers", std::to_string(workload.layers.size()), "", "", 0});
  for (const Layer& layer : workload.layers) {
    std::int64_t parameters = 0;
    for (const ParameterTensor& tensor : layer.parameters) {
      parameters += tensor.elements();
    }
    if (parameters > 0) {
      profile.numbers.push_back(
          {"layers." + layer.name + ".parameters", std::to_string(parameters), "", "", 0});
    }
  }
}

}  // namespace

std::size_t cite(const Fact& fact, std::vector<Citation>& citations) {
  const Citation citation{fact.citation, fact.date, fact.url};
  if (citation == Citation{}) {
    return 0;
  }
  const auto known = std::find(citations.begin(), citations.end(), citation);
  if (known != citations.end()) {
    return static_cast<std::size_t>(known - citations.begin()) + 1;
  }
  citations.push_back(citation);
  return citations.size();
}

std::string citations_text(const std::vector<Citation>& citations) {
  std::string text;
  for (std::size_t i = 0; i < citations.size(); ++i) {
    text += fmt::format("[{}] {}{}\n", i + 1, citations[i].text,
                        citations[i].date.empty() ? "" : " (" + citations[i].date + ")");
    text += citations[i].url.empty() ? "" : "    " + citations[i].url + "\n";
  }
  return text;
}

nlohmann::ordered_json citations_json(const std::vector<Citation>& citations) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Citation& citation : citations) {
    json.push_back({{"text", citation.text}, {"date", citation.date}, {"url", citation.url}});
  }
  return json;
}

std::string profile_description(ProfileKind kind, std::string_view name,
                                const ReadContext& context) {
  if (kind == ProfileKind::model) {  // one that cannot be modelled says why
    Diagnostics diagnostics;
    const Read found = read(kind, name, {context.library, context.sources, diagnostics});
    return diagnostics.has_errors() ? "cannot be used: " + diagnostics.sorted().front().message
                                    : found.description;
  }
  const auto document =
      context.library.load(kind, name, std::nullopt, context.sources, context.diagnostics);
  const Entry* description = document ? document->root.find("description") : nullptr;
  return description != nullptr ? description->value.text : "";
}

ProfileText profile_text(ProfileKind kind, std::string_view name, const ReadContext& context) {
  ProfileText profile{kind, std::string(name), {}, {}, {}};
  if (kind == ProfileKind::model) {
    const auto model = read_model(name, std::nullopt, context);
    if (!model) {
      return profile;
    }
    profile.description = model->description;
    if (const auto* shape = std::get_if<TransformerShape>(&model->value)) {
      add_shape(*shape, profile);
    } else if (const auto* recommender = std::get_if<RecommenderShape>(&model->value)) {
      add_tables(*recommender, profile);
    } else {
      add_layers(std::get<ConvnetTable>(model->value), profile);
    }
    for (const Fact& fact : model->facts) {
      profile.numbers.push_back(number_of(fact, profile));
    }
    return profile;
  }
  Read found = read(kind, name, context);
  profile.description = std::move(found.description);
  const auto document =
      context.library.load(kind, name, std::nullopt, context.sources, context.diagnostics);
  if (document) {
    add_written(document->root, "", found.facts, profile);
  }
  for (const Fact& fact : found.facts) {  // fitted, or of the parts of a cluster
    profile.numbers.push_back(number_of(fact, profile));
  }
  return profile;
}

}  // namespace payoff
