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

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/method_on_graph.hpp"
#include "model/units_text.hpp"
#include "profiles/plan_graph.hpp"
#include "profiles/plan_part_check.hpp"
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

constexpr std::array<std::pair<std::string_view, bool>, 2> part_amongs{{
    {"all", false},
    {"nodes", true},
}};

constexpr std::array<std::pair<std::string_view, bool>, 2> booleans{{
    {"true", true},
    {"false", false},
}};

bool is_option(const std::string& name) {
  return std::find(plan_options.begin(), plan_options.end(), name) != plan_options.end();
}

class PlanPartReader {
 public:
  PlanPartReader(PlanPart& part, const ParameterRules& rules, const ReadContext& context)
      : part_(part), rules_(rules), context_(context), diagnostics_(context.diagnostics) {}

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
      choose(name, value, placements, part_.placement.emplace());
    } else if (name == "traffic") {
      read_traffic(value);
    } else if (name == "directions") {
      choose(name, value, direction_names, part_.directions.emplace());
    } else if (name == "layers") {
      read_blocks(value);
    } else if (name == "buckets") {
      read_buckets(value);
    } else if (name == "among") {
      choose(name, value, part_amongs, part_.among_nodes);
    } else if (name == "smallest") {
      read_smallest(value);
    } else if (name == "graph") {
      part_.graph = read_graph(value, context_);
    } else if (name == "graph_seed") {
      read_seed(value);
    } else if (name == "copy_in_node") {
      choose(name, value, booleans, part_.copy_in_node);
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
      choose("traffic", piece, traffic_names, kind);
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

  void read_smallest(const PlanPiece& value) {
    auto size = parse_quantity<Bytes>(value.text, Sign::positive);
    part_.smallest = size.value.value_or(0_B);
    if (!size) {
      size.error.help = size.error.help.empty() ? "write `smallest=64 KiB`" : size.error.help;
      refuse(value, "`smallest` ", size.error);
    }
  }

  void read_seed(const PlanPiece& value) {
    constexpr std::int64_t largest = std::int64_t{1} << 53;
    const auto seed = parse_integer(value.text, {0, largest});
    part_.graph_seed = seed.value.value_or(0);
    if (!seed) {
      refuse(value, "`graph_seed` ", seed.error);
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
                       did_you_mean(closest(value.text, known)), "one of: " + listed(table));
  }

  void read_parameter(const std::string& name, const PlanPiece& value, const ParameterRule& rule) {
    TextError error;
    if (rule.integer) {
      const auto whole = [](double bound) { return static_cast<std::int64_t>(bound); };
      const auto parsed = parse_integer(value.text, {whole(rule.min), whole(rule.max)});
      if (parsed) {
        take_parameter(name, value, rule, static_cast<double>(*parsed));
        return;
      }
      error = parsed.error;
    } else {
      const auto parsed = parse_ratio(value.text, {rule.min, rule.max});
      if (parsed) {
        take_parameter(name, value, rule, *parsed);
        return;
      }
      error = parsed.error;
    }
    refuse(value, "`" + name + "` of " + part_.method.name + " ", error);
  }

  void take_parameter(const std::string& name, const PlanPiece& value, const ParameterRule& rule,
                      double number) {
    if (rule.takes(number)) {
      part_.method.parameters[name] = number;
      return;
    }
    diagnostics_.error(
        value.span,
        backquoted(name) + " of " + part_.method.name + " has no value " + backquoted(value.text),
        "", fmt::format("one of: {}", fmt::join(rule.values, ", ")));
  }

  void refuse(const PlanPiece& value, const std::string& what, const TextError& error) {
    diagnostics_.error(Span{value.span.source, value.span.offset + error.offset, error.length},
                       what + error.problem, error.label, error.help);
  }

  void refuse_name(const PlanPiece& name) {
    std::vector<std::string> known;
    for (const auto& [parameter, rule] : rules_) {
      known.push_back(parameter);
    }
    for (const std::string_view option : plan_options) {
      if (!option.starts_with("graph") || has_neighbours(part_.method)) {
        known.emplace_back(option);
      }
    }
    diagnostics_.error(name.span, part_.method.name + " has no parameter " + backquoted(name.text),
                       did_you_mean(closest(name.text, known)), "it has: " + listed(known));
  }

  PlanPart& part_;
  const ParameterRules& rules_;
  const ReadContext& context_;
  Diagnostics& diagnostics_;
  std::set<std::string> names_;
};

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
    check_part(written, part, diagnostics);
  }
  if (diagnostics.error_count() == errors) {
    change_method(written, part, diagnostics);
  }
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
