// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/overlap.hpp"
#include "tests/catch.hpp"
#include "tests/model/csv.hpp"

// Zhang et al., "Is Network the Bottleneck of Distributed Training?" (NetAI 2020, arXiv 2006.10103)
// timed on a V100 when each gradient of a network is ready, and asked a simulator what bandwidth
// and compression would change: gradients are batched until 5 ms have passed or 64 MiB are full,
// one server reduces the batches in turn. Their answers, from their inputs, by our overlap engine.

using namespace payoff;

namespace {

struct ReadyTensor {
  Seconds wait{};  // since the tensor before
  Bytes size{};
};

std::vector<ReadyTensor> ready_tensors(const std::string& model) {
  std::vector<ReadyTensor> tensors;
  for (const test::CsvRow& row : test::read_csv("tests/validation/systems/netx_ready_times.csv")) {
    if (row.text("model") == model) {
      tensors.push_back({row.number("wait_us") * 1_us, row.number("bytes") * 1_B});
    }
  }
  return tensors;
}

Seconds batch_time(const std::string& model) {
  for (const test::CsvRow& row : test::read_csv("tests/validation/systems/netx_batch_times.csv")) {
    if (row.text("model") == model) {
      return row.number("batch_time_s") * 1_s;
    }
  }
  return {};
}

// Time to add two vectors, between the measured sizes by straight lines, outside them constant.
class VectorAdd {
 public:
  VectorAdd() : rows_(test::read_csv("tests/validation/systems/netx_vector_add.csv")) {}

  [[nodiscard]] Seconds time(Bytes size) const {
    const double bytes = size / 1_B;
    if (bytes <= rows_.front().number("bytes")) {
      return rows_.front().number("time_s") * 1_s;
    }
    for (std::size_t i = 1; i < rows_.size(); ++i) {
      const double upper = rows_[i].number("bytes");
      if (bytes <= upper) {
        const double lower = rows_[i - 1].number("bytes");
        const double before = rows_[i - 1].number("time_s");
        const double after = rows_[i].number("time_s");
        return (before + (after - before) * (bytes - lower) / (upper - lower)) * 1_s;
      }
    }
    return rows_.back().number("time_s") * 1_s;
  }

 private:
  std::vector<test::CsvRow> rows_;
};

struct Setting {
  double gpus{};
  Bandwidth bandwidth{};
  double compression{};
};

Seconds all_reduce(Bytes size, const Setting& setting, const VectorAdd& add) {
  const double share = (setting.gpus - 1) / setting.gpus;
  return 2 * share * size / setting.bandwidth / setting.compression +
         (setting.gpus - 1) * add.time(size / setting.gpus);
}

StepPlan plan_of(const std::vector<ReadyTensor>& tensors, const Setting& setting,
                 const VectorAdd& add) {
  auto compute = std::make_shared<StageCompute>();
  StepPlan plan;
  plan.overlap = true;
  StagePlan& stage = plan.stages.emplace_back();
  Seconds waited;
  Bytes filled;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    compute->backward.push_back({{WorkKind::backward, tensors[i].wait}, {}});
    compute->backward_work += tensors[i].wait;
    waited += tensors[i].wait;
    filled += tensors[i].size;
    if (waited >= 5_ms || filled >= 64_MiB || i + 1 == tensors.size()) {
      stage.buckets.push_back({static_cast<int>(i), plan.kinds.size()});
      BucketKind& kind = plan.kinds.emplace_back();
      kind.rounds.emplace_back().message.alone = all_reduce(filled, setting, add);
      waited = {};
      filled = {};
    }
  }
  stage.compute = std::move(compute);
  return plan;
}

// Their answers are printed to 1 us and to 1e-4.
bool within(double ours, double theirs, double last_digit) {
  return std::abs(ours - theirs) <= 0.005 * std::abs(theirs) + 0.5 * last_digit * 1.001;
}

}  // namespace

TEST_CASE("bucketed overlap gives the answers of the what-if simulator on its own inputs") {
  const std::string model = GENERATE(as<std::string>{}, "resnet50", "resnet101", "vgg16");
  const std::vector<ReadyTensor> tensors = ready_tensors(model);
  const VectorAdd add;
  const Seconds batch = batch_time(model);
  int rows = 0;
  for (const test::CsvRow& row : test::read_csv("tests/validation/systems/netx_what_if.csv")) {
    if (row.text("model") != model) {
      continue;
    }
    ++rows;
    const Setting setting{row.number("n_gpu"), row.number("gbps") * 1_Gbps,
                          row.number("compression")};
    const StepPlan plan = plan_of(tensors, setting, add);
    const OverlapResult result = overlap_gradients(plan, 0);
    const Seconds backward = plan.stages[0].compute->backward_work;
    const Seconds exposed = result.finish - backward;
    INFO(model << ", " << setting.gpus << " GPUs, " << row.text("gbps") << " Gb/s, compression "
               << setting.compression << ": exposed " << exposed / 1_ms << " ms, theirs "
               << row.text("exposed_ms"));
    CHECK(plan.kinds.size() == static_cast<std::size_t>(row.number("buckets")));
    CHECK(within(backward / 1_ms, row.number("backward_ms"), 1e-3));
    CHECK(within(result.dp_busy / 1_ms, row.number("comm_total_ms"), 1e-3));
    CHECK(within(exposed / 1_ms, row.number("exposed_ms"), 1e-3));
    CHECK(within(result.exposed_dp / 1_ms, row.number("exposed_ms"), 1e-3));
    CHECK(within(batch / (batch + exposed), row.number("scaling_factor"), 1e-4));
  }
  CHECK(rows == 90);
}
