// SPDX-License-Identifier: Apache-2.0
// Nothing here has run on a GPU yet.
#include <stdexcept>
#include <vector>

#include <cuda_runtime.h>

#include "kernels/device/gate.cuh"
#include "kernels/program/collectives.hpp"
#include "kernels/program/dynamic_library.hpp"
#include "kernels/program/libraries.hpp"

namespace payoff::kernels {
namespace {

// Of nccl.h, version 2.
using Communicator = void*;
constexpr int float32 = 7;
constexpr int sum = 0;
using GetVersion = int(int*);
using InitAll = int(Communicator*, int, const int*);
using Group = int();
using Reduce = int(const void*, void*, std::size_t, int, int, Communicator, cudaStream_t);
using Gather = int(const void*, void*, std::size_t, int, Communicator, cudaStream_t);

void check_nccl(int status, const char* what) {
  if (status != 0) {
    throw std::runtime_error(std::string(what) + ": NCCL status " + std::to_string(status));
  }
}

// Another GPU is current as long as this lives; whatever happens, then the one before it again.
class CurrentDevice {
 public:
  explicit CurrentDevice(std::size_t device) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    check(cudaSetDevice(static_cast<int>(device)), "cudaSetDevice");
  }
  ~CurrentDevice() { static_cast<void>(cudaSetDevice(before_)); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

struct Nccl {
  DynamicLibrary library{{"libnccl.so.2", "libnccl.so"}};
  InitAll* init_all = library.function<InitAll>("ncclCommInitAll");
  Group* begin = library.function<Group>("ncclGroupStart");
  Group* end = library.function<Group>("ncclGroupEnd");
  Reduce* all_reduce = library.function<Reduce>("ncclAllReduce");
  Reduce* reduce_scatter = library.function<Reduce>("ncclReduceScatter");
  Gather* all_gather = library.function<Gather>("ncclAllGather");
  std::vector<Communicator> communicators;

  [[nodiscard]] bool is_complete() const {
    return init_all != nullptr && begin != nullptr && end != nullptr && all_reduce != nullptr &&
           reduce_scatter != nullptr && all_gather != nullptr;
  }
  // Of all GPUs; made at the first use.
  const std::vector<Communicator>& ranks() {
    if (communicators.empty()) {
      const CurrentDevice current(0);
      communicators.resize(devices());
      const int status =
          init_all(communicators.data(), static_cast<int>(communicators.size()), nullptr);
      if (status != 0) {
        communicators.clear();
      }
      check_nccl(status, "ncclCommInitAll");
    }
    return communicators;
  }
};

Nccl& nccl() {
  static Nccl opened;
  return opened;
}

// Of one GPU; the first one's stream is that of whoever measures. What was made is given back, also
// where the next thing could not be.
struct Rank {
  std::size_t device{};
  float* given = nullptr;
  float* got = nullptr;
  cudaStream_t stream{};
  cudaEvent_t through{};

  Rank(std::size_t on, std::size_t elements) : device(on) {
    try {
      make(elements);
    } catch (...) {
      release();
      throw;
    }
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;
  ~Rank() { release(); }

 private:
  void make(std::size_t elements) {
    const CurrentDevice current(device);
    check(cudaMalloc(&given, elements * sizeof(float)), "cudaMalloc");
    check(cudaMalloc(&got, elements * sizeof(float)), "cudaMalloc");
    const std::vector<float> values(elements, static_cast<float>(device + 1));
    check(cudaMemcpy(given, values.data(), elements * sizeof(float), cudaMemcpyHostToDevice),
          "cudaMemcpy");
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaEventCreateWithFlags(&through, cudaEventDisableTiming), "cudaEventCreate");
  }
  void release() noexcept {
    int before = 0;
    static_cast<void>(cudaGetDevice(&before));
    static_cast<void>(cudaSetDevice(static_cast<int>(device)));
    static_cast<void>(cudaFree(given));
    static_cast<void>(cudaFree(got));
    if (through != nullptr) {
      static_cast<void>(cudaEventDestroy(through));
    }
    if (stream != nullptr) {
      static_cast<void>(cudaStreamDestroy(stream));
    }
    static_cast<void>(cudaSetDevice(before));
  }
};

}  // namespace

bool collectives_are_available() { return devices() > 1 && nccl().is_complete(); }

std::string collective_library_version() {
  auto* get = nccl().library.function<GetVersion>("ncclGetVersion");
  int version = 0;
  return get != nullptr && get(&version) == 0 ? dotted(version, 10000, 100) : "";
}

struct CollectiveWork::Inside {
  CollectiveKind kind{};
  std::size_t elements{};  // a multiple of the ranks
  std::vector<std::unique_ptr<Rank>> ranks;
  cudaEvent_t begun{};

  Inside() = default;
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() {
    if (begun != nullptr) {
      static_cast<void>(cudaEventDestroy(begun));
    }
  }

  [[nodiscard]] std::size_t part() const { return elements / ranks.size(); }

  void call(std::size_t device, cudaStream_t stream) const {
    const Rank& rank = *ranks[device];
    Communicator to = nccl().ranks()[device];
    int status = 0;
    if (kind == CollectiveKind::all_reduce) {
      status = nccl().all_reduce(rank.given, rank.got, elements, float32, sum, to, stream);
    } else if (kind == CollectiveKind::all_gather) {
      status = nccl().all_gather(rank.given, rank.got, part(), float32, to, stream);
    } else {
      status = nccl().reduce_scatter(rank.given, rank.got, part(), float32, sum, to, stream);
    }
    check_nccl(status, "a collective");
  }
};

CollectiveWork::CollectiveWork(CollectiveKind kind, std::size_t elements)
    : inside_(std::make_unique<Inside>()) {
  inside_->kind = kind;
  inside_->elements = (elements + devices() - 1) / devices() * devices();
  for (std::size_t device = 0; device < devices(); ++device) {
    inside_->ranks.push_back(std::make_unique<Rank>(device, inside_->elements));
  }
  check(cudaEventCreateWithFlags(&inside_->begun, cudaEventDisableTiming), "cudaEventCreate");
  static_cast<void>(nccl().ranks());
}

CollectiveWork::~CollectiveWork() = default;

void CollectiveWork::run(Stream stream) const {
  const Inside& in = *inside_;
  check(cudaEventRecord(in.begun, native(stream)), "cudaEventRecord");
  for (std::size_t device = 1; device < in.ranks.size(); ++device) {
    check(cudaStreamWaitEvent(in.ranks[device]->stream, in.begun, 0), "cudaStreamWaitEvent");
  }
  for (unsigned round = 0; round < rounds_of_collectives; ++round) {
    check_nccl(nccl().begin(), "ncclGroupStart");
    for (std::size_t device = 0; device < in.ranks.size(); ++device) {
      in.call(device, device == 0 ? native(stream) : in.ranks[device]->stream);
    }
    check_nccl(nccl().end(), "ncclGroupEnd");
  }
  for (std::size_t device = 1; device < in.ranks.size(); ++device) {
    const Rank& rank = *in.ranks[device];
    check(cudaEventRecord(rank.through, rank.stream), "cudaEventRecord");
    check(cudaStreamWaitEvent(native(stream), rank.through, 0), "cudaStreamWaitEvent");
  }
}

std::string CollectiveWork::mismatch() const {
  const Inside& in = *inside_;
  const std::size_t ranks = in.ranks.size();
  const std::size_t count = in.kind == CollectiveKind::reduce_scatter ? in.part() : in.elements;
  std::vector<float> got(count);
  copy_to_host(got.data(), in.ranks[0]->got, count * sizeof(float));
  const auto all = static_cast<float>(ranks * (ranks + 1) / 2);
  for (std::size_t i = 0; i < count; ++i) {
    const float expected =
        in.kind == CollectiveKind::all_gather ? static_cast<float>(i / in.part() + 1) : all;
    if (got[i] != expected) {
      return std::string(name(in.kind)) + ": element " + std::to_string(i) + " is wrong";
    }
  }
  return {};
}

}  // namespace payoff::kernels
