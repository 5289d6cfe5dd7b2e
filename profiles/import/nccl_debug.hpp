// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/collective_kind.hpp"
#include "model/units.hpp"
#include "profiles/import/finding.hpp"

// What a job's messages were, from what NCCL (or RCCL) printed with NCCL_DEBUG=INFO and
// NCCL_DEBUG_SUBSYS=INIT,COLL: which groups of ranks talked, on which nodes they are, and how many
// messages of which size each group exchanged. Not to be confused with the text of nccl-tests
// (profiles/import/nccl_log.hpp). The files may be one for all ranks or one for each
// (NCCL_DEBUG_FILE=nccl.%h.%p); they are read line by line and not kept.
//
// A log has calls, not times: it says nothing of how long a message took.

namespace payoff {

// Groups of one shape.
struct LoggedGroups {
  int ranks{};
  int nodes{};   // that one of them spans; 0: the log does not say
  int stride{};  // between its ranks, as counted in the whole job; 0: uneven, or not known
  std::vector<int> example;  // the ranks of the first one; empty: not known
  int groups{};
  int communicators{};  // of ranks that are in the log
};

// Messages of one size, over all groups of one shape.
struct LoggedMessages {
  Collective collective{};
  std::size_t groups{};  // which of NcclDebugLog::groups
  std::string type;      // of the elements: "bfloat16"
  Bytes size{};          // as nccl-tests counts it
  std::int64_t calls{};  // of all ranks that are in the log
  double
      calls_a_rank{};  // mean of the log's GPUs that are in such groups, whether in one or in more
};

struct LoggedNode {
  std::string host;
  std::vector<int> ranks;  // of the whole job, sorted; empty: not known
  int gpus{};              // processes and devices seen
};

struct NcclDebugLog {
  std::string version;                                            // of NCCL; empty: not stated
  int ranks{};                                                    // of the largest group
  std::vector<LoggedNode> nodes;                                  // by name
  std::vector<LoggedGroups> groups;                               // the largest first
  std::vector<LoggedMessages> messages;                           // by collective, shape and size
  std::vector<std::pair<std::string, std::int64_t>> connections;  // by transport
  int channels{};  // of collectives, the most of any group; 0: not stated
  std::int64_t lines{};
  std::int64_t calls{};
  Findings findings;  // `rejected`: lines that are cut or garbled
};

// The files of one job.
class NcclDebugReader {
 public:
  NcclDebugReader();
  NcclDebugReader(const NcclDebugReader&) = delete;
  NcclDebugReader& operator=(const NcclDebugReader&) = delete;
  ~NcclDebugReader();

  void read(std::istream& text, const std::string& file);
  // Once, after all files. A job without a call or a group is a finding.
  [[nodiscard]] NcclDebugLog finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace payoff
