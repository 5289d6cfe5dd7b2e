// SPDX-License-Identifier: Apache-2.0
#include "cli/calibrate_gpu.hpp"

#include <fmt/format.h>

#include "cli/profile_library.hpp"
#include "profiles/import/nccl_log.hpp"
#include "profiles/read_hardware.hpp"
#include "study/data_sheet_check.hpp"

namespace payoff {

std::optional<Gpu> data_sheet_of(const Arguments& arguments,
                                 const std::vector<std::string>& devices, Session& session) {
  const Library library = find_library();
  const ReadContext context{library, session.sources(), session.diagnostics(), false};
  if (const auto given = arguments.value("--gpu")) {
    auto gpu = read_gpu(given->text, given->span, context);
    return gpu ? std::optional(gpu->value) : std::nullopt;
  }
  for (const std::string& device : devices) {
    const std::string name = gpu_id(device);
    if (library.has(ProfileKind::gpu, name)) {
      auto gpu = read_gpu(name, std::nullopt, context);
      return gpu ? std::optional(gpu->value) : std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<Gpu> data_sheet_of(const Arguments& arguments, const KernelCalibration& calibration,
                                 Session& session) {
  std::vector<std::string> devices;
  devices.reserve(calibration.files.size());
  for (const SamplesFile& file : calibration.files) {
    devices.push_back(file.device.name);
  }
  std::optional<Gpu> gpu = data_sheet_of(arguments, devices, session);
  if (!gpu || calibration.files.empty()) {
    return gpu;
  }
  const SamplesDevice& device = calibration.files.front().device;
  const std::string differences = sheet_differences(*gpu, device);
  if (differences.empty()) {
    report_beyond_peaks(calibration, *gpu, session.diagnostics());
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
