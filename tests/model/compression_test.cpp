// SPDX-License-Identifier: Apache-2.0
#include "model/compression.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/catch.hpp"
#include "tests/model/architectures.hpp"
#include "tests/model/method_file.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

constexpr Bytes fp32 = 4_B;

// Floats that one worker puts into its buffers in one step: P, Q and the vectors.
double floats_sent(const Method& method, const architectures::Tensors& tensors) {
  const CallCost cost = compress(method, tensors, fp32, 4, 1);
  Bytes sent = cost.dense_message;
  for (const RoundCost& round : cost.rounds) {
    sent += round.message;
  }
  return sent / fp32;
}

Bytes contributed(const CallCost& cost) {
  Bytes sent;
  for (const RoundCost& round : cost.rounds) {
    sent += round.message;
  }
  return sent;
}

Expression formula(const std::string& text, const std::map<std::string, double>& parameters = {}) {
  auto result = Expression::parse(text, formula_names(parameters));
  REQUIRE(result.errors.empty());
  return result.expression;
}

// A method of a test's own: one all-reduce of the message, nothing else.
Method simple_method(const std::string& message) {
  Method method;
  method.rounds.push_back({{}, Collective::all_reduce, formula(message)});
  return method;
}

const architectures::Tensors resnet50 =
    architectures::bottleneck_resnet({3, 4, 6, 3}, 7, 1000);  // NOLINT: tests may allocate

}  // namespace

TEST_CASE("PowerSGD sends what the Accordion paper printed for ResNet-18") {
  // MLSys 2021, tables 1 and 2: million floats in 300 epochs of 98 iterations.
  struct Row {
    int classes;
    double rank;
    double million_floats;
  };
  for (const Row& row :
       {Row{10, 1, 1350.4}, Row{10, 2, 2418.4}, Row{100, 1, 1355.7}, Row{100, 2, 2426.3}}) {
    const Method method = method_file::load("powersgd_reducer", {{"rank", row.rank}});
    const double sent = floats_sent(method, architectures::cifar_resnet18(row.classes));
    // The paper cuts or rounds its last digit.
    CHECK_THAT(sent * 300 * 98 / 1e6, WithinAbs(row.million_floats, 0.1));
  }
}

TEST_CASE("PowerSGD rank 1 sends 134,511 floats for the ResNet-50 of CIFAR-10") {
  // Logged by vineeths96/Gradient-Compression: 125902296000 bits in 29250 iterations.
  REQUIRE(125902296000.0 / 29250 / 32 == 134511);
  const auto tensors = architectures::bottleneck_resnet({3, 4, 6, 3}, 3, 10);
  CHECK(floats_sent(method_file::load("powersgd_reducer", {{"rank", 1}}), tensors) == 134511);
}

TEST_CASE("PowerSGD payloads of ResNet-50, ResNet-101 and BERT follow their shapes") {
  // tests/validation/systems/powersgd_payloads.csv, column sent_floats.
  struct Row {
    architectures::Tensors tensors;
    double rank;
    double floats;
  };
  const auto resnet101 = architectures::bottleneck_resnet({3, 4, 23, 3}, 7, 1000);
  const auto bert_chinese = architectures::bert(12, 768, 21128);
  const auto bert_uncased = architectures::bert(12, 768, 30522);
  const std::vector<Row> rows{
      {resnet50, 4, 384084},     {resnet50, 8, 714048},      {resnet50, 16, 1373976},
      {resnet101, 4, 784468},    {resnet101, 8, 1462592},    {resnet101, 16, 2818840},
      {bert_chinese, 4, 887594}, {bert_chinese, 8, 1649994}, {bert_chinese, 16, 3174794},
      {bert_uncased, 4, 925170}, {bert_uncased, 8, 1725146}, {bert_uncased, 16, 3325098}};
  for (const Row& row : rows) {
    INFO("rank " << row.rank << ", " << row.floats << " floats");
    CHECK(floats_sent(method_file::load("powersgd_reducer", {{"rank", row.rank}}), row.tensors) ==
          row.floats);
    // The hook sends the same once it is told to compress whatever it may.
    const Method hook =
        method_file::load("powersgd", {{"rank", row.rank}, {"min_compression_rate", 0}});
    CHECK(floats_sent(hook, row.tensors) == row.floats);
  }
}

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

TEST_CASE("signSGD contributes an eighth of a byte an element, in 32-bit words") {
  const Method method = method_file::load("signsgd");
  const std::vector<ParameterTensor> whole{{1 << 20, 1, false}};
  CHECK(contributed(compress(method, whole, fp32, 8, 4)) == (1 << 20) / 8.0 * 1_B);
  const std::vector<ParameterTensor> odd{{33, 1, false}};
  CHECK(contributed(compress(method, odd, fp32, 8, 4)) == 8_B);
}

TEST_CASE("a bucket is one vector to a method that works on buckets") {
  // 40 tensors of 33 elements: 1,320 bits in 42 words, not 40 times 2 words.
  const std::vector<ParameterTensor> many(40, {33, 1, false});
  CHECK(contributed(compress(method_file::load("signsgd"), many, fp32, 8, 4)) == 42 * 4_B);
}

TEST_CASE("Top-K sends 12 bytes for a kept element as coded and 8 as published") {
  const std::vector<ParameterTensor> tensor{{1000, 1000, true}};
  const auto sent = [&](double index_bytes) {
    return contributed(
        compress(method_file::load("topk", {{"ratio", 0.01}, {"index_bytes", index_bytes}}), tensor,
                 fp32, 8, 4));
  };
  CHECK(sent(8) == 10000 * 12_B);
  CHECK(sent(4) == 10000 * 8_B);
  // Of a tensor too small for the ratio one element is kept.
  const std::vector<ParameterTensor> bias{{64, 1, false}};
  CHECK(contributed(compress(method_file::load("topk", {{"ratio", 0.01}}), bias, fp32, 8, 4)) ==
        12_B);
}

TEST_CASE("Random-K sends values only and sums them on the way") {
  const std::vector<ParameterTensor> tensor{{1000, 1000, true}};
  const Method method = method_file::load("randomk", {{"ratio", 0.1}});
  const CallCost cost = compress(method, tensor, fp32, 8, 4);
  CHECK(contributed(cost) == 100000 * 4_B);
  CHECK(cost.rounds[0].collective == Collective::all_reduce);
  CHECK(method.sums_in_collective);
}

TEST_CASE("QSGD packs its bits and adds a scale for each group") {
  const std::vector<ParameterTensor> tensor{{1 << 20, 1, false}};
  const auto sent = [&](double bits) {
    return contributed(
        compress(method_file::load("qsgd", {{"bits", bits}, {"group", 512}}), tensor, fp32, 8, 4));
  };
  const Bytes scales = (1 << 20) / 512.0 * 4_B;
  CHECK(sent(8) == 1_MiB + scales);
  CHECK(sent(4) == 512_KiB + scales);
  // GRACE stores bytes whatever the levels, and 16 bits from 128 levels on.
  const auto stored = [&](double levels) {
    return contributed(
        compress(method_file::load("qsgd_framework", {{"levels", levels}}), tensor, fp32, 8, 4));
  };
  CHECK(stored(16) == 1_MiB + 4_B);
  CHECK(stored(64) == 1_MiB + 4_B);
  CHECK(stored(256) == 2_MiB + 4_B);
}

TEST_CASE("casts halve and quarter fp32 and leave fp16 alone") {
  const std::vector<ParameterTensor> tensor{{1 << 20, 1, false}};
  CHECK(contributed(compress(method_file::load("fp16"), tensor, 4_B, 8, 4)) == 2_MiB);
  CHECK(contributed(compress(method_file::load("bf16"), tensor, 4_B, 8, 4)) == 2_MiB);
  CHECK(contributed(compress(method_file::load("fp8"), tensor, 4_B, 8, 4)) == 1_MiB + 4_B);
  const CallCost already = compress(method_file::load("fp16"), tensor, 2_B, 8, 4);
  CHECK(already.rounds.empty());
  CHECK(already.dense_message == 2_MiB);
}

TEST_CASE("activations of MCBench have the sizes of its scripts") {
  // BERT-Large, micro-batch 32, sequence 512, fp16: 33,554,432 B uncompressed.
  const std::vector<ParameterTensor> activation{{32 * 512, 1024, true}};
  const auto quantized = [&](double bits) {
    return contributed(compress(method_file::load("activation_quantization", {{"bits", bits}}),
                                activation, 2_B, 2, 2));
  };
  CHECK(quantized(8) == 16777216_B + 2048_B);
  CHECK(quantized(4) == 8388608_B + 2048_B);
  CHECK(quantized(2) == 4194304_B + 2048_B);
  const auto encoded = [&](double dim) {
    return contributed(
        compress(method_file::load("autoencoder", {{"dim", dim}}), activation, 2_B, 2, 2));
  };
  CHECK(encoded(50) == 1638400_B);
  CHECK(encoded(100) == 3276800_B);
}

TEST_CASE("an all-gather of kept elements beats a dense ring below 2v / (W (v + 4))") {
  // Bytes that cross a worker's link: (W - 1) M for an all-gather, 2 (W - 1) / W n v for a ring.
  const double n = 1e8;
  const std::vector<ParameterTensor> tensor{{static_cast<std::int64_t>(n), 1, false}};
  for (const int workers : {8, 64}) {
    for (const Bytes element : {4_B, 2_B}) {
      const double v = element / 1_B;
      const double limit = 2 * v / (workers * (v + 4));
      const auto gathered = [&](double ratio) {
        const Method method = method_file::load("topk", {{"ratio", ratio}, {"index_bytes", 4}});
        return (workers - 1.0) * contributed(compress(method, tensor, element, workers, 1));
      };
      const Bytes dense = 2.0 * (workers - 1) / workers * n * element;
      CHECK(gathered(limit * 0.999) < dense);
      CHECK(gathered(limit * 1.001) > dense);
    }
  }
}

TEST_CASE("an all-gather of signs beats a dense fp32 ring below 64 workers") {
  const double n = 1 << 25;
  const std::vector<ParameterTensor> tensor{{1 << 25, 1, false}};
  const Method method = method_file::load("signsgd");
  for (const int workers : {2, 63, 64, 65, 256}) {
    const Bytes signs = (workers - 1.0) * contributed(compress(method, tensor, fp32, workers, 1));
    const Bytes dense = 2.0 * (workers - 1) / workers * n * fp32;
    CHECK((signs < dense) == (workers < 64));
  }
}

TEST_CASE("every shipped method can be priced and sends what its wire formula says") {
  for (const std::string& name : method_file::names()) {
    INFO(name);
    const Method method = method_file::load(name);
    for (const Problem& problem : check_method(method)) {
      FAIL_CHECK(problem.path << ": " << problem.message);
    }
    const Expression& wire = method_file::wire_used(name) == "as_published"
                                 ? method.wire.as_published
                                 : method.wire.as_implemented;
    const ParameterTensor tensor{1536, 768, true};
    const int workers = 16;
    const int local = 4;
    const Bytes sent = contributed(compress(method, {&tensor, 1}, fp32, workers, local));
    std::vector<double> values{1536 * 768, 1536, 768, 4, workers, local, 1};
    if (method.granularity == Granularity::bucket) {
      values[1] = values[0];
      values[2] = 1;
    }
    for (const auto& [key, value] : method.parameters) {
      values.push_back(value);
    }
    for (const Expression& part : method.where) {
      values.push_back(part.evaluate(values));
    }
    CHECK_THAT(sent / 1_B, WithinRel(wire.evaluate(values), 1e-12));
    CHECK(sent < 1536 * 768 * fp32);
  }
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

TEST_CASE("a method may decide for each tensor whether it is worth it") {
  Method method = simple_method("n");
  method.worth = formula("n - 1000");
  method.dense.kernels = formula("1");
  const std::vector<ParameterTensor> tensors{{1000, 1, false}, {1001, 1, false}, {10, 200, true}};
  const CallCost cost = compress(method, tensors, fp32, 8, 4);
  CHECK(contributed(cost) == 3001_B);
  CHECK(cost.dense_message == 1000 * fp32);
  CHECK(cost.dense.kernels == 1);
}

TEST_CASE("a formula that no machine can run is refused with its place") {
  Method method = simple_method("n / (W - 8)");
  method.decode.bytes = formula("n - 10");
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
  // The host queues slower than the GPU runs: its time counts, unless the GPU has more to do.
  law.dispatch = 10_us;
  CHECK_THAT(time({{}, {}, {}, 3, 0}), WithinRel(30.0));
  CHECK_THAT(time({100_MB, {}, {}, 3, 0}), WithinRel(12 + 30.0 + 140.0));
}
