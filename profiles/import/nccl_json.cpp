// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "profiles/import/nccl_log.hpp"
#include "profiles/import/nccl_run.hpp"

namespace payoff {

namespace {

using nlohmann::json;

// Members of `value`, or null where it is no object or has none of this name.
const json& member(const json& value, const char* name) {
  static const json nothing;
  if (!value.is_object()) {
    return nothing;
  }
  const auto found = value.find(name);
  return found == value.end() ? nothing : *found;
}

std::optional<double> number(const json& value) {
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

std::string text_of(const json& value) { return value.is_string() ? value.get<std::string>() : ""; }

int whole(const json& value) { return value.is_number_integer() ? value.get<int>() : 0; }

// `time`, or `cpu_time` of a run that reports the time of the processor.
std::optional<double> time_us(const json& part) {
  const std::optional<double> time = number(member(part, "time"));
  return time ? time : number(member(part, "cpu_time"));
}

}  // namespace

NcclImport parse_nccl_json(const std::string& text, const std::string& file) {
  NcclImport result;
  const json document = json::parse(text, nullptr, false);
  const json& rows = member(document, "results");
  if (document.is_discarded() || !rows.is_array()) {
    const char* problem =
        document.is_discarded() ? "not readable as JSON" : "has no list `results` of nccl-tests";
    result.findings.push_back({file, 0, 0, "", problem, Effect::rejected});
    return result;
  }
  import_detail::NcclRun run;
  const json& arguments = member(document, "args");
  if (arguments.is_array() && !arguments.empty()) {
    run.program = text_of(arguments.front());
  }
  const int code = whole(member(document, "nccl_version"));
  run.nccl_version = code > 0 ? nccl_version_text(code) : "";
  const json& config = member(document, "config");
  run.threads = whole(member(config, "nthreads"));
  run.gpus_per_thread = whole(member(config, "ngpus"));
  run.graph = whole(member(config, "graph")) > 0;
  for (const json& device : member(config, "devices")) {
    run.hosts.push_back(text_of(member(device, "hostname")));
    run.devices.push_back(text_of(member(device, "device_info")));
  }
  for (const json& row : rows) {
    const json& first = member(row, "out_of_place");
    run.rows.push_back({0, number(member(row, "size")), time_us(first),
                        time_us(member(row, "in_place")), number(member(first, "alg_bw")),
                        number(member(first, "bus_bw"))});
    run.dtype = text_of(member(row, "type"));
  }
  import_detail::append_table(run, file, result);
  return result;
}

}  // namespace payoff
