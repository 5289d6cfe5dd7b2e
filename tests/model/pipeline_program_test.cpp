// SPDX-License-Identifier: Apache-2.0
#include "model/pipeline_program.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "model/pipeline.hpp"
#include "tests/catch.hpp"

using namespace payoff;

namespace {

std::vector<PipelineShape> shapes() {
  std::vector<PipelineShape> all;
  for (const int stages : {2, 3, 8}) {
    for (const int micro_batches : {1, 2, 7, 24}) {
      for (const auto schedule : {PipelineSchedule::one_f_one_b, PipelineSchedule::gpipe,
                                  PipelineSchedule::zb_h1, PipelineSchedule::zb_h2}) {
        all.push_back({stages, 1, micro_batches, schedule, false});
      }
      for (const auto schedule :
           {PipelineSchedule::zb_v, PipelineSchedule::dualpipe_v, PipelineSchedule::dualpipe}) {
        all.push_back({stages, 2, micro_batches, schedule, false});
        all.push_back({stages, 2, micro_batches, schedule, has_pairs(schedule)});
      }
    }
    all.push_back({stages, 3, 4 * stages, PipelineSchedule::one_f_one_b, false});
  }
  return all;
}

PipelineWork work_of(const Operation& operation) {
  return operation.of_weights   ? PipelineWork::weights
         : operation.is_forward ? PipelineWork::forward
                                : PipelineWork::backward;
}

}  // namespace

TEST_CASE("a pipeline's program has every stage's operations in its schedule's order") {
  for (const PipelineShape& shape : shapes()) {
    CAPTURE(shape.stages, shape.chunks, shape.micro_batches, shape.schedule, shape.as_pairs);
    const PipelineProgram program(shape);
    std::vector<StageSchedule> orders;
    for (int s = 0; s < shape.stages; ++s) {
      orders.emplace_back(s, shape.stages, shape.micro_batches, shape.chunks, shape.schedule);
    }
    std::vector<int> next(orders.size());
    for (const PipelineProgram::Step& step : program.steps()) {
      REQUIRE(next[step.stage] < orders[step.stage].size());
      const Operation operation = orders[step.stage][next[step.stage]++];
      REQUIRE(step.chunk == operation.chunk);
      REQUIRE(step.work == work_of(operation));
    }
    for (std::size_t s = 0; s < orders.size(); ++s) {
      CHECK(next[s] == orders[s].size());
    }
  }
}

TEST_CASE("a step of a pipeline's program comes after what it waits for, and no date comes twice") {
  for (const PipelineShape& shape : shapes()) {
    CAPTURE(shape.stages, shape.chunks, shape.micro_batches, shape.schedule, shape.as_pairs);
    const PipelineProgram program(shape);
    constexpr std::uint32_t waits_for_none = 0;
    constexpr std::uint32_t read_by_nobody = 1;
    std::set<std::uint32_t> come{waits_for_none};
    for (std::size_t i = 0; i < program.steps().size(); ++i) {
      const PipelineProgram::Step& step = program.steps()[i];
      REQUIRE(come.count(step.input) == 1);
      if (step.begins_pair) {  // the next one starts with it
        REQUIRE(come.count(program.steps()[i + 1].input) == 1);
      }
      REQUIRE((step.output == read_by_nobody || come.insert(step.output).second));
      REQUIRE(step.output < program.dates());
    }
  }
}

TEST_CASE("what completes gradients is a last operation, and so is all that follows on its stage") {
  for (const PipelineShape& shape : shapes()) {
    CAPTURE(shape.stages, shape.chunks, shape.micro_batches, shape.schedule, shape.as_pairs);
    const PipelineProgram program(shape);
    std::vector<std::size_t> lasts(static_cast<std::size_t>(shape.stages));
    std::vector<int> completed(lasts.size());
    auto last = program.lasts().begin();
    for (const PipelineProgram::Step& step : program.steps()) {
      CHECK((step.is_last || lasts[step.stage] == 0));
      if (step.is_last) {
        REQUIRE(last != program.lasts().end());
        completed[step.stage] += last->last_micro_batch ? 1 : 0;
        if (last->from_stage != StageOperation::none) {
          CHECK(last->from_stage != step.stage);
          CHECK(last->from_place < lasts[last->from_stage]);  // has run
        }
        ++lasts[step.stage];
        ++last;
      }
    }
    CHECK(last == program.lasts().end());
    CHECK(completed == std::vector<int>(completed.size(), shape.chunks));
  }
}

TEST_CASE("a program that is kept is the one that was made for the same shape") {
  PipelinePrograms programs;
  for (int again = 0; again < 2; ++again) {
    for (const PipelineShape& shape : shapes()) {
      const PipelineProgram fresh(shape);
      const PipelineProgram& kept = programs.of(shape);
      REQUIRE(&kept == &programs.of(shape));
      CHECK(kept.steps().size() == fresh.steps().size());
      CHECK(kept.lasts().size() == fresh.lasts().size());
      CHECK(kept.dates() == fresh.dates());
    }
  }
}
