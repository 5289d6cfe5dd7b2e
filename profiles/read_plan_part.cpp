// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_plan_part.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/across_nodes.hpp"
#include "model/units_text.hpp"
#include "profiles/plan_ranges.hpp"
#include "profiles/suggest.hpp"

namespace payoff {
namespace {

constexpr std::array<std::pair<std::string_view, Placement>, 5> placements{{
    {"compute_stream", Placement::compute_stream},
    {"side_stream", Placement::side_stream},
    {"after_backward", Placement::after_backward},
    {"low_priority_stream", Placement::low_priority_stream},
    {"high_priority_stream", Placement::high_priority_stream},
}};

constexpr std::array<std::pair<std::string_view, Traffic>, 7> traffics{{
    {"dp_gradients", Traffic::dp_gradients},
    {"dp_weights", Traffic::dp_weights},
    {"tp_activations", Traffic::tp_activations},
    {"pp_activations", Traffic::pp_activations},
    {"ep_dispatch", Traffic::ep_dispatch},
    {"ep_combine", Traffic::ep_combine},
    {"embeddings", Traffic::embeddings},
}};

constexpr std::array<std::pair<std::string_view, bool>, 2> amongs{{
    {"all", false},
    {"nodes", true},
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

bool is_option(const std::string& name) {
  return std::find(plan_options.begin(), plan_options.end(), name) != plan_options.end();
}

class PlanPartReader {
 public:
  PlanPartReader(PlanPart& part, const ParameterRules& rules, const ReadContext& context)
      : part_(part), rules_(rules), diagnostics_(context.diagnostics) {}

  void read(const PlanAssignment& given) {
    const std::string& name = given.name.text;
    const auto rule = rules_.find(name);
    if (rule == rules_.end() && !is_option(name)) {
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
      choose(name, value, placements, part_.placement);
    } else if (name == "traffic") {
      read_traffic(value);
    } else if (name == "directions") {
      choose(name, value, direction_names, part_.directions.emplace());
    } else if (name == "layers") {
      read_blocks(value);
    } else if (name == "buckets") {
      read_buckets(value);
    } else if (name == "among") {
      choose(name, value, amongs, part_.among_nodes);
    } else {
      choose(name, value, booleans, part_.overlap);
    }
    if (name == "traffic") {
      part_.traffic_span = value.span;
    } else {
      part_.options[name] = value.span;
    }
  }

  // One kind, or several joined by +.
  void read_traffic(const PlanPiece& value) {
    for (std::size_t begin = 0; begin <= value.text.size();) {
      const std::size_t end = std::min(value.text.find('+', begin), value.text.size());
      const PlanPiece piece{value.text.substr(begin, end - begin),
                            {value.span.source, value.span.offset + begin, end - begin}};
      Traffic kind{};
      const std::size_t errors = diagnostics_.error_count();
      choose("traffic", piece, traffics, kind);
      if (diagnostics_.error_count() == errors) {
        part_.traffic.push_back(kind);
      }
      begin = end + 1;
    }
  }

  void read_blocks(const PlanPiece& value) {
    part_.blocks = parse_blocks(value.text);
    if (!part_.blocks) {
      diagnostics_.error(value.span, "`layers` is no range of blocks: " + backquoted(value.text),
                         "", "write `layers=12-23`, `layers=12-` or `layers=12`");
    }
  }

  void read_buckets(const PlanPiece& value) {
    const auto buckets = parse_buckets(value.text);
    part_.buckets = buckets.value_or(BucketSet{});
    if (!buckets) {
      diagnostics_.error(value.span, "`buckets` is no set of buckets: " + backquoted(value.text),
                         "", "write `buckets=0-3`, `buckets=4-` or `buckets=0/2-5/9-`");
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
        part_.method.parameters[name] = static_cast<double>(*parsed);
        return;
      }
      error = parsed.error;
    } else {
      const auto parsed = parse_ratio(value.text, {rule.min, rule.max});
      if (parsed) {
        part_.method.parameters[name] = *parsed;
        return;
      }
      error = parsed.error;
    }
    diagnostics_.error(Span{value.span.source, value.span.offset + error.offset, error.length},
                       "`" + name + "` of " + part_.method.name + " " + error.problem, error.label,
                       error.help);
  }

  void refuse_name(const PlanPiece& name) {
    std::vector<std::string> known;
    for (const auto& [parameter, rule] : rules_) {
      known.push_back(parameter);
    }
    for (const std::string_view option : plan_options) {
      known.emplace_back(option);
    }
    std::string list;
    for (const std::string& each : known) {
      list += (list.empty() ? "" : ", ") + each;
    }
    diagnostics_.error(name.span, part_.method.name + " has no parameter " + backquoted(name.text),
                       did_you_mean(closest(name.text, known)), "it has: " + list);
  }

  PlanPart& part_;
  const ParameterRules& rules_;
  Diagnostics& diagnostics_;
  std::set<std::string> names_;
};

// What a method compresses unless the plan says otherwise: gradients, if it can.
void check_traffic(const PlanPiece& method, PlanPart& part, Diagnostics& diagnostics) {
  const bool asked = part.traffic_span.has_value();
  if (!asked) {
    part.traffic.push_back(Traffic::dp_gradients);
  }
  std::string list;
  for (const std::string& each : part.notes.traffic) {
    list += (list.empty() ? "" : ", ") + each;
  }
  for (const Traffic traffic : part.traffic) {
    const std::string name(name_of(traffic));
    const bool known = std::find(part.notes.traffic.begin(), part.notes.traffic.end(), name) !=
                       part.notes.traffic.end();
    if (!known && !part.notes.traffic.empty()) {
      diagnostics.error(asked ? *part.traffic_span : method.span,
                        backquoted(method.text) + " does not compress " + name, "",
                        "it compresses: " + list + (asked ? "" : "; write `traffic=` and which"));
    }
  }
}

// Options that mean nothing for what is compressed.
void check_options(const PlanPart& part, Diagnostics& diagnostics) {
  const bool gradients = std::find(part.traffic.begin(), part.traffic.end(),
                                   Traffic::dp_gradients) != part.traffic.end();
  const bool activations =
      std::any_of(part.traffic.begin(), part.traffic.end(), [](Traffic traffic) {
        return traffic != Traffic::dp_gradients && traffic != Traffic::dp_weights;
      });
  for (const auto& [name, span] : part.options) {
    const bool of_activations = name == "directions" || name == "layers";
    if (of_activations && !activations) {
      diagnostics.error(span,
                        backquoted(name) +
                            " is of activations, and only gradients of data "
                            "parallelism are compressed",
                        "",
                        "add `traffic=`: tp_activations, pp_activations, ep_dispatch, ep_combine "
                        "or embeddings");
    } else if (!of_activations && !gradients) {
      diagnostics.error(span,
                        backquoted(name) +
                            " is of gradients of data parallelism: "
                            "activations are waited for",
                        "", "leave it out");
    }
  }
}

// The method between nodes alone, where that is asked for and possible.
void keep_to_nodes(const WrittenPlan& written, PlanPart& part, Diagnostics& diagnostics) {
  if (!part.among_nodes) {
    return;
  }
  if (const std::string why = not_across_nodes(part.method); !why.empty()) {
    diagnostics.error(part.options.at("among"), backquoted(written.method.text) + " " + why, "",
                      "leave `among` out");
    return;
  }
  part.method = across_nodes(part.method);
}

}  // namespace

std::optional<PlanPart> read_plan_part(const WrittenPlan& written, const ReadContext& context) {
  Diagnostics& diagnostics = context.diagnostics;
  const std::size_t errors = diagnostics.error_count();
  auto method = read_method_profile(written.method.text, written.method.span, context);
  if (!method) {
    return std::nullopt;
  }
  PlanPart part{.method = std::move(method->profile.value),
                .facts = std::move(method->profile.facts),
                .notes = std::move(method->notes)};
  PlanPartReader reader(part, method->rules, context);
  for (const PlanAssignment& given : written.assignments) {
    reader.read(given);
  }
  if (diagnostics.error_count() == errors) {
    check_traffic(written.method, part, diagnostics);
    check_options(part, diagnostics);
  }
  if (diagnostics.error_count() == errors) {
    keep_to_nodes(written, part, diagnostics);
  }
  part.notes.users_own = is_own_file(written.method.text);
  if (diagnostics.error_count() == errors) {
    for (const Problem& problem : check_method(part.method)) {
      diagnostics.error(written.whole.span,
                        "`" + problem.path + "` of " + written.method.text +
                            " cannot be priced with these parameters",
                        problem.message, problem.help);
    }
  }
  return diagnostics.error_count() > errors ? std::nullopt : std::optional(std::move(part));
}

}  // namespace payoff
