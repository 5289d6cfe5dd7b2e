// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "model/collective_kind.hpp"
#include "model/units.hpp"
#include "profiles/import/finding.hpp"

// A trace of PyTorch's profiler (Kineto), as export_chrome_trace and tensorboard_trace_handler
// write it: one JSON object with `traceEvents`, of one rank. Read as a stream: what is not needed
// is not kept, so that traces of gigabytes fit. Formats of PyTorch 1.8 to 2.9 (libkineto/src/
// output_json.cpp of pytorch/kineto, torch/csrc/profiler/util.cpp of pytorch/pytorch for what is
// told of messages). Other programs' Chrome traces have no `cat` of these and read as empty.
//
// Times are whole nanoseconds since the first event: the file's microseconds since 1970 have more
// digits than a double.

namespace payoff {

struct GpuEvent {
  std::int64_t begin{};
  std::int64_t end{};
  std::int64_t correlation{-1};  // with the call that launched it
  std::int64_t external{-1};     // with the operator that launched it
  int device{};
  int stream{};
  bool communicates{};
};

// An operator on a CPU thread.
struct TraceOperator {
  std::int64_t begin{};
  std::int64_t end{};
  std::int64_t external{-1};
  std::int64_t sequence{-1};  // joins an operator and its part of backward
  int thread{};
  bool is_backward{};
};

// What record_function (or nn.Module, with with_modules) put around operators.
struct TraceAnnotation {
  std::int64_t begin{};
  std::int64_t end{};
  int thread{};
  int name{};  // of KinetoTrace::names
};

// A call of the CUDA runtime or driver.
struct TraceLaunch {
  std::int64_t begin{};
  std::int64_t correlation{};
  int thread{};
};

struct TraceStep {
  std::int64_t begin{};
  std::int64_t end{};
  std::string name;  // "ProfilerStep#7"
};

// Messages of one size in one group.
struct TraceMessage {
  Collective collective{};
  int ranks{};
  std::string group;  // "mesh_tp", "default_pg"; empty: not told
  std::string type;
  Bytes size{};  // as nccl-tests counts it
  std::int64_t calls{};
  std::vector<std::int64_t> times;  // of the kernels, ns; empty: the trace does not join them
};

struct KinetoTrace {
  std::string file;
  std::string gpu;  // "NVIDIA H100 80GB HBM3"; empty: not told
  int rank{-1};
  int ranks{};
  std::string nccl_version;
  std::int64_t events{};  // all of them
  std::vector<GpuEvent> gpu_events;
  std::vector<TraceOperator> operators;
  std::vector<TraceAnnotation> annotations;
  std::vector<TraceLaunch> launches;
  std::vector<TraceStep> steps;
  std::vector<TraceMessage> messages;
  std::vector<std::string> names;  // of annotations
  Findings findings;
};

// Errors have the byte's line and column and the path of the value: traceEvents[12].args.stream.
// After one that makes the file no JSON nothing more is read.
[[nodiscard]] KinetoTrace read_kineto(std::istream& text, const std::string& file);

}  // namespace payoff
