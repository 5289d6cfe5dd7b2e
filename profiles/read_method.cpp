// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_method.hpp"

#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/units_text.hpp"
#include "profiles/positions.hpp"
#include "profiles/read_fitted.hpp"
#include "profiles/section.hpp"
#include "profiles/suggest.hpp"

namespace payoff {
namespace {

constexpr std::array<std::pair<std::string_view, Implementation>, 3> implementations{{
    {"framework_ops", Implementation::framework_ops},
    {"library", Implementation::library},
    {"fused", Implementation::fused},
}};

constexpr std::array<std::pair<std::string_view, Granularity>, 2> granularities{{
    {"tensor", Granularity::tensor},
    {"bucket", Granularity::bucket},
}};

constexpr std::array<std::pair<std::string_view, Collective>, 6> collectives{{
    {"all_reduce", Collective::all_reduce},
    {"all_gather", Collective::all_gather},
    {"reduce_scatter", Collective::reduce_scatter},
    {"broadcast", Collective::broadcast},
    {"reduce", Collective::reduce},
    {"all_to_all", Collective::all_to_all},
}};

enum class WireUsed { as_published, as_implemented };
constexpr std::array<std::pair<std::string_view, WireUsed>, 2> wires{{
    {"as_published", WireUsed::as_published},
    {"as_implemented", WireUsed::as_implemented},
}};

struct ParameterRule {
  double min{};
  double max{};
  bool integer{};
};

using ParameterRules = std::map<std::string, ParameterRule>;

// Formulas of one file: the names they may use grow with its parameters and its `where`.
class FormulaReader {
 public:
  FormulaReader(const ReadContext& context, std::vector<std::string> names)
      : context_(context), names_(std::move(names)) {}

  Expression read(const Value& value) {
    const std::string text = value.text();
    if (text.empty()) {
      return {};
    }
    Expression::Result result = Expression::parse(text, names_, definitions_);
    for (const Expression::Error& error : result.errors) {
      report(value, error);
    }
    return std::move(result.expression);
  }

  PassFormula pass(const Section& section) {
    PassFormula pass;
    pass.bytes = read(section.optional("bytes"));
    pass.random_bytes = read(section.optional("random_bytes"));
    pass.flops = read(section.optional("flops"));
    pass.kernels = read(section.optional("kernels"));
    pass.host_syncs = read(section.optional("host_syncs"));
    return pass;
  }

  void define(const std::string& name, const Value& value) {
    definitions_.emplace_back(name, read(value));
  }

 private:
  void report(const Value& value, const Expression::Error& error) const {
    std::optional<Span> span = value.span();
    if (span) {
      const std::string_view written = context_.sources.text(*span);
      const bool quoted = !written.empty() && (written.front() == '"' || written.front() == '\'');
      span->offset += error.offset + (quoted ? 1 : 0);
      span->length = error.length;
    }
    std::vector<std::string> known = names_;
    for (const Expression::Definition& definition : definitions_) {
      known.push_back(definition.first);
    }
    const std::string near = error.name.empty() ? std::string{} : closest(error.name, known);
    context_.diagnostics.error(span, error.message, did_you_mean(near));
  }

  const ReadContext& context_;
  std::vector<std::string> names_;
  std::vector<Expression::Definition> definitions_;
};

ParameterRules read_parameters(const Section& section, Method& method) {
  ParameterRules rules;
  for (const auto& [name, value] : section.entries()) {
    const Section parameter = value.section();
    const NumberRules any{};
    ParameterRule& rule = rules[name];
    rule.min = parameter.required("min").number(any);
    rule.max = parameter.required("max").number(any);
    rule.integer = parameter.optional("integer").boolean();
    method.parameters[name] = parameter.required("default").number({.min = rule.min, .max = rule.max});
  }
  return rules;
}

void read_rounds(const Section& root, FormulaReader& formulas, Method& method) {
  for (const Value& item : root.required("rounds").list()) {
    const Section section = item.section();
    RoundFormula& round = method.rounds.emplace_back();
    round.encode = formulas.pass(section.required("encode").section());
    round.collective = section.required("collective").choice(collectives);
    round.message = formulas.read(section.required("message"));
  }
}

void read_wire(const Section& root, FormulaReader& formulas, Method& method) {
  const Section wire = root.required("wire").section();
  method.wire.as_published = formulas.read(wire.required("as_published"));
  method.wire.as_implemented = formulas.read(wire.required("as_implemented"));
  (void)wire.required("used").choice(wires);
}

void read_root(const Section& root, const ReadContext& context, Method& method, ParameterRules& rules) {
  method.name = root.required("method").text();
  method.description = root.required("description").text();
  method.implementation = root.required("implementation").choice(implementations);
  method.granularity = root.required("granularity").choice(granularities);
  method.matrices_only = root.optional("matrices_only").boolean();
  method.sums_in_collective = root.optional("sums_in_collective").boolean();
  method.elementwise = root.optional("elementwise").boolean();
  rules = read_parameters(root.optional("parameters").section(), method);
  FormulaReader formulas(context, formula_names(method.parameters));
  for (const auto& [name, value] : root.optional("where").section().entries()) {
    formulas.define(name, value);
  }
  read_rounds(root, formulas, method);
  method.decode = formulas.pass(root.optional("decode").section());
  method.dense = formulas.pass(root.optional("dense").section());
  method.worth = formulas.read(root.optional("worth"));
  method.state_bytes = formulas.read(root.optional("state"));
  read_wire(root, formulas, method);
  (void)root.optional("unchecked").text();
}

// What a file cites becomes one fact each: a formula has no single number to source.
void read_sources(const Section& root, const Document& document, Facts& facts) {
  const Entry* citations = document.root.find("citations");
  for (const Value& source : root.required("sources").list()) {
    const std::string key = source.text();
    const Entry* entry = citations == nullptr ? nullptr : citations->value.find(key);
    if (entry == nullptr) {
      source.error("is not among the citations of this file");
      continue;
    }
    Fact fact;
    fact.path = "formulas";
    fact.kind = Provenance::published;
    for (const Entry& field : entry->value.entries) {
      (field.key == "text" ? fact.citation : field.key == "date" ? fact.date : field.key == "url" ? fact.url : fact.value_text) =
          field.value.text;
    }
    if (fact.value_text == "assumed") {
      fact.kind = Provenance::assumed;
    }
    fact.value_text = "formulas";
    facts.push_back(std::move(fact));
  }
}

std::optional<Profile<Method>> read_with_rules(std::string_view name, std::optional<Span> asked,
                                               const ReadContext& context, ParameterRules& rules) {
  const std::size_t errors = context.diagnostics.error_count();
  // A path to a user's own file, or the name of a shipped one.
  const bool own = name.ends_with(".yaml");
  const auto document =
      own ? load_yaml_file(std::string(name), context.sources, context.diagnostics)
          : context.library.load(ProfileKind::compression, name, asked, context.sources, context.diagnostics);
  if (!document) {
    return std::nullopt;
  }
  Reader reader(document->root, context.sources, context.diagnostics);
  const Section root = reader.root();
  Profile<Method> profile;
  read_root(root, context, profile.value, rules);
  (void)root.optional("citations").section().entries();
  read_sources(root, *document, profile.facts);
  reader.finish();
  profile.description = profile.value.description;
  profile.value.law = read_codec_law(profile.value.implementation, context, profile.facts);
  if (context.diagnostics.error_count() == errors) {
    report(check_method(profile.value), PositionMap(document->root), context.diagnostics);
  }
  return context.diagnostics.error_count() > errors ? std::nullopt : std::optional(std::move(profile));
}

// One "name=value" of a plan.
struct Part {
  std::string_view name;
  std::string_view value;
  Span span;  // of the value
};

std::vector<Part> split_parts(Span written, std::string_view text) {
  std::vector<Part> parts;
  std::size_t start = text.find(':');
  while (start != std::string_view::npos) {
    ++start;
    const std::size_t end = text.find(',', start);
    const std::string_view part = text.substr(start, end == std::string_view::npos ? end : end - start);
    const std::size_t equals = part.find('=');
    const bool named = equals != std::string_view::npos;
    const std::size_t value_at = named ? equals + 1 : part.size();
    parts.push_back({part.substr(0, equals), named ? part.substr(value_at) : std::string_view{},
                     {written.source, written.offset + start + (named ? value_at : 0),
                      named ? part.size() - value_at : part.size()}});
    start = end;
  }
  return parts;
}

constexpr std::array<std::pair<std::string_view, Placement>, 3> placements{{
    {"compute_stream", Placement::compute_stream},
    {"side_stream", Placement::side_stream},
    {"after_backward", Placement::after_backward},
}};

class PlanReader {
 public:
  PlanReader(const ReadContext& context, CompressionPlan& plan, const ParameterRules& rules)
      : context_(context), plan_(plan), rules_(rules) {}

  void read(const Part& part) {
    if (part.name == "placement") {
      read_placement(part);
    } else if (part.name == "overlap") {
      read_overlap(part);
    } else if (const auto rule = rules_.find(std::string(part.name)); rule != rules_.end()) {
      read_parameter(part, rule->second);
    } else {
      refuse_name(part);
    }
  }

 private:
  void read_placement(const Part& part) {
    for (const auto& [name, placement] : placements) {
      if (part.value == name) {
        plan_.placement = placement;
        return;
      }
    }
    context_.diagnostics.error(part.span, "no placement " + backquoted(part.value), "",
                               "placements: compute_stream, side_stream, after_backward");
  }

  void read_overlap(const Part& part) {
    if (part.value != "true" && part.value != "false") {
      context_.diagnostics.error(part.span, "overlap must be true or false");
    }
    plan_.overlap = part.value == "true";
  }

  void read_parameter(const Part& part, const ParameterRule& rule) {
    const Parsed<double> value = parse_ratio(part.value, {rule.min, rule.max});
    if (!value) {
      context_.diagnostics.error(part.span, plan_.method->name + "'s `" + std::string(part.name) + "` " + value.error.problem,
                                 value.error.label, value.error.help);
    } else if (rule.integer && *value != std::floor(*value)) {
      context_.diagnostics.error(part.span, std::string(part.name) + " must be a whole number");
    } else {
      plan_.method->parameters[std::string(part.name)] = *value;
    }
  }

  void refuse_name(const Part& part) {
    std::vector<std::string> known{"placement", "overlap"};
    for (const auto& [name, rule] : rules_) {
      known.insert(known.begin(), name);
    }
    std::string list;
    for (const std::string& name : known) {
      list += (list.empty() ? "" : ", ") + name;
    }
    context_.diagnostics.error(part.span, plan_.method->name + " has no parameter " + backquoted(part.name),
                               did_you_mean(closest(std::string(part.name), known)), "it has: " + list);
  }

  const ReadContext& context_;
  CompressionPlan& plan_;
  const ParameterRules& rules_;
};

}  // namespace

std::optional<Profile<Method>> read_method(std::string_view name, std::optional<Span> asked,
                                           const ReadContext& context) {
  ParameterRules rules;
  return read_with_rules(name, asked, context, rules);
}

CompressionPlan uncompressed_plan() {
  CompressionPlan plan;
  plan.label = "none";
  return plan;
}

std::optional<ReadPlan> read_plan(Span written, const ReadContext& context) {
  const std::size_t errors = context.diagnostics.error_count();
  const std::string text(context.sources.text(written));
  const std::string name = text.substr(0, text.find(':'));
  if (name == "none") {
    return ReadPlan{uncompressed_plan(), {}};
  }
  ParameterRules rules;
  auto profile = read_with_rules(name, Span{written.source, written.offset, name.size()}, context, rules);
  if (!profile) {
    return std::nullopt;
  }
  ReadPlan result{uncompressed_plan(), std::move(profile->facts)};
  result.plan.label = text;
  result.plan.method = std::move(profile->value);
  PlanReader reader(context, result.plan, rules);
  for (const Part& part : split_parts(written, text)) {
    reader.read(part);
  }
  return context.diagnostics.error_count() > errors ? std::nullopt : std::optional(std::move(result));
}

}  // namespace payoff
