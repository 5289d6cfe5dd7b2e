// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

// Memory of the device and a stream of work for it. Two implementations: machine_cuda.cu, and
// machine_emulated.cpp for machines without a GPU. Failures throw std::runtime_error with the
// call's name. Copies and fills wait until they are done but for those in a stream.

namespace payoff::kernels {

// cudaStream_t, or nothing.
struct Stream {
  void* handle{};
};

[[nodiscard]] void* allocate_device(std::size_t bytes);
void release_device(void* memory) noexcept;
void copy_to_device(void* to, const void* from, std::size_t bytes);
void copy_to_host(void* to, const void* from, std::size_t bytes);
void fill_device(void* memory, std::uint8_t byte, std::size_t bytes);
// As part of the work that a stream does.
void fill_in_stream(Stream stream, void* memory, std::uint8_t byte, std::size_t bytes);
void copy_in_stream(Stream stream, void* to, const void* from, std::size_t bytes);
// The same between memories of any kind: the device's, pinned memory of the host, another device's.
void transfer_in_stream(Stream stream, void* to, const void* from, std::size_t bytes);
// Of the host, where copy engines read and write it.
[[nodiscard]] void* allocate_pinned(std::size_t bytes);
void release_pinned(void* memory) noexcept;
// Those of this machine; the first is the one that is measured.
[[nodiscard]] std::size_t devices();
// Throws where the first device cannot reach the memory of that one.
[[nodiscard]] void* allocate_on(std::size_t device, std::size_t bytes);
void wait_for(Stream stream);
void check_last_launch();
[[nodiscard]] std::size_t multiprocessors();

// Outputs start poisoned and have a guard behind them, so that a value that was not written, or
// written too far, is found.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count)
      : count_(count), data_(static_cast<T*>(allocate_device(bytes() + guard)), release_device) {
    fill_device(data_.get(), poison, bytes() + guard);
  }
  explicit DeviceArray(std::span<const T> values) : DeviceArray(values.size()) {
    if (count_ > 0) {
      copy_to_device(data_.get(), values.data(), bytes());
    }
  }

  [[nodiscard]] T* data() const { return data_.get(); }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t bytes() const { return count_ * sizeof(T); }

  [[nodiscard]] std::vector<T> read() const { return read_first(count_); }
  [[nodiscard]] std::vector<T> read_first(std::size_t most) const {
    std::vector<T> values(most < count_ ? most : count_);
    if (!values.empty()) {
      copy_to_host(values.data(), data_.get(), values.size() * sizeof(T));
    }
    return values;
  }
  [[nodiscard]] bool guard_is_whole() const {
    std::vector<std::uint8_t> behind(guard);
    copy_to_host(behind.data(), reinterpret_cast<const std::uint8_t*>(data_.get()) + bytes(),
                 guard);
    return std::all_of(behind.begin(), behind.end(),
                       [](std::uint8_t byte) { return byte == poison; });
  }

 private:
  static constexpr std::uint8_t poison = 0xa5;
  static constexpr std::size_t guard = 256;
  std::size_t count_;
  std::unique_ptr<T, void (*)(void*)> data_;
};

template <typename T>
using Shared = std::shared_ptr<DeviceArray<T>>;

template <typename T>
[[nodiscard]] Shared<T> array_of(std::size_t count) {
  return std::make_shared<DeviceArray<T>>(count);
}

}  // namespace payoff::kernels
