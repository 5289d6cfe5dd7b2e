// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "model/experiment.hpp"

// What a checkpoint of a training is made of, who writes and reads which part of it, and how long
// that takes on given storage.
//
// State of a parameter: its weight as training keeps it, and what the optimiser keeps
// (model/optimizer.hpp: with 16-bit weights a 32-bit copy and the moments, 12 bytes for Adam:
// Rajbhandari et al. 2020). Saving leaves the state as it is sharded: without zero one of the ranks
// that hold the same part writes it, with zero 1 and 2 one of them the weights and each its part of
// the optimiser, with zero 3 each its part of both.
//
// A layout that shards otherwise reads a universal checkpoint (Lian et al., USENIX ATC 2025): what
// was saved is converted into atoms, for each parameter whole one file of its 32-bit weight and one
// of each moment; every rank then reads the slices that it holds. Atoms need the 32-bit weights
// only: the others are rounded from them and gathered over the network, as after every step.
//
// Not in it: the error feedback of a codec, which no framework carries over; activations; the copy
// from the GPU to the host, which is faster than storage; caches of storage: what several replicas
// read is read several times.

namespace payoff {

// Bytes of the state of one parameter.
struct ParameterState {
  Bytes weight{};     // as training keeps it
  Bytes optimizer{};  // moments, and the 32-bit weight where training keeps a shorter one
  bool master{};      // the optimiser has the 32-bit weight

  [[nodiscard]] Bytes saved() const { return weight + optimizer; }
  [[nodiscard]] Bytes atoms() const { return master ? optimizer : saved(); }
  // Files of one tensor: its weight and each moment.
  [[nodiscard]] int files() const { return static_cast<int>(atoms() / 4_B); }
};

// Of one rank of a pipeline stage.
struct HeldParameters {
  double dense{};
  double experts{};  // of the experts that it holds
  double tensors{};
};

struct CheckpointShape {
  ParallelLayout layout;
  int gpus_per_node{1};
  std::vector<HeldParameters> stages;  // of the pipeline
  double parameters{};                 // of the whole model, each once
  double tensors{};                    // of them
  ParameterState state;
};
[[nodiscard]] CheckpointShape checkpoint_shape(const PreparedExperiment& job);

// What goes to storage or comes from it, all ranks together.
struct CheckpointTraffic {
  Bytes total{};
  Bytes busiest_node{};
  double files{};  // that one rank opens, one after the other; of the rank with most
};
[[nodiscard]] CheckpointTraffic save_traffic(const CheckpointShape& shape);
// By the layout that saved it.
[[nodiscard]] CheckpointTraffic native_load_traffic(const CheckpointShape& shape);
[[nodiscard]] CheckpointTraffic atoms_load_traffic(const CheckpointShape& shape);

// Whether every rank of one of them holds the same part of the same state as in the other.
[[nodiscard]] bool same_shards(const CheckpointShape& a, const CheckpointShape& b);

struct Storage {
  Bandwidth total{};     // of all nodes together, either way
  Bandwidth per_node{};  // zero: as much as the total
  Seconds per_file{};    // to open one
};

enum class StorageLimit { total, node, files };
[[nodiscard]] std::string_view name(StorageLimit limit);

struct Transfer {
  CheckpointTraffic traffic;
  Seconds time{};
  StorageLimit limit{};  // what most of the time goes to
};
[[nodiscard]] Transfer transfer(const CheckpointTraffic& traffic, const Storage& storage);

// The conversion on so many nodes, a process for each GPU that the shape has on a node: reads what
// was saved (the 32-bit state only), writes the atoms.
struct Conversion {
  Transfer read;
  Transfer write;
};
[[nodiscard]] Conversion conversion(const CheckpointShape& saved, const Storage& storage,
                                    int nodes);

}  // namespace payoff
