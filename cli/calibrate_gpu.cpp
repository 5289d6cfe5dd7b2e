// SPDX-License-Identifier: Apache-2.0
#include "cli/calibrate_gpu.hpp"

#include "cli/profile_library.hpp"
#include "profiles/import/nccl_log.hpp"
#include "profiles/read_hardware.hpp"

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

}  // namespace payoff
