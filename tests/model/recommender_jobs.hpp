// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/experiment.hpp"
#include "model/groups.hpp"
#include "model/recommender.hpp"
#include "tests/study/experiments.hpp"

// Jobs of small recommenders, and what their ranks send.

namespace payoff::test::recommenders {

inline RecommenderShape shape_of(int tables, std::int64_t dimension) {
  return {"small",
          13,
          {256, dimension},
          {std::vector<std::int64_t>(static_cast<std::size_t>(tables), 1000), dimension},
          {512, 1}};
}

inline Experiment job_of(const RecommenderShape& shape, const test::JobShape& job = {}) {
  Experiment experiment = test::small_job(job);
  experiment.model = recommender_workload(shape, 1, 4_B);
  experiment.layout.micro_batch = 256;
  return experiment;
}

inline std::vector<const Piece*> messages_of(const std::vector<Piece>& pieces) {
  std::vector<const Piece*> found;
  for (const Piece& piece : pieces) {
    if (piece.message.size > 0_B) {
      found.push_back(&piece);
    }
  }
  return found;
}

inline CollectiveModel network_of(const Experiment& job) {
  return {job.cluster, data_group(job.layout, job.cluster.gpus_per_node)};
}

}  // namespace payoff::test::recommenders
