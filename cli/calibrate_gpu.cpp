// SPDX-License-Identifier: Apache-2.0
#include "cli/calibrate_gpu.hpp"

#include <fmt/format.h>

#include "cli/profile_library.hpp"
#include "profiles/import/gpu_names.hpp"
#include "profiles/read_hardware.hpp"
#include "study/data_sheet_check.hpp"
#include "study/unlikely_times.hpp"

namespace payoff {

namespace {

// What there is beside the names of devices to tell whether a sheet is theirs.
enum class Beside { nothing, sizes };

// A profile of the user's own may be of any device; that of a shipped one has to be the measured.
bool is_of_devices(const Argument& given, const std::vector<std::string>& devices, Beside beside,
                   const Library& library, Session& session) {
  if (!library.has(ProfileKind::gpu, given.text)) {
    return true;
  }
  for (const std::string& device : devices) {
    const std::string id = gpu_id(device);
    if (device.empty() || may_be_called(given.text, device)) {
      continue;
    }
    const bool is_known = library.has(ProfileKind::gpu, id);
    const std::string message =
        fmt::format("{} is not the GPU that was measured", backquoted(given.text));
    const std::string names = fmt::format("the measurements name {}", backquoted(device));
    if (is_known) {
      session.diagnostics().error(given.span, message, names,
                                  fmt::format("`--gpu {}`, or none: the name tells it", id));
      return false;
    }
    if (beside == Beside::nothing) {
      session.diagnostics().warning(given.span, message + ", by its name", names,
                                    "a data sheet of that GPU's own: `--gpu FILE.yaml`");
    }
  }
  return true;
}

std::optional<Gpu> named_sheet(const Arguments& arguments, const std::vector<std::string>& devices,
                               Beside beside, Session& session) {
  const Library library = find_library();
  // A profile of the user's own may have no law.
  const auto context_of = [&](const std::string& name) {
    return ReadContext{library, session.sources(), session.diagnostics(),
                       library.has(ProfileKind::gpu, name)};
  };
  if (const auto given = arguments.value("--gpu")) {
    auto gpu = read_gpu(given->text, given->span, context_of(given->text));
    const bool is_right = is_of_devices(*given, devices, beside, library, session);
    return gpu && is_right ? std::optional(gpu->value) : std::nullopt;
  }
  for (const std::string& device : devices) {
    const std::string name = gpu_id(device);
    if (library.has(ProfileKind::gpu, name)) {
      auto gpu = read_gpu(name, std::nullopt, context_of(name));
      return gpu ? std::optional(gpu->value) : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Gpu> data_sheet_of(const Arguments& arguments,
                                 const std::vector<std::string>& devices, Session& session) {
  return named_sheet(arguments, devices, Beside::nothing, session);
}

std::optional<Gpu> data_sheet_of(const Arguments& arguments, const KernelCalibration& calibration,
                                 Session& session) {
  std::vector<std::string> devices;
  devices.reserve(calibration.files.size());
  for (const SamplesFile& file : calibration.files) {
    devices.push_back(file.device.name);
  }
  std::optional<Gpu> gpu = named_sheet(arguments, devices, Beside::sizes, session);
  if (!gpu || calibration.files.empty()) {
    return gpu;
  }
  const SamplesDevice& device = calibration.files.front().device;
  const std::string differences = sheet_differences(*gpu, device);
  if (differences.empty()) {
    report_beyond_peaks(calibration, *gpu, session.diagnostics());
    warn_of_slow_work(calibration, *gpu, session.diagnostics());
    return gpu;
  }
  const std::string message = fmt::format("the data sheet of {} is not that of the measured {}",
                                          gpu->name, backquoted(device.name));
  if (const auto given = arguments.value("--gpu")) {
    session.diagnostics().error(given->span, message, "the device has " + differences);
  } else {
    session.diagnostics().warning(std::nullopt, message + ", which has " + differences, "",
                                  "no data sheet is used; `--gpu NAME` names the one that holds");
  }
  return std::nullopt;
}

}  // namespace payoff
