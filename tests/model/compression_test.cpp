// SPDX-License-Identifier: Apache-2.0
#include "model/compression.hpp"

#include <string>
#include <vector>

#include "model/size_threshold.hpp"
#include "tests/catch.hpp"
#include "tests/model/architectures.hpp"
#include "tests/model/contributed.hpp"
#include "tests/model/method_file.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using payoff::test::contributed;

namespace {

constexpr Bytes fp32 = 4_B;

Expression expression_of(const std::string& text,
                         const std::map<std::string, double>& parameters = {}) {
  auto result = Expression::parse(text, formula_names(parameters));
  REQUIRE(result.errors.empty());
  return result.expression;
}

// A method of a test's own: one all-reduce of the message, nothing else.
Method simple_method(const std::string& message) {
  Method method;
  method.sums_in_collective = true;
  method.rounds.push_back({{}, Collective::all_reduce, expression_of(message)});
  return method;
}

const architectures::Tensors resnet50 =
    architectures::bottleneck_resnet({3, 4, 6, 3}, 7, 1000);  // NOLINT: tests may allocate

}  // namespace

TEST_CASE("PowerSGD's hook leaves a matrix dense that it cannot halve") {
  const Method hook = method_file::load("powersgd", {{"rank", 4}});
  // (r + r) 4 min_compression_rate 2 < r^2: 16 < r.
  const std::vector<ParameterTensor> at_limit{{16, 16, true}};
  const std::vector<ParameterTensor> above{{17, 17, true}};
  CHECK(compress(hook, at_limit, fp32, 8, 4).rounds.empty());
  CHECK(compress(hook, at_limit, fp32, 8, 4).dense_message == 16 * 16 * fp32);
  CHECK(contributed(compress(hook, above, fp32, 8, 4)) == 2 * 17 * 4 * fp32);
}

TEST_CASE("PowerSGD has two rounds and sends vectors in an all-reduce of their own") {
  const CallCost cost = compress(method_file::load("powersgd"), resnet50, fp32, 16, 4);
  REQUIRE(cost.rounds.size() == 2);
  CHECK(cost.rounds[0].collective == Collective::all_reduce);
  CHECK(cost.rounds[1].collective == Collective::all_reduce);
  CHECK(cost.dense_message >= 54120 * fp32);  // all its vectors, and the small matrices
  CHECK_THAT(cost.decode.host_syncs, WithinRel(1.0, 1e-12));  // one wait for a whole bucket
  CHECK(cost.rounds[0].encode.flops == cost.rounds[1].encode.flops);
  CHECK(cost.dense.kernels > 100);  // 107 vectors are copied back one by one
}

TEST_CASE("what the host does while the GPU waits is added to a pass") {
  Gpu gpu;
  gpu.memory_bandwidth = 1_TBps;
  gpu.l2 = 40_MB;
  gpu.compute_units = 100;
  PassCost cost;
  cost.bytes = 1_GB;
  cost.kernels = 1;
  CodecLaw law;
  law.resident_efficiency = 1.0;
  law.memory_efficiency = 0.5;
  const Seconds alone = price_pass(cost, law, gpu, Precision::fp32);
  cost.host_time = 3_ms;
  CHECK_THAT((price_pass(cost, law, gpu, Precision::fp32) - alone) / 1_ms, WithinRel(3.0, 1e-9));
  PassCost twice = cost;
  twice += cost;
  CHECK(twice.host_time == 2.0 * 3_ms);
}

TEST_CASE("PowerSGD decodes as fast for 4 workers as for 400, signSGD does not") {
  const Method powersgd = method_file::load("powersgd");
  CHECK(compress(powersgd, resnet50, fp32, 4, 4).decode ==
        compress(powersgd, resnet50, fp32, 400, 4).decode);
  const Method signsgd = method_file::load("signsgd");
  const auto traffic = [&](int workers) {
    return compress(signsgd, resnet50, fp32, workers, 4).decode.bytes;
  };
  // O(workers x elements): equal steps for equal numbers of workers.
  CHECK_THAT((traffic(200) - traffic(100)) / (traffic(101) - traffic(100)), WithinRel(100.0, 1e-9));
  CHECK(traffic(100) > 40 * traffic(1));
}

TEST_CASE("tensors cost together what they cost one by one") {
  // 161 tensors fill several blocks of lanes; nothing may depend on where they fall.
  for (const std::string name : {"topk", "powersgd_reducer", "natural"}) {
    const Method method = method_file::load(name);
    const CallCost together = compress(method, resnet50, fp32, 8, 4);
    PassCost decode;
    Bytes dense;
    Bytes state;
    double messages = 0;
    double matrices = 0;
    for (const ParameterTensor& tensor : resnet50) {
      const CallCost one = compress(method, {&tensor, 1}, fp32, 8, 4);
      decode += one.decode;
      dense += one.dense_message;
      state += one.state;
      messages += contributed(one) / 1_B;
      matrices += one.rounds.empty() ? 0 : 1;
    }
    INFO(name);
    CHECK_THAT(together.decode.bytes / 1_B, WithinRel(decode.bytes / 1_B, 1e-12));
    CHECK_THAT(contributed(together) / 1_B, WithinRel(messages, 1e-12));
    CHECK(together.dense_message == dense);
    CHECK_THAT(together.state / 1_B, WithinRel(state / 1_B, 1e-12));
    // What a call does once is done once, not for every tensor (x / T adds up to x).
    const double once = name == "powersgd_reducer" ? 1 : 0;
    CHECK_THAT(together.decode.kernels, WithinRel(decode.kernels - once * (matrices - 1), 1e-12));
  }
}

TEST_CASE("equal tensors cost counted what they cost listed") {
  const ParameterTensor matrix{300, 200, true};
  const ParameterTensor vector{512, 1, false};
  for (const std::string name : {"topk", "powersgd", "powersgd_reducer", "natural"}) {
    const Method method = method_file::load(name);
    const std::vector<EqualTensors> counted{{matrix, 0, 3}, {vector, 0, 2}};
    const CallCost sum = compress_calls(method, counted, 1, fp32, {8, 4}).front();
    const CallCost listed =
        compress(method, std::vector{matrix, vector, matrix, vector, matrix}, fp32, 8, 4);
    INFO(name);
    REQUIRE(sum.rounds.size() == listed.rounds.size());
    for (std::size_t r = 0; r < sum.rounds.size(); ++r) {
      CHECK_THAT(sum.rounds[r].message / 1_B, WithinRel(listed.rounds[r].message / 1_B, 1e-12));
      CHECK_THAT(sum.rounds[r].encode.bytes / 1_B,
                 WithinRel(listed.rounds[r].encode.bytes / 1_B, 1e-12));
    }
    CHECK(sum.dense_message == listed.dense_message);
    CHECK_THAT(sum.state / 1_B, WithinRel(listed.state / 1_B, 1e-12));
    CHECK_THAT(sum.decode.bytes / 1_B, WithinRel(listed.decode.bytes / 1_B, 1e-12));
    CHECK_THAT(sum.decode.kernels, WithinRel(listed.decode.kernels, 1e-12));
  }
}

TEST_CASE("a method may decide for each tensor whether it is worth it") {
  Method method = simple_method("n");
  method.worth = expression_of("n - 1000");
  method.dense.kernels = expression_of("1");
  const std::vector<ParameterTensor> tensors{{1000, 1, false}, {1001, 1, false}, {10, 200, true}};
  const CallCost cost = compress(method, tensors, fp32, 8, 4);
  CHECK(contributed(cost) == 3001_B);
  CHECK(cost.dense_message == 1000 * fp32);
  CHECK(cost.dense.kernels == 1);
}

TEST_CASE("a threshold holds where a method's own condition takes all of the stack") {
  std::string worth = "n";
  for (int value = 1; value < 24; ++value) {  // detail::expression_stack_limit
    worth = "n + (" + worth + ")";
  }
  Method method = simple_method("n");
  method.worth = expression_of(worth);
  const std::vector<ParameterTensor> tensor{{10, 1, false}};
  CHECK(compress(from_size(method, 10 * fp32), tensor, fp32, 8, 4).dense_message == 0_B);
  CHECK(compress(from_size(method, 11 * fp32), tensor, fp32, 8, 4).dense_message == 10 * fp32);
}

TEST_CASE("a formula that no machine can run is refused with its place") {
  Method method = simple_method("n / (W - 8)");
  method.decode.bytes = expression_of("n - 10");
  const Problems problems = check_method(method);
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].path == "rounds[0].message");
  CHECK_THAT(problems[0].message, ContainsSubstring("not finite"));
  CHECK(problems[1].path == "decode.bytes");
  CHECK_THAT(problems[1].message, ContainsSubstring("negative for a tensor of 1 x 1"));
  CHECK(check_method(Method{}).size() == 1);
}

TEST_CASE("a pass takes launches, then traffic, then arithmetic") {
  Gpu gpu;
  gpu.memory_bandwidth = 1_TBps;
  gpu.l2 = 10_MB;
  gpu.peak[Precision::fp32] = 10_TFLOPps;
  gpu.law.launch = 4_us;
  CodecLaw law;
  law.resident_efficiency = 1.0;
  law.memory_efficiency = 0.5;
  law.random_efficiency = 0.1;
  law.gemm_efficiency = 0.2;
  law.host_sync = 20_us;
  const auto time = [&](const PassCost& cost) {
    return price_pass(cost, law, gpu, Precision::fp32) / 1_us;
  };
  CHECK(time({}) == 0);
  CHECK_THAT(time({{}, {}, {}, 3, 0}), WithinRel(12.0));
  CHECK_THAT(time({{}, {}, {}, 0, 2}), WithinRel(40.0));
  CHECK_THAT(time({10_MB, {}, {}, 1, 0}), WithinRel(4 + 10.0));
  CHECK_THAT(time({30_MB, {}, {}, 1, 0}), WithinRel(4 + 10.0 + 40.0));
  CHECK_THAT(time({30_MB, {}, {}, 3, 0}), WithinRel(12 + 30.0));  // each kernel fits the cache
  CHECK_THAT(time({{}, 1_MB, {}, 1, 0}), WithinRel(4 + 10.0));
  CHECK_THAT(time({{}, {}, 20_GFLOP, 1, 0}), WithinRel(4 + 10000.0));
  // One thread block has one of the SMs, and so its share of the memory.
  gpu.compute_units = 100;
  CHECK_THAT(time({{}, {}, {}, 1, 0, 1_MB}), WithinRel(4 + 100 * 1 / 0.5));
  CHECK(memory_traffic({30_MB, 1_MB, {}, 1, 0, 2_MB}, gpu) == 23_MB);
  // The host queues slower than the GPU runs: its time counts, unless the GPU has more to do.
  law.dispatch = 10_us;
  CHECK_THAT(time({{}, {}, {}, 3, 0}), WithinRel(30.0));
  CHECK_THAT(time({100_MB, {}, {}, 3, 0}), WithinRel(12 + 30.0 + 140.0));
}
