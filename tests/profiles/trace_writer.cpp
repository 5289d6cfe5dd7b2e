// SPDX-License-Identifier: Apache-2.0
#include "tests/profiles/trace_writer.hpp"

#include <fmt/format.h>

namespace payoff::test {

void TraceWriter::event(const std::string& category, const std::string& name, int process,
                        int thread, std::int64_t begin, std::int64_t duration,
                        const std::string& args) {
  constexpr std::int64_t start = 1'760'000'000'000'000;
  events_ += fmt::format(
      R"({}{{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}.000, "dur": {}, "args": {{{}}}}})",
      events_.empty() ? "" : ",\n", category, name, process, thread, start + begin, duration, args);
}

void TraceWriter::annotate(const std::string& name, std::int64_t begin, std::int64_t end,
                           int thread) {
  event("user_annotation", name, 1, thread, begin, end - begin);
}

void TraceWriter::operate(std::int64_t begin, std::int64_t end, int thread, int sequence,
                          int forward_thread) {
  event("cpu_op", "aten::op", 1, thread, begin, end - begin,
        fmt::format(R"("External id": {}, "Sequence number": {}, "Fwd thread id": {})",
                    1'000'000 + ++correlation_, sequence, forward_thread));
}

void TraceWriter::kernel(int stream, std::int64_t begin, std::int64_t duration, std::int64_t launch,
                         int thread, const std::string& name, const std::string& more) {
  ++correlation_;
  event("cuda_runtime", "cudaLaunchKernel", 1, thread, launch, 1,
        fmt::format(R"("cbid": 211, "correlation": {})", correlation_));
  event("kernel", name, 0, stream, begin, duration,
        fmt::format(R"("External id": {0}, "device": 0, "stream": {1}, "correlation": {0}{2})",
                    correlation_, stream, more));
}

void TraceWriter::all_reduce(std::int64_t begin, std::int64_t duration, std::int64_t launch,
                             std::int64_t elements, int ranks) {
  kernel(communication, begin, duration, launch, main_thread,
         "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
         fmt::format(R"(, "Collective name": "allreduce", "In msg nelems": {0}, )"
                     R"("Out msg nelems": {0}, "Group size": {1}, "dtype": "BFloat16", )"
                     R"("Process Group Name": "0", "Process Group Description": "default_pg")",
                     elements, ranks));
}

std::string TraceWriter::text() const {
  return R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB"}],)"
         "\n"
         R"("distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, )"
         R"("pg_config": [{"pg_name": "0", "ranks": [0, 1]}], "nccl_version": "2.21.5"},)"
         "\n\"traceEvents\": [\n" +
         events_ + "\n], \"traceName\": \"t\"}\n";
}

KinetoTrace TraceWriter::read_text(const std::string& text) {
  std::istringstream stream(text);
  return read_kineto(stream, "t.json");
}

std::string findings_of(const std::string& text) {
  std::string all;
  for (const Finding& finding : TraceWriter::read_text(text).findings) {
    all += to_text(finding) + "\n";
  }
  return all;
}

}  // namespace payoff::test
