// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <sstream>
#include <string>

#include "profiles/import/kineto_trace.hpp"

// Traces with known answers in the form of PyTorch's profiler. Times are whole microseconds after a
// start of 16 digits, as real ones are.

namespace payoff::test {

class TraceWriter {
 public:
  static constexpr int compute = 7;
  static constexpr int communication = 20;
  static constexpr int main_thread = 100;
  static constexpr int autograd_thread = 101;

  void event(const std::string& category, const std::string& name, int process, int thread,
             std::int64_t begin, std::int64_t duration, const std::string& args = {});
  void annotate(const std::string& name, std::int64_t begin, std::int64_t end,
                int thread = main_thread);
  // An operator; `forward_thread` above 0: of backward.
  void operate(std::int64_t begin, std::int64_t end, int thread, int sequence, int forward_thread);
  // A kernel, launched by a call of the thread at `launch`.
  void kernel(int stream, std::int64_t begin, std::int64_t duration, std::int64_t launch,
              int thread = main_thread, const std::string& name = "gemm",
              const std::string& more = {});
  // NCCL's kernel of an all-reduce, told as PyTorch does.
  void all_reduce(std::int64_t begin, std::int64_t duration, std::int64_t launch,
                  std::int64_t elements = 1000, int ranks = 8);

  [[nodiscard]] std::string text() const;
  [[nodiscard]] KinetoTrace read() const { return read_text(text()); }
  [[nodiscard]] static KinetoTrace read_text(const std::string& text);

 private:
  std::string events_;
  int correlation_ = 0;
};

// All findings, a line each.
[[nodiscard]] std::string findings_of(const std::string& text);

}  // namespace payoff::test
