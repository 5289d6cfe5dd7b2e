// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/collective_kind.hpp"
#include "model/hardware.hpp"
#include "model/nccl_constants.hpp"
#include "model/units.hpp"

// A collective as somebody measured it, in the terms of the model: the machine, the group, the
// call, and a time for every size. What the model prices is one process for every GPU without CUDA
// graphs; how the calls of a measurement were launched is told apart here.

namespace payoff {

enum class Launch { process_per_gpu, single_process, unknown };

struct CollectivePoint {
  Bytes size{};
  Seconds time{};
};

struct MeasuredCollective {
  std::string id;      // of the table
  std::string source;  // file of the table
  std::string system;  // machines of one kind, without the number of nodes
  Cluster cluster;     // laws may be empty
  Group group;
  Collective collective{};
  NcclRelease release{newest_nccl};
  Algorithm algorithm{Algorithm::none};  // pinned by the measurement
  Protocol protocol{Protocol::none};
  Launch launch{Launch::unknown};
  bool graph{};      // launches replayed by a CUDA graph
  bool irregular{};  // what the model does not describe: symmetric memory, a shared host
  // Over a NIC that is not its GPU's: tells of no law of a link, but of machines like it.
  bool misplaced{};
  std::vector<CollectivePoint> points;
};

}  // namespace payoff
