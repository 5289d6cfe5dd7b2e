// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiles/import/training_rows.hpp"

namespace payoff::import_detail {

// Fields of a row that follow from others that it states, and from nothing else: its GPUs from the
// ranks of its layout, its nodes from their GPUs, its batch from micro-batches, their count and
// the replicas, or its micro-batch from these. What the row states or names as missing stays.
void complete(TrainingRow& row);

}  // namespace payoff::import_detail
