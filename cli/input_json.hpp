// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "cli/session.hpp"
#include "profiles/library.hpp"
#include "profiles/read_experiment.hpp"

// What a JSON result was made from, so that a number can be traced and made again: the experiment
// as it was read, with everything that was set, and the digest of every file.

namespace payoff {

// {name, sha256, yaml}: `yaml` is a file that gives the same experiment.
[[nodiscard]] nlohmann::ordered_json experiment_json(const ReadExperiment& read);

// [{file, sha256}]: profiles by their place in the library, other files as they were named. The
// experiment file is left out: it is told by experiment_json.
[[nodiscard]] nlohmann::ordered_json profiles_json(const Library& library,
                                                   const SourceMap& sources);
[[nodiscard]] nlohmann::ordered_json profiles_json(const Library& library, const SourceMap& sources,
                                                   const ReadExperiment& read);

}  // namespace payoff
