// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_shard.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "model/units_text.hpp"

namespace payoff {
namespace {

constexpr std::int64_t most_shards = 1'000'000;
constexpr std::int64_t most_tasks = 1'000'000'000;  // numbers of tasks may begin anywhere

// A part that nobody can tell is no part: the whole of a sweep in each of its tasks would be
// written without a word.
void refuse_variable(const char* variable, const std::string& why, Session& session) {
  session.diagnostics().error(
      std::nullopt, fmt::format("{} is {}{}", variable, backquoted(std::getenv(variable)), why), {},
      "unset it, or say with `--shard I/N` which jobs are run: `--shard 0/1` runs all");
}

// Nothing where it is not set, and where it is no number, which is reported.
std::optional<std::uint64_t> count_in(const char* variable, Session& session) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') {
    return std::nullopt;
  }
  const auto parsed = parse_integer(text, {0, most_tasks});
  if (!parsed) {
    refuse_variable(variable, ", which is no number of a task", session);
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(*parsed);
}

struct Tasks {
  const char* index;
  const char* count;
};

// The first pair that is set. Not SLURM_NTASKS: a batch script sees it too, where only one process
// runs.
constexpr std::array<Tasks, 3> task_variables{{{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                               {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
                                               {"PMI_RANK", "PMI_SIZE"}}};

// A place, and the variable that told it.
struct ToldShard {
  Shard shard;
  std::string_view variable;
};

ToldShard among_tasks(Session& session) {
  for (const Tasks& tasks : task_variables) {
    const auto index = count_in(tasks.index, session);
    const auto count = count_in(tasks.count, session);
    if (index && count && *index >= *count) {
      refuse_variable(tasks.index, fmt::format(", beyond the {} of {}", *count, tasks.count),
                      session);
    } else if (index && count) {
      return {{*index, *count}, tasks.index};
    }
  }
  return {};
}

// Array tasks may be numbered from anywhere, by any step.
ToldShard in_array(Session& session) {
  constexpr const char* variable = "SLURM_ARRAY_TASK_ID";
  constexpr const char* count_variable = "SLURM_ARRAY_TASK_COUNT";
  const auto id = count_in(variable, session);
  const auto count = count_in(count_variable, session);
  const std::uint64_t first = count_in("SLURM_ARRAY_TASK_MIN", session).value_or(0);
  const std::uint64_t step =
      std::max<std::uint64_t>(1, count_in("SLURM_ARRAY_TASK_STEP", session).value_or(1));
  if (!id || !count) {
    if (id && std::getenv(count_variable) == nullptr) {
      refuse_variable(variable, fmt::format(", and {} is not set", count_variable), session);
    }
    return {};
  }
  const std::uint64_t place = *id >= first ? (*id - first) / step : *count;
  if (place >= *count) {
    refuse_variable(
        variable,
        fmt::format(", which is none of {} tasks from {} in steps of {}", *count, first, step),
        session);
    return {};
  }
  return {{place, *count}, variable};
}

// Nobody who started one process expects a part of the jobs: it is said where the variables made
// it one, because a shell within a job of Slurm has them too.
Shard shard_of_environment(Session& session) {
  const ToldShard array = in_array(session);
  const ToldShard tasks = among_tasks(session);
  const Shard shard{array.shard.index * tasks.shard.of + tasks.shard.index,
                    array.shard.of * tasks.shard.of};
  if (shard.of > 1) {
    session.note(fmt::format("shard {} of {} (from 0), by {}{}{}: `--shard 0/1` runs every job",
                             shard.index, shard.of, array.variable,
                             array.variable.empty() || tasks.variable.empty() ? "" : " and ",
                             tasks.variable));
  }
  return shard;
}

}  // namespace

Shard read_shard(const Arguments& arguments, Session& session) {
  const std::optional<Argument> given = arguments.value(shard_option.name);
  if (!given) {
    return shard_of_environment(session);
  }
  const std::string_view text = given->text;
  const std::size_t slash = text.find('/');
  const bool spaced = text.find_first_of(" \t") != std::string_view::npos;
  if (slash != std::string_view::npos && !spaced) {
    const auto index = parse_integer(text.substr(0, slash), {0, most_shards});
    const auto of = parse_integer(text.substr(slash + 1), {1, most_shards});
    if (index && of && *index < *of) {
      return {static_cast<std::uint64_t>(*index), static_cast<std::uint64_t>(*of)};
    }
  }
  const auto is_number = [](std::string_view part) {
    return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  const bool numbers = slash != std::string_view::npos && is_number(text.substr(0, slash)) &&
                       is_number(text.substr(slash + 1));
  if (numbers && !parse_integer(text.substr(slash + 1), {0, most_shards})) {
    session.diagnostics().error(given->span, "`--shard`: a sweep has at most 1,000,000 shards");
    return {};
  }
  session.diagnostics().error(given->span, "`--shard` is no I/N with I from 0 to N-1", {},
                              "for example `--shard 0/8` to `--shard 7/8`");
  return {};
}

}  // namespace payoff
