// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "kernels/program/device_memory.hpp"

// Collectives of NCCL among all GPUs of this machine, in one process. NCCL is opened when the first
// is asked for: the program is not linked with it and runs without it.

namespace payoff::kernels {

enum class CollectiveKind { all_reduce, all_gather, reduce_scatter };
[[nodiscard]] std::string_view name(CollectiveKind kind);

// Collectives of one run, one after the other between one fork of the GPUs' streams and one join:
// the events that fork and join cost some microseconds, which are not the collective's. As
// nccl-tests do.
inline constexpr unsigned rounds_of_collectives = 20;

// Whether NCCL is there and has at least two GPUs.
[[nodiscard]] bool collectives_are_available();

// Buffers on every GPU and what moves them. Numbers are fp32.
class CollectiveWork {
 public:
  // `elements`: of the message as nccl-tests count it, the larger of what a rank gives and gets.
  CollectiveWork(CollectiveKind kind, std::size_t elements);
  ~CollectiveWork();
  CollectiveWork(const CollectiveWork&) = delete;
  CollectiveWork& operator=(const CollectiveWork&) = delete;

  // All rounds. Begins on every GPU when the stream, of the first one, gets to it, and holds the
  // stream until it is through on all of them.
  void run(Stream stream) const;
  // What the first GPU got: every rank r gives r + 1 everywhere. Empty where it is right.
  [[nodiscard]] std::string mismatch() const;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace payoff::kernels
