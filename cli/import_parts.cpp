// SPDX-License-Identifier: Apache-2.0
#include "cli/import_parts.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/finding_places.hpp"
#include "cli/json_output.hpp"
#include "cli/option_values.hpp"

namespace payoff {
namespace {

// Larger files are not read again to show a line of them.
constexpr std::uintmax_t most_shown = std::uintmax_t{64} << 20U;

}  // namespace

void report_import_finding(const Finding& finding, Session& session) {
  const Severity severity = finding.effect == Effect::noted ? Severity::warning : Severity::error;
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(finding.file, unknown);
  if (unknown || size > most_shown) {
    session.diagnostics().add({severity, to_text(finding), std::nullopt, "", "", {}});
  } else {
    report_finding(finding, severity, "", session);
  }
}

void write_import_result(const std::string& text, const nlohmann::ordered_json& json,
                         const std::optional<std::string>& csv, const Arguments& arguments,
                         Session& session) {
  OutputFiles files;
  std::string said = text;
  if (const auto out = arguments.value(import_out_option.name); out && csv) {
    files.add(out->text, *csv);
    said += fmt::format("Wrote {}.\n", out->text);
  }
  // Names of hosts and paths may have bytes of any encoding.
  const std::string dumped =
      json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  deliver({said, dumped + "\n", {}}, arguments, files, session);
}

std::string left_out_rows(std::size_t rows, std::string_view what, std::string_view where) {
  return rows > most_table_rows ? fmt::format("... and {} {} ({} has them all).\n",
                                              rows - most_table_rows, what, where)
                                : "";
}

std::optional<int> import_steps(const Arguments& arguments, Session& session) {
  constexpr std::int64_t most_steps = 1'000'000'000;
  return integer_value(arguments, import_steps_option.name, {1, most_steps}, session);
}

}  // namespace payoff
