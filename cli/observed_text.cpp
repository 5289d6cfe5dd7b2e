// SPDX-License-Identifier: Apache-2.0
#include "cli/observed_text.hpp"

#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "cli/break_even_text.hpp"
#include "cli/counted.hpp"
#include "cli/table.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

std::string blame(const Disagreement& wrong) {
  const std::string what = wrong.part == Disagreement::Part::compute ? "compute"
                           : wrong.part == Disagreement::Part::communication
                               ? "exposed communication"
                           : wrong.part == Disagreement::Part::waiting ? "waiting in the pipeline"
                                                                       : "time of the host";
  return fmt::format("The {}, predicted as {}, would have to be {} times as long", what,
                     to_text(wrong.predicted), significant(wrong.factor, 2));
}

// The other sizes that were measured, and what became of what is not known.
std::string measured_table(const Conditioning& seen) {
  Table table({{"measured", Align::left},
               {"step", Align::right},
               {"predicted", Align::right},
               {"after all of them", Align::right}});
  for (const ObservedStep& each : seen.observed) {
    table.add({fmt::format("dp {}", each.dp), to_text(each.observation.step), to_text(each.before),
               to_text(each.after)});
    if (each.observation.exposed) {
      table.add({fmt::format("dp {}, exposed", each.dp), to_text(*each.observation.exposed),
                 to_text(*each.exposed_before), to_text(*each.exposed_after)});
    }
  }
  return table.markdown();
}

std::string run_text(const ObservedSizes& sizes) {
  return fmt::format("{} of {} on {}", name(sizes.collective), counted(sizes.group.ranks, "rank"),
                     counted(sizes.group.nodes(), "node"));
}

std::string range_text(const ObservedSizes& sizes) {
  return sizes.count == 1
             ? exact_text(sizes.first)
             : fmt::format("{} to {}", exact_text(sizes.first), exact_text(sizes.last));
}

// Each row is one observation, however many sizes it has.
std::string runs_table(const Conditioning& seen) {
  Table table({{"nccl-tests", Align::left},
               {"sizes", Align::left},
               {"of them", Align::right},
               {"measured / predicted", Align::right},
               {"after all of them", Align::right}});
  for (const ObservedSizes& each : seen.sizes) {
    table.add({fmt::format("{}: {}", each.file, run_text(each)), range_text(each),
               std::to_string(each.count),
               fmt::format("{} ± {}", fixed(each.before, 2), fixed(each.before * each.noise, 2)),
               fixed(each.after, 2)});
  }
  return table.markdown();
}

std::string moved_table(const Conditioning& seen) {
  constexpr double least = 0.05;  // of a standard deviation
  Table table({{"in standard deviations of the profiles", Align::left},
               {"before", Align::right},
               {"after", Align::right}});
  const Belief apart = with_inside_apart(seen.belief);
  const Latents left = deviations(apart);
  for (std::size_t i = 0; i < (apart.tells_inside ? all_latents : latent_count); ++i) {
    const double mean = apart.mean.at(i);
    if (std::abs(mean) > least || std::abs(left.at(i) - 1.0) > least) {
      table.add(
          {latent_name(i), "0 ± 1",
           fmt::format("{}{} ± {}", mean > 0 ? "+" : "", fixed(mean, 2), fixed(left.at(i), 2))});
    }
  }
  return table.empty() ? "" : table.markdown() + "\nPositive is slower.\n";
}

}  // namespace

std::string observed_tables(const Payoff& payoff) {
  if (!payoff.observed) {
    return {};
  }
  const Conditioning& seen = *payoff.observed;
  const std::string moved = moved_table(seen);
  const bool several = seen.observed.size() + (seen.sizes.empty() ? 0 : 1) > 1;
  return (several && !seen.observed.empty() ? "\n" + measured_table(seen) : "") +
         (seen.sizes.empty() ? "" : "\n" + runs_table(seen)) +
         (moved.empty() ? "" : "\n" + moved + "\n");
}

std::string observed_sentence(const Payoff& payoff) {
  if (!payoff.observed) {
    return {};
  }
  const Conditioning& seen = *payoff.observed;
  std::string text = fmt::format(
      "Observed: the step was predicted as {} and is {} after your measurement; its interval "
      "is {} wide instead of {}.",
      to_text(seen.step_before), to_text(seen.step_after), percent_text(seen.width_after),
      percent_text(seen.width_before));
  if (seen.disagreement) {
    text += fmt::format(
        "\nThe measurement lies {} standard deviations outside what the profiles allow. {}; check "
        "cluster, software and batch. What follows holds if the job is described right and "
        "measured right; its intervals are {} times as wide for it.",
        significant(seen.sigmas, 2), blame(*seen.disagreement), significant(seen.widening, 2));
  }
  if (seen.disagreeing_sizes) {
    const ObservedSizes& worst = seen.sizes.at(*seen.disagreeing_sizes);
    text += fmt::format(
        "\nThe measurements lie {} standard deviations outside what the profiles allow. {}, {}, "
        "takes {} times as long as predicted; check the cluster and how nccl-tests was run. What "
        "follows holds if both are right; its intervals are {} times as wide for it.",
        significant(seen.sigmas, 2), run_text(worst), range_text(worst),
        significant(worst.before, 2), significant(seen.widening, 2));
  }
  return text;
}

}  // namespace payoff
