// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "model/experiment.hpp"
#include "model/units.hpp"

// Which buckets of gradients to compress, and each with which method. Docs: docs/advice.md.
//
// Buckets interact (they queue for one stream of messages, and codecs delay backward), so that what
// one of them gains depends on all others. Few choices are all priced. Of many, a start is looked
// for among plans that compress the largest, the first or the last so many buckets by one method;
// then one bucket is changed at a time as long as that makes the step shorter.

namespace payoff {

// Ways to treat all buckets of a job: what else a plan has (its compressed activations, where its
// codecs run), and the methods that a bucket may have.
struct BucketWays {
  CompressionPlan base;  // without gradients' methods
  std::vector<Method> methods;
};

struct BucketChoice {
  CompressionPlan plan;
  Seconds step{};
  std::uint64_t evaluated{};
  bool is_exact{};
};

class BucketChooser {
 public:
  // What a plan may not do: more than the budget allows.
  using Allowed = std::function<bool(const CompressionPlan&, const StepPlan&)>;

  // `job` outlives it.
  BucketChooser(const PreparedExperiment& job, Allowed allowed);

  // The shortest step. With equal steps fewer buckets are compressed. Without any allowed way,
  // nothing is.
  [[nodiscard]] BucketChoice choose(const std::vector<BucketWays>& ways,
                                    std::uint64_t most_choices);

  [[nodiscard]] std::size_t buckets() const { return elements_.size(); }

 private:
  // Of each bucket: 0 for dense, else the method after it.
  using Assignment = std::vector<std::size_t>;
  struct Candidate {
    const BucketWays* ways{};
    Assignment of{};
    Seconds step{};
  };

  [[nodiscard]] static CompressionPlan plan_of(const BucketWays& ways, const Assignment& of);
  [[nodiscard]] Seconds step_of(const BucketWays& ways, const Assignment& of);
  [[nodiscard]] Candidate best_of_all(const std::vector<BucketWays>& ways);
  [[nodiscard]] std::vector<Candidate> starts(const BucketWays& ways);
  void improve(Candidate& candidate);
  void thin_out(Candidate& candidate);

  const PreparedExperiment& job_;
  Allowed allowed_;
  std::vector<std::int64_t> elements_;  // of each bucket, of all stages
  std::uint64_t evaluated_{};
};

}  // namespace payoff
