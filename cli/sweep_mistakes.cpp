// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_mistakes.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/sweep_bases.hpp"
#include "cli/sweep_shared.hpp"
#include "model/job_numbers.hpp"
#include "profiles/read_numbers.hpp"

namespace payoff {
namespace {

// A value is tried with so many combinations of the others. If none is a job it is wrong where the
// same is said of it in all of them. Of long axes the ends are tried: what lies between them is a
// series.
constexpr std::size_t combinations = 8;
constexpr std::size_t long_axis = 64;

// A combination that is no job, and what is wrong with it.
struct Try {
  std::vector<std::size_t> values;  // of each axis
  std::vector<Diagnostic> errors;
};

bool is_same_error(const Diagnostic& a, const Diagnostic& b) {
  return a.span == b.span && a.message == b.message;
}

bool is_in_all(const Diagnostic& error, const std::vector<const Try*>& tries) {
  return std::all_of(tries.begin(), tries.end(), [&](const Try* each) {
    return std::any_of(each->errors.begin(), each->errors.end(),
                       [&](const Diagnostic& other) { return is_same_error(error, other); });
  });
}

std::vector<Diagnostic> errors_of(const Diagnostics& diagnostics) {
  std::vector<Diagnostic> errors = diagnostics.sorted();
  std::erase_if(errors, [](const Diagnostic& d) { return d.severity != Severity::error; });
  return errors;
}

// What is wrong with several values of an axis is told once, and of which.
struct AxisMistake {
  Diagnostic first;
  std::vector<std::size_t> values;
};

class Mistakes {
 public:
  Mistakes(const SweepQuestion& question, Session& session)
      : question_(question),
        session_(session),
        mistakes_(question.design.axes().size()),
        wrong_(question.design.axes().size()) {}

  std::optional<ReadExperiment> find() {
    const std::vector<SweepAxis>& axes = question_.design.axes();
    std::optional<ReadExperiment> readable;
    if (axes.empty()) {  // `--over compress=...` alone: one job
      readable = try_job({});
    }
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      for (const std::size_t value : tried_of(axis)) {
        if (can_be_with(axis, value)) {
          continue;
        }
        auto read = try_value(axis, value);
        if (read && !readable) {
          readable = std::move(read);
          keep_for_numbers(*readable);
        }
      }
    }
    tell(readable.has_value());
    return readable;
  }

 private:
  void keep_for_numbers(const ReadExperiment& read) {
    if (SharedJobs::has_any(question_) && question_.design.sampling() != Sampling::zipped) {
      base_ = sweep_base(question_, read);
      job_ = base_->experiment;
    }
  }

  // Whether the job that could be read can be with another number, as cli/sweep_shared.hpp takes
  // it. Reading it all again takes milliseconds.
  [[nodiscard]] bool can_be_with(std::size_t axis, std::size_t value) {
    const NumberAxis* key = SweepBases::number_axis(question_, axis);
    if (!base_ || !base_->is_shared || key == nullptr || question_.input.places[axis].failed ||
        question_.input.columns[axis].numbers.empty()) {
      return false;
    }
    const SweepAxis& numbers = question_.design.axes()[axis];
    const auto own = read_number(numbers.key, numbers.values[value], question_.sources);
    if (!own) {
      return false;
    }
    JobNumbers all = numbers_of(base_->experiment);
    key->take(*own, all);
    const std::optional<JobNumbers> whole = whole_numbers(*base_, all);
    if (!whole) {
      return false;
    }
    set_numbers(*whole, job_);
    return check(job_).empty();
  }

  [[nodiscard]] std::vector<std::size_t> tried_of(std::size_t axis) const {
    const std::size_t values = question_.design.axes()[axis].values.size();
    std::vector<std::size_t> tried;
    for (std::size_t value = 0; value < values; ++value) {
      if (values <= long_axis || value == 0 || value + 1 == values) {
        tried.push_back(value);
      }
    }
    return tried;
  }

  std::optional<ReadExperiment> try_job(std::vector<std::size_t> values) {
    Diagnostics diagnostics;
    auto read = read_job(question_, values, session_.sources(), diagnostics);
    if (!read) {
      tries_.push_back({std::move(values), errors_of(diagnostics)});
    }
    return read;
  }

  std::optional<ReadExperiment> try_value(std::size_t axis, std::size_t value) {
    const std::vector<SweepAxis>& axes = question_.design.axes();
    const bool zipped = question_.design.sampling() == Sampling::zipped;
    const std::size_t before = tries_.size();
    for (std::size_t k = 0; k < (zipped ? 1 : combinations); ++k) {
      std::vector<std::size_t> values(axes.size(), value);
      for (std::size_t other = 0; other < axes.size() && !zipped; ++other) {
        values[other] = other == axis ? value : k * axes[other].values.size() / combinations;
      }
      if (auto read = try_job(std::move(values))) {
        return read;
      }
    }
    note_mistakes(axis, value, before);
    return std::nullopt;
  }

  // Of a value that was never a job, in the tries from `first` on.
  void note_mistakes(std::size_t axis, std::size_t value, std::size_t first) {
    std::vector<const Try*> tries;
    for (std::size_t i = first; i < tries_.size(); ++i) {
      tries.push_back(&tries_[i]);
    }
    const bool failed = question_.input.places[axis].failed;
    if (failed) {
      wrong_[axis].insert(value);
    }
    for (const Diagnostic& error : tries.front()->errors) {
      // Of values that could not be read it was said already.
      const bool is_of_it = error.span && (question_.input.is_key(axis, *error.span) ||
                                           (!failed && is_value(axis, value, *error.span)));
      if (is_of_it && is_in_all(error, tries)) {
        add(axis, value, error);
        wrong_[axis].insert(value);
      }
    }
  }

  [[nodiscard]] bool is_value(std::size_t axis, std::size_t value, Span span) const {
    return question_.input.is_value(axis, value, span);
  }

  void add(std::size_t axis, std::size_t value, const Diagnostic& error) {
    std::vector<AxisMistake>& known = mistakes_[axis];
    const auto same = std::find_if(known.begin(), known.end(), [&](const AxisMistake& mistake) {
      return mistake.first.message == error.message;
    });
    if (same == known.end()) {
      known.push_back({error, {value}});
    } else {
      same->values.push_back(value);
    }
  }

  void tell(bool is_readable) {
    std::size_t told = 0;
    for (std::size_t axis = 0; axis < mistakes_.size(); ++axis) {
      for (const AxisMistake& mistake : mistakes_[axis]) {
        session_.diagnostics().add(with_values(axis, mistake));
        ++told;
      }
    }
    if (is_readable) {
      return;
    }
    for (const Diagnostic& error : common_errors()) {
      session_.diagnostics().add(error);
      ++told;
    }
    if (told == 0 && !question_.input.has_failed()) {  // each combination is wrong in its own way
      for (const Diagnostic& error : tries_.front().errors) {
        session_.diagnostics().add(error);
      }
    }
  }

  // Where a series stands nobody sees which of its values is meant.
  [[nodiscard]] Diagnostic with_values(std::size_t axis, const AxisMistake& mistake) const {
    constexpr std::size_t most_listed = 5;
    const bool is_series = question_.input.places[axis].values.size() == 1;
    const bool is_of_all = mistake.values.size() == tried_of(axis).size();
    Diagnostic told = mistake.first;
    if (is_of_all || question_.input.is_key(axis, *told.span) ||
        (!is_series && mistake.values.size() == 1)) {
      return told;
    }
    const std::vector<std::string>& texts = question_.design.axes()[axis].values;
    std::vector<std::string> listed;
    for (std::size_t i = 0; i < std::min(most_listed, mistake.values.size()); ++i) {
      listed.push_back(backquoted(texts[mistake.values[i]]));
    }
    told.notes.push_back(fmt::format("so {} {}{}", listed.size() == 1 ? "is" : "are",
                                     fmt::join(listed, ", "),
                                     mistake.values.size() > most_listed ? ", ..." : ""));
    return told;
  }

  // Errors that are of no value and in every combination: of those without a wrong value, which
  // hides others, where there are any.
  [[nodiscard]] std::vector<Diagnostic> common_errors() const {
    std::vector<const Try*> all;
    std::vector<const Try*> without;
    for (const Try& each : tries_) {
      all.push_back(&each);
      if (!has_wrong_value(each)) {
        without.push_back(&each);
      }
    }
    const std::vector<const Try*>& pool = without.empty() ? all : without;
    std::vector<Diagnostic> common;
    for (const Diagnostic& error : pool.front()->errors) {
      if (!is_of_an_axis(error, *pool.front()) && is_in_all(error, pool)) {
        common.push_back(error);
      }
    }
    return common;
  }

  [[nodiscard]] bool has_wrong_value(const Try& each) const {
    for (std::size_t axis = 0; axis < each.values.size(); ++axis) {
      if (wrong_[axis].contains(each.values[axis])) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool is_of_an_axis(const Diagnostic& error, const Try& of) const {
    for (std::size_t axis = 0; error.span && axis < of.values.size(); ++axis) {
      if (question_.input.is_key(axis, *error.span) ||
          is_value(axis, of.values[axis], *error.span)) {
        return true;
      }
    }
    return false;
  }

  const SweepQuestion& question_;
  Session& session_;
  std::optional<SweepBase> base_;  // of the first job that could be read, where numbers share it
  Experiment job_;                 // that job, with the numbers that were looked at last
  std::vector<Try> tries_;
  std::vector<std::vector<AxisMistake>> mistakes_;  // of each axis
  std::vector<std::set<std::size_t>> wrong_;        // values of each axis
};

}  // namespace

std::optional<ReadExperiment> report_mistakes(const SweepQuestion& question, Session& session) {
  return Mistakes(question, session).find();
}

}  // namespace payoff
