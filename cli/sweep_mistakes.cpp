// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_mistakes.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace payoff {
namespace {

// A value is tried with so many combinations of the others before it is called wrong, and of long
// axes the ends are tried: what lies between them is a series.
constexpr std::size_t combinations = 8;
constexpr std::size_t long_axis = 64;

class Mistakes {
 public:
  Mistakes(const SweepQuestion& question, Session& session)
      : question_(question), session_(session) {}

  std::optional<ReadExperiment> find() {
    const std::vector<SweepAxis>& axes = question_.design.axes();
    if (axes.empty()) {
      return try_value(0, 0);
    }
    std::optional<ReadExperiment> readable;
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
    bool value_is_wrong = true;
    const bool zipped = question_.design.sampling() == Sampling::zipped;
    for (std::size_t k = 0; k < (zipped ? 1 : combinations); ++k) {
      std::vector<std::size_t> values(axes.size(), value);
      for (std::size_t other = 0; other < axes.size() && !zipped; ++other) {
        values[other] = other == axis ? value : k * axes[other].values.size() / combinations;
      }
      Diagnostics diagnostics;
      auto read = read_job(question_, values, session_.sources(), diagnostics);
      if (read) {
        return read;
      }
      value_is_wrong = value_is_wrong && axis < axes.size() &&
                       points_at(diagnostics, question_.input.arguments[axis].index);
      if (k == 0) {
        first = diagnostics;
      }
    }
    if (value_is_wrong && !axes.empty()) {
      copy(first);
    } else if (first_.empty()) {
      first_ = first;
    }
    return std::nullopt;
  }

  [[nodiscard]] bool points_at(const Diagnostics& diagnostics, int argument) const {
    const std::vector<Diagnostic> all = diagnostics.sorted();
    return std::any_of(all.begin(), all.end(), [&](const Diagnostic& diagnostic) {
      return diagnostic.severity == Severity::error && diagnostic.span &&
             session_.sources()[diagnostic.span->source].argument == argument;
    });
  }

  void copy(const Diagnostics& diagnostics) {
    for (Diagnostic& diagnostic : diagnostics.sorted()) {
      session_.diagnostics().add(std::move(diagnostic));
    }
  }

  const SweepQuestion& question_;
  Session& session_;
  Diagnostics first_;  // of a combination where no value was wrong by itself
};

}  // namespace

std::optional<ReadExperiment> report_mistakes(const SweepQuestion& question, Session& session) {
  return Mistakes(question, session).find();
}

}  // namespace payoff
