// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/gpu_names.hpp"

#include <array>
#include <cctype>
#include <string_view>

namespace payoff {

namespace {

struct GpuName {
  std::string_view words;  // all of them occur in the device name
  std::string_view id;
};

// The most specific first.
constexpr std::array gpu_names{
    GpuName{"V100-SXM2-16GB", "v100-sxm2-16"},
    GpuName{"V100-SXM2-32GB", "v100-sxm2-32"},
    GpuName{"V100-SXM3-32GB", "v100-sxm3-32"},
    GpuName{"V100-PCIE", "v100-pcie"},
    GpuName{"P100-PCIE", "p100-pcie"},
    GpuName{"Tesla T4", "t4"},
    GpuName{"A100-SXM4-40GB", "a100-sxm-40"},
    GpuName{"A100-SXM4-80GB", "a100-sxm-80"},
    GpuName{"A100-SXM-80GB", "a100-sxm-80"},
    GpuName{"A100-PCIE", "a100-pcie"},
    GpuName{"A100 80GB PCIe", "a100-pcie"},
    GpuName{"H100 PCIe", "h100-pcie"},
    GpuName{"H100 80GB HBM3", "h100-sxm"},
    GpuName{"GH200", "gh200"},
    GpuName{"GB200", "gb200"},
    GpuName{"H200", "h200-sxm"},
    GpuName{"B200", "b200-sxm"},
    GpuName{"H20", "h20"},
    GpuName{"L40S", "l40s"},
    GpuName{"RTX 2080 Ti", "rtx2080ti"},
    GpuName{"MI300X", "mi300x"},
};

// "NVIDIA GeForce RTX 2080 Ti" as "nvidiageforcertx2080ti"
std::string letters_of(std::string_view text) {
  std::string letters;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return letters;
}

}  // namespace

std::string gpu_id(const std::string& device_name) {
  for (const GpuName& name : gpu_names) {
    if (device_name.find(name.words) != std::string::npos) {
      return std::string(name.id);
    }
  }
  return device_name;
}

bool may_be_called(const std::string& id, const std::string& device_name) {
  const std::string own = gpu_id(device_name);
  if (own != device_name) {
    return own == id;
  }
  return letters_of(device_name).find(letters_of(id.substr(0, id.find('-')))) != std::string::npos;
}

}  // namespace payoff
