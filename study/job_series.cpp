// SPDX-License-Identifier: Apache-2.0
#include "study/job_series.hpp"

namespace payoff {
namespace {

// More are let go: a series may have millions of jobs.
constexpr std::size_t most_prepared = 16;
constexpr std::size_t most_codecs = 64;

}  // namespace

JobSeries::JobSeries(const Experiment& experiment)
    : now_(&prepared_.try_emplace(experiment.layout.micro_batch, experiment).first->second) {
  change(numbers_of(experiment));
}

void JobSeries::change(const JobNumbers& numbers) {
  auto known = prepared_.find(numbers.micro_batch);
  if (known == prepared_.end()) {
    Experiment job = experiment();
    set_numbers(numbers, job);
    if (prepared_.size() >= most_prepared) {
      prepared_.clear();
    }
    known = prepared_.try_emplace(numbers.micro_batch, job).first;
  }
  now_ = &known->second;
  now_->prepared.change(numbers);
  const CodecKey key{numbers.nodes, numbers.dp, numbers.micro_batches, numbers.bucket.si,
                     numbers.first_bucket.si};
  if (now_->codecs.size() >= most_codecs && !now_->codecs.contains(key)) {
    now_->codecs.clear();
  }
  codecs_ = &now_->codecs.try_emplace(key, experiment().plans.size()).first->second;
}

const std::vector<CallCost>& JobSeries::codec_costs(std::size_t place) {
  std::optional<std::vector<CallCost>>& costs = codecs_->at(place);
  if (!costs) {
    costs = prepared().codec_costs(experiment().plans.at(place));
  }
  return *costs;
}

StepPlan JobSeries::plan(std::size_t place) {
  return prepared().plan(experiment().plans.at(place), codec_costs(place));
}

}  // namespace payoff
