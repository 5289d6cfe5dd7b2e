// SPDX-License-Identifier: Apache-2.0
#include "model/pipeline_program.hpp"

#include <limits>
#include <stdexcept>
#include <unordered_map>

namespace payoff {
namespace {

constexpr std::uint32_t date_zero = 0;
constexpr std::uint32_t read_by_nobody = 1;
constexpr std::size_t first_input = 2;

}  // namespace

// Runs each stage as far as its inputs allow, again and again; a valid schedule always advances.
class PipelineProgram::Builder {
 public:
  Builder(const PipelineShape& shape, PipelineProgram& program)
      : shape_(shape),
        program_(program),
        chunks_(static_cast<std::size_t>(shape.chunks)),
        micro_batches_(static_cast<std::size_t>(shape.micro_batches)),
        of_one_direction_(static_cast<std::size_t>(shape.stages) * chunks_ * micro_batches_),
        arrived_(first_input + 2 * of_one_direction_),
        next_(static_cast<std::size_t>(shape.stages)),
        last_(next_.size()) {
    if (arrived_.size() > std::numeric_limits<std::uint32_t>::max()) {
      throw std::length_error("a pipeline with more operations than can be numbered");
    }
    program_.dates_ = arrived_.size();
    arrived_[date_zero] = true;
    std::size_t operations = 0;
    for (int s = 0; s < shape.stages; ++s) {
      orders_.emplace_back(s, shape.stages, shape.micro_batches, shape.chunks, shape.schedule);
      operations += static_cast<std::size_t>(orders_.back().size());
    }
    program_.steps_.reserve(operations);
  }

  void build() {
    for (bool advanced = true; advanced;) {
      advanced = false;
      for (int s = 0; s < shape_.stages; ++s) {
        while (next_[at(s)] < orders_[at(s)].size() && advance(s)) {
          advanced = true;
        }
      }
    }
  }

 private:
  static std::size_t at(int stage) { return static_cast<std::size_t>(stage); }

  // Of the input of an operation; what begins the step waits for nothing, nor do gradients of
  // weights, for those of inputs went before them.
  [[nodiscard]] std::uint32_t input_of(int stage, const Operation& op) const {
    if (op.of_weights || (stage == 0 && op.is_forward && op.chunk == 0)) {
      return date_zero;
    }
    const std::size_t place = (at(stage) * chunks_ + at(op.chunk)) * micro_batches_;
    return static_cast<std::uint32_t>(first_input + (op.is_forward ? 0 : of_one_direction_) +
                                      place + at(op.micro_batch));
  }

  bool advance(int stage) {
    const StageSchedule& order = orders_[at(stage)];
    int& next = next_[at(stage)];
    if (!arrived_[input_of(stage, order[next])]) {
      return false;
    }
    if (!shape_.as_pairs || !order.begins_pair(next)) {
      add(stage, order[next++], true);
      return true;
    }
    // No forward follows on what completes gradients: none of a pair is a last one.
    if (!arrived_[input_of(stage, order[next + 1])]) {
      return false;
    }
    for (int i = 0; i < operations_of_pair; ++i) {
      add(stage, order[next++], false);
      program_.steps_.back().begins_pair = i == 0;
    }
    return true;
  }

  void add(int stage, const Operation& op, bool alone) {
    const std::uint32_t input = input_of(stage, op);
    const bool last_micro_batch =
        completes(op, shape_.schedule) && op.micro_batch + 1 == shape_.micro_batches;
    // What waits for a last one of another stage may be delayed with it; what follows on it, too.
    const auto from = sent_by_last_.find(input);
    const bool is_last =
        alone && (last_[at(stage)] > 0 || last_micro_batch || from != sent_by_last_.end());
    if (is_last) {
      ++last_[at(stage)];
      Last& last = program_.lasts_.emplace_back(Last{op, last_micro_batch});
      if (from != sent_by_last_.end()) {
        last.from_stage = from->second.stage;
        last.from_place = from->second.place;
      }
    }
    const Consumer consumer = consumer_of(op, stage, shape_.stages, shape_.chunks, shape_.schedule);
    Step& step = program_.steps_.emplace_back();
    step.input = input;
    step.output = output_of(stage, consumer);
    step.stage = static_cast<std::uint32_t>(stage);
    step.chunk = static_cast<std::uint16_t>(op.chunk);
    step.work = op.of_weights   ? PipelineWork::weights
                : op.is_forward ? PipelineWork::forward
                                : PipelineWork::backward;
    step.toward = consumer.toward;
    step.is_last = is_last;
    step.begins_pair = false;
  }

  // Once a stage has a last operation, the ones that follow are last ones too.
  std::uint32_t output_of(int stage, const Consumer& consumer) {
    if (consumer.toward == Toward::nobody) {
      return read_by_nobody;
    }
    int to = stage;
    if (consumer.toward == Toward::next_stage) {
      to = stage_after(stage, shape_.stages, shape_.schedule);
    } else if (consumer.toward == Toward::previous_stage) {
      to = (stage + shape_.stages - 1) % shape_.stages;
    }
    const std::uint32_t output = input_of(to, consumer.operation);
    arrived_[output] = true;
    if (consumer.toward != Toward::same_stage && last_[at(stage)] > 0) {
      sent_by_last_[output] = {at(stage), last_[at(stage)] - 1};
    }
    return output;
  }

  struct Sender {
    std::size_t stage{};
    std::size_t place{};
  };

  const PipelineShape& shape_;
  PipelineProgram& program_;
  std::size_t chunks_;
  std::size_t micro_batches_;
  std::size_t of_one_direction_;
  std::vector<bool> arrived_;  // by date
  std::vector<StageSchedule> orders_;
  std::vector<int> next_;
  std::vector<std::size_t> last_;  // so many last operations, by stage
  std::unordered_map<std::uint32_t, Sender> sent_by_last_;
};

PipelineProgram::PipelineProgram(const PipelineShape& shape) { Builder(shape, *this).build(); }

bool PipelinePrograms::is_short(const PipelineShape& shape) {
  constexpr double most_operations = 1 << 16;
  constexpr double kinds = 3;
  return kinds * shape.stages * shape.chunks * shape.micro_batches <= most_operations;
}

const PipelineProgram& PipelinePrograms::of(const PipelineShape& shape) {
  constexpr std::size_t most = 4;
  for (const Known& known : known_) {
    if (known.shape == shape) {
      return known.program;
    }
  }
  if (known_.size() == most) {
    known_.clear();
  }
  return known_.emplace_back(Known{shape, PipelineProgram(shape)}).program;
}

}  // namespace payoff
