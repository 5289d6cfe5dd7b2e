// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/import_report.hpp"
#include "cli/session.hpp"

// What traces that can be read lack for what is asked of them.

namespace payoff {

// What their events' names say, which are not kept.
struct TraceContent {
  std::vector<std::string> foreign;      // files without an event of PyTorch's kinds
  std::vector<std::string> annotations;  // all there are
  std::set<std::string> unfit;           // those that a rule would make a name no table can hold

  void take(const KinetoTrace& trace, const std::vector<LayerRule>& rules);
};

// `out`: where the table of layers goes.
void check_traces(const TraceReport& read, const TraceContent& content,
                  const std::optional<Argument>& out, Session& session);

}  // namespace payoff
