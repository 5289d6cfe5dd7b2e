// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_mistakes.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace payoff {
namespace {

// A value is tried with so many combinations of the others. If none is a job it is wrong
// where it is always said for the same reason. Of long axes the ends
// are tried: what lies between them is a series.
constexpr std::size_t combinations = 8;
constexpr std::size_t long_axis = 64;

class Mistakes {
 public:
  Mistakes(const SweepQuestion& question, Session& session)
      : question_(question), session_(session) {}

  std::optional<ReadExperiment> find() {
    const std::vector<SweepAxis>& axes = question_.design.axes();
    std::optional<ReadExperiment> readable;
    if (axes.empty()) {  // `--over compress=...` alone: one job
      readable = try_value(0, 0);
    }
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      const std::size_t values = axes[axis].values.size();
      for (std::size_t value = 0; value < values; ++value) {
        if (values > long_axis && value != 0 && value + 1 != values) {
          continue;
        }
        auto read = try_value(axis, value);
        if (read && !readable) {
          readable = std::move(read);
        }
      }
    }
    if (!readable && !session_.diagnostics().has_errors()) {
      copy(first_);
    }
    return readable;
  }

 private:
  std::optional<ReadExperiment> try_value(std::size_t axis, std::size_t value) {
    const std::vector<SweepAxis>& axes = question_.design.axes();
    Diagnostics first;
    std::set<std::string> reasons;
    bool value_is_wrong = axis < axes.size();
    const bool zipped = question_.design.sampling() == Sampling::zipped;
    const std::size_t tries = zipped ? 1 : combinations;
    for (std::size_t k = 0; k < tries; ++k) {
      std::vector<std::size_t> values(axes.size(), value);
      for (std::size_t other = 0; other < axes.size() && !zipped; ++other) {
        values[other] = other == axis ? value : k * axes[other].values.size() / combinations;
      }
      Diagnostics diagnostics;
      auto read = read_job(question_, values, session_.sources(), diagnostics);
      if (read) {
        return read;
      }
      const std::optional<std::string> reason =
          value_is_wrong ? reason_under(diagnostics, axis, value) : std::nullopt;
      value_is_wrong = reason.has_value();
      reasons.insert(reason.value_or(""));
      if (k == 0) {
        first = diagnostics;
      }
    }
    // The others have one value each, or the reason does not depend on them.
    if (value_is_wrong && (reasons.size() == 1 || zipped)) {
      copy(first);
    } else if (first_.empty()) {
      first_ = first;
    }
    return std::nullopt;
  }

  // What the first error under a value says.
  [[nodiscard]] std::optional<std::string> reason_under(const Diagnostics& diagnostics,
                                                        std::size_t axis, std::size_t value) const {
    for (const Diagnostic& diagnostic : diagnostics.sorted()) {
      if (diagnostic.severity == Severity::error && diagnostic.span &&
          question_.input.is_value(axis, value, *diagnostic.span, session_.sources())) {
        return diagnostic.message;
      }
    }
    return std::nullopt;
  }

  // What is wrong with a key is so with all its values, and told once.
  void copy(const Diagnostics& diagnostics) {
    for (Diagnostic& diagnostic : diagnostics.sorted()) {
      const std::optional<int> key = axis_of_key(diagnostic);
      if (!key || told_.emplace(*key, diagnostic.message).second) {
        session_.diagnostics().add(std::move(diagnostic));
      }
    }
  }

  // The argument where the mistake is in front of the `=` of an axis.
  [[nodiscard]] std::optional<int> axis_of_key(const Diagnostic& diagnostic) const {
    if (!diagnostic.span) {
      return std::nullopt;
    }
    const Source& source = session_.sources()[diagnostic.span->source];
    const std::size_t end = diagnostic.span->offset + diagnostic.span->length;
    const std::size_t equals = source.text.find('=');
    return equals != std::string::npos && end <= equals ? source.argument : std::nullopt;
  }

  const SweepQuestion& question_;
  Session& session_;
  std::set<std::pair<int, std::string>> told_;  // of keys
  Diagnostics first_;  // of a combination where no value was wrong by itself
};

}  // namespace

std::optional<ReadExperiment> report_mistakes(const SweepQuestion& question, Session& session) {
  return Mistakes(question, session).find();
}

}  // namespace payoff
