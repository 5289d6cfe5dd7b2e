// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/samples_together.hpp"

#include <array>
#include <limits>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "profiles/import/samples_rules.hpp"

namespace payoff {
namespace import_detail {
namespace {

constexpr std::array<std::string_view, 4> roles{"compute", "codec", "message", "copies"};

constexpr std::array<std::string_view, 12> member_keys{
    "kernel",        "role",       "parameters", "instead_of", "priority",    "read_bytes",
    "written_bytes", "units_held", "blocks",     "alone_us",   "together_us", "alone_clock_ratio"};
constexpr std::array<std::string_view, 6> run_keys{
    "window_ms", "clock_ratio", "clock_reference", "copy_gb_per_s", "repeats", "members"};

double clock_of(const Node& node, std::string_view key, double highest, JsonValues& values) {
  return node.find(key) == nullptr ? 1.0
                                   : values.number(node, key, least_clock_ratio, true, highest);
}

// What the device was like before and after: kept for the record, the program repeated what
// drifted.
void check_record(const Node& node, JsonValues& values) {
  if (const Node* copies = values.find(node, "copy_gb_per_s", Node::Kind::list, false)) {
    for (const Node& copy : copies->items) {
      (void)values.number_of(copy, "copy_gb_per_s", 1e-3);
    }
    if (copies->items.size() != 2) {
      values.wrong(copies->span, fmt::format("{} copies in `copy_gb_per_s`", copies->items.size()),
                   "two: right before and right after");
    }
  }
  if (node.find("repeats") != nullptr) {
    (void)values.number(node, "repeats", 1.0, true, most_count);
  }
}

int count_of(const Node& node, std::string_view key, JsonValues& values) {
  return static_cast<int>(values.number(node, key, 0.0, false, most_count));
}

SamplesMember read_member(const Node& node, JsonValues& values) {
  SamplesMember member;
  member.kernel = kernel_of(values, node);
  member.role = choice_of(values, node, "role", roles);
  member.parameters = parameters_of(values, node);
  member.traffic = Bytes{values.number(node, "read_bytes", 0.0, false, most_traffic) +
                         values.number(node, "written_bytes", 0.0, false, most_traffic)};
  member.held = count_of(node, "units_held", values);
  member.blocks = count_of(node, "blocks", values);
  const auto time = [&](std::string_view key) {
    const Node* value = values.find(node, key, Node::Kind::scalar, true);
    return value == nullptr ? 1_s
                            : 1_us * values.number_of(*value, key, shortest_sample / 1_us,
                                                      longest_sample / 1_us);
  };
  member.alone = time("alone_us");
  member.together = time("together_us");
  member.alone_clock_ratio = clock_of(node, "alone_clock_ratio", highest_clock_ratio, values);
  check_instead(node, values);
  (void)values.number(node, "priority", std::numeric_limits<double>::lowest(), false);
  values.refuse_others(node, member_keys);
  return member;
}

SamplesTogether read_run(const Node& node, JsonValues& values) {
  SamplesTogether run;
  run.place = node.span;
  if (node.kind != Node::Kind::map) {
    values.wrong(node.span, "what ran together is a mapping", "this is " + describe(node));
    return run;
  }
  run.window = 1_ms * values.number(node, "window_ms", 1e-3);
  run.clock_ratio = clock_of(node, "clock_ratio", highest_clock_ratio, values);
  run.clock_reference = clock_of(node, "clock_reference", 1.0, values);
  check_record(node, values);
  std::set<std::string> seen;
  if (const Node* members = values.find(node, "members", Node::Kind::list, true)) {
    for (const Node& each : members->items) {
      if (each.kind != Node::Kind::map) {
        values.wrong(each.span, "a member is a mapping", "this is " + describe(each));
        continue;
      }
      run.members.push_back(read_member(each, values));
      const std::string& role = run.members.back().role;
      if (!role.empty() && !seen.insert(role).second) {
        values.wrong(each.span, "two members are " + backquoted(role), "one of each at most");
      }
    }
    if (members->items.size() < 2) {
      values.wrong(members->span, "one kernel is beside nothing", "at least two members");
    }
  }
  values.refuse_others(node, run_keys);
  return run;
}

}  // namespace

std::vector<SamplesTogether> read_together(const Node& list, JsonValues& values) {
  std::vector<SamplesTogether> runs;
  for (const Node& each : list.items) {
    values.set_record(fmt::format("interference {}", runs.size() + 1));
    runs.push_back(read_run(each, values));
  }
  values.set_record({});
  return runs;
}

}  // namespace import_detail

std::string title_of(const SamplesMember& member) {
  std::string title = member.kernel;
  for (const auto& [name, value] : member.parameters) {
    title += fmt::format(" {}={}", name, value);
  }
  return title;
}

std::string title_of(const SamplesTogether& together) {
  std::string title;
  for (const SamplesMember& member : together.members) {
    title += (title.empty() ? "" : " beside ") + title_of(member);
  }
  return title;
}

}  // namespace payoff
