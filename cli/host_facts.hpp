// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/experiment.hpp"
#include "profiles/fact.hpp"

// What a prediction reads of hosts, for codecs that run there.

namespace payoff {

[[nodiscard]] bool encodes_on_hosts(const Experiment& experiment);

// What the model itself takes of a copy to a host, where neither the cluster nor a measurement of
// the GPU says it.
void add_assumed_copies(const Experiment& experiment, Facts& facts);

}  // namespace payoff
