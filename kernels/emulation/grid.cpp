// SPDX-License-Identifier: Apache-2.0
#include "kernels/emulation/grid.hpp"

#include <array>
#include <csetjmp>
#include <memory>
#include <stdexcept>
#include <vector>

#include <ucontext.h>

namespace payoff::kernels::emulation {
namespace {

constexpr std::size_t stack_bytes = 128UL * 1024UL;

std::size_t counted_launches = 0;  // of the one thread that launches

// Waits until all that are alive have come.
struct Barrier {
  unsigned expected{};
  unsigned arrived{};
  std::uint64_t generation{};

  void release_if_complete() {
    if (arrived > 0 && arrived == expected) {
      arrived = 0;
      ++generation;
    }
  }
};

// A place to go on from. swapcontext() asks the kernel for the signal mask each time, which costs
// more than everything else here; _setjmp() does not, and only a fiber's first start needs a
// context. Address sanitizers follow the former only.
#if defined(__SANITIZE_ADDRESS__)
#define PAYOFF_FIBERS_BY_CONTEXT
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PAYOFF_FIBERS_BY_CONTEXT
#endif
#endif

struct Resumption {
  ucontext_t context{};
  bool started{true};
#if !defined(PAYOFF_FIBERS_BY_CONTEXT)
  jmp_buf jump{};
#endif
};

void go(Resumption& from, Resumption& to) {
#if defined(PAYOFF_FIBERS_BY_CONTEXT)
  swapcontext(&from.context, &to.context);
#else
  if (_setjmp(from.jump) == 0) {  // NOLINT(cert-err52-cpp): no destructors are skipped
    if (to.started) {
      _longjmp(to.jump, 1);  // NOLINT(cert-err52-cpp)
    }
    to.started = true;
    setcontext(&to.context);
  }
#endif
}

struct Fiber {
  Resumption self;
  std::byte* stack{};
  Place place;
  bool done{};
};

struct Block {
  const std::function<void()>* kernel{};
  std::vector<Fiber> fibers;
  std::vector<Barrier> warps;
  std::vector<std::array<std::uint64_t, warp_size>> slots;
  Barrier all;
  Resumption scheduler;
  Fiber* running{};

  Barrier& warp() { return warps[running->place.thread.x / warp_size]; }
  std::array<std::uint64_t, warp_size>& slot() {
    return slots[running->place.thread.x / warp_size];
  }
};

// The block that is being emulated. A kernel's built-in variables have no argument to come by.
thread_local Block* active = nullptr;  // NOLINT: see above

// Stacks are kept from launch to launch: clean ones would cost more than the kernels.
std::byte* stack_of(std::size_t thread) {
  static thread_local std::vector<std::unique_ptr<std::byte[]>> stacks;  // NOLINT: raw memory
  while (stacks.size() <= thread) {
    stacks.push_back(std::make_unique_for_overwrite<std::byte[]>(stack_bytes));  // NOLINT
  }
  return stacks[thread].get();
}

// finish() says which fiber runs before it goes on.
void yield() { go(active->running->self, active->scheduler); }

void wait_at(Barrier& barrier) {
  const std::uint64_t before = barrier.generation;
  ++barrier.arrived;
  barrier.release_if_complete();
  while (barrier.generation == before) {
    yield();
  }
}

void run_fiber() {
  (*active->kernel)();
  Fiber* self = active->running;
  self->done = true;
  // Whoever has returned is waited for no longer.
  --active->all.expected;
  --active->warp().expected;
  active->all.release_if_complete();
  active->warp().release_if_complete();
  go(self->self, active->scheduler);
}

void start(Block& block, unsigned index, unsigned blocks, unsigned threads) {
  block.all = {threads, 0, 0};
  for (Barrier& warp : block.warps) {
    warp = {warp_size, 0, 0};
  }
  for (unsigned thread = 0; thread < threads; ++thread) {
    Fiber& fiber = block.fibers[thread];
    fiber.place = {{thread, 0, 0}, {index, 0, 0}, {threads, 1, 1}, {blocks, 1, 1}};
    fiber.done = false;
    fiber.self.started = false;
    ucontext_t& context = fiber.self.context;
    getcontext(&context);
    context.uc_stack.ss_sp = fiber.stack;
    context.uc_stack.ss_size = stack_bytes;
    context.uc_link = nullptr;
    makecontext(&context, run_fiber, 0);
  }
}

void finish(Block& block) {
  for (std::size_t left = block.fibers.size(); left > 0;) {
    left = 0;
    for (Fiber& fiber : block.fibers) {
      if (!fiber.done) {
        block.running = &fiber;
        go(block.scheduler, fiber.self);
        left += fiber.done ? 0 : 1;
      }
    }
  }
}

}  // namespace

const Place& here() { return active->running->place; }

void block_barrier() { wait_at(active->all); }

std::uint64_t exchange(std::uint64_t mine, unsigned source) {
  active->slot()[lane()] = mine;
  wait_at(active->warp());
  const std::uint64_t theirs = active->slot()[source % warp_size];
  wait_at(active->warp());  // nobody writes again before everybody has read
  return theirs;
}

std::uint32_t ballot(bool vote) {
  active->slot()[lane()] = vote ? 1U : 0U;
  wait_at(active->warp());
  std::uint32_t word = 0;
  for (unsigned i = 0; i < warp_size; ++i) {
    word |= (active->slot()[i] != 0 ? 1U : 0U) << i;
  }
  wait_at(active->warp());
  return word;
}

std::size_t launches() { return counted_launches; }
void count_launch() { ++counted_launches; }

void launch(unsigned blocks, unsigned threads, const std::function<void()>& kernel) {
  count_launch();
  if (threads == 0 || threads % warp_size != 0) {
    throw std::invalid_argument("emulated blocks are whole warps");
  }
  Block block;
  block.kernel = &kernel;
  block.fibers.resize(threads);
  block.warps.resize(threads / warp_size);
  block.slots.resize(threads / warp_size);
  for (unsigned thread = 0; thread < threads; ++thread) {
    block.fibers[thread].stack = stack_of(thread);
  }
  active = &block;
  for (unsigned index = 0; index < blocks; ++index) {
    start(block, index, blocks, threads);
    finish(block);
  }
  active = nullptr;
}

}  // namespace payoff::kernels::emulation
