// SPDX-License-Identifier: Apache-2.0
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "cli/commands.hpp"
#include "cli/program.hpp"

// The one function of the module _payoff: a command of the program, run in this process. What a
// command answers as JSON is what Python gets, so that the two cannot differ in a digit; python/
// payoff/__init__.py makes objects, columns and exceptions of it.

namespace {

// The exit code, and what would have stood on stdout and stderr.
std::tuple<int, std::string, std::string> run(std::vector<std::string> words) {
  const pybind11::gil_scoped_release others_may_run;
  words.insert(words.begin(), "payoff");
  std::ostringstream out;
  std::ostringstream err;
  payoff::Console console{out, err};
  const payoff::ExitCode code = payoff::run_program(words, payoff::all_commands(), console);
  return {static_cast<int>(code), out.str(), err.str()};
}

}  // namespace

PYBIND11_MODULE(_payoff, module) {
  module.doc() = "Commands of payoff in this process; use the package payoff.";
  module.def("run", &run, pybind11::arg("words"),
             "Runs `payoff WORDS`; returns (exit code, stdout, stderr). Other threads go on.");
}
