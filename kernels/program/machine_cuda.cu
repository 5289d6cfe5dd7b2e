// SPDX-License-Identifier: Apache-2.0
// The GPU: its memory, and what it is. Nothing here has run on a GPU yet.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "kernels/device/gate.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/program/machine.hpp"
#include "kernels/program/outputs.hpp"
#include "kernels/program/power_library.hpp"

namespace payoff::kernels {
namespace {

int attribute(cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, 0), "cudaDeviceGetAttribute");
  return value;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

void* allocate_device(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, std::max<std::size_t>(bytes, 1)), "cudaMalloc");
  return memory;
}

void release_device(void* memory) noexcept { static_cast<void>(cudaFree(memory)); }

void copy_to_device(void* to, const void* from, std::size_t bytes) {
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
}
void copy_to_host(void* to, const void* from, std::size_t bytes) {
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
}
void fill_device(void* memory, std::uint8_t byte, std::size_t bytes) {
  check(cudaMemset(memory, byte, bytes), "cudaMemset");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}
void fill_in_stream(Stream stream, void* memory, std::uint8_t byte, std::size_t bytes) {
  check(cudaMemsetAsync(memory, byte, bytes, native(stream)), "cudaMemsetAsync");
}
void copy_in_stream(Stream stream, void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, native(stream)),
        "cudaMemcpyAsync");
}
void transfer_in_stream(Stream stream, void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, native(stream)), "cudaMemcpyAsync");
}
void* allocate_pinned(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, std::max<std::size_t>(bytes, 1)), "cudaMallocHost");
  return memory;
}
void release_pinned(void* memory) noexcept { static_cast<void>(cudaFreeHost(memory)); }

std::size_t devices() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? static_cast<std::size_t>(count) : 0;
}

void* allocate_on(std::size_t device, std::size_t bytes) {
  const auto other = static_cast<int>(device);
  int reaches = 0;
  check(cudaDeviceCanAccessPeer(&reaches, 0, other), "cudaDeviceCanAccessPeer");
  if (reaches == 0) {
    throw std::runtime_error("the driver lets the first device not reach another one's memory");
  }
  const cudaError_t opened = cudaDeviceEnablePeerAccess(other, 0);
  if (opened == cudaErrorPeerAccessAlreadyEnabled) {
    static_cast<void>(cudaGetLastError());
  } else {
    check(opened, "cudaDeviceEnablePeerAccess");
  }
  void* memory = nullptr;
  check(cudaSetDevice(other), "cudaSetDevice");
  const cudaError_t allocated = cudaMalloc(&memory, std::max<std::size_t>(bytes, 1));
  check(cudaSetDevice(0), "cudaSetDevice");
  check(allocated, "cudaMalloc");
  return memory;
}

void wait_for(Stream stream) {
  check(cudaStreamSynchronize(native(stream)), "cudaStreamSynchronize");
}
void check_last_launch() { check(cudaGetLastError(), "kernel launch"); }

std::size_t multiprocessors() {
  static const auto count = static_cast<std::size_t>(attribute(cudaDevAttrMultiProcessorCount));
  return count;
}

// CUDA loads a kernel when it is first launched, which may wait for the device: behind a kernel
// that waits for the host, until that gives up. So all are loaded at the start. The driver reads
// the variable when it is initialised, which counting the devices already does.
void set_up_process() { setenv("CUDA_MODULE_LOADING", "EAGER", 0); }

std::string why_no_device() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    return std::string(cudaGetErrorString(error)) + " (cudaGetDeviceCount: error " +
           std::to_string(static_cast<int>(error)) + ")";
  }
  return count == 0 ? "no CUDA device" : "";
}

// An error of one call is forgotten once it is asked for; one that stays is given by every call.
bool device_is_lost() {
  static_cast<void>(cudaGetLastError());
  return cudaDeviceSynchronize() != cudaSuccess;
}

bool is_emulated() { return false; }

Machine describe_machine() {
  Machine machine;
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  check(cudaGetDeviceCount(&machine.count), "cudaGetDeviceCount");
  machine.name = properties.name;
  const auto* uuid = reinterpret_cast<const std::uint8_t*>(properties.uuid.bytes);
  machine.uuid_hash = hexadecimal(fnv1a64(std::span(uuid, sizeof properties.uuid.bytes)), 16);
  machine.compute_capability =
      std::to_string(properties.major) + "." + std::to_string(properties.minor);
  machine.multiprocessors = multiprocessors();
  machine.l2 = Bytes{static_cast<double>(attribute(cudaDevAttrL2CacheSize))};
  machine.shared_per_multiprocessor =
      Bytes{static_cast<double>(attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor))};
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &all_bytes), "cudaMemGetInfo");
  machine.memory = Bytes{static_cast<double>(all_bytes)};
  machine.free_memory = Bytes{static_cast<double>(free_bytes)};
  machine.memory_bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth);
  machine.memory_clock_hz = 1e3 * attribute(cudaDevAttrMemoryClockRate);
  machine.clock_hz = 1e3 * attribute(cudaDevAttrClockRate);
  machine.ecc = attribute(cudaDevAttrEccEnabled) != 0;
  int driver = 0;
  int runtime = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  machine.driver = version_text(driver);
  machine.runtime = version_text(runtime);
  char place[32] = {};
  check(cudaDeviceGetPCIBusId(place, sizeof place, 0), "cudaDeviceGetPCIBusId");
  add_power_facts(place, machine);
  return machine;
}

void pause_for(Seconds time) {
  std::this_thread::sleep_for(std::chrono::duration<double>(time / 1.0_s));
}

// cudaEventElapsedTime's documentation gives the resolution: about half a microsecond.
Seconds timer_tick() { return 0.5_us; }

}  // namespace payoff::kernels
