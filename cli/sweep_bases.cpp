// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_bases.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "profiles/experiment_keys.hpp"
#include "profiles/read_layout.hpp"
#include "profiles/read_numbers.hpp"

namespace payoff {
namespace {

// More of them are not kept: a sweep over keys that are read one by one has millions.
constexpr std::size_t most_bases = 1024;

bool has_key(const Node& root, std::string_view section, std::string_view key) {
  const Entry* of = root.find(section);
  return of != nullptr && of->value.find(key) != nullptr;
}

bool has_axis(const SweepQuestion& question, std::string_view key) {
  const std::vector<SweepAxis>& axes = question.design.axes();
  return std::any_of(axes.begin(), axes.end(),
                     [key](const SweepAxis& axis) { return axis.key == key; });
}

}  // namespace

SweepBase sweep_base(const SweepQuestion& question, const ReadExperiment& read) {
  SweepBase base;
  base.is_shared = read.cluster_state.is_even() && !read.run;
  base.dp_is_open = !has_key(read.document.root, "layout", "dp");
  base.experiment = read.experiment;
  const std::vector<CompressionPlan>& plans = base.experiment.plans;
  for (const std::string& strategy : question.strategies) {
    const auto plan = std::find_if(plans.begin(), plans.end(), [&](const CompressionPlan& other) {
      return other.label == strategy;
    });
    base.is_shared = base.is_shared && plan != plans.end();
    base.plans.push_back(static_cast<std::size_t>(plan - plans.begin()));
  }
  return base;
}

std::optional<JobNumbers> whole_numbers(const SweepBase& base, JobNumbers numbers) {
  const Experiment& job = base.experiment;
  if (std::int64_t{numbers.nodes} * job.cluster.gpus_per_node > most_ranks) {
    return std::nullopt;
  }
  if (base.dp_is_open) {
    Cluster cluster;
    cluster.nodes = numbers.nodes;
    cluster.gpus_per_node = job.cluster.gpus_per_node;
    numbers.dp = replicas_that_fit(job.layout, cluster);
  }
  return numbers;
}

const NumberAxis* SweepBases::number_axis(const SweepQuestion& question, std::size_t axis) {
  const NumberAxis* number = find_number_axis(question.design.axes()[axis].key);
  const bool global = has_key(question.document.root, "layout", "global_batch") ||
                      has_axis(question, "layout.global_batch");
  return number != nullptr && number->counts_samples && global ? nullptr : number;
}

SweepBases::SweepBases(const SweepQuestion& question)
    : question_(question), uncompressed_(about_one_strategy(question, 0)) {
  const std::vector<SweepAxis>& axes = question.design.axes();
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (const NumberAxis* key = number_axis(question, a)) {
      columns_.push_back({a, key, axes[a].values.size()});
      numbers_.emplace_back(axes[a].values.size());
    } else {
      others_.push_back(a);
    }
  }
}

std::vector<std::size_t> SweepBases::values_read(const std::vector<std::size_t>& job) const {
  std::vector<std::size_t> values;
  values.reserve(others_.size());
  for (const std::size_t axis : others_) {
    values.push_back(job[axis]);
  }
  return values;
}

std::shared_ptr<const SweepBase> SweepBases::base_of(const std::vector<std::size_t>& job) {
  const std::vector<std::size_t> key = values_read(job);
  {
    const std::lock_guard lock(mutex_);
    const auto known = bases_.find(key);
    if (known != bases_.end()) {
      return known->second;
    }
  }
  std::shared_ptr<const SweepBase> base = read(job);
  if (base) {
    const std::lock_guard lock(mutex_);
    if (bases_.size() >= most_bases) {
      bases_.clear();
    }
    bases_.emplace(key, base);
  }
  return base;
}

std::shared_ptr<const SweepBase> SweepBases::read(const std::vector<std::size_t>& job) const {
  SourceMap sources = question_.sources;
  Diagnostics diagnostics;
  const auto read = read_job(question_, job, sources, diagnostics);
  if (!read) {
    return nullptr;
  }
  return std::make_shared<const SweepBase>(sweep_base(question_, *read));
}

// Where more is to be said of a number than that it is one.
std::optional<JobNumbers> SweepBases::read_with_job(const std::vector<std::size_t>& job) const {
  SourceMap sources = uncompressed_.sources;
  Diagnostics diagnostics;
  const auto read = read_job(uncompressed_, job, sources, diagnostics);
  return read ? std::optional(payoff::numbers_of(read->experiment)) : std::nullopt;
}

std::optional<JobNumbers> SweepBases::numbers_of(std::size_t column,
                                                 const std::vector<std::size_t>& job) {
  std::optional<JobNumbers>& value = numbers_[column][job[columns_[column].axis]];
  {
    const std::lock_guard lock(mutex_);
    if (value) {
      return value;
    }
  }
  const std::size_t axis = columns_[column].axis;
  std::optional<JobNumbers> read;
  if (!question_.input.columns[axis].numbers.empty()) {
    const SweepAxis& numbers = question_.design.axes()[axis];
    read = read_number(numbers.key, numbers.values[job[axis]], question_.sources);
  }
  if (!read) {
    read = read_with_job(job);
  }
  const std::lock_guard lock(mutex_);
  value = read;
  return value;
}

}  // namespace payoff
