// SPDX-License-Identifier: Apache-2.0
#include "study/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace payoff {

void for_each_index(std::size_t count, const std::function<void(std::size_t)>& work,
                    unsigned threads) {
  const std::size_t most =
      threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) {
          failure = std::current_exception();
        }
      }
    }
  };
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < std::min(most, count); ++t) {
    others.emplace_back(run);
  }
  run();
  for (std::thread& other : others) {
    other.join();
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

}  // namespace payoff
