// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

// Many independent predictions on the threads of this machine. Every index is computed once and
// writes its own result, so that the answer does not depend on the number of threads.

namespace payoff {

// So many, or with 0 as many as the machine runs at once.
[[nodiscard]] unsigned thread_count(unsigned threads);

// Runs `work`, which throws nothing, on this thread and on others at the same time, `most` of them
// in all; on fewer where the machine gives no more. Returns when all have ended.
void run_on_threads(std::uint64_t most, const std::function<void()>& work);

// Calls work(i) for every i below `count`; the first exception is thrown again when all have ended.
// `threads` 0: as many as the machine runs at once.
void for_each_index(std::size_t count, const std::function<void(std::size_t)>& work,
                    unsigned threads = 0);

}  // namespace payoff
