// SPDX-License-Identifier: Apache-2.0
#include "kernels/program/power_library.hpp"

#include <array>
#include <string_view>

#include "kernels/program/dynamic_library.hpp"

namespace payoff::kernels {
namespace {

using Handle = void*;

const DynamicLibrary& library() {
  static const DynamicLibrary opened({"libnvidia-ml.so.1"});
  static const bool started = [] {
    auto* start = opened.function<int()>("nvmlInit_v2");
    return start != nullptr && start() == 0;
  }();
  static const DynamicLibrary none({});
  return started ? opened : none;
}

// The bits of nvmlDeviceGetCurrentClocksThrottleReasons.
std::string throttle_text(unsigned long long reasons) {
  constexpr std::array<std::string_view, 9> names{
      "idle",          "application clocks", "power cap",      "hardware slowdown", "sync boost",
      "thermal limit", "hardware thermal",   "hardware brake", "display clocks"};
  std::string text;
  for (std::size_t bit = 0; bit < names.size(); ++bit) {
    if (((reasons >> bit) & 1U) != 0U) {
      text += (text.empty() ? "" : ", ") + std::string(names[bit]);
    }
  }
  return text.empty() ? "none" : text;
}

}  // namespace

void add_power_facts(const std::string& pci_bus_id, Machine& machine) {
  auto* handle_of =
      library().function<int(const char*, Handle*)>("nvmlDeviceGetHandleByPciBusId_v2");
  Handle device = nullptr;
  if (handle_of == nullptr || handle_of(pci_bus_id.c_str(), &device) != 0) {
    return;
  }
  unsigned value = 0;
  auto* limit = library().function<int(Handle, unsigned*)>("nvmlDeviceGetEnforcedPowerLimit");
  if (limit != nullptr && limit(device, &value) == 0) {
    machine.power_limit_w = 1e-3 * value;
  }
  auto* temperature = library().function<int(Handle, int, unsigned*)>("nvmlDeviceGetTemperature");
  if (temperature != nullptr && temperature(device, 0, &value) == 0) {
    machine.temperature_c = value;
  }
  unsigned long long reasons = 0;
  auto* throttle = library().function<int(Handle, unsigned long long*)>(
      "nvmlDeviceGetCurrentClocksThrottleReasons");
  if (throttle != nullptr && throttle(device, &reasons) == 0) {
    machine.throttle_reasons = throttle_text(reasons);
  }
  unsigned current = 0;
  unsigned pending = 0;
  auto* mig = library().function<int(Handle, unsigned*, unsigned*)>("nvmlDeviceGetMigMode");
  if (mig != nullptr && mig(device, &current, &pending) == 0) {
    machine.mig = current != 0;
  }
}

std::string power_library_version() {
  std::array<char, 80> version{};
  auto* get = library().function<int(char*, unsigned)>("nvmlSystemGetNVMLVersion");
  return get != nullptr && get(version.data(), version.size()) == 0 ? version.data() : "";
}

}  // namespace payoff::kernels
