// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/engine.hpp"

// One GPU by thread blocks: kernels of equal blocks on compute units that communication kernels
// hold in part (the law of model/interference, event by event). Free units go to waiting
// communication kernels first, then to kernels by priority, then in order of launch; a block that
// runs is never taken off. So a kernel proceeds in waves of the units it gets, and a second one
// runs in what the first leaves. Memory bandwidth is shared max-min between what is resident,
// weighted by units. Valid for kernels with one block a unit; clocks do not depend on load.

namespace payoff::sim {

struct Kernel {
  std::int64_t blocks{};
  SimTime block;          // of one block that runs alone
  Bytes block_memory{};   // that one block moves; at most what the memory gives it in that time
  int priority{};         // higher goes first
  std::uint64_t tag = 0;  // the caller's; handed back on its end
};

class BlockScheduler {
 public:
  // Completions of the engine whose tag has this bit are a GPU's; `index` tells GPUs apart.
  static constexpr std::uint64_t tag_bit = std::uint64_t{1} << 62U;

  BlockScheduler(Engine& engine, int units, std::optional<Bandwidth> memory = std::nullopt,
                 std::uint32_t index = 0);

  void launch(const Kernel& kernel);
  // Units for a communication kernel, as blocks end; given back at once.
  void hold(int units);
  void release(int units);

  // To be told of each of its completions; the tag of the kernel that has ended with it, if any.
  [[nodiscard]] std::optional<std::uint64_t> block_ended(const Completion& completion);

  [[nodiscard]] int held() const { return held_; }
  [[nodiscard]] int free() const { return free_; }

 private:
  struct Resident {
    Kernel kernel;
    std::int64_t waiting{};  // blocks not begun
    std::int64_t running{};
    std::uint64_t order{};
  };
  struct Batch {  // blocks that began together
    std::size_t kernel{};
    int blocks{};  // none: the slot is free
  };

  void fill();
  void begin(std::size_t kernel);
  [[nodiscard]] std::size_t next_kernel() const;

  Engine& engine_;
  std::optional<ResourceId> memory_;
  std::uint32_t index_;
  int free_;
  int held_ = 0;
  int wanted_ = 0;  // by communication kernels, not held yet
  std::vector<Resident> kernels_;
  std::vector<Batch> batches_;
  std::uint64_t launches_ = 0;
};

}  // namespace payoff::sim
