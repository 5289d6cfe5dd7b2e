// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "cli/import_report.hpp"

namespace payoff {
namespace {

using Json = nlohmann::ordered_json;

Json step_json(const TracedStep& step) {
  return {{"name", step.name},
          {"host_seconds", step.host.si},
          {"wall_seconds", step.wall.si},
          {"compute_seconds", step.compute.si},
          {"hidden_seconds", step.hidden.si},
          {"exposed_seconds", step.exposed.si},
          {"idle_seconds", step.idle.si},
          {"whole", step.is_whole}};
}

Json stream_json(const TracedStream& stream) {
  return {{"device", stream.device},
          {"stream", stream.stream},
          {"events", stream.events},
          {"communications", stream.communications},
          {"span_seconds", stream.span.si},
          {"busy_seconds", stream.busy.si},
          {"overlap_seconds", stream.overlap.si},
          {"idle_seconds", stream.idle.si},
          {"late_seconds", stream.late.si}};
}

Json message_json(const TraceMessage& message) {
  std::vector<double> times;
  times.reserve(message.times.size());
  for (const std::int64_t time : message.times) {
    times.push_back(static_cast<double>(time) * 1e-9);
  }
  return {{"collective", name(message.collective)},
          {"group", message.group},
          {"ranks", message.ranks},
          {"type", message.type},
          {"size_bytes", message.size.si},
          {"calls", message.calls},
          {"time_seconds", times.empty() ? Json(nullptr) : Json(median(std::move(times)))}};
}

Json trace_json(const OneTrace& one) {
  const KinetoTrace& trace = one.trace;
  Json json = {{"file", trace.file},
               {"gpu", trace.gpu},
               {"rank", trace.rank >= 0 ? Json(trace.rank) : Json(nullptr)},
               {"ranks", trace.ranks > 0 ? Json(trace.ranks) : Json(nullptr)},
               {"nccl_version", trace.nccl_version},
               {"events", trace.events},
               {"device", one.timeline.device}};
  json["steps"] = Json::array();
  for (const TracedStep& step : one.timeline.steps) {
    json["steps"].push_back(step_json(step));
  }
  json["streams"] = Json::array();
  for (const TracedStream& stream : one.timeline.streams) {
    json["streams"].push_back(stream_json(stream));
  }
  json["messages"] = Json::array();
  for (const TraceMessage& message : trace.messages) {
    json["messages"].push_back(message_json(message));
  }
  return json;
}

Json pass_json(const std::vector<Seconds>& passes) {
  std::vector<double> times;
  times.reserve(passes.size());
  for (const Seconds time : passes) {
    times.push_back(time.si);
  }
  return {{"passes", passes.size()},
          {"median_seconds", times.empty() ? Json(nullptr) : Json(median(std::move(times)))}};
}

}  // namespace

void add_trace_json(const TraceReport& report, nlohmann::ordered_json& json) {
  json["format"] = "kineto";
  json["traces"] = Json::array();
  for (const OneTrace& one : report.traces) {
    json["traces"].push_back(trace_json(one));
  }
  json["layers"] = Json::array();
  for (const TracedLayer& layer : report.layers.layers) {
    json["layers"].push_back({{"layer", layer.layer},
                              {"forward", pass_json(layer.forward)},
                              {"backward", pass_json(layer.backward)}});
  }
  json["attributed_seconds"] = report.layers.attributed.si;
  json["attributable_seconds"] = report.layers.all.si;
  if (const auto job = job_of(report)) {
    json["observation"] = {{"step_seconds", job->step.si},
                           {"exposed_seconds", job->exposed.si},
                           {"spread_ratio", job->spread},
                           {"observed", job->observed}};
  } else {
    json["observation"] = nullptr;
  }
}

}  // namespace payoff
