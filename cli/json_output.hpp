// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "cli/command_line.hpp"
#include "cli/output_files.hpp"
#include "cli/session.hpp"

// What every JSON result begins with: the version of the schema, the tool, the command line. Units
// are in the names of the keys (`step_seconds`, `busbw_bytes_per_second`), keys keep their order,
// and numbers are written so that they read back exactly.

namespace payoff {

inline constexpr int result_schema = 1;

[[nodiscard]] nlohmann::ordered_json json_envelope(std::string_view command,
                                                   const Session& session);

// Where a result goes: the table to stdout, unless JSON or CSV was asked for there; files first,
// all or nothing. A file that was read is not written over (cli/output_guard.hpp): that is
// reported, and nothing is printed or written.
struct Rendering {
  std::string table;
  std::string json;
  std::string csv;
};
void deliver(const Rendering& rendering, const Arguments& arguments, OutputFiles& files,
             Session& session);

}  // namespace payoff
