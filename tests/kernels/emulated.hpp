// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "kernels/device/platform.cuh"

// Buffers as the GPU's allocator gives them, aligned; outputs are poisoned and have a guard behind
// them, so that a byte that was not written, or written too far, is found.

namespace payoff::kernels::test {

template <typename T>
class Aligned {
 public:
  explicit Aligned(std::span<const T> values) : storage_(values.size() * sizeof(T) / unit + 1) {
    if (!values.empty()) {
      std::memcpy(storage_.data(), values.data(), values.size() * sizeof(T));
    }
  }
  explicit Aligned(const std::vector<T>& values) : Aligned(std::span<const T>(values)) {}

  [[nodiscard]] T* data() { return reinterpret_cast<T*>(storage_.data()); }
  [[nodiscard]] const T* data() const { return reinterpret_cast<const T*>(storage_.data()); }

 private:
  static constexpr std::size_t unit = 64;
  struct alignas(unit) Unit {
    std::byte bytes[unit];
  };
  std::vector<Unit> storage_;
};

template <typename T>
class Poisoned {
 public:
  explicit Poisoned(std::size_t count)
      : count_(count), bytes_(std::vector<std::uint8_t>(count * sizeof(T) + guard, poison)) {}

  [[nodiscard]] T* data() { return reinterpret_cast<T*>(bytes_.data()); }

  // Whether it holds these bytes and nothing was written behind them.
  [[nodiscard]] bool holds(const std::vector<T>& expected) const {
    if (expected.size() != count_) {
      return false;
    }
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(bytes_.data());
    for (std::size_t i = 0; i < guard; ++i) {
      if (bytes[count_ * sizeof(T) + i] != poison) {
        return false;
      }
    }
    return count_ == 0 || std::memcmp(bytes, expected.data(), count_ * sizeof(T)) == 0;
  }

 private:
  static constexpr std::uint8_t poison = 0xa5;
  static constexpr std::size_t guard = 64;
  std::size_t count_;
  Aligned<std::uint8_t> bytes_;
};

inline void launch_threads(std::size_t threads, const std::function<void()>& kernel) {
  emulation::launch(static_cast<unsigned>(divided_up(threads, block_threads)), block_threads,
                    kernel);
}

}  // namespace payoff::kernels::test
