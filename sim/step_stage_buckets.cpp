// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/step_pieces.hpp"
#include "sim/step_stage.hpp"

// Buckets of gradients and gathers of weights: when they are handed over, and their rounds.

namespace payoff::sim {

bool StageRun::completes_gradients() const {
  return !operation_.is_forward && (plan_.reduces_every_micro_batch ||
                                    operation_.micro_batch + 1 == plan_.layout.micro_batches);
}

std::size_t StageRun::reductions() const {
  return plan_.reduces_every_micro_batch ? static_cast<std::size_t>(plan_.layout.micro_batches) : 1;
}

void StageRun::release_buckets(bool all) {
  const std::vector<Bucket>& buckets = plan_.buckets(stage_);
  while (next_bucket_ < buckets.size() &&
         (all || static_cast<std::size_t>(buckets[next_bucket_].ready_after) < piece_)) {
    next_round(plan_.kind(buckets[next_bucket_]), next_bucket_, 0,
               stream(StreamKind::compute).path);
    ++next_bucket_;
  }
}

// Hands over the gathers up to the unit of the present piece and, once they have come, the one
// after it when communication overlaps. Whether there was any.
bool StageRun::fetch_weights() {
  const std::vector<WeightGather>& weights = gathers();
  while (needed_ < weights.size() && weights[needed_].needed_by <= piece_) {
    ++needed_;
  }
  const bool ahead = plan_.overlap && gathered_ >= needed_;
  const std::size_t wanted = std::min(weights.size(), needed_ + (ahead ? 1 : 0));
  const std::size_t before = fetched_;
  for (; fetched_ < wanted; ++fetched_) {
    next_round(plan_.kinds[weights[fetched_].kind], fetched_, 0, stream(StreamKind::compute).path);
  }
  return fetched_ > before;
}

void StageRun::next_round(const BucketKind& kind, std::size_t index, std::size_t round,
                          const Path& path) {
  const bool sends = round < kind.rounds.size();
  const payoff::Work& work = sends ? kind.rounds[round].encode : kind.decode;
  stream(codec_stream())
      .queue.push_back({sends ? Task::Role::encode : Task::Role::decode, cause_of(work.kind),
                        time_of(work.alone), index, round, path, time_of(work.bucket_copy),
                        work.memory_share, &kind});
}

}  // namespace payoff::sim
