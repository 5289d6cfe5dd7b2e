// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/samples_device.hpp"

#include <string_view>

#include <fmt/format.h>

namespace payoff {

std::string differences_of(const SamplesDevice& device, const SamplesDevice& other) {
  std::string text;
  const auto add = [&](std::string_view key, const std::string& is, const std::string& was) {
    if (is != was) {
      text += fmt::format("{}`{}` is {} {}", text.empty() ? "" : ", ", key,
                          is.empty() ? "not stated" : is,
                          was.empty() ? "where there it is not stated" : "and not " + was);
    }
  };
  const auto whole = [](double value) { return fmt::format("{:.0f}", value); };
  add("name", device.name, other.name);
  add("uuid_hash", device.uuid_hash, other.uuid_hash);
  add("compute_capability", device.compute_capability, other.compute_capability);
  add("driver", device.driver, other.driver);
  add("runtime", device.runtime, other.runtime);
  add("multiprocessors", whole(device.multiprocessors), whole(other.multiprocessors));
  add("l2_bytes", whole(device.l2.si), whole(other.l2.si));
  add("memory_bytes", whole(device.memory.si), whole(other.memory.si));
  return text;
}

void import_detail::check_device(const SamplesFile& file, const SamplesFile& first, Span place,
                                 Diagnostics& diagnostics) {
  if (const std::string differences = differences_of(file.device, first.device);
      !differences.empty()) {
    diagnostics.error(place,
                      "the device " + backquoted(file.device.name) + " is not that of " +
                          first.file + ", " + backquoted(first.device.name),
                      differences, "one profile is of one device: fit the files one by one");
  }
  if (file.origin != SamplesOrigin::measured) {
    diagnostics.warning(place, file.origin == SamplesOrigin::emulated
                                   ? "these times are of an emulated GPU"
                                   : "these times are drawn, not measured");
  }
}

}  // namespace payoff
