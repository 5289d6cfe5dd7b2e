// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "profiles/read_hardware.hpp"
#include "profiles/read_plans.hpp"

// The key `codecs` of a measured GPU's profile (profiles/read_measured.hpp): the laws by which
// plans are priced on the clusters that have this GPU.

namespace payoff {

struct NamedPart {
  std::string name;  // of a profile, or a file
  std::optional<Span> asked;
};

// The GPU of a cluster's profile, as it is named there.
[[nodiscard]] std::optional<NamedPart> gpu_of_cluster(const std::string& cluster,
                                                      std::optional<Span> asked,
                                                      const ReadContext& context);

// Prices the plans' codecs by what was measured on this GPU, where it was.
void use_measured_codecs(const NamedPart& gpu, const ReadContext& context, ReadPlans& plans);

}  // namespace payoff
