// SPDX-License-Identifier: Apache-2.0
#include "profiles/key_schema.hpp"

#include <cmath>
#include <limits>
#include <set>

#include <nlohmann/json.hpp>

#include "model/unit_tables.hpp"
#include "profiles/document.hpp"

namespace payoff {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* number_pattern = R"(-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?)";

// "bandwidth" of "a bandwidth".
std::string name_of(const detail::Dimension& dimension) {
  std::string name(dimension.noun.substr(dimension.noun.find(' ') + 1));
  for (char& c : name) {
    c = c == ' ' ? '_' : c;
  }
  return name;
}

OrderedJson quantity_definition(const detail::Dimension& dimension) {
  std::string units;
  for (const detail::Unit& unit : dimension.units) {
    units += (units.empty() ? "" : "|") + std::string(unit.name);
  }
  const std::string example = "5 " + std::string(dimension.default_unit);
  return {{"description", std::string(dimension.noun) + " with its unit, or 0"},
          {"anyOf",
           {{{"type", "string"},
             {"pattern", "^\\s*" + std::string(number_pattern) + "\\s*(" + units + ")\\s*$"},
             {"examples", {example}}},
            {{"enum", {0, "0"}}}}}};
}

OrderedJson percentage() {
  return {{"type", "string"}, {"pattern", "^\\s*" + std::string(number_pattern) + "\\s*%\\s*$"}};
}

OrderedJson reference(const std::string& name) { return {{"$ref", "#/definitions/" + name}}; }

void put_bound(const char* name, double bound, OrderedJson& into) {
  if (std::abs(bound) >= std::numeric_limits<double>::max()) {
    return;
  }
  constexpr double exact = 9007199254740992.0;  // 2^53: beyond it a double says no whole number
  if (bound == std::floor(bound) && std::abs(bound) < exact) {
    into[name] = static_cast<std::int64_t>(bound);
  } else {
    into[name] = bound;
  }
}

OrderedJson in_range(const char* type, NumberRange range) {
  OrderedJson form{{"type", type}};
  put_bound("minimum", range.min, form);
  put_bound("maximum", range.max, form);
  return form;
}

OrderedJson whole_number(IntegerRange range) {
  OrderedJson form{{"type", "integer"}};
  if (range.min != std::numeric_limits<std::int64_t>::min()) {
    form["minimum"] = range.min;
  }
  if (range.max != std::numeric_limits<std::int64_t>::max()) {
    form["maximum"] = range.max;
  }
  return form;
}

OrderedJson any_of(std::vector<OrderedJson> forms) {
  if (forms.size() == 1) {
    return std::move(forms.front());
  }
  OrderedJson any = OrderedJson::object();
  if (!forms.empty()) {
    any["anyOf"] = std::move(forms);
  }
  return any;
}

OrderedJson with_source(OrderedJson value) {
  return {{"type", "object"},
          {"required", {"value"}},
          {"additionalProperties", false},
          {"properties",
           {{"value", std::move(value)},
            {"from", reference("text")},
            {"sd", reference("share")},
            {"range", reference("text")}}}};
}

// Sections of a file that builds on another may lack what that one has.
OrderedJson required_of(const KeyRecord& record) {
  OrderedJson required = OrderedJson::object();
  for (const auto& [name, key] : record.keys) {
    if (key->required == record.opened && record.opened > 0) {
      required["required"].push_back(name);
    }
    if (OrderedJson below = key->section ? required_of(*key) : OrderedJson::object();
        !below.empty()) {
      required["properties"][name] = std::move(below);
    }
  }
  return required;
}

class SchemaWriter {
 public:
  SchemaWriter(const KeyHelp& help, bool has_base) : help_(help), has_base_(has_base) {}

  OrderedJson write(std::string_view kind, const KeyRecord& record) {
    OrderedJson schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
                       {"title", "payoff: " + std::string(kind)}};
    schema.update(section(record, "", true));
    if (has_base_) {
      schema["if"] = {{"not", {{"required", {"base"}}}}};
      schema["then"] = required_of(record);
    }
    schema["definitions"] = {{"text", {{"type", {"string", "number", "boolean"}}}},
                             {"share", {{"anyOf", {{{"type", "number"}}, percentage()}}}}};
    for (const detail::Dimension* dimension : detail::dimensions) {
      if (dimensions_.contains(dimension)) {
        schema["definitions"][name_of(*dimension)] = quantity_definition(*dimension);
      }
    }
    return schema;
  }

 private:
  std::vector<OrderedJson> scalar_forms(const KeyRecord& record) {
    std::vector<OrderedJson> forms;
    if (!record.names.empty()) {
      forms.push_back({{"enum", record.names}});
    } else if (record.text) {
      forms.push_back(reference("text"));
    }
    if (record.boolean) {
      forms.push_back({{"type", "boolean"}});
    }
    if (record.integer) {
      forms.push_back(whole_number(*record.integer));
    }
    if (record.number) {
      forms.push_back(in_range("number", *record.number));
    }
    if (record.ratio) {
      forms.push_back(in_range("number", *record.ratio));
      forms.push_back(percentage());
    }
    for (const detail::Dimension* dimension : record.quantities) {
      dimensions_.insert(dimension);
      forms.push_back(reference(name_of(*dimension)));
    }
    return forms;
  }

  OrderedJson value(const KeyRecord& record, const std::string& path, bool in_list) {
    std::vector<OrderedJson> forms = scalar_forms(record);
    if (record.list) {
      OrderedJson list{{"type", "array"}};
      if (record.item) {
        list["items"] = value(*record.item, path, true);
      }
      forms.push_back(std::move(list));
    }
    const bool plain = !record.list || record.item == nullptr || !record.item->section;
    if (!forms.empty() && plain) {
      forms.push_back(with_source(any_of(forms)));
    }
    if (record.section) {
      forms.push_back(section(record, path, in_list));
    }
    if (record.empty) {
      forms.push_back({{"type", "null"}});
    }
    OrderedJson schema = any_of(std::move(forms));
    if (const std::string words = help_(path); !words.empty() && !in_list) {
      schema["description"] = words;
    }
    return schema;
  }

  OrderedJson section(const KeyRecord& record, const std::string& path, bool in_list) {
    OrderedJson schema{{"type", "object"}};
    OrderedJson required = OrderedJson::array();
    OrderedJson properties = OrderedJson::object();
    for (const auto& [name, key] : record.keys) {
      properties[name] = value(*key, join_path(path, name), false);
      if (key->required == record.opened && record.opened > 0) {
        required.push_back(name);
      }
    }
    properties["from"] = reference("text");  // the source of all values below
    if (!required.empty() && (in_list || !has_base_) && !(path.empty() && has_base_)) {
      schema["required"] = std::move(required);
    }
    schema["properties"] = std::move(properties);
    schema["additionalProperties"] =
        record.entry ? value(*record.entry, join_path(path, "*"), false) : OrderedJson(false);
    return schema;
  }

  const KeyHelp& help_;
  bool has_base_;
  std::set<const detail::Dimension*> dimensions_;  // asked for; written in the tables' order
};

}  // namespace

std::string json_schema(std::string_view kind, const KeyRecord& keys, const KeyHelp& help) {
  const bool has_base = keys.find("base") != nullptr;
  return SchemaWriter(help, has_base).write(kind, keys).dump(1) + "\n";
}

}  // namespace payoff
