// SPDX-License-Identifier: Apache-2.0
#include "model/pipeline.hpp"

#include <algorithm>
#include <cstddef>

namespace payoff {
namespace {

// Ends of all operations, by stage, chunk and micro-batch.
class Ends {
 public:
  Ends(int stages, int chunks, int micro_batches)
      : chunks_(static_cast<std::size_t>(chunks)),
        micro_batches_(static_cast<std::size_t>(micro_batches)),
        ends_(static_cast<std::size_t>(stages) * chunks_ * micro_batches_, not_done) {}

  static constexpr double not_done = -1.0;

  double& at(int stage, int chunk, int micro_batch) {
    return ends_[(static_cast<std::size_t>(stage) * chunks_ + static_cast<std::size_t>(chunk)) *
                     micro_batches_ +
                 static_cast<std::size_t>(micro_batch)];
  }

 private:
  std::size_t chunks_;
  std::size_t micro_batches_;
  std::vector<double> ends_;
};

struct Operation {
  bool is_forward{};
  int chunk{};
  int micro_batch{};
};

// The order in which a stage runs its operations.
class Order {
 public:
  Order(int stage, int stages, int micro_batches, int chunks)
      : stages_(stages), chunks_(chunks), total_(micro_batches * chunks) {
    const int ahead =
        chunks == 1 ? stages - stage - 1 : 2 * (stages - stage - 1) + (chunks - 1) * stages;
    warm_up_ = std::min(total_, ahead);
  }

  [[nodiscard]] int size() const { return 2 * total_; }

  // Operation `index` of the stage: warm-up forwards, then forward and backward in turn, then the
  // remaining backwards.
  [[nodiscard]] Operation operator[](int index) const {
    if (index < warm_up_) {
      return forward(index);
    }
    const int steady = index - warm_up_;
    const int pairs = total_ - warm_up_;
    if (steady >= 2 * pairs) {
      return backward(steady - pairs);
    }
    return steady % 2 == 0 ? forward(warm_up_ + steady / 2) : backward(steady / 2);
  }

 private:
  [[nodiscard]] int chunk_of(int count) const {
    return chunks_ == 1 ? 0 : (count / stages_) % chunks_;
  }
  [[nodiscard]] int micro_batch_of(int count) const {
    return chunks_ == 1 ? count : count / (stages_ * chunks_) * stages_ + count % stages_;
  }
  [[nodiscard]] Operation forward(int count) const {
    return {true, chunk_of(count), micro_batch_of(count)};
  }
  [[nodiscard]] Operation backward(int count) const {
    return {false, chunks_ - 1 - chunk_of(count), micro_batch_of(count)};
  }

  int stages_;
  int chunks_;
  int total_;
  int warm_up_{};
};

class Pipeline {
 public:
  Pipeline(const std::vector<StageDurations>& stages, int micro_batches, int chunks)
      : stages_(stages),
        last_(static_cast<int>(stages.size()) - 1),
        chunks_(chunks),
        forward_ends_(last_ + 1, chunks, micro_batches),
        backward_ends_(last_ + 1, chunks, micro_batches) {}

  // When the input of an operation has arrived, or Ends::not_done.
  double input_arrival(int stage, const Operation& op) {
    return op.is_forward ? forward_input(stage, op) : backward_input(stage, op);
  }

  double finish(int stage, const Operation& op, double start) {
    const StageDurations& d = stages_[static_cast<std::size_t>(stage)];
    const double duration = (op.is_forward ? d.forward : d.backward).si / chunks_;
    Ends& ends = op.is_forward ? forward_ends_ : backward_ends_;
    return ends.at(stage, op.chunk, op.micro_batch) = start + duration;
  }

 private:
  double forward_input(int stage, const Operation& op) {
    if (stage == 0 && op.chunk == 0) {
      return 0.0;
    }
    const int from = stage == 0 ? last_ : stage - 1;
    const int chunk = stage == 0 ? op.chunk - 1 : op.chunk;
    return arrival(forward_ends_.at(from, chunk, op.micro_batch),
                   stages_[static_cast<std::size_t>(from)].send_forward);
  }

  double backward_input(int stage, const Operation& op) {
    if (stage == last_ && op.chunk == chunks_ - 1) {
      return forward_ends_.at(stage, op.chunk, op.micro_batch);
    }
    const int from = stage == last_ ? 0 : stage + 1;
    const int chunk = stage == last_ ? op.chunk + 1 : op.chunk;
    return arrival(backward_ends_.at(from, chunk, op.micro_batch),
                   stages_[static_cast<std::size_t>(from)].send_backward);
  }

  static double arrival(double end, Seconds send) {
    return end == Ends::not_done ? Ends::not_done : end + send.si;
  }

  const std::vector<StageDurations>& stages_;
  int last_;
  int chunks_;
  Ends forward_ends_;
  Ends backward_ends_;
};

}  // namespace

std::vector<StageSpan> run_pipeline(const std::vector<StageDurations>& stages, int micro_batches,
                                    int chunks) {
  const int count = static_cast<int>(stages.size());
  Pipeline pipeline(stages, micro_batches, chunks);
  std::vector<Order> orders;
  orders.reserve(stages.size());
  for (int s = 0; s < count; ++s) {
    orders.emplace_back(s, count, micro_batches, chunks);
  }
  std::vector<int> next(stages.size(), 0);
  std::vector<double> free(stages.size(), 0.0);
  std::vector<StageSpan> spans(stages.size());

  // Every sweep runs each stage as far as its inputs allow; a valid schedule always advances.
  for (bool advanced = true; advanced;) {
    advanced = false;
    for (int s = 0; s < count; ++s) {
      const auto at = static_cast<std::size_t>(s);
      for (; next[at] < orders[at].size(); ++next[at]) {
        const Operation op = orders[at][next[at]];
        const double arrival = pipeline.input_arrival(s, op);
        if (arrival == Ends::not_done) {
          break;
        }
        const double start = std::max(free[at], arrival);
        free[at] = pipeline.finish(s, op, start);
        spans[at] = {{start}, {free[at]}};
        advanced = true;
      }
    }
  }
  return spans;
}

}  // namespace payoff
