// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/network_fit.hpp"
#include "model/collective.hpp"
#include "model/measured_collective.hpp"
#include "profiles/import/nccl_tables.hpp"
#include "profiles/import/split.hpp"
#include "profiles/library.hpp"

// From the published tables of collectives to profiles/fitted/network.yaml, and back: what the
// shipped laws say about every published message size. Tables of the fit half alone are fitted;
// a table that cannot be expressed keeps its reasons and is never counted silently.

namespace payoff {

// A table that is not a case, and why: each reason names the missing or unsupported field.
struct UnusedTable {
  std::string id;
  std::vector<std::string> reasons;
};

struct NetworkCalibration {
  NetworkFit fit;
  std::vector<UnusedTable> left_out;  // of the fit half
  std::string profile;                // the text of fitted/network.yaml
};

// `validation` is the folder tests/validation. Throws std::runtime_error with every finding when
// the data or a profile cannot be used.
[[nodiscard]] NetworkCalibration calibrate_network(const Library& library,
                                                   const std::filesystem::path& validation);

// One message size of a table.
struct CollectiveCase {
  CollectivePoint measured;
  CollectivePrice predicted;
  Seconds wire{};      // of `predicted`: the bytes at the bandwidth that large messages reach
  Seconds latency{};   // of `predicted`, before launches make it wait
  Seconds launches{};  // of `predicted`: what one process that drives many GPUs makes it wait
  bool comparable{};   // not: launches of other GPUs' kernels, CUDA graphs (network_fit)
  std::optional<Seconds> tuner;  // NCCL's own estimate of the same choice
};

struct CollectiveTable {
  std::string id;
  std::string source;
  std::string system;  // as in the split
  std::string link;  // whose law decides: the network of a group that spans nodes, else the fabric
  Half half{Half::none};
  bool link_seen{};  // a table of the fit half has the link
  MeasuredCollective measured;
  std::vector<CollectiveCase> cases;
  std::vector<std::string> reasons;  // why there are no cases
};

// Every table with the shipped laws, in the order given. Throws as above for an unusable profile.
[[nodiscard]] std::vector<CollectiveTable> predict_collectives(const std::vector<NcclTable>& tables,
                                                               const Split& split,
                                                               const Library& library);

}  // namespace payoff
