// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/harness/measure.hpp"
#include "kernels/program/benchmark.hpp"

// The machine that samples are taken on: what it is, and one sample of one work. machine_cuda.cu
// is the GPU; machine_emulated.cpp runs the same kernels on the CPU, where times mean nothing.

namespace payoff::kernels {

struct Machine {
  std::string name;
  std::string uuid_hash;  // 16 hexadecimal digits; empty: unknown
  int count{1};
  std::string compute_capability;
  std::size_t multiprocessors{};
  Bytes l2{};
  Bytes shared_per_multiprocessor{};
  Bytes memory{};
  Bytes free_memory{};
  int memory_bus_bits{};
  double memory_clock_hz{};
  double clock_hz{};
  bool ecc{};
  std::string driver;
  std::string runtime;
  // By NVML, where it is there.
  std::optional<double> power_limit_w;
  std::optional<double> temperature_c;
  std::optional<std::string> throttle_reasons;
  std::optional<bool> mig;
};

// Before anything else of the process: what has to be set before the driver is first called.
void set_up_process();
// Why there is nothing to measure on; empty where there is.
[[nodiscard]] std::string why_no_device();
// Whether an error has left nothing that works until the process ends, as an illegal access does;
// one call that failed does not.
[[nodiscard]] bool device_is_lost();
[[nodiscard]] Machine describe_machine();
[[nodiscard]] bool is_emulated();

struct Library {
  std::string name;  // "cublas", "cupti", "cusolver", "nccl", "nvml"
  std::string version;
};
// Those that were found at run time, in the order of their names.
[[nodiscard]] std::vector<Library> libraries();
[[nodiscard]] bool has_library(const std::string& name);

enum class State { cold, hot };
enum class Mode { stream, graph };

// Takes samples of one work. Cold: a sweep over other memory fills the L2 cache before each. Hot:
// the work itself has just run. A graph holds all launches of one run.
class Sampler {
 public:
  Sampler(const Work& work, State state, Mode mode);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  [[nodiscard]] Sample take();

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

void pause_for(Seconds time);
// Of the events that samples are timed with.
[[nodiscard]] Seconds timer_tick();

}  // namespace payoff::kernels
