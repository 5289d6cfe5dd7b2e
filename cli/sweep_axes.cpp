// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_axes.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/experiment_input.hpp"
#include "cli/option_values.hpp"
#include "model/series_text.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

struct Values {
  std::vector<std::string> texts;
  std::vector<double> numbers;
  std::string unit;  // of the column's name
  bool whole{};
};

// The commas of `topk:ratio=0.01,chunk=64` are the method's: a part with a value but no method of
// its own goes on with the one before it.
std::vector<std::string> names_of(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    const std::string part(text.substr(start, comma - start));
    const bool goes_on = part.find('=') != std::string::npos && part.find(':') == std::string::npos;
    if (goes_on && !names.empty()) {
      names.back() += "," + part;
    } else {
      names.push_back(part);
    }
    start = comma + 1;
  }
  return names;
}

template <class T, class Text, class Number>
bool take_series(std::string_view text, Values& values, TextError& error, Text text_of,
                 Number number_of) {
  const Parsed<std::vector<T>> parsed = parse_series<T>(text);
  if (!parsed) {
    // The reading that understood most of the text has the best explanation; the one that knows the
    // unit of its end has understood all but one.
    const bool exact = error.problem == one_sided_unit;
    if (error.problem.empty() || parsed.error.problem == one_sided_unit ||
        (!exact && parsed.error.offset > error.offset)) {
      error = parsed.error;
    }
    return false;
  }
  for (const T& value : *parsed) {
    values.texts.push_back(text_of(value));
    values.numbers.push_back(number_of(value));
  }
  return true;
}

// A series of counts, shares or quantities.
std::optional<Values> series_of(std::string_view text, TextError& error) {
  Values values;
  const auto si = [](auto quantity) { return quantity.si; };
  const auto plain = [](auto number) { return static_cast<double>(number); };
  if (take_series<std::int64_t>(
          text, values, error, [](std::int64_t n) { return std::to_string(n); }, plain)) {
    values.whole = true;
  } else if (take_series<Bandwidth>(text, values, error, exact_link_rate_text, si)) {
    values.unit = "_bytes_per_second";
  } else if (take_series<Bytes>(text, values, error, exact_text<Bytes>, si)) {
    values.unit = "_bytes";
  } else if (take_series<Seconds>(text, values, error, exact_text<Seconds>, si)) {
    values.unit = "_seconds";
  } else if (!take_series<double>(
                 text, values, error, [](double x) { return fmt::format("{}", x); }, plain)) {
    return std::nullopt;
  }
  return values;
}

// A list of names is no series, and a list of numbers is one that may be written without dots.
std::optional<Values> values_of(std::string_view text, TextError& error) {
  std::optional<Values> series = series_of(text, error);
  if (series || text.find("..") != std::string_view::npos) {
    return series;
  }
  Values values;
  values.texts = names_of(text);
  return values;
}

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
    Span span = argument.span;
    span.length = equals;
    if (name == "compress") {
      input_.keys.push_back({"compress", span});
      read_methods(argument, text);
      return;
    }
    const std::string_view option = key_of_option(name);
    const std::string key(option.empty() ? name : option);
    input_.keys.push_back({key, span});
    TextError error;
    std::optional<Values> values = values_of(text, error);
    if (!values || !are_distinct(argument, values->texts)) {
      if (!values) {
        error.offset += equals + 1;
        report_text_error(over_option.name, argument, error, session_);
      }
      return;
    }
    input_.columns.push_back({std::string(name) + values->unit, values->numbers, values->whole});
    input_.axes.push_back({key, std::move(values->texts)});
    input_.arguments.push_back(argument);
    input_.nodes.emplace_back();
  }

  // `KEY: VALUES` of a file.
  void read(const Entry& entry) {
    const Argument key{entry.key, 0, entry.key_span};
    std::vector<const Node*> items;
    std::string text = entry.value.text;
    for (const Node& item : entry.value.items) {
      items.push_back(&item);
      text += (text.empty() ? "" : ",") + item.text;
    }
    const Argument written{text, 0, entry.value.span};
    TextError error;
    std::optional<Values> values = values_of(text, error);
    if (entry.key == "compress" || text.empty() || !values ||
        (!items.empty() && items.size() != values->texts.size())) {
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
    const std::string_view option = key_of_option(entry.key);
    const std::string path(option.empty() ? entry.key : option);
    input_.keys.push_back({path, key.span});
    std::vector<Node>& nodes = input_.nodes.emplace_back();
    for (std::size_t i = 0; i < values->texts.size(); ++i) {
      Node& node = nodes.emplace_back();
      node.kind = Node::Kind::scalar;
      node.text = values->texts[i];
      node.span = items.empty() ? entry.value.span : items[i]->span;
    }
    input_.columns.push_back({entry.key + values->unit, values->numbers, values->whole});
    input_.axes.push_back({path, std::move(values->texts)});
    input_.arguments.push_back(key);
  }

 private:
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

  void read_methods(const Argument& argument, std::string_view text) {
    const std::vector<std::string> names = names_of(text);
    if (!are_distinct(argument, names)) {
      return;
    }
    std::string list;
    for (const std::string& name : names) {
      if (name != "none") {  // is always there
        list += (list.empty() ? "\"" : ", \"") + name + "\"";
      }
    }
    input_.methods = {argument.index, "compress=[" + list + "]"};
  }

  SweepInput& input_;
  Session& session_;
};

}  // namespace

bool SweepInput::is_value(std::size_t axis, std::size_t value, Span span,
                          const SourceMap& sources) const {
  if (nodes[axis].empty()) {
    return sources[span.source].argument == arguments[axis].index;
  }
  const Span& own = nodes[axis][value].span;
  return span.source == own.source && span.offset >= own.offset &&
         span.offset < own.offset + std::max<std::size_t>(own.length, 1);
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
