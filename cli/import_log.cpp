// SPDX-License-Identifier: Apache-2.0
#include "cli/import_log.hpp"

#include <istream>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/file_text.hpp"
#include "cli/import_files.hpp"
#include "cli/import_parts.hpp"
#include "cli/import_report.hpp"
#include "cli/json_output.hpp"
#include "profiles/import/flight_recorder.hpp"

namespace payoff {
namespace {

ExitCode told(const LogReport& report_of, const Arguments& arguments, Session& session) {
  for (const Finding& finding : report_of.log.findings) {
    report_import_finding(finding, session);
  }
  if (session.diagnostics().has_errors()) {
    return session.report();
  }
  nlohmann::ordered_json json = json_envelope("import", session);
  add_log_json(report_of, json);
  write_import_result(log_text(report_of), json, log_csv(report_of), arguments, session);
  return session.report();
}

}  // namespace

ExitCode import_nccl_log(const Arguments& arguments, Session& session) {
  LogReport report_of;
  report_of.steps = import_steps(arguments, session);
  report_of.files = arguments.behind_action();
  NcclDebugReader reader;
  for (const std::string& file : report_of.files) {
    with_import_file(file, session, [&](std::istream& stream) { reader.read(stream, file); });
  }
  report_of.log = reader.finish();
  return told(report_of, arguments, session);
}

ExitCode import_flight_recorder(const Arguments& arguments, Session& session) {
  LogReport report_of;
  report_of.format = "flight-recorder";
  report_of.steps = import_steps(arguments, session);
  report_of.files = arguments.behind_action();
  FlightRecorderReader reader(session.sources(), session.diagnostics());
  for (const std::string& file : report_of.files) {
    session.reads(file);
    reader.read(contents_of(file), file);
  }
  report_of.log = reader.finish();
  return told(report_of, arguments, session);
}

}  // namespace payoff
