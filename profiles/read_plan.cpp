// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/units_text.hpp"
#include "profiles/plan_text.hpp"
#include "profiles/read_method.hpp"
#include "profiles/suggest.hpp"

namespace payoff {
namespace {

constexpr std::array<std::pair<std::string_view, Placement>, 3> placements{{
    {"compute_stream", Placement::compute_stream},
    {"side_stream", Placement::side_stream},
    {"after_backward", Placement::after_backward},
}};

constexpr std::array<std::pair<std::string_view, Traffic>, 3> traffics{{
    {"dp_gradients", Traffic::dp_gradients},
    {"tp_activations", Traffic::tp_activations},
    {"pp_activations", Traffic::pp_activations},
}};

constexpr std::array<std::pair<std::string_view, bool>, 2> booleans{{
    {"true", true},
    {"false", false},
}};

template <class Table>
std::string list_of(const Table& table) {
  std::string list;
  for (const auto& [name, value] : table) {
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  return list;
}

class PlanReader {
 public:
  PlanReader(CompressionPlan& plan, const ParameterRules& rules, const ReadContext& context)
      : plan_(plan), rules_(rules), diagnostics_(context.diagnostics) {}

  void read(const PlanAssignment& given) {
    const std::string& name = given.name.text;
    const auto rule = rules_.find(name);
    const bool option = name == "placement" || name == "overlap" || name == "traffic";
    if (rule == rules_.end() && !option) {
      refuse_name(given.name);
    } else if (!names_.insert(name).second) {
      diagnostics_.error(given.name.span, "`" + name + "` is given twice");
    } else if (!given.value || given.value->text.empty()) {
      diagnostics_.error(given.name.span, "`" + name + "` has no value", "",
                         "write it as `" + name + "=VALUE`");
    } else if (rule != rules_.end()) {
      read_parameter(name, *given.value, rule->second);
    } else {
      read_option(name, *given.value);
    }
  }

 private:
  void read_option(const std::string& name, const PlanPiece& value) {
    if (name == "placement") {
      choose(name, value, placements, plan_.placement);
    } else if (name == "traffic") {
      choose(name, value, traffics, plan_.traffic);
    } else {
      choose(name, value, booleans, plan_.overlap);
    }
  }

  template <class Table, class T>
  void choose(const std::string& name, const PlanPiece& value, const Table& table, T& chosen) {
    std::vector<std::string> known;
    for (const auto& [text, meaning] : table) {
      if (value.text == text) {
        chosen = meaning;
        return;
      }
      known.emplace_back(text);
    }
    diagnostics_.error(value.span, "`" + name + "` has the unknown value " + backquoted(value.text),
                       did_you_mean(closest(value.text, known)), "one of: " + list_of(table));
  }

  void read_parameter(const std::string& name, const PlanPiece& value, const ParameterRule& rule) {
    TextError error;
    if (rule.integer) {
      const auto whole = [](double bound) { return static_cast<std::int64_t>(bound); };
      const auto parsed = parse_integer(value.text, {whole(rule.min), whole(rule.max)});
      if (parsed) {
        plan_.method->parameters[name] = static_cast<double>(*parsed);
        return;
      }
      error = parsed.error;
    } else {
      const auto parsed = parse_ratio(value.text, {rule.min, rule.max});
      if (parsed) {
        plan_.method->parameters[name] = *parsed;
        return;
      }
      error = parsed.error;
    }
    diagnostics_.error(Span{value.span.source, value.span.offset + error.offset, error.length},
                       "`" + name + "` of " + plan_.method->name + " " + error.problem, error.label,
                       error.help);
  }

  void refuse_name(const PlanPiece& name) {
    std::vector<std::string> known;
    for (const auto& [parameter, rule] : rules_) {
      known.push_back(parameter);
    }
    for (const char* option : {"placement", "overlap", "traffic"}) {
      known.emplace_back(option);
    }
    std::string list;
    for (const std::string& each : known) {
      list += (list.empty() ? "" : ", ") + each;
    }
    diagnostics_.error(name.span, plan_.method->name + " has no parameter " + backquoted(name.text),
                       did_you_mean(closest(name.text, known)), "it has: " + list);
  }

  CompressionPlan& plan_;
  const ParameterRules& rules_;
  Diagnostics& diagnostics_;
  std::set<std::string> names_;
};

}  // namespace

CompressionPlan uncompressed_plan() {
  CompressionPlan plan;
  plan.label = "none";
  return plan;
}

namespace {

void check_traffic(const MethodNotes& notes, const PlanPiece& method, const CompressionPlan& plan,
                   Diagnostics& diagnostics) {
  const std::string asked(name_of(plan.traffic));
  if (notes.traffic.empty() ||
      std::find(notes.traffic.begin(), notes.traffic.end(), asked) != notes.traffic.end()) {
    return;
  }
  std::string list;
  for (const std::string& each : notes.traffic) {
    list += (list.empty() ? "" : ", ") + each;
  }
  diagnostics.error(method.span, backquoted(method.text) + " does not compress " + asked, "",
                    "it compresses: " + list);
}

std::optional<ReadPlan> read(const WrittenPlan& plan, const ReadContext& context) {
  const std::size_t errors = context.diagnostics.error_count();
  ReadPlan result{uncompressed_plan(), {}, {}};
  if (plan.method.text == "none") {
    if (plan.has_colon) {
      context.diagnostics.error(plan.whole.span, "`none` has no parameters");
      return std::nullopt;
    }
    return result;
  }
  auto method = read_method_profile(plan.method.text, plan.method.span, context);
  if (!method) {
    return std::nullopt;
  }
  result.facts = std::move(method->profile.facts);
  result.plan.label = plan.whole.text;
  result.plan.method = std::move(method->profile.value);
  PlanReader reader(result.plan, method->rules, context);
  for (const PlanAssignment& given : plan.assignments) {
    reader.read(given);
  }
  check_traffic(method->notes, plan.method, result.plan, context.diagnostics);
  result.notes = std::move(method->notes);
  result.notes.users_own = is_own_file(plan.method.text);
  if (context.diagnostics.error_count() == errors) {
    for (const Problem& problem : check_method(*result.plan.method)) {
      context.diagnostics.error(plan.whole.span,
                                "`" + problem.path + "` of " + plan.method.text +
                                    " cannot be priced with these parameters",
                                problem.message, problem.help);
    }
  }
  return context.diagnostics.error_count() > errors ? std::nullopt
                                                    : std::optional(std::move(result));
}

}  // namespace

std::optional<ReadPlan> read_plan(Span written, const ReadContext& context) {
  return read(written_plan(written, context.sources), context);
}

std::optional<ReadPlan> read_plan(const Value& mapping, const ReadContext& context) {
  const std::optional<WrittenPlan> plan = written_plan(mapping, context.sources);
  return plan ? read(*plan, context) : std::nullopt;
}

}  // namespace payoff
