// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_shard.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "model/units_text.hpp"

namespace payoff {
namespace {

constexpr std::int64_t most_shards = 1'000'000;

std::optional<std::uint64_t> count_in(const char* variable) {
  const char* text = std::getenv(variable);
  const auto parsed =
      text == nullptr ? Parsed<std::int64_t>{} : parse_integer(text, {0, most_shards});
  return parsed ? std::optional(static_cast<std::uint64_t>(*parsed)) : std::nullopt;
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

ToldShard among_tasks() {
  for (const Tasks& tasks : task_variables) {
    const auto index = count_in(tasks.index);
    const auto count = count_in(tasks.count);
    if (index && count && *index < *count) {
      return {{*index, *count}, tasks.index};
    }
  }
  return {};
}

// Array tasks may be numbered from anywhere, by any step.
ToldShard in_array() {
  constexpr const char* variable = "SLURM_ARRAY_TASK_ID";
  const auto id = count_in(variable);
  const auto count = count_in("SLURM_ARRAY_TASK_COUNT");
  if (!id || !count) {
    return {};
  }
  const std::uint64_t first = count_in("SLURM_ARRAY_TASK_MIN").value_or(0);
  const std::uint64_t step =
      std::max<std::uint64_t>(1, count_in("SLURM_ARRAY_TASK_STEP").value_or(1));
  const std::uint64_t place = *id >= first ? (*id - first) / step : *count;
  return place < *count ? ToldShard{{place, *count}, variable} : ToldShard{};
}

// Nobody who started one process expects a part of the jobs: it is said where the variables made
// it one, because a shell within a job of Slurm has them too.
Shard shard_of_environment(Session& session) {
  const ToldShard array = in_array();
  const ToldShard tasks = among_tasks();
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
  if (slash != std::string_view::npos) {
    const auto index = parse_integer(text.substr(0, slash), {0, most_shards});
    const auto of = parse_integer(text.substr(slash + 1), {1, most_shards});
    if (index && of && *index < *of) {
      return {static_cast<std::uint64_t>(*index), static_cast<std::uint64_t>(*of)};
    }
  }
  session.diagnostics().error(given->span, "`--shard` is no I/N with I from 0 to N-1", {},
                              "for example `--shard 0/8` to `--shard 7/8`");
  return {};
}

}  // namespace payoff
