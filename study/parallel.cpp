// SPDX-License-Identifier: Apache-2.0
#include "study/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace payoff {

unsigned thread_count(unsigned threads) {
  return threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
}

void run_on_threads(std::uint64_t most, const std::function<void()>& work) {
  std::vector<std::thread> others;
  for (std::uint64_t t = 1; t < most; ++t) {
    try {
      others.emplace_back(work);
    } catch (const std::system_error&) {
      break;  // the machine gives no more: fewer do the same
    }
  }
  work();
  for (std::thread& other : others) {
    other.join();
  }
}

void for_each_index(std::size_t count, const std::function<void(std::size_t)>& work,
                    unsigned threads) {
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
  run_on_threads(std::min<std::uint64_t>(thread_count(threads), count), run);
  if (failure) {
    std::rethrow_exception(failure);
  }
}

}  // namespace payoff
