// SPDX-License-Identifier: Apache-2.0
#include "cli/codec_measurements.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace payoff {
namespace {

// Families of kernels that only stream, of the classes `fused` and `framework_ops`.
constexpr std::string_view streaming = "casts,groups,signs";
// What their law leaves of these times goes to sectors.
constexpr std::string_view with_scattering = "random_k,scatter_add,casts,groups,signs";
constexpr std::string_view multiplying = "power_sgd";
constexpr std::array<std::string_view, 3> of_streams{"resident_efficiency", "memory_efficiency",
                                                     "relative_sd"};

// No kernel of a library that payoff-kernels opens only streams, and those of a method are the
// fused ones in its place.
bool has_law(const Method& method) {
  return method.implementation != Implementation::library || !method.kernels.empty();
}

// As a chain of operators a selection gathers what it has chosen.
bool gathers(const Method& method) {
  return method.implementation == Implementation::framework_ops &&
         std::any_of(method.kernels.begin(), method.kernels.end(),
                     [](const std::string& kernel) { return kernel.starts_with("topk_"); });
}

}  // namespace

std::string codec_kernels(const Method& method, std::string_view key) {
  const std::vector<std::string>& own = method.kernels;
  if (key == "gemm_efficiency") {  // the rate of its products goes before it
    return std::find(own.begin(), own.end(), multiplying) != own.end()
               ? fmt::format("{}", fmt::join(own, ","))
               : "";
  }
  const bool scatters = key == "random_efficiency";
  if (!has_law(method) ||
      (!scatters && std::find(of_streams.begin(), of_streams.end(), key) == of_streams.end())) {
    return "";
  }
  const bool needs_sectors = scatters || gathers(method);
  const std::string_view of_class =
      needs_sectors ? with_scattering : (own.empty() ? streaming : std::string_view());
  return fmt::format("{}", fmt::join(own, ",")) + (own.empty() || of_class.empty() ? "" : ",") +
         std::string(of_class);
}

}  // namespace payoff
