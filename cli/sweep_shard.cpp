// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_shard.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>

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

Shard among_tasks() {
  for (const Tasks& tasks : task_variables) {
    const auto index = count_in(tasks.index);
    const auto count = count_in(tasks.count);
    if (index && count && *index < *count) {
      return {*index, *count};
    }
  }
  return {};
}

// Array tasks may be numbered from anywhere, by any step.
Shard in_array() {
  const auto id = count_in("SLURM_ARRAY_TASK_ID");
  const auto count = count_in("SLURM_ARRAY_TASK_COUNT");
  if (!id || !count) {
    return {};
  }
  const std::uint64_t first = count_in("SLURM_ARRAY_TASK_MIN").value_or(0);
  const std::uint64_t step =
      std::max<std::uint64_t>(1, count_in("SLURM_ARRAY_TASK_STEP").value_or(1));
  const std::uint64_t place = *id >= first ? (*id - first) / step : *count;
  return place < *count ? Shard{place, *count} : Shard{};
}

}  // namespace

Shard read_shard(const Arguments& arguments, Session& session) {
  const std::optional<Argument> given = arguments.value(shard_option.name);
  if (!given) {
    const Shard array = in_array();
    const Shard tasks = among_tasks();
    return {array.index * tasks.of + tasks.index, array.of * tasks.of};
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
