// SPDX-License-Identifier: Apache-2.0
#include "profiles/plan_text.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace payoff {
namespace {

constexpr std::string_view blanks = " \t";
constexpr std::string_view joint = " + ";  // of methods; a path or a number may hold a +

PlanPiece part_of(const PlanPiece& whole, std::size_t begin, std::size_t end) {
  const std::string_view text = whole.text;
  while (begin < end && blanks.find(text[begin]) != std::string_view::npos) {
    ++begin;
  }
  while (end > begin && blanks.find(text[end - 1]) != std::string_view::npos) {
    --end;
  }
  return {whole.text.substr(begin, end - begin),
          {whole.span.source, whole.span.offset + begin, end - begin}};
}

// What stands between the quotes of a quoted scalar, else all of it.
PlanPiece unquoted(Span written, const SourceMap& sources) {
  const PlanPiece whole{std::string(sources.text(written)), written};
  const std::string& text = whole.text;
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                      text.back() == text.front();
  return quoted ? part_of(whole, 1, text.size() - 1) : part_of(whole, 0, text.size());
}

PlanAssignment assignment_of(const PlanPiece& piece) {
  const std::size_t equals = piece.text.find('=');
  if (equals == std::string::npos) {
    return {piece, std::nullopt};
  }
  return {part_of(piece, 0, equals), part_of(piece, equals + 1, piece.text.size())};
}

std::vector<PlanAssignment> assignments_after(const PlanPiece& plan, std::size_t colon) {
  std::vector<PlanAssignment> all;
  for (std::size_t start = colon; start != std::string::npos;) {
    const std::size_t end = plan.text.find(',', start + 1);
    all.push_back(assignment_of(part_of(plan, start + 1, std::min(end, plan.text.size()))));
    start = end;
  }
  return all;
}

WrittenPlan method_text(const PlanPiece& text) {
  const std::size_t colon = text.text.find(':');
  return {text, part_of(text, 0, std::min(colon, text.text.size())), colon != std::string::npos,
          assignments_after(text, colon)};
}

// The last word on a name stands.
void put(PlanAssignment assignment, std::vector<PlanAssignment>& assignments) {
  const auto same = std::find_if(
      assignments.begin(), assignments.end(),
      [&](const PlanAssignment& other) { return other.name.text == assignment.name.text; });
  if (same == assignments.end()) {
    assignments.push_back(std::move(assignment));
  } else {
    *same = std::move(assignment);
  }
}

void put_entry(const std::string& key, const Value& value,
               std::vector<PlanAssignment>& assignments) {
  const std::string text = value.text();
  put({{key, value.key_span()}, PlanPiece{text, value.span().value_or(value.key_span())}},
      assignments);
}

// `powersgd:` or `powersgd: {rank: 4}`, not `rank: 4`.
bool names_method(const Value& value) { return value.is_empty() || value.is_section(); }

std::string text_of(const WrittenPlan& plan) {
  std::string text = plan.method.text;
  for (const PlanAssignment& assignment : plan.assignments) {
    text += &assignment == &plan.assignments.front() ? ":" : ",";
    text += assignment.name.text;
    text += assignment.value ? "=" + assignment.value->text : "";
  }
  return text;
}

}  // namespace

std::vector<WrittenPlan> written_parts(Span written, const SourceMap& sources) {
  const PlanPiece whole = unquoted(written, sources);
  std::vector<WrittenPlan> parts;
  for (std::size_t begin = 0; begin <= whole.text.size();) {
    const std::size_t end = std::min(whole.text.find(joint, begin), whole.text.size());
    parts.push_back(method_text(part_of(whole, begin, end)));
    begin = end == whole.text.size() ? end + 1 : end + joint.size();
  }
  return parts;
}

std::string label_of(const std::vector<WrittenPlan>& parts) {
  std::string label;
  for (const WrittenPlan& part : parts) {
    label += (label.empty() ? "" : std::string(joint)) + part.whole.text;
  }
  return label;
}

std::optional<WrittenPlan> written_plan(const Value& mapping, const SourceMap& sources) {
  std::optional<WrittenPlan> plan;
  std::vector<std::pair<std::string, Value>> parameters;
  for (const auto& [key, value] : mapping.section().entries()) {
    if (!plan && key == "base" && value.span()) {
      std::vector<WrittenPlan> base = written_parts(*value.span(), sources);
      if (base.size() > 1) {
        value.error("joins several methods", "", "set parameters where the plan is written");
        return std::nullopt;
      }
      plan = std::move(base.front());
    } else if (!plan && names_method(value)) {
      plan = WrittenPlan{{}, {key, value.key_span()}, false, {}};
      for (const auto& [name, parameter] : value.is_section()
                                               ? value.section().entries()
                                               : std::vector<std::pair<std::string, Value>>{}) {
        put_entry(name, parameter, plan->assignments);
      }
    } else {
      parameters.emplace_back(key, value);
    }
  }
  if (!plan) {
    mapping.error("names no method", "", "write `powersgd:rank=4` or `powersgd: {rank: 4}`");
    return std::nullopt;
  }
  for (const auto& [key, value] : parameters) {
    put_entry(key, value, plan->assignments);
  }
  plan->has_colon = !plan->assignments.empty();
  plan->whole = {text_of(*plan), mapping.span().value_or(plan->method.span)};
  return plan;
}

}  // namespace payoff
