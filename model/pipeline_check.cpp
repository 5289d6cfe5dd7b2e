// SPDX-License-Identifier: Apache-2.0
#include "model/pipeline_check.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

#include "model/layer_division.hpp"

namespace payoff {
namespace {

// The multiples of a number on either side of another one.
std::string neighbours_of(int number, int of) {
  const int below = number / of * of;
  return (below > 0 ? std::to_string(below) + " or " : "") + std::to_string(below + of);
}

void check_stage_layers(const ParallelLayout& layout, int layers, Problems& problems) {
  const std::string path = "layout.stage_layers";
  const std::vector<int>& given = layout.stage_layers;
  const int parts = part_count(layout);
  if (given.size() != static_cast<std::size_t>(parts)) {
    const bool chunks = parts != layout.pp;
    problems.push_back(
        {path,
         "has " + std::to_string(given.size()) + " entries for pp " + std::to_string(layout.pp) +
             (chunks ? " x " + std::to_string(layout.virtual_stages) + " chunks" : ""),
         chunks ? "give the layers of every chunk, in the order in which a sample passes them"
                : "give the layers of every stage"});
  }
  std::int64_t sum = 0;
  for (std::size_t stage = 0; stage < given.size(); ++stage) {
    sum += given[stage];
    if (given[stage] < 1) {
      problems.push_back({path + "." + std::to_string(stage),
                          std::string(parts != layout.pp ? "every chunk" : "every stage") +
                              " has at least one layer, not " + std::to_string(given[stage]),
                          "use fewer stages, or give it one"});
    }
  }
  if (sum != layers) {
    problems.push_back(
        {path,
         "adds up to " + std::to_string(sum) + " layers, the model has " + std::to_string(layers),
         (sum < layers ? "add " : "take away ") + std::to_string(std::abs(sum - layers))});
  }
}

// Half of the GPUs of a pipeline, and half of its micro-batches, belong to either end.
void check_two_ends(const ParallelLayout& layout, Problems& problems) {
  constexpr int fewest = 4;
  if (layout.pp % 2 != 0 || layout.pp < fewest) {
    problems.push_back({"layout.pp",
                        "dualpipe has an equal number of GPUs, two or more, on the way from either "
                        "end to the middle, pp is " +
                            std::to_string(layout.pp),
                        "choose an even number from 4 on, or another schedule"});
  }
  if (layout.micro_batches % 2 != 0) {
    problems.push_back({"layout.micro_batches",
                        "dualpipe takes as many micro-batches from either end, and " +
                            std::to_string(layout.micro_batches) + " is odd",
                        "choose an even number"});
  }
}

// Two chunks a stage.
void check_v_shape(const ParallelLayout& layout, int layers, Problems& problems) {
  if (layout.virtual_stages != 2) {
    problems.push_back(
        {"layout.virtual_stages",
         "a schedule in a V has two chunks a stage, not " + std::to_string(layout.virtual_stages),
         "leave it out"});
  }
  if (is_two_ended(layout.schedule)) {
    check_two_ends(layout, problems);
  }
  if (!is_two_ended(layout.schedule) && layers < std::int64_t{2} * layout.pp) {
    problems.push_back({"layout.schedule",
                        std::to_string(layers) + " layers are too few for two chunks on each of " +
                            std::to_string(layout.pp) + " stages",
                        "set pp to " + std::to_string(layers / 2) +
                            " at most, or choose a schedule without chunks"});
  }
}

// Of schedules other than 1F1B.
void check_schedule(const ParallelLayout& layout, int layers, Problems& problems) {
  if (layout.pp == 1) {
    problems.push_back({"layout.schedule", "a schedule needs a pipeline, pp is 1", "leave it out"});
  }
  if (is_v_shaped(layout.schedule)) {
    check_v_shape(layout, layers, problems);
  } else if (layout.virtual_stages > 1) {
    problems.push_back({"layout.virtual_stages", "only 1f1b interleaves chunks of a stage",
                        "set schedule to 1f1b, or virtual_stages to 1"});
  }
}

// Of 1F1B with several chunks a stage.
void check_interleaving(const ParallelLayout& layout, int layers, Problems& problems) {
  if (layout.pp == 1) {
    problems.push_back({"layout.virtual_stages", "interleaved stages need a pipeline, pp is 1",
                        "set virtual_stages to 1"});
    return;
  }
  const std::int64_t chunks = std::int64_t{layout.pp} * layout.virtual_stages;
  if (layout.stage_layers.empty() && layers % chunks != 0) {
    problems.push_back(
        {"layout.virtual_stages",
         std::to_string(layers) + " layers cannot be divided into pp " + std::to_string(layout.pp) +
             " x " + std::to_string(layout.virtual_stages) + " equal chunks",
         (layers % layout.pp == 0 ? "choose a divisor of " + std::to_string(layers / layout.pp)
                                  : "set virtual_stages to 1, or pp to a divisor of the layers") +
             (layers < chunks ? "" : ", or give the layers of every chunk as stage_layers")});
  }
  if (layout.micro_batches % layout.pp != 0) {
    problems.push_back({"layout.micro_batches",
                        "the interleaved schedule needs a multiple of pp " +
                            std::to_string(layout.pp) + ", not " +
                            std::to_string(layout.micro_batches),
                        "set it to " + neighbours_of(layout.micro_batches, layout.pp)});
  }
}

}  // namespace

void check_pipeline(const ParallelLayout& layout, int layers, Problems& problems) {
  if (layout.pp > layers) {
    problems.push_back({"layout.pp",
                        "pp " + std::to_string(layout.pp) +
                            " needs as many layers, the model has " + std::to_string(layers),
                        "set pp to " + std::to_string(layers) + " at most"});
    return;
  }
  if (!layout.stage_layers.empty()) {
    check_stage_layers(layout, layers, problems);
  }
  if (layout.schedule != PipelineSchedule::one_f_one_b) {
    check_schedule(layout, layers, problems);
  } else if (layout.virtual_stages > 1) {
    check_interleaving(layout, layers, problems);
  }
}

void check_pairs(const ParallelLayout& layout, Problems& problems) {
  if (layout.pair_overlap && !has_pairs(layout.schedule)) {
    problems.push_back({"layout.pair_overlap",
                        "only dualpipe and dualpipe-v run a forward and a backward as one",
                        "leave it out, or set schedule to one of them"});
  } else if (layout.overlaps_pairs() && layout.zero == 3) {
    problems.push_back({"layout.pair_overlap",
                        "with zero 3 weights are gathered for every operation, and for a forward "
                        "and a backward at once that is not modelled",
                        "set pair_overlap to false, or zero to 0, 1 or 2"});
  }
}

}  // namespace payoff
