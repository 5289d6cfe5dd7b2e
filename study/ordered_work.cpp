// SPDX-License-Identifier: Apache-2.0
#include "study/ordered_work.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <utility>

#include "study/parallel.hpp"

namespace payoff {
namespace {

class Queue {
 public:
  explicit Queue(const OrderedWork& work) : work_(work), next_(work.first), due_(work.first) {}

  void run() {
    std::uint64_t number = 0;
    while (take(number)) {
      try {
        give(number, work_.compute(number));
      } catch (...) {
        fail(std::current_exception());
      }
    }
  }

  [[nodiscard]] std::uint64_t finish() const {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
    return due_;
  }

 private:
  bool take(std::uint64_t& number) {
    std::unique_lock lock(mutex_);
    moved_.wait(lock, [&] { return failure_ || next_ < due_ + work_.most_waiting; });
    const bool stopped = work_.stop != nullptr && work_.stop->load(std::memory_order_relaxed);
    if (failure_ || stopped || next_ >= work_.end) {
      return false;
    }
    number = next_++;
    return true;
  }

  void give(std::uint64_t number, std::string result) {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(number, std::move(result));
    while (!failure_ && !waiting_.empty() && waiting_.begin()->first == due_) {
      // Held to the end: nobody may emit behind what was written in part.
      try {
        work_.emit(due_, waiting_.begin()->second);
      } catch (...) {
        failure_ = std::current_exception();
        break;
      }
      waiting_.erase(waiting_.begin());
      ++due_;
    }
    moved_.notify_all();
  }

  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) {
      failure_ = std::move(failure);
    }
    moved_.notify_all();
  }

  const OrderedWork& work_;
  std::mutex mutex_;
  std::condition_variable moved_;
  std::uint64_t next_;  // to be begun
  std::uint64_t due_;   // to be emitted
  std::map<std::uint64_t, std::string> waiting_;
  std::exception_ptr failure_;
};

}  // namespace

std::uint64_t run_in_order(const OrderedWork& work) {
  Queue queue(work);
  const std::uint64_t count = work.end - std::min(work.first, work.end);
  run_on_threads(std::min<std::uint64_t>(thread_count(work.threads), count),
                 [&queue] { queue.run(); });
  return queue.finish();
}

}  // namespace payoff
