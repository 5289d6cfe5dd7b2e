// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "calibrate/network_fit.hpp"

// What one process needs to launch the kernel of each GPU that it drives, from small messages of
// tables that nccl-tests measured with -g N. One number for all hosts: systems count equally, and
// `relative_sd` is how far they are from it. Calls of several operations a GPU (all-to-all, send
// and receive) launch more than a kernel each and are left out, like CUDA graphs.

namespace payoff {

// Whether the launches of a table can be priced (model/collective.hpp, launched_by_one_process).
[[nodiscard]] bool launches_are_priced(const MeasuredCollective& table);

// `laws` are those of the tables' links.
[[nodiscard]] LaunchFit fit_launches(std::span<const MeasuredCollective> tables,
                                     std::span<const LinkFit> laws);

}  // namespace payoff
