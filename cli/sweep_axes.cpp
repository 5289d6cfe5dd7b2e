// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_axes.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/axis_text.hpp"
#include "cli/experiment_input.hpp"
#include "cli/option_values.hpp"
#include "profiles/override.hpp"

namespace payoff {
namespace {

class AxisReader {
 public:
  AxisReader(SweepInput& input, Session& session) : input_(input), session_(session) {}

  void read(const Argument& argument) {
    const std::size_t equals = argument.text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == argument.text.size()) {
      session_.diagnostics().error(argument.span,
                                   fmt::format("{} is no axis", backquoted(argument.text)), {},
                                   "KEY=VALUES, for example `--over nodes=8..64:x2`");
      return;
    }
    const std::string_view name = std::string_view(argument.text).substr(0, equals);
    const std::string_view text = std::string_view(argument.text).substr(equals + 1);
    const Span span = argument.span;
    const Span key_span{span.source, span.offset, equals};
    const Span whole{span.source, span.offset + equals + 1, text.size()};
    if (name == "compress") {
      input_.keys.push_back({"compress", key_span});
      read_methods(argument, text, whole);
      return;
    }
    const std::string key = path_of(name);
    input_.keys.push_back({key, key_span});
    TextError error;
    std::optional<AxisValues> values = axis_values(text, error);
    if (!values) {
      report(name, whole, error);
    }
    const bool failed = !values || !are_distinct(argument, values->texts);
    if (failed) {
      values = AxisValues{{std::string(text)}, {}, {}, false};
    }
    add({name, key}, std::move(*values), argument,
        {key_span, axis_places(text, failed ? 0 : values->texts.size(), whole), failed});
  }

  // `KEY: VALUES` of a file.
  void read(const Entry& entry) {
    const Argument key{entry.key, 0, entry.key_span};
    std::vector<Span> places;
    std::string text = entry.value.text;
    for (const Node& item : entry.value.items) {
      places.push_back(item.span);
      text += (text.empty() ? "" : ",") + item.text;
    }
    const Argument written{text, 0, entry.value.span};
    TextError error;
    std::optional<AxisValues> values = axis_values(text, error);
    if (entry.key == "compress" || text.empty() || !values ||
        (!places.empty() && places.size() != values->texts.size())) {
      session_.diagnostics().error(
          entry.key == "compress" ? key.span : written.span,
          entry.key == "compress" ? "`over.compress` is no axis of jobs"
                                  : fmt::format("{} has no values", backquoted(entry.key)),
          error.problem,
          entry.key == "compress" ? "strategies stand under `compress`: every job is asked for all"
                                  : "write a series, `8..64:x2`, or a list, `[v100, a100]`");
      return;
    }
    if (!are_distinct(written, values->texts)) {
      return;
    }
    const std::string path = path_of(entry.key);
    input_.keys.push_back({path, key.span});
    if (places.empty()) {
      places.push_back(entry.value.span);
    }
    add({entry.key, path}, std::move(*values), key, {key.span, std::move(places), false});
  }

 private:
  struct Name {
    std::string_view written;
    std::string path;
  };

  static std::string path_of(std::string_view name) {
    const std::string_view option = key_of_option(name);
    return std::string(option.empty() ? name : option);
  }

  void add(Name name, AxisValues values, const Argument& argument, AxisPlace place) {
    input_.columns.push_back(
        {std::string(name.written) + values.unit, std::move(values.numbers), values.whole});
    input_.axes.push_back({std::move(name.path), std::move(values.texts)});
    input_.arguments.push_back(argument);
    input_.places.push_back(std::move(place));
  }

  void report(std::string_view name, Span whole, const TextError& error) {
    const Span span =
        error.length > 0 ? Span{whole.source, whole.offset + error.offset, error.length} : whole;
    const std::string help = error.example.empty()
                                 ? error.help
                                 : fmt::format("for example `--over {}='{}'`", name, error.example);
    session_.diagnostics().error(span, fmt::format("`--over {}` {}", name, error.problem),
                                 error.label, help);
  }

  bool are_distinct(const Argument& argument, const std::vector<std::string>& values) {
    std::set<std::string_view> seen;
    for (const std::string& value : values) {
      if (value.empty()) {
        session_.diagnostics().error(argument.span, "a value of the axis is empty");
        return false;
      }
      if (!seen.insert(value).second) {
        session_.diagnostics().error(argument.span,
                                     fmt::format("{} is given twice", backquoted(value)));
        return false;
      }
    }
    return true;
  }

  void read_methods(const Argument& argument, std::string_view text, Span whole) {
    std::vector<std::string> names;
    Node list;
    list.kind = Node::Kind::list;
    list.span = whole;
    for (const TextPiece& piece : names_of(text)) {
      names.emplace_back(text.substr(piece.offset, piece.length));
      if (names.back() != "none") {  // is always there
        const Span place{whole.source, whole.offset + piece.offset, piece.length};
        list.items.push_back(scalar_node(place, session_.sources()));
      }
    }
    (void)are_distinct(argument, names);
    input_.methods = std::move(list);
  }

  SweepInput& input_;
  Session& session_;
};

bool lies_at(Span span, Span place) {
  return span.source == place.source && span.offset >= place.offset &&
         span.offset < place.offset + std::max<std::size_t>(place.length, 1);
}

}  // namespace

bool SweepInput::is_key(std::size_t axis, Span span) const {
  return lies_at(span, places[axis].key);
}

bool SweepInput::is_value(std::size_t axis, std::size_t value, Span span) const {
  return lies_at(span, places[axis].value(value));
}

bool SweepInput::has_failed() const {
  return std::any_of(places.begin(), places.end(),
                     [](const AxisPlace& place) { return place.failed; });
}

void SweepInput::put_methods(Node& root, Diagnostics& diagnostics) const {
  if (methods) {
    (void)set_value(root, "compress", *methods, methods->span, diagnostics);
  }
}

void leave_out_none(Node& root) {
  if (Entry* plans = root.find("compress")) {
    std::erase_if(plans->value.items, [](const Node& item) { return item.text == "none"; });
  }
}

SweepInput take_axes(Node& root, const Arguments& arguments, Session& session) {
  SweepInput input;
  AxisReader reader(input, session);
  if (const Entry* over = root.find("over")) {
    for (const Entry& entry : over->value.entries) {
      reader.read(entry);
    }
    if (over->value.entries.empty()) {
      session.diagnostics().error(over->key_span, "`over` is no mapping of keys to values");
    }
    std::erase_if(root.entries, [](const Entry& entry) { return entry.key == "over"; });
  }
  for (const Argument& axis : arguments.values(over_option.name)) {
    reader.read(axis);
  }
  if (input.axes.empty() && !session.diagnostics().has_errors()) {
    // Where the file begins: it may be empty.
    const bool has_file = !arguments.positionals().empty();
    session.diagnostics().error(
        has_file ? std::optional(Span{root.span.source, 0, 1}) : std::nullopt, "no axis is given",
        {},
        "`over: {cluster.nodes: 1..64:x2}` in the file, or "
        "`--over nodes=1..64:x2`");
  }
  return input;
}

SweepInput read_axes(const Arguments& arguments, Session& session) {
  SweepInput input;
  AxisReader reader(input, session);
  const std::vector<Argument> given = arguments.values(over_option.name);
  for (const Argument& axis : given) {
    reader.read(axis);
  }
  if (given.empty()) {
    session.diagnostics().error(std::nullopt, "no axis is given", {},
                                "for example `--over nodes=1..64:x2`");
  }
  return input;
}

}  // namespace payoff
