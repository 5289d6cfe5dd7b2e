// SPDX-License-Identifier: Apache-2.0
// The machine without a GPU: memory is the host's, kernels run on the emulated grid, and a sample
// is the time that the emulation took, which says nothing about any GPU.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include "kernels/device/launch.cuh"
#include "kernels/program/collectives.hpp"
#include "kernels/program/factorizations.hpp"
#include "kernels/program/machine.hpp"
#include "kernels/program/matrix_products.hpp"
#include "kernels/program/timer_check.hpp"
#include "kernels/program/together.hpp"

namespace payoff::kernels {

void* allocate_device(std::size_t bytes) {
  constexpr std::size_t alignment = 256;  // as cudaMalloc's
  void* memory = std::aligned_alloc(alignment, divided_up(bytes + 1, alignment) * alignment);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

void release_device(void* memory) noexcept { std::free(memory); }

void copy_to_device(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
void copy_to_host(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
void fill_device(void* memory, std::uint8_t byte, std::size_t bytes) {
  std::memset(memory, byte, bytes);
}
void fill_in_stream(Stream /*stream*/, void* memory, std::uint8_t byte, std::size_t bytes) {
  emulation::count_launch();
  std::memset(memory, byte, bytes);
}
void copy_in_stream(Stream /*stream*/, void* to, const void* from, std::size_t bytes) {
  emulation::count_launch();
  std::memcpy(to, from, bytes);
}
void transfer_in_stream(Stream /*stream*/, void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}
void* allocate_pinned(std::size_t bytes) { return allocate_device(bytes); }
void release_pinned(void* memory) noexcept { release_device(memory); }
std::size_t devices() { return 1; }
void* allocate_on(std::size_t /*device*/, std::size_t /*bytes*/) {
  throw std::logic_error("the emulated grid is one device");
}
void wait_for(Stream /*stream*/) {}
void check_last_launch() {}
// Few: kernels whose threads stride go round more than once even on small tensors.
std::size_t multiprocessors() { return 1; }

void set_up_process() {}
std::string why_no_device() { return {}; }
bool device_is_lost() { return false; }
bool is_emulated() { return true; }

Machine describe_machine() {
  Machine machine;
  machine.name = "emulated";
  machine.compute_capability = "0.0";
  machine.multiprocessors = multiprocessors();
  machine.l2 = Bytes{1e6};
  machine.memory = Bytes{1e9};
  machine.free_memory = Bytes{1e9};
  machine.clock_hz = 1e9;
  return machine;
}

std::vector<Library> libraries() { return {}; }
// None that could be measured; products are there for checks (matrix_products_emulated.cpp).
bool has_library(const std::string& /*name*/) { return false; }

struct Sampler::Inside {
  std::function<void(Stream)> run;
};

Sampler::Sampler(const Work& work, State /*state*/, Mode /*mode*/)
    : inside_(std::make_unique<Inside>(Inside{work.run})) {}
Sampler::~Sampler() = default;

Sample Sampler::take() {
  const auto start = std::chrono::steady_clock::now();
  inside_->run(Stream{});
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  return {Seconds{spent.count() + 1e-9}, 1.0};
}

// One after the other; that each took its parts at once is as good as any other answer here.
Together run_together(std::span<const QueuedWork> works, unsigned parts) {
  Together result;
  for (const QueuedWork& queued : works) {
    queued.work->run(Stream{});
    Timeline timeline{{}, static_cast<double>(queued.runs_a_part)};
    for (unsigned part = 0; part < parts; ++part) {
      timeline.ends.push_back(static_cast<double>(part + 1) * 1_ms);
    }
    result.timelines.push_back(std::move(timeline));
  }
  return result;
}

void pause_for(Seconds /*time*/) {}
Seconds timer_tick() { return 1_us; }

bool factorizations_are_available() { return false; }
struct Orthogonalization::Inside {};
Orthogonalization::Orthogonalization(std::size_t /*rows*/, std::size_t /*columns*/) {
  throw std::logic_error("no library factorizes on the emulated grid");
}
Orthogonalization::~Orthogonalization() = default;
void Orthogonalization::run(Stream /*stream*/, float* /*tall*/) const {}
// NOLINTNEXTLINE(readability-convert-member-functions-to-static): on a device it reads the work
int Orthogonalization::status() const { return 0; }

TimerCheck check_timer() { return not_checked("the emulated grid has no events"); }

bool fp8_products_are_available() { return false; }
void multiply_fp8(Stream /*stream*/, const ProductSize& /*size*/, const void* /*a*/,
                  const void* /*b*/, void* /*c*/) {
  throw std::logic_error("no library multiplies on the emulated grid");
}

bool collectives_are_available() { return false; }
struct CollectiveWork::Inside {};
CollectiveWork::CollectiveWork(CollectiveKind /*kind*/, std::size_t /*elements*/) {
  throw std::logic_error("the emulated grid is one device");
}
CollectiveWork::~CollectiveWork() = default;
void CollectiveWork::run(Stream /*stream*/) const {}
// NOLINTNEXTLINE(readability-convert-member-functions-to-static): on a device it reads the work
std::string CollectiveWork::mismatch() const { return {}; }

}  // namespace payoff::kernels
