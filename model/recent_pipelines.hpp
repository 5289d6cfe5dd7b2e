// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "model/pipeline.hpp"

// A long pipeline is asked for again and again: strategies that leave the activations alone, and
// remedies that change the buckets, differ in nothing that it consists of, in any draw of what is
// not known and at any line rate. What ran last is kept, for one thread, with all that it follows
// from: what is found here is what the run would give.

namespace payoff {

class RecentPipelines {
 public:
  struct Question {
    PipelineShape shape;
    std::vector<double> numbers;

    bool operator==(const Question&) const = default;
  };

  // All that a run without pairs follows from.
  [[nodiscard]] static Question question(const std::vector<StageDurations>& stages,
                                         int micro_batches, PipelineSchedule schedule) {
    Question asked{{static_cast<int>(stages.size()), static_cast<int>(stages.front().chunks.size()),
                    micro_batches, schedule, false},
                   {}};
    for (const StageDurations& stage : stages) {
      asked.numbers.insert(asked.numbers.end(), {stage.send_forward.si, stage.send_backward.si});
      for (const ChunkDurations& chunk : stage.chunks) {
        asked.numbers.insert(asked.numbers.end(),
                             {chunk.forward.si, chunk.backward.si, chunk.weights.si});
        for (const auto pieces :
             {chunk.forward_pieces, chunk.backward_pieces, chunk.weight_pieces}) {
          add_slowed(pieces, stage.beside_send, asked.numbers);
        }
      }
    }
    return asked;
  }

  [[nodiscard]] const std::vector<StageSpan>* find(const Question& asked) {
    const auto known = std::find_if(known_.begin(), known_.end(),
                                    [&](const auto& other) { return other.first == asked; });
    if (known == known_.end()) {
      return nullptr;
    }
    std::rotate(known, known + 1, known_.end());  // the last is the latest
    return &known_.back().second;
  }

  const std::vector<StageSpan>& keep(Question asked, std::vector<StageSpan> spans) {
    constexpr std::size_t most = 8;  // with and without sends, as given and accumulated, twice
    if (known_.size() == most) {
      known_.erase(known_.begin());
    }
    return known_.emplace_back(std::move(asked), std::move(spans)).second;
  }

 private:
  // Work that sends slow down is not one number.
  static void add_slowed(std::span<const Piece> pieces, const Paces& paces,
                         std::vector<double>& numbers) {
    if (!paces.slow()) {
      return;
    }
    for (const Piece& piece : pieces) {
      numbers.insert(numbers.end(),
                     {piece.work.alone.si, paces[piece.work.mix].rate, piece.message.alone.si});
    }
    numbers.push_back(-1.0);  // no time: where the pieces end
  }

  std::vector<std::pair<Question, std::vector<StageSpan>>> known_;
};

// Programs of pipelines too long for PipelinePrograms, or of whoever has none: building one takes
// longer than a run of it. For one thread.
class LongPrograms {
 public:
  // Some 32 MB of steps.
  [[nodiscard]] static bool keeps(const PipelineShape& shape) {
    constexpr double most_operations = 1 << 21;
    constexpr double kinds = 3;
    return kinds * shape.stages * shape.chunks * shape.micro_batches <= most_operations;
  }
  // Until the next one is asked for.
  [[nodiscard]] const PipelineProgram& of(const PipelineShape& shape) {
    constexpr std::size_t most = 2;  // as given, and accumulated
    const auto known = std::find_if(known_.begin(), known_.end(),
                                    [&](const auto& other) { return other.first == shape; });
    if (known != known_.end()) {
      return known->second;
    }
    if (known_.size() == most) {
      known_.erase(known_.begin());
    }
    return known_.emplace_back(shape, PipelineProgram(shape)).second;
  }

 private:
  std::vector<std::pair<PipelineShape, PipelineProgram>> known_;
};

// What run_pipeline() does where it does not know the answer (model/pipeline_period.cpp).
[[nodiscard]] std::vector<StageSpan> run_until_it_repeats(const std::vector<StageDurations>& stages,
                                                          int micro_batches,
                                                          PipelineSchedule schedule,
                                                          PairTimes* pairs,
                                                          PipelinePrograms* programs);

}  // namespace payoff
