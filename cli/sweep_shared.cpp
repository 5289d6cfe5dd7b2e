// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_shared.hpp"

#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/sweep_extrapolation.hpp"
#include "cli/sweep_row.hpp"
#include "study/job_series.hpp"

namespace payoff {
namespace {

// More of them are not kept: a sweep has millions of jobs.
constexpr std::size_t most_series = 16;
constexpr std::size_t most_checked = 4096;

bool is_part_of(std::string_view part, std::string_view key) {
  return key.starts_with(part) && (key.size() == part.size() || key[part.size()] == '.');
}

}  // namespace

// One thread's jobs. What it has of a base stays prepared for the numbers it was asked for last.
class SharedJobs::Worker {
 public:
  explicit Worker(SharedJobs& shared) : shared_(shared), writer_(shared.question_) {}

  void add(std::uint64_t number, std::string& lines) {
    const std::vector<std::size_t> job = shared_.question_.design.job(number);
    if (!add_shared(number, job, lines)) {
      lines += job_lines(shared_.question_, number);
    }
  }

 private:
  // What check() looks at among a job's numbers.
  using Checked = std::tuple<int, int, int, int, int>;
  struct Soundness {
    std::vector<std::string> reasons;  // of each strategy, as JSON; empty where it can be
    bool is_clear = true;              // each has one reason at most
  };
  struct Series {
    std::shared_ptr<const SweepBase> base;
    Experiment job;  // with the numbers that are checked
    std::optional<JobSeries> jobs;
    std::map<Checked, Soundness> checked;
    ExtrapolatedTexts extrapolated;
  };

  bool add_shared(std::uint64_t number, const std::vector<std::size_t>& job, std::string& lines) {
    Series* series = series_of(job);
    const auto numbers = series == nullptr ? std::nullopt : numbers_of_job(*series, job);
    if (!numbers) {
      return false;
    }
    const Soundness& sound = soundness(*series, *numbers);
    if (!sound.is_clear) {
      return false;
    }
    writer_.begin(number, job);
    add_rows(*series, *numbers, sound, lines);
    return true;
  }

  Series* series_of(const std::vector<std::size_t>& job) {
    const std::vector<std::size_t> read = shared_.bases_.values_read(job);
    if (last_ != nullptr && read == last_read_) {
      return last_;
    }
    const std::shared_ptr<const SweepBase> base = shared_.bases_.base_of(job);
    if (!base || !base->is_shared) {
      return nullptr;
    }
    if (series_.size() >= most_series && !series_.contains(read)) {
      series_.clear();
    }
    Series& series = series_[read];
    if (!series.base) {
      series.base = base;
      series.job = base->experiment;
    }
    last_ = &series;
    last_read_ = read;
    return last_;
  }

  std::optional<JobNumbers> numbers_of_job(const Series& series,
                                           const std::vector<std::size_t>& job) {
    JobNumbers numbers = numbers_of(series.base->experiment);
    const std::vector<SweepBases::NumberColumn>& columns = shared_.bases_.columns();
    known_.resize(columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c) {
      known_[c].resize(columns[c].values);
      std::optional<JobNumbers>& own = known_[c][job[columns[c].axis]];
      if (!own) {
        own = shared_.bases_.numbers_of(c, job);
      }
      if (!own) {
        return std::nullopt;
      }
      columns[c].key->take(*own, numbers);
    }
    return whole_numbers(*series.base, numbers);
  }

  static const Soundness& soundness(Series& series, const JobNumbers& numbers) {
    const Checked key{numbers.nodes, numbers.nics_per_node, numbers.dp, numbers.micro_batch,
                      numbers.micro_batches};
    const auto known = series.checked.find(key);
    if (known != series.checked.end()) {
      return known->second;
    }
    if (series.checked.size() >= most_checked) {
      series.checked.clear();
    }
    set_numbers(numbers, series.job);
    return series.checked.emplace(key, check_job(series)).first->second;
  }

  // Where the job cannot be, each strategy is asked for alone, as job_lines() does it.
  static Soundness check_job(const Series& series) {
    Soundness sound;
    sound.reasons.resize(series.base->plans.size());
    if (check(series.job).empty()) {
      return sound;
    }
    for (std::size_t s = 0; s < series.base->plans.size(); ++s) {
      const Experiment alone = with_plan(series.job, series.base->plans[s]);
      const Problems problems = check(alone);
      sound.is_clear = sound.is_clear && problems.size() <= 1;
      if (!problems.empty()) {
        Diagnostics diagnostics;
        report(problems, PositionMap(), diagnostics);
        sound.reasons[s] = nlohmann::ordered_json(first_error(diagnostics)).dump();
      }
    }
    return sound;
  }

  static Experiment with_plan(const Experiment& experiment, std::size_t plan) {
    Experiment alone = experiment;
    alone.plans = {experiment.plans.front()};
    if (plan > 0) {
      alone.plans.push_back(experiment.plans[plan]);
    }
    return alone;
  }

  void add_rows(Series& series, const JobNumbers& numbers, const Soundness& sound,
                std::string& lines) {
    std::optional<StepPlan> uncompressed_plan;
    std::optional<StepPrediction> uncompressed;
    RowNumbers row;
    for (std::size_t s = 0; s < sound.reasons.size(); ++s) {
      if (!sound.reasons[s].empty()) {
        writer_.add_impossible(s, sound.reasons[s], lines);
        continue;
      }
      if (!uncompressed) {
        if (!series.jobs) {
          set_numbers(numbers, series.job);
          series.jobs.emplace(series.job);
        }
        series.jobs->change(numbers);
        uncompressed_plan = series.jobs->plan(0);
        uncompressed = series.jobs->prepared().predict(*uncompressed_plan);
        const ParallelLayout& layout = series.jobs->experiment().layout;
        row.gpus = layout.ranks();
        row.samples = layout.global_batch();
        series.extrapolated.change(numbers, series.jobs->prepared(), *uncompressed_plan);
      }
      const std::size_t plan = series.base->plans[s];
      const PreparedExperiment& prepared = series.jobs->prepared();
      const auto own = plan == 0 ? std::nullopt : std::optional(series.jobs->plan(plan));
      const StepPlan& step = own ? *own : *uncompressed_plan;
      const StepPrediction prediction = own ? prepared.predict(step) : *uncompressed;
      row.speedup = uncompressed->step / prediction.step;
      row.extrapolated =
          series.extrapolated.of(plan, prepared, step, series.jobs->codec_costs(plan));
      writer_.add(s, prediction, row, lines);
    }
  }

  SharedJobs& shared_;
  RowWriter writer_;
  std::vector<std::vector<std::optional<JobNumbers>>> known_;  // SweepBases::numbers_of()
  std::map<std::vector<std::size_t>, Series> series_;
  std::vector<std::size_t> last_read_;
  Series* last_{};
};

SharedJobs::SharedJobs(const SweepQuestion& question) : question_(question), bases_(question) {}

SharedJobs::~SharedJobs() = default;

bool SharedJobs::has_any(const SweepQuestion& question) {
  if (question.verdicts || question.engine != Engine::analytical) {
    return false;
  }
  const std::vector<SweepAxis>& axes = question.design.axes();
  for (std::size_t a = 0; a < axes.size(); ++a) {
    for (std::size_t b = 0; b < axes.size(); ++b) {
      if (a != b && is_part_of(axes[a].key, axes[b].key)) {
        return false;  // what one says the other one says anew
      }
    }
    if (RowWriter::is_own_key(question.input.columns[a].name)) {
      return false;
    }
  }
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (SweepBases::number_axis(question, a) != nullptr) {
      return true;
    }
  }
  return false;
}

std::string SharedJobs::lines(const Shard& shard, std::uint64_t first, std::uint64_t count) {
  std::unique_ptr<Worker> worker;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      worker = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!worker) {
    worker = std::make_unique<Worker>(*this);
  }
  std::string lines;
  for (std::uint64_t i = 0; i < count; ++i) {
    worker->add(shard.job(first + i), lines);
  }
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(worker));
  return lines;
}

}  // namespace payoff
