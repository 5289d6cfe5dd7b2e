// SPDX-License-Identifier: Apache-2.0
#include "profiles/method_notes.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "profiles/suggest.hpp"

namespace payoff {
namespace {

using Names = std::vector<std::string>;

constexpr std::array<std::string_view, 9> features{
    "zero",     "fsdp",         "tensor_parallel", "pipeline_parallel", "accumulation",
    "clipping", "loss_scaling", "torch_compile",   "cuda_graphs"};

void check_known(const std::string& name, const Value& value,
                 std::span<const std::string_view> known) {
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    value.error("is unknown: " + backquoted(name), did_you_mean(closest(name, known)),
                "one of: " + listed(known));
  }
}

// Gradients and weights go one way only.
bool has_directions(Traffic traffic) {
  return traffic != Traffic::dp_gradients && traffic != Traffic::dp_weights;
}

std::vector<std::string_view> traffic_that(bool (*is_wanted)(Traffic)) {
  std::vector<std::string_view> names;
  for (const auto& [name, traffic] : traffic_names) {
    if (is_wanted(traffic)) {
      names.push_back(name);
    }
  }
  return names;
}

// "yes", "no: the reason", "partly: what is missing".
bool is_answer(std::string_view text) {
  constexpr std::array<std::string_view, 3> answers{"yes", "no", "partly"};
  const std::string_view answer = text.substr(0, text.find(':'));
  return std::find(answers.begin(), answers.end(), answer) != answers.end();
}

bool is_none(const std::string& implementation) { return implementation.starts_with("none:"); }

// Why nobody can run it: "none is known", or what a file says of the parts that exist.
std::optional<std::string> nobody_because(const MethodNotes& notes) {
  const Names& all = notes.implementations;
  if (notes.users_own || !std::all_of(all.begin(), all.end(), is_none)) {
    return std::nullopt;
  }
  const std::size_t colon = all.empty() ? std::string::npos : all.front().find(": ");
  return colon == std::string::npos ? "none is known" : all.front().substr(colon + 2);
}

Names read_list(const Value& value) {
  Names texts;
  if (value) {
    for (const Value& item : value.list()) {
      texts.push_back(item.text());
    }
  }
  return texts;
}

}  // namespace

MethodNotes read_method_notes(const Section& root) {
  MethodNotes notes;
  if (const Value traffic = root.optional("traffic")) {
    for (const Value& item : traffic.list()) {
      notes.traffic.push_back(item.text());
      check_known(notes.traffic.back(), item, traffic_that([](Traffic) { return true; }));
    }
  }
  for (const auto& [traffic, value] : root.optional("directions").section().entries()) {
    check_known(traffic, value, traffic_that(has_directions));
    notes.directions[traffic] = value.choice(direction_names);
  }
  notes.implementations = read_list(root.optional("implementations"));
  for (const auto& [feature, value] : root.optional("composes").section().entries()) {
    check_known(feature, value, features);
    notes.composes.emplace_back(feature, value.text());
    if (!is_answer(notes.composes.back().second)) {
      value.error("begins with no answer", "", "write `yes`, `no` or `partly`, `:` and why");
    }
  }
  if (const Value quality = root.optional("quality")) {
    for (const Value& item : quality.list()) {
      const Section section = item.section();
      const Value from = section.required("from");
      notes.quality.push_back({section.required("says").text(), from.text()});
      from.cited("quality");
    }
  }
  notes.unchecked = root.optional("unchecked").text();
  return notes;
}

MethodNotes joined(const MethodNotes& a, const MethodNotes& b) {
  MethodNotes both = a;
  const auto append = [](auto& list, const auto& more) {
    list.insert(list.end(), more.begin(), more.end());
  };
  append(both.traffic, b.traffic);
  append(both.implementations, b.implementations);
  append(both.composes, b.composes);
  append(both.quality, b.quality);
  for (const MethodNotes* one : {&a, &b}) {
    if (nobody_because(*one)) {
      both.implementations = one->implementations;
    }
  }
  both.users_own = a.users_own && b.users_own;
  both.unchecked += (a.unchecked.empty() || b.unchecked.empty() ? "" : "; ") + b.unchecked;
  return both;
}

std::vector<std::pair<std::string, std::string>> compositions(const Method& method,
                                                              const MethodNotes& notes) {
  auto all = notes.composes;
  const auto add = [&](const char* feature, const char* answer) {
    const bool said = std::any_of(notes.composes.begin(), notes.composes.end(),
                                  [&](const auto& each) { return each.first == feature; });
    if (!said) {
      all.emplace_back(feature, answer);
    }
  };
  // Sharding takes gradients apart, and nothing that stages, ranks or experts send each other.
  const auto& traffic = notes.traffic;
  if (traffic.empty() ||
      std::find(traffic.begin(), traffic.end(), "dp_gradients") != traffic.end()) {
    add("zero", method.elementwise ? "yes: a shard of the payload is the payload of a shard"
                : method.scatters  ? "yes: its rounds are a reduce-scatter"
                                   : "no: it needs the whole gradient");
  }
  if (host_syncs_of_a_call(method) > 0.0) {
    add("cuda_graphs", "no: the host waits for the GPU");
  }
  return all;
}

std::vector<Obstacle> obstacles(const MethodNotes& notes, const ParallelLayout& layout) {
  const std::array<std::pair<std::string_view, bool>, 5> used{
      {{"zero", layout.zero == 1 || layout.zero == 2},
       {"fsdp", layout.zero == 3},
       {"tensor_parallel", layout.tp > 1},
       {"pipeline_parallel", layout.pp > 1},
       {"accumulation", layout.pp == 1 && layout.micro_batches > 1}}};
  std::vector<Obstacle> found;
  if (const std::optional<std::string> why = nobody_because(notes)) {
    found.push_back({"implementation", "no: " + *why});
  }
  for (const auto& [feature, answer] : notes.composes) {
    const bool composes = answer.starts_with("yes");
    const bool needed = std::any_of(
        used.begin(), used.end(),
        [&, name = feature](const auto& each) { return each.first == name && each.second; });
    if (needed && !composes) {
      found.push_back({feature, answer});
    }
  }
  return found;
}

double host_syncs_of_a_call(const Method& method) {
  const ParameterTensor tensor{1536, 768, true};
  const CallCost cost = compress(method, {&tensor, 1}, 4_B, 16, 4);
  double syncs = cost.decode.host_syncs;
  for (const RoundCost& round : cost.rounds) {
    syncs += round.encode.host_syncs;
  }
  return syncs;
}

std::string_view name_of(Traffic traffic) {
  const auto* const found = std::find_if(traffic_names.begin(), traffic_names.end(),
                                         [&](const auto& each) { return each.second == traffic; });
  return found == traffic_names.end() ? std::string_view() : found->first;
}

std::string_view directions_text(const ActivationCompression& of) {
  for (const auto& [name, directions] : direction_names) {
    if (directions == Directions{of.forward, of.backward}) {
      return name;
    }
  }
  return {};
}

std::string layers_text(const BlockRange& blocks) {
  const bool open = blocks.last == BlockRange{}.last;
  return std::to_string(blocks.first) + "-" + (open ? "" : std::to_string(blocks.last));
}

std::string buckets_text(const BucketSet& buckets) {
  std::string text;
  for (const BlockRange& range : buckets.ranges) {
    text += text.empty() ? "" : "/";
    text += range.first == range.last ? std::to_string(range.first) : layers_text(range);
  }
  return text;
}

}  // namespace payoff
