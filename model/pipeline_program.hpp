// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/overlap.hpp"
#include "model/schedule.hpp"

// The operations of all stages of a pipeline in one order, each after all that it waits for. What
// waits for what depends on the schedule and on nothing that takes time: a pipeline that is run
// again with other durations runs the same program.

namespace payoff {

struct PipelineShape {
  int stages{};
  int chunks{};
  int micro_batches{};
  PipelineSchedule schedule{};
  bool as_pairs{};  // operations that may run as one do

  bool operator==(const PipelineShape&) const = default;
};

enum class PipelineWork : std::uint8_t { forward, backward, weights };

class PipelineProgram {
 public:
  struct Step {
    std::uint32_t input;   // the date that it waits for: number 0 where it waits for none
    std::uint32_t output;  // the date that its output comes
    std::uint32_t stage;
    std::uint16_t chunk;
    PipelineWork work : 2;
    Toward toward : 2;
    bool is_last : 1;      // StageSpan::last has it; lasts() has more of it
    bool begins_pair : 1;  // this one, a forward, and the next two run as one
  };
  // Of a step that is_last.
  struct Last {
    Operation operation;
    bool last_micro_batch{};  // and completes gradients
    // Which of the last operations of which other stage it waits for.
    std::size_t from_stage{StageOperation::none};
    std::size_t from_place{};
  };

  explicit PipelineProgram(const PipelineShape& shape);

  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] const std::vector<Last>& lasts() const { return lasts_; }  // in order of steps
  [[nodiscard]] std::size_t dates() const { return dates_; }               // as many are kept

 private:
  class Builder;

  std::vector<Step> steps_;
  std::vector<Last> lasts_;
  std::size_t dates_;
};

// What is kept of an operation while it is run: the step, and when its input comes.
inline constexpr std::size_t bytes_of_pipeline_input = 24;
static_assert(sizeof(PipelineProgram::Step) + sizeof(double) <= bytes_of_pipeline_input);

// A run whose sends take no time. Where operations run one after the other, nothing but these
// durations is in it; a run of pairs has the links in it too.
struct UnsentRun {
  PipelineShape shape;
  std::vector<double> durations;  // of operations, by stage and chunk
  std::vector<double> ends;       // of the stages' work
};

// Programs that were run before. For one thread.
class PipelinePrograms {
 public:
  // The last one, for whoever asks for the same again without pairs.
  UnsentRun unsent;

  // Whether it is short enough to be kept for as long as a job is.
  [[nodiscard]] static bool is_short(const PipelineShape& shape);
  // Until the next one is asked for.
  [[nodiscard]] const PipelineProgram& of(const PipelineShape& shape);

 private:
  struct Known {
    PipelineShape shape;
    PipelineProgram program;
  };
  std::vector<Known> known_;
};

}  // namespace payoff
