// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "kernels/families/common.cuh"
#include "kernels/families/sorting.hpp"

#if defined(__CUDACC__)
#include <cub/device/device_radix_sort.cuh>
#include <cub/version.cuh>
#if CUB_VERSION >= 300200
#define PAYOFF_CUB_SELECTS
#include <cub/device/device_topk.cuh>
#endif
#endif

namespace payoff::kernels {
namespace {

#if defined(__CUDACC__)

PAYOFF_KERNEL void keys_and_places(const float* in, Word* keys, Word* places, std::size_t count) {
  const std::size_t i = global_thread();
  if (i < count) {
    keys[i] = magnitude_key(in[i]);
    places[i] = static_cast<Word>(i);
  }
}

#if defined(PAYOFF_CUB_SELECTS)
PAYOFF_KERNEL void values_at(const float* in, SparseOutput out, Word k) {
  const std::size_t i = global_thread();
  if (i < k) {
    out.values[i] = in[out.indices[i]];
  }
}

// In no order, and any among equals. Without scratch memory it only says how much it needs.
std::size_t select_pairs(Stream stream, void* scratch, std::size_t bytes, const Word* keys,
                         Word* selected_keys, const Word* places, Word* selected, std::size_t count,
                         Word k) {
  const auto any_order = cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                                  cuda::execution::output_ordering::unsorted);
  const cuda::std::execution::env environment{cuda::stream_ref{native(stream)}, any_order};
  const cudaError_t error = cub::DeviceTopK::MaxPairs(scratch, bytes, keys, selected_keys, places,
                                                      selected, count, k, environment);
  if (error != cudaSuccess) {
    throw std::runtime_error(std::string("Top-K of CUB: ") + cudaGetErrorString(error));
  }
  return bytes;
}
#endif

PAYOFF_KERNEL void first_of_sorted(const float* in, const Word* places, SparseOutput out, Word k) {
  const std::size_t i = global_thread();
  if (i < k) {
    out.indices[i] = places[i];
    out.values[i] = in[places[i]];
  }
}

// Sorts the 31 bits of a magnitude; without scratch memory it only says how much it needs.
std::size_t sort_pairs(Stream stream, void* scratch, std::size_t bytes, const Word* keys,
                       Word* sorted_keys, const Word* places, Word* sorted_places,
                       std::size_t count) {
  const cudaError_t error = cub::DeviceRadixSort::SortPairsDescending(
      scratch, bytes, keys, sorted_keys, places, sorted_places, count, 0, 31, native(stream));
  if (error != cudaSuccess) {
    throw std::runtime_error(std::string("radix sort: ") + cudaGetErrorString(error));
  }
  return bytes;
}

#endif

}  // namespace

#if defined(__CUDACC__)

bool sorting_is_available() { return true; }

Sorting::Sorting(std::size_t count)
    : count_(count),
      keys_(array_of<Word>(count)),
      sorted_keys_(array_of<Word>(count)),
      places_(array_of<Word>(count)),
      sorted_places_(array_of<Word>(count)),
      scratch_(array_of<Byte>(sort_pairs(Stream{}, nullptr, 0, keys_->data(), sorted_keys_->data(),
                                         places_->data(), sorted_places_->data(), count))) {}

void Sorting::largest(Stream stream, const float* in, Word k, SparseOutput out) const {
  launch_threads(stream, count_, keys_and_places, in, keys_->data(), places_->data(), count_);
  sort_pairs(stream, scratch_->data(), scratch_->count(), keys_->data(), sorted_keys_->data(),
             places_->data(), sorted_places_->data(), count_);
  launch_threads(stream, k, first_of_sorted, in, sorted_places_->data(), out, k);
}

#else

bool sorting_is_available() { return false; }

Sorting::Sorting(std::size_t count) : count_(count) {
  throw std::logic_error("no library sorts on the emulated grid");
}
void Sorting::largest(Stream /*stream*/, const float* /*in*/, Word /*k*/,
                      SparseOutput /*out*/) const {}

#endif

#if defined(PAYOFF_CUB_SELECTS)

bool library_selection_is_available() { return true; }

LibrarySelection::LibrarySelection(std::size_t count, Word k)
    : count_(count),
      k_(k),
      keys_(array_of<Word>(count)),
      places_(array_of<Word>(count)),
      selected_keys_(array_of<Word>(k)),
      scratch_(
          array_of<Byte>(select_pairs(Stream{}, nullptr, 0, keys_->data(), selected_keys_->data(),
                                      places_->data(), selected_keys_->data(), count, k))) {}

void LibrarySelection::largest(Stream stream, const float* in, SparseOutput out) const {
  launch_threads(stream, count_, keys_and_places, in, keys_->data(), places_->data(), count_);
  select_pairs(stream, scratch_->data(), scratch_->count(), keys_->data(), selected_keys_->data(),
               places_->data(), out.indices, count_, k_);
  launch_threads(stream, k_, values_at, in, out, k_);
}

#else

bool library_selection_is_available() { return false; }

LibrarySelection::LibrarySelection(std::size_t count, Word k) : count_(count), k_(k) {
  throw std::logic_error("this program was built without a CUB that selects");
}
void LibrarySelection::largest(Stream /*stream*/, const float* /*in*/, SparseOutput /*out*/) const {
}

#endif

}  // namespace payoff::kernels
