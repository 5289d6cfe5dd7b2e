// SPDX-License-Identifier: Apache-2.0
#include "kernels/program/activity_library.hpp"

#include <cstdlib>
#include <cstring>

#include "kernels/program/dynamic_library.hpp"

namespace payoff::kernels {
namespace {

// Of cupti_activity.h and cupti_result.h, CUDA 12 and 13.
constexpr std::uint32_t kind_of_kernels = 10;  // CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
constexpr std::uint32_t flush_forced = 1;
constexpr std::size_t start_offset = 16;
constexpr std::size_t end_offset = 24;
constexpr std::size_t least_record = 32;

using Request = void (*)(std::uint8_t**, std::size_t*, std::size_t*);
using Complete = void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);
using NextRecord = int(std::uint8_t*, std::size_t, void**);

// The toolkit has it in a folder of its own, which the loader does not search.
const DynamicLibrary& library() {
  static const DynamicLibrary opened(with_folders(
      {"libcupti.so.13", "libcupti.so.12"}, toolkit_homes(), {"extras/CUPTI/lib64", "lib64"}));
  return opened;
}

// CUPTI gives its callbacks nothing to tell two users apart: there is one.
std::vector<Seconds>& recorded() {
  static std::vector<Seconds> times;
  return times;
}

void give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  constexpr std::size_t bytes = 1U << 20U;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, bytes));
  *size = *buffer != nullptr ? bytes : 0;
  *most_records = 0;  // as many as fit
}

void read_buffer(void* /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer,
                 std::size_t /*size*/, std::size_t valid) {
  auto* next = library().function<NextRecord>("cuptiActivityGetNextRecord");
  void* record = nullptr;
  while (next != nullptr && next(buffer, valid, &record) == 0) {
    const auto* bytes = static_cast<const std::uint8_t*>(record);
    const auto behind = static_cast<std::size_t>(buffer + valid - bytes);
    if (const auto time = kernel_time_of({bytes, behind})) {
      recorded().push_back(*time);
    }
  }
  std::free(buffer);
}

std::uint64_t number_at(std::span<const std::uint8_t> record, std::size_t offset) {
  std::uint64_t number = 0;
  std::memcpy(&number, record.data() + offset, sizeof number);
  return number;
}

}  // namespace

std::optional<Seconds> kernel_time_of(std::span<const std::uint8_t> record) {
  if (record.size() < least_record) {
    return std::nullopt;
  }
  std::uint32_t kind = 0;
  std::memcpy(&kind, record.data(), sizeof kind);
  const std::uint64_t start = number_at(record, start_offset);
  const std::uint64_t end = number_at(record, end_offset);
  if (kind != kind_of_kernels || start == 0 || end <= start) {
    return std::nullopt;
  }
  return Seconds{1e-9 * static_cast<double>(end - start)};
}

std::string start_records() {
  auto* callbacks = library().function<int(Request, Complete)>("cuptiActivityRegisterCallbacks");
  auto* enable = library().function<int(std::uint32_t)>("cuptiActivityEnable");
  if (!library().is_open() || callbacks == nullptr || enable == nullptr) {
    return "CUPTI is not there";
  }
  recorded().clear();
  if (const int status = callbacks(give_buffer, read_buffer); status != 0) {
    return "cuptiActivityRegisterCallbacks: status " + std::to_string(status);
  }
  if (const int status = enable(kind_of_kernels); status != 0) {
    return "cuptiActivityEnable: status " + std::to_string(status);
  }
  return {};
}

std::vector<Seconds> take_records() {
  auto* flush = library().function<int(std::uint32_t)>("cuptiActivityFlushAll");
  auto* disable = library().function<int(std::uint32_t)>("cuptiActivityDisable");
  if (flush == nullptr || disable == nullptr || flush(flush_forced) != 0 ||
      disable(kind_of_kernels) != 0) {
    return {};
  }
  return recorded();
}

std::string activity_library_version() {
  auto* get = library().function<int(unsigned*)>("cuptiGetVersion");
  unsigned version = 0;
  return get != nullptr && get(&version) == 0 ? std::to_string(version) : "";
}

}  // namespace payoff::kernels
