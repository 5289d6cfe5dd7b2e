// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include "model/compression.hpp"
#include "tests/catch.hpp"
#include "tests/model/architectures.hpp"
#include "tests/model/contributed.hpp"
#include "tests/model/method_file.hpp"

using namespace payoff;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using payoff::test::contributed;

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

const architectures::Tensors resnet50 =
    architectures::bottleneck_resnet({3, 4, 6, 3}, 7, 1000);  // NOLINT: tests may allocate

}  // namespace

TEST_CASE("PowerSGD sends what the Accordion paper printed for each network and rank") {
  // MLSys 2021, tables 1 and 2: million floats in 300 epochs of 98 iterations; what it printed of
  // SENet with CIFAR-10 is that of 249 epochs.
  struct Row {
    const char* network;
    architectures::Tensors tensors;
    int epochs;
    double rank;
    double million_floats;
  };
  const auto resnet10 = architectures::cifar_resnet18(10);
  const auto resnet100 = architectures::cifar_resnet18(100);
  const auto vgg = architectures::cifar_vgg19(10);
  const auto densenet = architectures::cifar_densenet(100);
  const auto senet10 = architectures::cifar_se_resnet18(10);
  const auto senet100 = architectures::cifar_se_resnet18(100);
  const std::vector<Row> rows{
      {"ResNet-18, 10", resnet10, 300, 1, 1350.4},   {"ResNet-18, 10", resnet10, 300, 2, 2418.4},
      {"VGG-19bn, 10", vgg, 300, 1, 2074.9},         {"VGG-19bn, 10", vgg, 300, 4, 6752.0},
      {"SENet, 10", senet10, 249, 1, 1392.6},        {"SENet, 10", senet10, 249, 4, 4361.3},
      {"ResNet-18, 100", resnet100, 300, 1, 1355.7}, {"ResNet-18, 100", resnet100, 300, 2, 2426.3},
      {"DenseNet, 100", densenet, 300, 1, 2155.6},   {"DenseNet, 100", densenet, 300, 2, 3387.4},
      {"SENet, 100", senet100, 300, 1, 1683.1},      {"SENet, 100", senet100, 300, 2, 2878.1}};
  for (const Row& row : rows) {
    INFO(row.network << ", rank " << row.rank);
    const Method method = method_file::load("powersgd_reducer", {{"rank", row.rank}});
    const double sent = floats_sent(method, row.tensors);
    // The paper cuts or rounds its last digit.
    CHECK_THAT(sent * row.epochs * 98 / 1e6, WithinAbs(row.million_floats, 0.1));
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
    const CallCost cost = compress(method, {&tensor, 1}, fp32, workers, local);
    const Bytes sent = contributed(cost);
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
    // Where GPUs of a node sum whole numbers before one encodes, these do not leave the node: what
    // does is less than the part of one GPU, or, of a method that publishes no less than that part
    // (servers and neighbours without a codec), as much as goes to servers and back.
    const Bytes dense = 1536 * 768 * fp32;
    const bool whole = method.wire.as_published.evaluate(values) * 1_B >= dense / local;
    Bytes between;
    for (const RoundCost& round : cost.rounds) {
      between += round.among == Among::nodes ? round.message : 0_B;
    }
    CHECK((sent <= dense || (between > 0_B && between < (whole ? 2 : 1) * dense / local)));
  }
}
