// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/flight_recorder.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/units_text.hpp"
#include "profiles/import/debug_groups.hpp"
#include "profiles/import/element_types.hpp"
#include "profiles/import/json_tree.hpp"
#include "profiles/import/json_values.hpp"

namespace payoff {
namespace {

using import_detail::JsonValues;
using import_detail::stride_of;

constexpr double most_elements = 1e15;

using Ranks = std::vector<int>;  // of the whole job, sorted

// What stands between brackets, blanks and commas; of a list its items.
std::vector<std::string> words_of(const Node& list) {
  std::vector<std::string> words;
  words.reserve(list.items.size());
  for (const Node& item : list.items) {
    words.push_back(item.text);
  }
  std::string word;
  for (const char c : list.text + ",") {
    const bool ends = c == ',' || c == ']';
    if (!ends && c != '[' && c != ' ') {
      word += c;
    } else if (ends && !word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  return words;
}

// Larger groups first.
using Shape = std::pair<int, int>;  // minus the ranks, stride
Shape shape_of(const Ranks& ranks) { return {-static_cast<int>(ranks.size()), stride_of(ranks)}; }

// Of a list that may be absent.
std::span<const Node> items_of(const Node* list) {
  return list == nullptr ? std::span<const Node>() : std::span<const Node>(list->items);
}

// What the recorder notes beside the calls themselves: a group of calls, or that nothing is sent.
bool is_no_call(std::string_view name) {
  return name == "coalesced" || name.find("barrier") != std::string_view::npos;
}

}  // namespace

struct FlightRecorderReader::State {
  State(SourceMap& sources_of_all, Diagnostics& diagnostics_of_all)
      : sources(sources_of_all), diagnostics(diagnostics_of_all), values(diagnostics_of_all) {}

  SourceMap& sources;
  Diagnostics& diagnostics;
  JsonValues values;
  NcclDebugLog log;
  std::map<Ranks, int> dumps_of_groups;  // how many files have the group
  std::map<Shape, int> dumps_of_shapes;  // how many have any group of the shape
  std::map<std::tuple<Collective, Shape, double, std::string>, std::int64_t> calls;
  std::map<std::string, std::int64_t> other_calls;
  std::string file;  // that is read, or was read last
  int files{};

  // "[0, 1, 2]", a text or a list.
  std::optional<Ranks> ranks_of(const Node& group) {
    const Entry* given = group.kind == Node::Kind::map ? group.find("ranks") : nullptr;
    if (given == nullptr) {
      values.wrong(group.span, "missing key `ranks`");
      return std::nullopt;
    }
    Ranks ranks;
    for (const std::string& each : words_of(given->value)) {
      const auto rank = parse_integer(each, {0, 1 << 24});
      if (!rank) {
        values.wrong(given->value.span, fmt::format("`ranks` has {}", backquoted(each)),
                     "numbers of ranks, as \"[0, 1, 2]\"");
        return std::nullopt;
      }
      ranks.push_back(static_cast<int>(*rank));
    }
    std::sort(ranks.begin(), ranks.end());
    if (ranks.empty() || std::adjacent_find(ranks.begin(), ranks.end()) != ranks.end()) {
      values.wrong(given->value.span,
                   ranks.empty() ? "the group has no rank" : "the group has a rank twice");
      return std::nullopt;
    }
    return ranks;
  }

  std::map<std::string, Ranks> groups_of(const Node& root) {
    std::map<std::string, Ranks> groups;
    std::set<Shape> shapes;
    const Node* config = values.find(root, "pg_config", Node::Kind::map, true);
    for (const Entry& entry :
         config == nullptr ? std::span<const Entry>() : std::span<const Entry>(config->entries)) {
      values.set_record("group " + entry.key);
      if (const auto ranks = ranks_of(entry.value)) {
        ++dumps_of_groups[*ranks];
        shapes.insert(shape_of(*ranks));
        groups.emplace(entry.key, *ranks);
      }
    }
    values.set_record({});
    for (const Shape& shape : shapes) {
      ++dumps_of_shapes[shape];
    }
    return groups;
  }

  // Elements of all tensors of a call, by their dimensions.
  double elements(const Node& entry, std::string_view key) {
    double all = 0;
    for (const Node& tensor : items_of(values.find(entry, key, Node::Kind::list, true))) {
      double of_tensor = 1;
      for (const Node& dimension : tensor.items) {
        of_tensor *= values.number_of(dimension, key, 0, most_elements);
      }
      if (of_tensor > most_elements) {
        values.wrong(tensor.span, "the tensor has more elements than any memory");
        of_tensor = 0;
      }
      all += of_tensor;
    }
    return all;
  }

  // The type of the first tensor: a call has one.
  std::optional<ElementType> type_of(const Node& entry) {
    for (const char* key : {"input_dtypes", "output_dtypes"}) {
      const Node* types = values.find(entry, key, Node::Kind::list, true);
      if (types == nullptr || types->items.empty()) {
        continue;
      }
      const Node& written = types->items.front();
      const auto type = torch_type(written.text);
      if (!type) {
        values.wrong(written.span, fmt::format("{} is no type of PyTorch that is known here",
                                               backquoted(written.text)));
      }
      return type;
    }
    values.wrong(entry.span, "the call has no tensor");
    return std::nullopt;
  }

  void take_call(const Node& entry, const std::map<std::string, Ranks>& groups) {
    const std::string name = values.text(entry, "profiling_name");
    const std::string_view call = std::string_view(name).substr(name.find(':') + 1);
    const auto collective = collective_named(call);
    if (name.empty() || is_no_call(call)) {
      return;
    }
    if (!collective) {
      ++other_calls[std::string(call)];
      return;
    }
    const Node* group = values.find(entry, "process_group", Node::Kind::list, true);
    const auto ranks = group != nullptr && !group->items.empty()
                           ? groups.find(group->items.front().text)
                           : groups.end();
    if (ranks == groups.end()) {
      values.wrong(group != nullptr ? group->span : entry.span,
                   "the call is of a group that `pg_config` does not have");
      return;
    }
    if (const auto type = type_of(entry)) {
      const double most = std::max(elements(entry, "input_sizes"), elements(entry, "output_sizes"));
      ++log.calls;
      ++calls[{*collective, shape_of(ranks->second), most * (type->size / 1_B),
               std::string(type->name)}];
    }
  }

  void take_calls(const Node& root, const std::map<std::string, Ranks>& groups) {
    double first = -1;
    for (const Node& entry : items_of(values.find(root, "entries", Node::Kind::list, false))) {
      const double id = values.number(entry, "record_id", 0);
      first = first < 0 ? id : std::min(first, id);
      values.set_record(fmt::format("record {}", id));
      take_call(entry, groups);
      values.set_record({});
    }
    if (first > 0) {
      log.findings.push_back({file, 0, 0, "",
                              fmt::format("the recorder kept its last calls only, and lost {} "
                                          "before them (TORCH_FR_BUFFER_SIZE)",
                                          first),
                              Effect::noted});
    }
  }

  void describe_groups() {
    std::map<Shape, std::size_t> place;
    for (const auto& [ranks, dumps] : dumps_of_groups) {
      const Shape shape = shape_of(ranks);
      const auto [found, is_new] = place.emplace(shape, log.groups.size());
      if (is_new) {
        log.groups.push_back({-shape.first, 0, shape.second, ranks, 0, 0});
      }
      LoggedGroups& groups = log.groups[found->second];
      ++groups.groups;
      groups.communicators += dumps;
      log.ranks = std::max(log.ranks, groups.ranks);
    }
    std::stable_sort(
        log.groups.begin(), log.groups.end(),
        [](const LoggedGroups& a, const LoggedGroups& b) { return a.ranks > b.ranks; });
    for (const auto& [key, count] : calls) {
      const auto& [collective, shape, bytes, type] = key;
      const auto of = std::find_if(log.groups.begin(), log.groups.end(),
                                   [of_calls = shape](const LoggedGroups& groups) {
                                     return Shape{-groups.ranks, groups.stride} == of_calls;
                                   });
      log.messages.push_back({collective, static_cast<std::size_t>(of - log.groups.begin()), type,
                              Bytes{bytes}, count,
                              static_cast<double>(count) / dumps_of_shapes.at(shape)});
    }
  }
};

FlightRecorderReader::FlightRecorderReader(SourceMap& sources, Diagnostics& diagnostics)
    : state_(std::make_unique<State>(sources, diagnostics)) {}
FlightRecorderReader::~FlightRecorderReader() = default;

void FlightRecorderReader::read(std::string text, const std::string& file) {
  constexpr char begins_pickle = '\x80';
  const bool is_pickle = text.starts_with(begins_pickle);
  const std::size_t length = text.size();
  const std::size_t source = state_->sources.add_file(file, std::move(text));
  state_->file = file;
  ++state_->files;
  if (is_pickle) {
    state_->diagnostics.error(
        Span{source, 0, 0}, "the dump is a pickle, which only Python can read", "",
        "write it as JSON: python3 -c 'import json, pickle, sys; "
        "json.dump(pickle.load(open(sys.argv[1], \"rb\")), open(sys.argv[2], \"w\"))' DUMP FILE");
    return;
  }
  const auto root = parse_json_tree({source, 0, length}, state_->sources, state_->diagnostics);
  if (root) {
    state_->take_calls(*root, state_->groups_of(*root));
  }
}

NcclDebugLog FlightRecorderReader::finish() {
  State& state = *state_;
  state.describe_groups();
  for (const auto& [name, count] : state.other_calls) {
    state.log.findings.push_back({state.files > 1 ? "all dumps" : state.file, 0, 0, "",
                                  fmt::format("{} calls of {} are left out: they are no collective "
                                              "that is known here",
                                              count, name),
                                  Effect::noted});
  }
  return std::move(state.log);
}

}  // namespace payoff
