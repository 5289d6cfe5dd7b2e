// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "profiles/diagnostics.hpp"
#include "profiles/import/nccl_debug.hpp"
#include "profiles/source_map.hpp"

// What a job's messages were, from what PyTorch's Flight Recorder kept of them (the text of
// torch._C._distributed_c10d._dump_nccl_trace_json(), or a pickled dump written as JSON): one file
// a rank, with the groups that the rank is in (`pg_config`) and the last calls that it made
// (`entries`: torch/csrc/distributed/c10d/FlightRecorderDetail.hpp). Formats 2.0 to 2.10, of
// PyTorch 2.4 and later.
//
// The same account as that of NCCL's log (profiles/import/nccl_debug.hpp), but for nodes, of which
// the recorder knows nothing. Sizes are those of the larger of what goes in and what comes out: the
// buffer that nccl-tests counts.

namespace payoff {

class FlightRecorderReader {
 public:
  FlightRecorderReader(SourceMap& sources, Diagnostics& diagnostics);
  FlightRecorderReader(const FlightRecorderReader&) = delete;
  FlightRecorderReader& operator=(const FlightRecorderReader&) = delete;
  ~FlightRecorderReader();

  // The text of a file; what is wrong with it is reported at its place.
  void read(std::string text, const std::string& file);
  // Once, after all files.
  [[nodiscard]] NcclDebugLog finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace payoff
