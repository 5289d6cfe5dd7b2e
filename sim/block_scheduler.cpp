// SPDX-License-Identifier: Apache-2.0
#include "sim/block_scheduler.hpp"

#include <algorithm>

#include "sim/invariant.hpp"
#include "sim/links.hpp"

namespace payoff::sim {

BlockScheduler::BlockScheduler(Engine& engine, int units, std::optional<Bandwidth> memory,
                               std::uint32_t index)
    : engine_(engine), index_(index), free_(units) {
  PAYOFF_INVARIANT(units > 0, "a GPU without compute units");
  if (memory) {
    memory_ = engine_.add_resource({*memory});
  }
}

void BlockScheduler::launch(const Kernel& kernel) {
  PAYOFF_INVARIANT(kernel.blocks > 0 && kernel.block.picoseconds > 0, "a kernel of nothing");
  const auto slot = std::find_if(kernels_.begin(), kernels_.end(), [](const Resident& resident) {
    return resident.waiting == 0 && resident.running == 0;
  });
  const Resident resident{kernel, kernel.blocks, 0, launches_++};
  if (slot == kernels_.end()) {
    kernels_.push_back(resident);
  } else {
    *slot = resident;
  }
  fill();
}

void BlockScheduler::hold(int units) {
  wanted_ += units;
  fill();
}

void BlockScheduler::release(int units) {
  PAYOFF_INVARIANT(units <= held_ + wanted_, "units are released that nobody holds");
  const int waiting = std::min(wanted_, units);
  wanted_ -= waiting;
  held_ -= units - waiting;
  free_ += units - waiting;
  fill();
}

std::optional<std::uint64_t> BlockScheduler::block_ended(const Completion& completion) {
  const auto slot = static_cast<std::size_t>(completion.tag & 0xFFFFFFFFU);
  PAYOFF_INVARIANT(slot < batches_.size() && batches_[slot].blocks > 0, "an unknown batch ended");
  Batch& batch = batches_[slot];
  Resident& resident = kernels_[batch.kernel];
  resident.running -= batch.blocks;
  free_ += batch.blocks;
  batch.blocks = 0;
  const bool over = resident.running == 0 && resident.waiting == 0;
  const std::uint64_t tag = resident.kernel.tag;
  fill();
  return over ? std::optional(tag) : std::nullopt;
}

void BlockScheduler::fill() {
  const int granted = std::min(wanted_, free_);
  wanted_ -= granted;
  held_ += granted;
  free_ -= granted;
  while (free_ > 0) {
    const std::size_t kernel = next_kernel();
    if (kernel == kernels_.size()) {
      return;
    }
    begin(kernel);
  }
}

std::size_t BlockScheduler::next_kernel() const {
  std::size_t best = kernels_.size();
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    const Resident& candidate = kernels_[i];
    if (candidate.waiting == 0) {
      continue;
    }
    const bool first = best == kernels_.size();
    if (first || candidate.kernel.priority > kernels_[best].kernel.priority ||
        (candidate.kernel.priority == kernels_[best].kernel.priority &&
         candidate.order < kernels_[best].order)) {
      best = i;
    }
  }
  return best;
}

// As many blocks as there are units, in one activity.
void BlockScheduler::begin(std::size_t kernel) {
  Resident& resident = kernels_[kernel];
  const int blocks = static_cast<int>(std::min<std::int64_t>(resident.waiting, free_));
  resident.waiting -= blocks;
  resident.running += blocks;
  free_ -= blocks;
  const auto slot =
      static_cast<std::size_t>(std::find_if(batches_.begin(), batches_.end(),
                                            [](const Batch& batch) { return batch.blocks == 0; }) -
                               batches_.begin());
  if (slot == batches_.size()) {
    batches_.emplace_back();
  }
  batches_[slot] = {kernel, blocks};
  const Bytes size = progress(resident.kernel.block);
  Use memory{};
  const bool uses = memory_ && resident.kernel.block_memory > 0_B;
  if (uses) {
    memory = {*memory_, blocks * resident.kernel.block_memory / size};
  }
  engine_.start({.size = size,
                 .uses = uses ? std::span<const Use>(&memory, 1) : std::span<const Use>(),
                 .rate_bound = full_rate,
                 .share_ratio = static_cast<double>(blocks),
                 .key = resident.order,
                 .tag = tag_bit | (static_cast<std::uint64_t>(index_) << 32U) | slot});
}

}  // namespace payoff::sim
