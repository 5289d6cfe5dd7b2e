// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/selection.cuh"
#include "kernels/program/device_memory.hpp"

// Top-K by a library (CUB) of magnitudes with their places: by radix sort, and from CUB 3.2 on by
// its own selection. On the emulated grid there is no library, and nothing stands in for it.

namespace payoff::kernels {

[[nodiscard]] bool sorting_is_available();

class Sorting {
 public:
  explicit Sorting(std::size_t count);
  void largest(Stream stream, const float* in, std::uint32_t k, SparseOutput out) const;

 private:
  [[maybe_unused]] std::size_t count_;  // only the GPU reads it
  Shared<std::uint32_t> keys_;
  Shared<std::uint32_t> sorted_keys_;
  Shared<std::uint32_t> places_;
  Shared<std::uint32_t> sorted_places_;
  Shared<std::uint8_t> scratch_;
};

// cub::DeviceTopK; throws std::logic_error where the program was built with an older CUB.
[[nodiscard]] bool library_selection_is_available();

class LibrarySelection {
 public:
  LibrarySelection(std::size_t count, std::uint32_t k);
  void largest(Stream stream, const float* in, SparseOutput out) const;

 private:
  [[maybe_unused]] std::size_t count_;
  [[maybe_unused]] std::uint32_t k_;
  Shared<std::uint32_t> keys_;
  Shared<std::uint32_t> places_;
  Shared<std::uint32_t> selected_keys_;
  Shared<std::uint8_t> scratch_;
};

}  // namespace payoff::kernels
