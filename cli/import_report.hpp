// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "profiles/import/kineto_trace.hpp"
#include "profiles/import/nccl_debug.hpp"
#include "profiles/import/trace_layers.hpp"
#include "profiles/import/trace_timeline.hpp"

// What `payoff import` says of logs and traces, as text, JSON and CSV.

namespace payoff {

struct LogReport {
  std::string format{"nccl-log"};  // or "flight-recorder"
  NcclDebugLog log;
  std::vector<std::string> files;
  std::optional<int> steps;  // that the log is of
};

[[nodiscard]] std::string log_text(const LogReport& report);
[[nodiscard]] std::string log_csv(const LogReport& report);
void add_log_json(const LogReport& report, nlohmann::ordered_json& json);

struct OneTrace {
  KinetoTrace trace;  // without its events
  TraceTimeline timeline;
};

struct TraceReport {
  std::vector<OneTrace> traces;
  TracedLayers layers;
};

// Why a trace tells nothing of how long a step takes; empty: it tells.
[[nodiscard]] std::string why_no_measurement(const TraceTimeline& timeline);

// The middle whole step of the middle rank, of traces that tell it; nothing where none does.
struct TracedJob {
  Seconds step{};
  Seconds exposed{};
  double spread{};         // standard deviation of the steps of all ranks, relative
  double noise{};          // the same as --observed takes it: 2 % at least
  std::string observed{};  // for --observed: "step=412345.678us,exposed=110.2us"
};
[[nodiscard]] std::optional<TracedJob> job_of(const TraceReport& report);

[[nodiscard]] std::string trace_text(const TraceReport& report);
void add_trace_json(const TraceReport& report, nlohmann::ordered_json& json);

}  // namespace payoff
