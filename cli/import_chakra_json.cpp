// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/import_chakra.hpp"

namespace payoff {
namespace {

using Json = nlohmann::ordered_json;

Json times_json(const TraceTimes& times) {
  return {{"wall_seconds", times.wall.si},
          {"compute_seconds", times.compute.si},
          {"hidden_seconds", times.hidden.si},
          {"exposed_seconds", times.exposed.si},
          {"idle_seconds", times.idle.si}};
}

Json replay_json(const TraceReplay& replay, const ChakraTrace& trace) {
  Json json = times_json(replay.times);
  json["chain_seconds"] = replay.chain.si;
  json["path"] = Json::array();
  for (const std::size_t node : replay.path) {
    json["path"].push_back(trace.nodes[node].id);
  }
  for (int i = 0; i < trace_work_count; ++i) {
    json["path_seconds"][std::string(name(static_cast<TraceWork>(i)))] =
        replay.path_time.at(static_cast<std::size_t>(i)).si;
  }
  return json;
}

Json types_json(const ChakraTrace& trace) {
  std::map<std::pair<ChakraNodeType, bool>, std::pair<int, Seconds>> sums;
  for (const ChakraNode& node : trace.nodes) {
    auto& [count, time] = sums[{node.type, work_of(node) == TraceWork::host}];
    ++count;
    time += static_cast<double>(node.duration_us) * 1_us;
  }
  Json types = Json::array();
  for (const auto& [kind, sum] : sums) {
    types.push_back({{"type", name(kind.first)},
                     {"on_host", kind.second},
                     {"nodes", sum.first},
                     {"time_seconds", sum.second.si}});
  }
  return types;
}

Json messages_json(const OneChakra& one) {
  Json messages = Json::array();
  for (const TraceMessages& each : one.messages) {
    const int ranks = told_ranks(one.trace, each.group);
    messages.push_back({{"collective", kind_name(each)},
                        {"group", each.group},
                        {"ranks", ranks > 0 ? Json(ranks) : Json(nullptr)},
                        {"put_in_bytes", each.bytes},
                        {"calls", each.nodes.size()},
                        {"time_seconds", each.told.si / static_cast<double>(each.nodes.size())}});
  }
  return messages;
}

Json scale_json(const ScaledTrace& scaled, const ChakraTrace& trace) {
  Json json = {{"nodes", scaled.nodes}, {"ranks", scaled.ranks}};
  json["replay"] = replay_json(scaled.priced.replay, trace);
  json["sd_seconds"] = scaled.priced.sd.si;
  json["messages"] = Json::array();
  for (const PricedMessages& each : scaled.priced.messages) {
    json["messages"].push_back({{"role", name(each.role)},
                                {"ranks", each.ranks.ranks},
                                {"size_bytes", each.size.si},
                                {"time_seconds", each.price.time.si},
                                {"relative_sd", each.price.relative_sd},
                                {"algorithm", name(each.price.algorithm)},
                                {"extrapolated", each.price.extrapolated}});
  }
  if (!scaled.compressed.empty()) {
    json["compressed"] = Json::array();
  }
  for (const CompressedScale& other : scaled.compressed) {
    const TraceTimes& times = other.priced.replay.times;
    Json entry{{"strategy", other.strategy}};
    entry.update(times_json(times));
    entry["sd_seconds"] = other.priced.sd.si;
    entry["speedup"] = scaled.priced.replay.times.wall / times.wall;
    json["compressed"].push_back(std::move(entry));
  }
  return json;
}

Json trace_json(const OneChakra& one) {
  const ChakraTrace& trace = one.trace;
  Json json = {{"file", trace.file},
               {"schema_version", trace.version},
               {"nodes", trace.nodes.size()},
               {"steps", one.steps}};
  json["types"] = types_json(trace);
  json["messages"] = messages_json(one);
  json["traced"] = tells_starts(trace) ? times_json(told_times(trace)) : Json(nullptr);
  json["replay"] = replay_json(one.replay, trace);
  json["scales"] = Json::array();
  for (const ScaledTrace& scaled : one.scales) {
    json["scales"].push_back(scale_json(scaled, trace));
  }
  const std::string observed = chakra_observation(one);
  json["observed"] = observed.empty() ? Json(nullptr) : Json(observed);
  return json;
}

}  // namespace

void add_chakra_json(const ChakraReport& report, nlohmann::ordered_json& json) {
  json["format"] = "chakra";
  json["cluster"] = report.cluster.empty() ? Json(nullptr) : Json(report.cluster);
  json["traces"] = Json::array();
  for (const OneChakra& one : report.traces) {
    json["traces"].push_back(trace_json(one));
  }
}

}  // namespace payoff
