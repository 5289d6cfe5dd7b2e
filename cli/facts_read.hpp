// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "cli/trust.hpp"
#include "model/experiment.hpp"
#include "profiles/fact.hpp"

// Of everything that the profiles of an experiment state, what its predictions read. Laws come
// whole (all protocols, precisions and kinds of kernels), and a prediction reads what its messages,
// its kernels and its codecs need.

namespace payoff {

// `messages`: of all strategies.
[[nodiscard]] Facts facts_read(const PreparedExperiment& prepared,
                               const std::vector<MessageUse>& messages, const Facts& facts);

// Kinds of nodes have what a cluster has: "cluster.gpu.power" of "cluster.node_kinds.0.gpu.power".
[[nodiscard]] std::string path_of_one_kind(std::string_view path);

// Each number once: the law of an implementation class is one, however many strategies use it.
[[nodiscard]] Facts distinct(const Facts& facts);

}  // namespace payoff
