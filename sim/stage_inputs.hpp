// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <vector>

#include "model/schedule.hpp"
#include "sim/invariant.hpp"
#include "sim/path.hpp"

// Inputs of the operations of a stage, sent and not used yet. Those of a chunk and a direction come
// from one place, are sent in the order of their micro-batches, arrive one after the other and are
// used in that order too: queues, of which the first one is asked for. What has not arrived is a
// number, as slow sends may leave a whole step of them (gpipe).

namespace payoff::sim {

class StageInputs {
 public:
  explicit StageInputs(int chunks) : lanes_(2 * static_cast<std::size_t>(chunks)) {}

  void sent(const Operation& operation) {
    ++lane(operation).on_their_way;
    ++on_their_way_;
  }
  void arrived(const Operation& operation, const Path& path) {
    Lane& lane = this->lane(operation);
    PAYOFF_INVARIANT(lane.on_their_way > 0, "an input arrives that nobody has sent");
    PAYOFF_INVARIANT(
        lane.used + lane.arrived.size() == static_cast<std::size_t>(operation.micro_batch),
        "an input overtakes another");
    --lane.on_their_way;
    --on_their_way_;
    lane.arrived.push_back(path);
  }
  // Of an operation whose turn it is in its chunk and direction: sent, if not arrived.
  [[nodiscard]] bool has_been_sent(const Operation& operation) const {
    const Lane& lane = lanes_[index(operation)];
    return !operation.of_weights && (lane.on_their_way > 0 || !lane.arrived.empty());
  }
  // What led to its arrival, or null.
  [[nodiscard]] const Path* arrived(const Operation& operation) const {
    const Lane& lane = lanes_[index(operation)];
    return operation.of_weights || lane.arrived.empty() ? nullptr : &lane.arrived.front();
  }
  void use(const Operation& operation) {
    Lane& lane = this->lane(operation);
    PAYOFF_INVARIANT(
        !lane.arrived.empty() && lane.used == static_cast<std::size_t>(operation.micro_batch),
        "an operation uses the input of another");
    ++lane.used;
    lane.arrived.pop_front();
  }
  [[nodiscard]] bool any_on_their_way() const { return on_their_way_ > 0; }

 private:
  struct Lane {
    std::size_t used{};
    std::size_t on_their_way{};
    std::list<Path> arrived;  // nothing while empty, of which there are many
  };
  [[nodiscard]] static std::size_t index(const Operation& operation) {
    return 2 * static_cast<std::size_t>(operation.chunk) + (operation.is_forward ? 0U : 1U);
  }
  [[nodiscard]] Lane& lane(const Operation& operation) { return lanes_[index(operation)]; }

  std::vector<Lane> lanes_;  // of chunks, forward and backward
  std::size_t on_their_way_{};
};

}  // namespace payoff::sim
