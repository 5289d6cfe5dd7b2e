// SPDX-License-Identifier: Apache-2.0
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "cli/commands.hpp"
#include "cli/program.hpp"
#include "model/units_text.hpp"
#include "profiles/document.hpp"
#include "python/sweep_columns.hpp"

// The module _payoff: a command of the program, run in this process. What a command answers as JSON
// is what Python gets, so that the two cannot differ in a digit; python/payoff/__init__.py makes
// objects and exceptions of it. Columns of sweeps and fitted laws are read here, since they are
// large, and since YAML is not in Python.

namespace {

struct Ran {
  int code{};
  std::string out;
  std::string err;
};

Ran ran(std::vector<std::string> words) {
  words.insert(words.begin(), "payoff");
  std::ostringstream out;
  std::ostringstream err;
  payoff::Console console{out, err};
  const payoff::ExitCode code = payoff::run_program(words, payoff::all_commands(), console);
  return {static_cast<int>(code), std::move(out).str(), std::move(err).str()};
}

// The exit code, and what would have stood on stdout and stderr.
std::tuple<int, std::string, std::string> run(std::vector<std::string> words) {
  const pybind11::gil_scoped_release others_may_run;
  Ran done = ran(std::move(words));
  return {done.code, std::move(done.out), std::move(done.err)};
}

pybind11::object object_of(const payoff::SweepCell& cell,
                           const std::vector<pybind11::object>& texts) {
  return std::visit(
      [&](const auto& value) -> pybind11::object {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, std::monostate>) {
          return pybind11::none();
        } else if constexpr (std::is_same_v<Value, payoff::SweepText>) {
          return texts[value.place];
        } else {
          return pybind11::cast(value);
        }
      },
      cell);
}

// The same of a sweep, with its rows as columns instead of stdout.
std::tuple<int, pybind11::dict, std::string> sweep(std::vector<std::string> words) {
  payoff::SweepColumns found;
  Ran done;
  {
    const pybind11::gil_scoped_release others_may_run;
    done = ran(std::move(words));
    found = payoff::sweep_columns(done.out);
    done.out.clear();
  }
  std::vector<pybind11::object> texts;
  texts.reserve(found.texts.size());
  for (const std::string& text : found.texts) {
    texts.push_back(pybind11::cast(text));
  }
  pybind11::dict columns;
  for (payoff::SweepColumn& column : found.columns) {
    pybind11::list values(found.rows);
    for (std::size_t row = 0; row < found.rows; ++row) {
      values[row] = object_of(column.cells[row], texts);
    }
    columns[pybind11::cast(column.name)] = std::move(values);
    column.cells = {};
  }
  return {done.code, std::move(columns), std::move(done.err)};
}

template <class Q>
bool put_quantity(pybind11::dict& into, const payoff::Entry& entry, const char* unit) {
  const payoff::Parsed<Q> read = payoff::parse_quantity<Q>(entry.value.text);
  if (!read) {
    return false;
  }
  into[pybind11::cast(entry.key + unit)] = pybind11::cast((*read).si);
  return true;
}

pybind11::object object_of(const payoff::Node& node);

// "launch: 6.42 us" becomes launch_seconds, as everywhere in the program's JSON.
void put(pybind11::dict& into, const payoff::Entry& entry) {
  using Kind = payoff::Node::Kind;
  const bool plain = entry.value.kind != Kind::scalar || payoff::parse_number(entry.value.text);
  if (plain || (!put_quantity<payoff::Seconds>(into, entry, "_seconds") &&
                !put_quantity<payoff::Bytes>(into, entry, "_bytes") &&
                !put_quantity<payoff::Bandwidth>(into, entry, "_bytes_per_second") &&
                !put_quantity<payoff::Flops>(into, entry, "_flops") &&
                !put_quantity<payoff::FlopRate>(into, entry, "_flops_per_second"))) {
    into[pybind11::cast(entry.key)] = object_of(entry.value);
  }
}

pybind11::object object_of(const payoff::Node& node) {
  using Kind = payoff::Node::Kind;
  switch (node.kind) {
    case Kind::null:
      return pybind11::none();
    case Kind::list: {
      pybind11::list items;
      for (const payoff::Node& item : node.items) {
        items.append(object_of(item));
      }
      return items;
    }
    case Kind::map: {
      pybind11::dict entries;
      for (const payoff::Entry& entry : node.entries) {
        put(entries, entry);
      }
      return entries;
    }
    case Kind::scalar:
      break;
  }
  if (node.text == "true" || node.text == "false") {
    return pybind11::cast(node.text == "true");
  }
  const payoff::Parsed<double> number = payoff::parse_number(node.text);
  return number ? pybind11::cast(*number) : pybind11::cast(node.text);
}

pybind11::object read_yaml(const std::string& file) {
  payoff::SourceMap sources;
  payoff::Diagnostics wrong;
  const auto document = payoff::load_yaml_file(file, sources, wrong);
  if (!document) {
    throw std::runtime_error("cannot read " + file);
  }
  return object_of(document->root);
}

}  // namespace

PYBIND11_MODULE(_payoff, module) {
  module.doc() = "Commands of payoff in this process; use the package payoff.";
  module.def("run", &run, pybind11::arg("words"),
             "Runs `payoff WORDS`; returns (exit code, stdout, stderr). Other threads go on.");
  module.def("sweep", &sweep, pybind11::arg("words"),
             "Runs `payoff WORDS`, a sweep to stdout; returns (exit code, its rows as a dictionary "
             "of columns, stderr). Other threads go on while it runs.");
  module.def("read_yaml", &read_yaml, pybind11::arg("file"),
             "What a profile says: dictionaries, lists, numbers in SI whose keys end in their "
             "units, and texts.");
}
