// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/command_line.hpp"
#include "cli/session.hpp"
#include "study/trace_pricing.hpp"

// What `payoff import chakra` says of execution traces: what is in them, where their time goes, and
// what it would be on other numbers of ranks.

namespace payoff {

inline constexpr OptionSpec chakra_cluster_option{
    "--cluster", "NAME", "of `chakra`: price what the trace communicates anew on this cluster"};
inline constexpr OptionSpec chakra_nodes_option{
    "--nodes", "SERIES", "of `chakra`: on so many nodes of it, `1,2,4..64:x2`; default 1"};
inline constexpr OptionSpec chakra_pp_option{"--pp", "N", "of `chakra`: stages of the job"};
inline constexpr OptionSpec chakra_group_option{
    "--group", "NAME=ROLE",
    "of `chakra`: what a group (pg_name, `*` for the rest) is: dp, tp, cp, ep, all; `0=dp:8` where "
    "8 ranks were traced and the trace does not say so",
    Takes::values};

inline constexpr OptionSpec chakra_compress_option{
    "--compress", "METHOD",
    "of `chakra`: what the step would be with the data-parallel sums compressed, beside that "
    "without; several options, several methods",
    Takes::values};
inline constexpr OptionSpec chakra_gradient_option{
    "--gradient", "FORMAT", "of `chakra`: of the elements that are summed, fp32 unless given"};

struct CompressedScale {
  std::string strategy;
  RepricedTrace priced;
};

struct ScaledTrace {
  int nodes{};
  int ranks{};
  RepricedTrace priced;
  std::vector<CompressedScale> compressed;  // of --compress, in their order
};

struct OneChakra {
  ChakraTrace trace;
  std::vector<TraceMessages> messages;
  TraceReplay replay;  // at the durations of the trace
  std::vector<ScaledTrace> scales;
  int steps{1};
};

struct ChakraReport {
  std::vector<OneChakra> traces;
  std::string cluster;  // empty: none was asked for
};

// Prices what the traces communicate where --cluster asks for it; what is wrong with that is
// reported.
void scale_traces(const Arguments& arguments, ChakraReport& report, Session& session);

// "step=412ms,exposed=110ms", where a trace says when its nodes began; empty otherwise.
[[nodiscard]] std::string chakra_observation(const OneChakra& one);

[[nodiscard]] std::string chakra_text(const ChakraReport& report);
void add_chakra_json(const ChakraReport& report, nlohmann::ordered_json& json);

}  // namespace payoff
