// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/compression.hpp"

// Docs: docs/model.md, section 3.4. Gradients compressed on the way between nodes alone: the GPUs
// of a node add theirs up as they are and keep a part each (reduce-scatter), each GPU does with the
// method what a worker does, with its part and among those with the same place in all nodes, and
// the parts are gathered as they come out (all-gather). So 8 GPUs of a node send between nodes what
// one sends with the method among all workers (HiTopKComm: Shi et al., "Towards Scalable
// Distributed Training of Deep Learning on Public Cloud Clusters", MLSys 2021). In one node nothing
// is compressed.

namespace payoff {

// Why a method cannot be used so; empty: it can.
[[nodiscard]] std::string not_across_nodes(const Method& method);

// The method with other rounds: its own formulas, with a part of the tensor (n / L) for the tensor
// and nodes (W / L) for workers. Requires not_across_nodes() to be empty.
[[nodiscard]] Method across_nodes(const Method& method);

}  // namespace payoff
