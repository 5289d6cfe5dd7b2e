// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/trace_layers.hpp"

#include <string>
#include <vector>

#include "model/transformer.hpp"
#include "profiles/read_layer_times.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"
#include "tests/profiles/trace_writer.hpp"

using namespace payoff;
using Catch::Matchers::WithinAbs;
using test::TraceWriter;

namespace {

constexpr int compute = TraceWriter::compute;
constexpr int autograd = TraceWriter::autograd_thread;

std::vector<double> us(const std::vector<Seconds>& times) {
  std::vector<double> numbers;
  for (const Seconds time : times) {
    numbers.push_back(time / 1_us);
  }
  return numbers;
}

TracedLayers layers(const TraceWriter& writer) {
  return layers_of(writer.read(), usual_layer_rules());
}

void check_times(const std::vector<Seconds>& times, const std::vector<double>& expected) {
  REQUIRE(times.size() == expected.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    CHECK_THAT(us(times)[i], WithinAbs(expected[i], 1e-3));
  }
}

// Forward of a block: two kernels of 10 and a gap of 4; backward, by the number: 30.
TraceWriter one_block() {
  TraceWriter writer;
  writer.annotate("block 1", 0, 20);
  writer.operate(1, 19, TraceWriter::main_thread, 7, 0);
  writer.kernel(compute, 100, 10, 2);
  writer.kernel(compute, 114, 10, 12);
  writer.operate(50, 60, autograd, 7, 1);
  writer.kernel(compute, 200, 30, 55, autograd);
  return writer;
}

}  // namespace

TEST_CASE("forward is what the layer launched, backward what the nodes of its operators did") {
  const TracedLayers traced = layers(one_block());
  REQUIRE(traced.layers.size() == 1);
  CHECK(traced.layers[0].layer == "block 1");
  check_times(traced.layers[0].forward, {24.0});  // the gap is a launch
  check_times(traced.layers[0].backward, {30.0});
  CHECK_THAT(traced.attributed / traced.all, WithinAbs(1.0, 1e-9));
}

TEST_CASE(
    "waiting for a message is no part of a layer, a message that runs beside it does not count") {
  TraceWriter waits = one_block();
  // Ends in the gap of [110, 114): the layer waited up to 113.
  waits.all_reduce(90, 23, 3);
  check_times(layers(waits).layers[0].forward, {21.0});

  TraceWriter beside = one_block();
  beside.all_reduce(90, 500, 3);
  check_times(layers(beside).layers[0].forward, {24.0});

  // Tensor parallelism: a message of its own between two kernels.
  TraceWriter within;
  within.annotate("block 1", 0, 30);
  within.kernel(compute, 100, 10, 1);
  within.all_reduce(112, 50, 2);
  within.kernel(compute, 163, 10, 3);
  check_times(layers(within).layers[0].forward, {21.0});  // 10 + 10 + the launch after the message
}

TEST_CASE("what other layers do in a gap is theirs") {
  TraceWriter writer = one_block();
  writer.annotate("head", 20, 30);
  writer.kernel(9, 111, 3, 25);
  const TracedLayers traced = layers(writer);
  REQUIRE(traced.layers.size() == 2);
  check_times(traced.layers[0].forward, {21.0});
  check_times(traced.layers[1].forward, {3.0});
  CHECK(traced.layers[1].backward.empty());
}

TEST_CASE("recomputation under an annotation belongs to no pass, its backward to the layer") {
  TraceWriter writer;
  writer.annotate("block 1", 0, 20);
  writer.kernel(compute, 100, 10, 5);
  // The node of a checkpoint: forward again with numbers of autograd's own thread, and its nodes.
  writer.operate(40, 90, autograd, 3, 1);
  writer.annotate("block 1", 41, 60, autograd);
  writer.operate(42, 59, autograd, 2, 0);
  writer.kernel(compute, 200, 11, 45, autograd);
  writer.operate(61, 80, autograd, 2, 2);
  writer.kernel(compute, 220, 25, 65, autograd);
  const TracedLayers traced = layers(writer);
  REQUIRE(traced.layers.size() == 1);
  check_times(traced.layers[0].forward, {10.0});
  check_times(traced.layers[0].backward, {25.0});
}

TEST_CASE("with the annotation around the checkpoint its recomputation is part of backward") {
  TraceWriter writer;
  writer.annotate("block 1", 0, 20);
  writer.operate(1, 19, TraceWriter::main_thread, 3, 0);
  writer.kernel(compute, 100, 10, 5);
  writer.operate(40, 90, autograd, 3, 1);
  writer.operate(42, 59, autograd, 2, 0);
  writer.kernel(compute, 200, 10, 45, autograd);
  writer.operate(61, 80, autograd, 2, 2);
  writer.kernel(compute, 210, 25, 65, autograd);
  const TracedLayers traced = layers(writer);
  REQUIRE(traced.layers.size() == 1);
  check_times(traced.layers[0].backward, {35.0});
}

TEST_CASE("a number that comes again belongs to who had it last") {
  TraceWriter writer;
  for (const int step : {0, 1}) {
    const int at = 1000 * step;
    writer.annotate(step == 0 ? "block 1" : "block 2", at, at + 20);
    writer.operate(at + 1, at + 19, TraceWriter::main_thread, 7, 0);
    writer.kernel(compute, at + 100, 10, at + 2);
    writer.operate(at + 50, at + 60, autograd, 7, 1);
    writer.kernel(compute, at + 200, 30 + step, at + 55, autograd);
  }
  const TracedLayers traced = layers(writer);
  REQUIRE(traced.layers.size() == 2);
  check_times(traced.layers[0].backward, {30.0});
  check_times(traced.layers[1].backward, {31.0});
}

TEST_CASE("without calls of the runtime the operator with the external id launched") {
  TraceWriter writer;
  writer.annotate("block 1", 0, 20);
  writer.event("cpu_op", "aten::mm", 1, TraceWriter::main_thread, 2, 5, R"("External id": 9)");
  writer.event("kernel", "gemm", 0, 7, 100, 10,
               R"("External id": 9, "device": 0, "stream": 7, "correlation": 4)");
  check_times(layers(writer).layers.at(0).forward, {10.0});
}

TEST_CASE("rules say which annotations are layers, the first that fits counts") {
  const std::vector<LayerRule> rules{{"nn.Module: Block_*", "block *"}, {"lm*x", "head"}};
  CHECK(layer_of("nn.Module: Block_31", rules) == "block 31");
  CHECK(layer_of("lm head x", rules) == "head");
  CHECK_FALSE(layer_of("lmx", rules));  // `*` is at least one character
  CHECK_FALSE(layer_of("Block_31", rules));
  CHECK(layer_of("block 31", usual_layer_rules()) == "block 31");
}

TEST_CASE("the table of layers is read back by model.layer_times as it was measured") {
  TraceWriter writer = one_block();
  writer.annotate("ghost", 20, 30);
  writer.annotate("head", 21, 29);  // has no backward, and is left out
  writer.kernel(9, 300, 3, 25);
  const std::string csv = layer_times_csv(layers(writer), {4, 2, 1, 1});
  SourceMap sources;
  Diagnostics diagnostics;
  const Workload model = transformer_workload(test::gpt(4, 64, 4, 32, 1000), 1, false, 2_B);
  const std::size_t source = sources.add_file("t.csv", csv);
  const auto times = parse_layer_times({source, 0, csv.size()}, model, sources, diagnostics);
  INFO(csv);
  REQUIRE(times);
  REQUIRE(times->size() == 1);
  CHECK(times->front() == LayerTime{"block 1", 4, 2, 1, 1, 1, 24_us, 30_us});
}

TEST_CASE("passes of several ranks are one job's") {
  const TracedLayers one = layers(one_block());
  const TracedLayers both = join({one, one});
  REQUIRE(both.layers.size() == 1);
  CHECK(both.layers[0].forward.size() == 2);
  CHECK_THAT(both.all / one.all, WithinAbs(2.0, 1e-9));
}
