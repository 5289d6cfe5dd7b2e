// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiles/library.hpp"
#include "profiles/read_experiment.hpp"
#include "web/what_if.hpp"

// What the sliders of a report can be moved to: the methods and models of the library that the
// experiment could be written with instead. Each is read as `--compress METHOD` and
// `--set model.profile=MODEL` would be, so that the page and the program mean the same by a name.

namespace payoff {

// `sources`: what was read already is not read again.
[[nodiscard]] web::WhatIf what_if_of(const ReadExperiment& read, double band,
                                     const Library& library, SourceMap sources);

}  // namespace payoff
