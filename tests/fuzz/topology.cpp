// SPDX-License-Identifier: Apache-2.0
#include "sim/topology.hpp"

#include <string>

#include "profiles/check_topology.hpp"
#include "profiles/read_topology.hpp"
#include "tests/fuzz/target.hpp"

namespace payoff::fuzz {

std::string read_topology_file(std::string_view input) {
  Reading reading;
  const auto document =
      load_yaml_text("input", std::string(input), reading.sources(), reading.diagnostics());
  if (!document) {
    return reading.verdict(false);
  }
  const ReadTopology read = read_topology(*document, reading.sources(), reading.diagnostics());
  std::string told;
  for (const Problem& problem : check(read, false, sim::find_in_links)) {
    if (problem.message.empty()) {
      broken("a problem says something");
    }
    told += problem.path + " " + problem.message + "\n";
  }
  return told + reading.verdict();
}

}  // namespace payoff::fuzz
