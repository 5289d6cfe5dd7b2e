// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "profiles/read_hardware.hpp"
#include "tests/catalogue/methods.hpp"
#include "tests/catch.hpp"
#include "tests/model/architectures.hpp"

// One number of each method, taken from where it was published and not from its file.

using namespace payoff;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

constexpr std::int64_t elements = 1 << 20;

std::vector<ParameterTensor> vector_of(std::int64_t n) { return {{n, 1, false}}; }

double bytes_an_element(const char* name, std::size_t round, Bytes element, const Workers& group,
                        const std::map<std::string, double>& parameters = {}) {
  return test::sent(test::method(name, parameters), vector_of(elements), element, group, round) /
         1_B / elements;
}

}  // namespace

TEST_CASE("block formats take the bits of their specifications") {
  // OCP MX 1.0, table of concrete formats: 8 or 4 bits, and 8 bits of scale for 32 elements.
  CHECK_THAT(8 * bytes_an_element("mxfp8", 0, 2_B, {8, 8}), WithinRel(8.25, 1e-12));
  CHECK_THAT(8 * bytes_an_element("mxfp4", 0, 2_B, {8, 8}), WithinRel(4.25, 1e-12));
  // NVFP4: an 8-bit scale for 16 elements, and one scale for the tensor.
  CHECK_THAT(8 * bytes_an_element("nvfp4", 0, 2_B, {8, 8}), WithinRel(4.5, 1e-4));
}

TEST_CASE("exponents of bfloat16 are coded to 2.7 bits, as fast as DietGPU says of an A100") {
  // DietGPU's README: normal values have 2.7 bits of entropy in their 8 bits of exponent, of 16
  // bits 8 stay as they are; 250 to 600 GB/s of input on an A100.
  const double coded = (8 + 2.7) / 16;
  const Workers group{8, 8};
  CHECK_THAT(bytes_an_element("lossless", 0, 2_B, group) / 2, WithinRel(coded, 0.005));
  // Of 4 bytes three stay.
  CHECK_THAT(bytes_an_element("lossless", 0, 4_B, group) / 4, WithinRel((24 + 2.7) / 32, 0.005));
  const Library library(PAYOFF_SOURCE_DIR "/profiles");
  SourceMap sources;
  Diagnostics diagnostics;
  const auto a100 = read_gpu("a100-sxm-40", std::nullopt, {library, sources, diagnostics});
  REQUIRE(a100);
  const ParameterTensor bucket{1 << 27, 1, false};
  const Method method = test::method("lossless");
  const CallCost cost = compress(method, {&bucket, 1}, 2_B, group.all, group.in_node);
  const Seconds encode =
      price_pass(cost.rounds.at(0).encode, method.law, a100->value, Precision::bf16);
  const double gb_per_second = 2e-9 * (1 << 27) / (encode / 1_s);
  CHECK(gb_per_second > 250);
  CHECK(gb_per_second < 600);
}

TEST_CASE("weights cast before they are gathered are half the bytes of bfloat16") {
  // PyTorch's note on float8 all-gathers in FSDP2; a GPU of 8 sends its eighth.
  CHECK_THAT(bytes_an_element("fp8_weights", 0, 2_B, {8, 8}), WithinRel(0.5 * 2 / 8, 1e-12));
}

TEST_CASE("a token of 7,168 values is 7,392 bytes in blocks of 128, as DeepEP dispatches it") {
  CHECK(test::sent(test::method("fp8_block"), vector_of(7168), 2_B, {8, 8}, 0) == 7392_B);
}

TEST_CASE("Deep Gradient Compression as its authors coded it sends 12 bytes for a kept value") {
  CHECK(test::sent(test::method("dgc_horovod"), vector_of(1000000), 4_B, {8, 4}) == 10000 * 12_B);
  CHECK(test::sent(test::method("dgc_horovod", {{"index_bytes", 4}}), vector_of(1000000), 4_B,
                   {8, 4}) == 10000 * 8_B);
}

TEST_CASE("Ok-Topk moves fewer than 6k words for a worker, whatever their number") {
  // Its paper, abstract: values and positions, 4 bytes each; what leaves a worker is (W - 1) / W of
  // its message in an all-to-all, and W - 1 shares arrive in an all-gather.
  for (const int workers : {2, 16, 256}) {
    const Method method = test::method("oktopk");
    const auto tensor = vector_of(1000000);
    const double k = 10000;
    const double others = workers - 1.0;
    const Bytes exchanged = test::sent(method, tensor, 4_B, {workers, 1}, 0) * others / workers;
    const Bytes gathered = test::sent(method, tensor, 4_B, {workers, 1}, 1) * others;
    CHECK((exchanged + gathered) / 4_B < 6 * k);
    CHECK((exchanged + gathered) / 4_B >= 2 * k * others / workers);
  }
}

TEST_CASE("1-bit Adam cuts five times the bytes of BERT's pre-training with a warm-up of 15 %") {
  // Abstract: up to 5 times less communication. Uncompressed 16-bit gradients in a ring cost 2 x 2
  // bytes an element, both phases of the compressed one 2 x 1/8.
  const auto tensor = vector_of(elements);
  const Method method = test::method("onebitadam");
  const Workers group{256, 4};
  const double exchanged = test::sent(method, tensor, 2_B, group, 0) / 1_B;
  const double gathered = 256 * (test::sent(method, tensor, 2_B, group, 2) / 1_B);
  const double ratio = 4.0 * elements / (exchanged + gathered);
  CHECK_THAT(ratio, WithinRel(16.0, 1e-12));
  CHECK_THAT(1 / (0.15 + 0.85 / ratio), WithinAbs(5.0, 0.1));
  // 1-bit LAMB goes through the same function (DeepSpeed, runtime/comm/compressed.py).
  const Method lamb = test::method("onebitlamb");
  CHECK(test::sent(lamb, tensor, 2_B, group) == test::sent(method, tensor, 2_B, group));
}

TEST_CASE("ZeRO++ moves a quarter of ZeRO-3's bytes between nodes") {
  // Abstract: 4 times. ZeRO-3 gathers 16-bit weights twice and scatters 16-bit gradients; ZeRO++
  // gathers bytes once between nodes, and its second all-to-all carries 4 bits of L-th parts.
  const int in_node = 8;
  const Workers group{64, in_node};
  const double weights =
      64 * (test::sent(test::method("qwz"), vector_of(elements), 2_B, group, 0) / 1_B);
  const double gradients =
      in_node * (test::sent(test::method("qgz"), vector_of(elements), 2_B, group, 1) / 1_B);
  const double zero3 = 3 * 2.0 * elements;
  CHECK_THAT(zero3 / (weights + gradients), WithinRel(4.0, 0.02));
}

TEST_CASE("SDP4Bit sends 8 bits in the node and 4 between nodes, with a scale for 128 values") {
  CHECK_THAT(8 * bytes_an_element("sdp4bit", 0, 2_B, {64, 4}), WithinRel(8 + 32.0 / 128, 1e-12));
  CHECK_THAT(8 * 4 * bytes_an_element("sdp4bit", 1, 2_B, {64, 4}),
             WithinRel(4 + 32.0 / 128, 1e-12));
}

TEST_CASE("LoCo sends what qgZ sends between nodes and keeps a byte of error an element") {
  const Workers group{64, 8};
  CHECK_THAT(bytes_an_element("loco", 1, 2_B, group),
             WithinRel(bytes_an_element("qgz", 1, 2_B, group), 1e-12));
  const ParameterTensor tensor{elements, 1, false};
  const CallCost cost = compress(test::method("loco"), {&tensor, 1}, 2_B, 64, 8);
  // DeepSpeed keeps int8 buffers of n and of n / L.
  CHECK_THAT(cost.state / 1_B, WithinRel(elements * (1 + 1.0 / 8), 1e-12));
}

TEST_CASE("THC sends 4 bits up and Global-QSGD 8 in a sum") {
  CHECK_THAT(8 * bytes_an_element("thc", 1, 4_B, {4, 1}), WithinRel(4.0, 1e-12));
  CHECK_THAT(8 * bytes_an_element("globalqsgd", 1, 4_B, {4, 4}), WithinRel(8.0, 1e-12));
}

TEST_CASE("QuickReduce packs 2,048 values into the tiles of its kernels") {
  // vllm-project/vllm at 0bf6342, csrc/quickreduce: kRankTileStride of CodecQ4, CodecQ6, CodecQ8.
  const std::map<double, Bytes> tiles{{4, 1152_B}, {6, 1664_B}, {8, 2176_B}};
  for (const auto& [bits, bytes] : tiles) {
    const Method method = test::method("quickreduce", {{"bits", bits}});
    CHECK(test::sent(method, vector_of(2048), 2_B, {4, 4}, 0) == bytes);
  }
}

TEST_CASE("Elias codes of gaps are as long as OEIS counts them") {
  // A140341: bits of Elias delta. Of each level that is not zero its gap, a sign and, of a level of
  // 1, one bit more; all of it in words of 8 bytes, then the number of bits and the norm.
  const std::map<int, int> length{{1, 1}, {2, 4}, {4, 5}, {8, 8}, {10, 8}, {16, 9}, {64, 11}};
  for (const auto& [gap, bits] : length) {
    INFO("gaps of " << gap);
    const Method method = test::method("elias_servers", {{"density", 1.0 / gap}});
    constexpr std::int64_t n = 64 * 640;
    const double words = static_cast<double>(n) / gap * (bits + 2) / 64;
    // Every node has a server, so half of what goes there and back is one payload.
    CHECK_THAT(test::sent(method, vector_of(n), 4_B, {4, 1}, 1) / 1_B,
               WithinRel(8 * std::ceil(words) + 12, 1e-12));
  }
}

TEST_CASE("through a switch THC takes the bytes of its sums, once") {
  // 4 bits go up while 8 come down; a ring of W moves 2 (W - 1) / W of its message.
  for (const int workers : {2, 8, 64}) {
    const Bytes message =
        test::sent(test::method("thc_switch"), vector_of(elements), 4_B, {workers, 1}, 1);
    CHECK_THAT(2.0 * (workers - 1) / workers * (message / 1_B),
               WithinRel(static_cast<double>(elements), 1e-12));
  }
}

TEST_CASE("PowerSGD sends the 134,511 floats that were logged, batched half of P and Q in a step") {
  // 125,902,296,000 bits in 29,250 iterations (vineeths96/Gradient-Compression): P, Q and, whole in
  // every step, the vectors of ResNet-50 for CIFAR-10.
  const auto tensors = architectures::bottleneck_resnet({3, 4, 6, 3}, 3, 10);
  const auto floats = [&](const char* name) {
    const Method method = test::method(name, {{"rank", 1}, {"min_compression_rate", 0}});
    return test::sent(method, tensors, 4_B, {4, 1}) / 4_B;
  };
  // How columns are made orthogonal changes no message.
  CHECK(floats("powersgd_gram_schmidt") == 134511);
  double vectors = 0;
  for (const ParameterTensor& tensor : tensors) {
    vectors += tensor.is_matrix ? 0.0 : static_cast<double>(tensor.elements());
  }
  CHECK_THAT(2 * (floats("powersgd_batched") - vectors) + vectors, WithinRel(134511.0, 1e-12));
}

TEST_CASE("Random-K with its own seeds sends a position with each value") {
  // bytedance/byteps, randomk.cc: pairs.
  CHECK(test::sent(test::method("randomk_indexed"), vector_of(1000000), 4_B, {8, 4}) ==
        10000 * 8_B);
}

TEST_CASE("a list of positions is shorter than a bitmap below a density of 1/32") {
  // 4 bytes a kept value against one bit an element.
  const auto positions = [](double ratio) {
    const Method method = test::method("topk_fused", {{"ratio", ratio}});
    return test::sent(method, vector_of(32 * 10000), 4_B, {2, 1}) / 2;  // values are the other half
  };
  const Bytes bitmap = 32 * 10000 / 8 * 1_B;
  CHECK(positions(0.99 / 32) < bitmap);
  CHECK(positions(1.01 / 32) > bitmap);
}
