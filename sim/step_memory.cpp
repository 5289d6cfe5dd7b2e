// SPDX-License-Identifier: Apache-2.0
#include "sim/step_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include "model/pipeline.hpp"
#include "model/schedule.hpp"
#include "sim/group_programs.hpp"
#include "sim/program_progress.hpp"
#include "sim/stage_messages.hpp"
#include "sim/step_programs.hpp"
#include "sim/step_sends.hpp"
#include "sim/step_stage.hpp"

namespace payoff::sim {
namespace {

// The analytical answer keeps the inputs of all operations of a stage until they repeat themselves;
// where backward is split, each place lists all its operations, three for a micro-batch.
Bytes operations_memory(const StepPlan& plan, std::uint64_t places) {
  constexpr double operations = 2;
  constexpr double listed_operations = 3;
  const ParallelLayout& layout = plan.layout;
  const double passes = static_cast<double>(layout.passes()) * layout.virtual_stages;
  const double run = usual_micro_batches(layout.schedule, layout.stages(), layout.virtual_stages,
                                         layout.passes()) *
                     static_cast<double>(layout.virtual_stages);
  const double inputs = static_cast<double>(plan.stages.size()) * operations * run;
  const double listed = splits_backward(layout.schedule) ? listed_operations * passes : 0;
  return Bytes{inputs * bytes_of_pipeline_input} +
         Bytes{static_cast<double>(places) * listed * sizeof(Operation)};
}

std::vector<std::uint64_t> places_of_stages(const StepPlan& plan, const Platform& platform) {
  std::vector<std::uint64_t> places(plan.stages.size(), platform.places().places.empty() ? 1 : 0);
  for (const Place& place : platform.places().places) {
    ++places[place.stage];
  }
  return places;
}

// Between stages. Slow sends or stages leave a whole step of gpipe before them: each micro-batch is
// at one place at a time, sent or not, and is either waiting to be sent or waiting for its turn. In
// the other schedules a stage goes ahead of its neighbours by its warm-up.
Bytes inputs_memory(const StepPlan& plan, const std::vector<std::uint64_t>& places) {
  constexpr Bytes of_input{400};  // with what ends and starts with it
  constexpr Bytes of_queued{sizeof(StageSend) + 3 * sizeof(void*)};  // in a list, on the heap
  const double warm_up = static_cast<double>(plan.layout.stages()) * plan.layout.virtual_stages;
  Bytes sum;
  for (const std::uint64_t count : places) {
    sum += static_cast<double>(count) * (8.0 + warm_up) * of_input;
  }
  if (plan.layout.schedule == PipelineSchedule::gpipe && plan.layout.stages() > 1) {
    const auto pipelines = static_cast<double>(*std::max_element(places.begin(), places.end()));
    sum += pipelines * static_cast<double>(plan.layout.passes()) * of_queued;
  }
  return sum;
}

// At level `steps`. A group has one message of activations in flight at most, and one of gradients
// or weights; groups of a kind are alike in a stage.
class SendsMemory {
 public:
  SendsMemory(const StepPlan& plan, const Platform& platform)
      : plan_(plan), platform_(platform), programs_(*platform.send_network()) {}

  [[nodiscard]] Bytes all() {
    Bytes sum = static_cast<double>(platform_.links().size()) * of_link;
    for (const auto& [key, program] : platform_.send_network()->programs) {
      sum += of_program(program);
    }
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      Bytes activations;
      Bytes gradients;
      for (const StageMessage& message : messages_of_stage(plan_, s)) {
        if (is_between_stages(message.traffic)) {
          continue;
        }
        const OfMessage memory = of_message(s, message);
        sum += memory.kept;
        Bytes& stream = message.traffic == Traffic::activations ? activations : gradients;
        stream = std::max(stream, memory.in_flight);
      }
      sum += activations + gradients;
    }
    return sum;
  }

 private:
  struct OfMessage {
    Bytes in_flight;
    Bytes kept;  // prices
  };

  [[nodiscard]] OfMessage of_message(std::size_t s, const StageMessage& message) {
    std::set<std::size_t> groups;
    for (const Place& place : platform_.places().places) {
      if (place.stage == s) {
        groups.insert(place.group_of(message.message->kind));
      }
    }
    OfMessage memory;
    for (const std::size_t group : groups) {
      if (const GroupProgram* known = programs_.of(group, *message.message)) {
        const ProgramSends& sends = known->classes.sends;
        const double a_step = static_cast<double>(known->sends) / sends.steps();
        memory.in_flight += ProgramProgress::most_memory(sends) +
                            a_step * StepPrograms::memory_of_send(links_of_way);
        memory.kept += static_cast<double>(sends.steps()) * Bytes{sizeof(SendPrice)};
      }
    }
    return memory;
  }

  static Bytes of_program(const GroupProgram& program) {
    double sends = 0;
    double links = 0;
    for (const auto& pattern : program.classes.ways) {
      sends += static_cast<double>(pattern.size());
      for (const auto& way : pattern) {
        links += static_cast<double>(way.size());
      }
    }
    return Bytes{sends * (sizeof(PlacedSend) + sizeof(std::vector<LinkLoad>)) +
                 links * sizeof(LinkLoad) +
                 static_cast<double>(program.classes.sends.steps()) * sizeof(std::uint32_t)};
  }

  // GPU, PCIe, NIC, leaf, spine and back: of a network of two levels.
  static constexpr double links_of_way = 8;
  // With its name and what the solver has of it.
  static constexpr Bytes of_link{500};

  const StepPlan& plan_;
  const Platform& platform_;
  GroupPrograms programs_;
};

}  // namespace

StepMemory memory_of_step(const StepPlan& plan, const Platform& platform) {
  constexpr Bytes of_task{400};  // queued buckets
  constexpr Bytes of_piece{16};
  const Bytes of_place =
      StageRun::size(plan) + Bytes{2 * (sizeof(PreparedMessage) + sizeof(Place))};
  constexpr Bytes of_group{1400};  // two queues, which begin with a block of 512 bytes, and names
  const std::vector<std::uint64_t> places = places_of_stages(plan, platform);
  StepMemory result;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const auto count = static_cast<double>(places[s]);
    const StageCompute& compute = *plan.stages[s].compute;
    result.pieces +=
        count * static_cast<double>(compute.forward.size() + compute.backward.size()) * of_piece;
    result.buckets += count * static_cast<double>(plan.buckets(s).size()) * of_task;
    result.places += places[s];
  }
  result.ranks = static_cast<double>(result.places) * of_place +
                 static_cast<double>(platform.places().groups.size()) * of_group;
  result.inputs = inputs_memory(plan, places);
  result.operations = operations_memory(plan, result.places);
  if (platform.send_network() != nullptr) {
    result.sends = SendsMemory(plan, platform).all();
  }
  return result;
}

}  // namespace payoff::sim
