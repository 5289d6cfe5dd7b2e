// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "model/units_text.hpp"

namespace payoff {
namespace {

constexpr double most_iterations = 1e12;
constexpr std::size_t most_phases = 1000;  // each may have two strategies of its own
constexpr NumberRules count{.fallback = 1, .min = 1, .max = most_iterations};

// How long something is: in iterations, or as a share of the run.
struct Length {
  Value said;  // empty: not at all
  double iterations{};
  double share{};
};

class RunReader {
 public:
  RunReader(const Gpu& gpu, const ReadContext& context)
      : diagnostics_(context.diagnostics), plans_(gpu, context) {}

  ReadRun read(const Section& run) {
    if (const Value per_epoch = run.optional("iterations_per_epoch")) {
      run_.schedule.iterations_per_epoch = per_epoch.number(count);
    }
    total_ = length_of(run, false);
    const Value phases = run.required("phases");
    const std::vector<Value> items = phases.list();
    if (items.size() > most_phases) {
      phases.error("has " + std::to_string(items.size()) + " phases",
                   "at most " + std::to_string(most_phases));
      return {};
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
      read_phase(items[i].section("write a phase as `{plan: powersgd:rank=4, epochs: 30}`"), i);
    }
    if (phases && phases.is_list() && items.empty()) {
      phases.error("has no phase");
    }
    if (lengths_are_read_ && lengths_.size() == items.size() && !items.empty()) {
      share_out();
    }
    run_.plans = std::move(plans_).result();
    run_.schedule.plans = run_.plans.plans;
    return std::move(run_);
  }

 private:
  // The one key of `section` that says a length.
  Length length_of(const Section& section, bool of_phase) {
    Length length;
    constexpr std::array<std::string_view, 3> keys{"iterations", "epochs", "share"};
    for (const std::string_view key : keys) {
      const Value value =
          key == "share" && !of_phase ? Value() : section.optional(key);  // of itself: no length
      if (!value) {
        continue;
      }
      if (length.said) {
        value.error("says again how long it is", "besides " + backquoted(length.said.path()),
                    "leave one of them out");
        continue;
      }
      length.said = value;
      if (key == "share") {
        length.share = more_than_nothing(value, [](const Value& share) { return share.ratio(); });
      } else {
        length.iterations = more_than_nothing(value, [](const Value& times) {
          return times.number({.fallback = 1, .min = 0, .max = most_iterations});
        });
        length.iterations *= key == "epochs" ? iterations_per_epoch(value) : 1.0;
      }
    }
    return length;
  }

  // A value that was refused reads as its fallback, and is told once.
  template <class Read>
  double more_than_nothing(const Value& value, Read read) {
    const std::size_t errors = diagnostics_.error_count();
    const double length = read(value);
    const bool is_read = diagnostics_.error_count() == errors;
    if (length <= 0.0 && is_read) {
      value.error("must be more than 0");
    }
    lengths_are_read_ = lengths_are_read_ && is_read;
    return length;
  }

  double iterations_per_epoch(const Value& epochs) {
    if (!run_.schedule.iterations_per_epoch) {
      epochs.error("counts epochs of a length that is not given", {},
                   "add `iterations_per_epoch` to `run`: samples of the data set over the batch");
      run_.schedule.iterations_per_epoch = 1;  // said once
    }
    return *run_.schedule.iterations_per_epoch;
  }

  std::size_t plan_of(const Value& value, std::size_t phase) {
    const std::size_t plan = plans_.use(value, phase);
    if (plan > run_.places.size()) {
      run_.places.push_back(value.path());
    }
    return plan;
  }

  void read_phase(const Section& section, std::size_t number) {
    if (!section) {
      return;
    }
    sections_.push_back(section);
    RunPhase& phase = run_.schedule.phases.emplace_back();
    phase.name = section.optional("name").text();
    if (const Value plan = section.optional("plan")) {
      phase.plan = plan_of(plan, number);
    }
    lengths_.push_back(length_of(section, true));
    phase.inflation = section.optional("inflation").ratio({.fallback = 0, .min = 0, .max = 100});
    phase.local_steps = section.optional("local_steps").number(count);
    const Value probability = section.optional("trigger_probability");
    phase.trigger_probability = more_than_nothing(probability, [](const Value& share) {
      return share.ratio({.fallback = 1, .min = 0, .max = 1});
    });
    if (const Value refresh = section.optional("refresh")) {
      const Section how = refresh.section("write it as `{plan: topk:ratio=1 %, every: 1000}`");
      const Value plan = how.required("plan");
      phase.refresh =
          Refresh{plan ? plan_of(plan, number) : 0, how.required("every").number(count)};
    }
  }

  // The phases' iterations: what is said, and the rest for the one that does not say.
  void share_out() {
    const bool has_total = total_.said && total_.iterations > 0;
    double known = 0;
    std::optional<std::size_t> rest;
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
      const Length& length = lengths_[i];
      if (!length.said && rest) {
        sections_[i].error("leaves its length to the rest, as another phase does");
        return;
      }
      if (!length.said) {
        rest = i;
        continue;
      }
      if (length.share > 0 && !has_total) {
        length.said.error("is a share of a run whose length is not given", {},
                          "add `iterations` or `epochs` to `run`");
        return;
      }
      RunPhase& phase = run_.schedule.phases[i];
      phase.iterations = length.share > 0 ? length.share * total_.iterations : length.iterations;
      known += phase.iterations;
    }
    settle(known, rest, has_total);
  }

  void settle(double known, std::optional<std::size_t> rest, bool has_total) {
    if (!has_total) {
      if (rest) {
        sections_[*rest].error("takes the rest of a run whose length is not given");
      }
      return;
    }
    // Shares are written with a few digits.
    const double slack = 1e-9 * total_.iterations;
    if (rest && known < total_.iterations - slack) {
      run_.schedule.phases[*rest].iterations = total_.iterations - known;
    } else if (rest || std::abs(known - total_.iterations) > slack) {
      total_.said.error(
          "is not what its phases add up to",
          number_text(known, 6) + " iterations in phases of " + number_text(total_.iterations, 6),
          rest ? std::string("nothing is left for the phase without a length")
               : "leave out the length of one phase: it takes the rest");
    }
  }

  Diagnostics& diagnostics_;
  PlanReader plans_;
  ReadRun run_;
  Length total_;
  std::vector<Length> lengths_;
  bool lengths_are_read_ = true;   // false: one is its fallback, and they need not add up
  std::vector<Section> sections_;  // of the phases
};

}  // namespace

Problems ReadRun::check(const Experiment& experiment, const SoundParts& sound) const {
  Problems problems;
  if (sound.layout) {
    problems = payoff::check(schedule, experiment.layout);
  }
  Experiment with_plans = experiment;
  with_plans.plans = schedule.plans;
  for (Problem& problem : payoff::check(with_plans, sound)) {
    if (const auto of = plan_in(problem.path)) {  // else of the job, and told with it
      problem.path.replace(0, of->length, places.at(of->plan));
      problems.push_back(std::move(problem));
    }
  }
  return problems;
}

std::optional<ReadRun> read_run(const Value& value, const Gpu& gpu, const ReadContext& context) {
  const Section run = value.section("write it as `run: {epochs: 90, phases: [...]}`");
  return run ? std::optional(RunReader(gpu, context).read(run)) : std::nullopt;
}

}  // namespace payoff
