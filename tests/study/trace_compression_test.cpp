// SPDX-License-Identifier: Apache-2.0
#include "study/trace_compression.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "model/gradient_plan.hpp"
#include "model/groups.hpp"
#include "tests/catch.hpp"
#include "tests/chakra_writer.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using namespace payoff::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

constexpr std::uint64_t size = 64 << 20;

TraceJob on_nodes(int nodes, ParallelLayout layout = {}) {
  TraceJob job;
  job.cluster = small_job({.nodes = nodes}).cluster;
  job.layout = layout;
  job.layout.dp = nodes * job.cluster.gpus_per_node / layout.tp;
  return job;
}

// 1 ms, then a sum beside 5 ms more, 2 ms behind it.
ChakraTrace overlapped() {
  return read_chakra_text(metadata() + written({1, COMP, 1000}) +
                          written({2, COLL, 77, {1}, collective(0, size, "")}) +
                          written({3, COMP, 5000, {1}}) + written({4, COMP, 2000, {2, 3}}));
}

struct Passes {
  Seconds encode;
  Seconds message;
  Seconds decode;
};

// What the method does to one buffer alone.
Passes passes_of(const Method& method, const TraceJob& job) {
  const ParameterTensor vector{static_cast<std::int64_t>(size / 4), 1, false, false};
  const Group group = data_group(job.layout, job.cluster.gpus_per_node);
  const CallCost cost = compress(method, {&vector, 1}, 4_B, group.ranks, group.ranks_per_node);
  REQUIRE(cost.rounds.size() == 1);
  const auto time = [&](const PassCost& pass) {
    return price_pass(pass, method.law, job.cluster.gpu, Precision::fp32);
  };
  return {time(cost.rounds[0].encode),
          CollectiveModel(job.cluster, group)
              .price(cost.rounds[0].collective, collective_size(cost.rounds[0], group.ranks))
              .time,
          time(cost.decode)};
}

std::string problems(const TraceJob& job, const Method& method) {
  const ChakraTrace trace = overlapped();
  std::string text;
  for (const Problem& problem : check_trace_codec(messages_of(trace), job, {method})) {
    text += problem.message + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("a compressed sum is encoded where the trace computes, and decoded before it is used") {
  const ChakraTrace trace = overlapped();
  const std::vector<TraceMessages> messages = messages_of(trace);
  for (const CompressionPlan& plan : {shrink(4, 1), sparse(0.01, 3)}) {
    const TraceJob job = on_nodes(4);
    const TraceCodec codec{*plan.method};
    REQUIRE(check_trace_codec(messages, job, codec).empty());
    const Passes passes = passes_of(*plan.method, job);
    REQUIRE(passes.encode > 0_s);
    const RepricedTrace result = reprice(trace, messages, job, codec);
    // The encoder and the 5 ms are ready at once: the sum came before these in the file.
    const Seconds encoded = 1_ms + passes.encode;
    const Seconds used = std::max(encoded + passes.message, encoded + 5_ms) + passes.decode;
    CHECK_THAT(result.replay.times.wall / 1_us, WithinRel((used + 2_ms) / 1_us, 1e-9));
    CHECK_THAT(result.replay.times.compute / 1_us,
               WithinRel(8000 + (passes.encode + passes.decode) / 1_us, 1e-9));
  }
}

TEST_CASE("with start times the encoder takes the sum's place among what is computed") {
  const ChakraTrace trace = read_chakra_text(
      metadata() + written({1, COMP, 1000, {}, begins(10)}) +
      written({2, COLL, 77, {1}, collective(0, size, "") + begins(1010)}) +
      written({3, COMP, 5000, {1}, begins(1011)}) + written({4, COMP, 2000, {2, 3}, begins(6100)}));
  const std::vector<TraceMessages> messages = messages_of(trace);
  const TraceJob job = on_nodes(4);
  const CompressionPlan plan = shrink(4, 1);
  const Passes passes = passes_of(*plan.method, job);
  const RepricedTrace result = reprice(trace, messages, job, {*plan.method});
  const Seconds encoded = 1_ms + passes.encode;
  const Seconds used = std::max(encoded + passes.message, encoded + 5_ms) + passes.decode;
  CHECK_THAT(result.replay.times.wall / 1_us, WithinRel((used + 2_ms) / 1_us, 1e-9));
}

TEST_CASE("free codecs that send as much change nothing") {
  const ChakraTrace trace = overlapped();
  const std::vector<TraceMessages> messages = messages_of(trace);
  const CompressionPlan plan = shrink(1, 0);
  for (const int nodes : {1, 4, 16}) {
    const TraceJob job = on_nodes(nodes);
    CHECK_THAT(reprice(trace, messages, job, {*plan.method}).replay.times.wall / 1_us,
               WithinRel(reprice(trace, messages, job).replay.times.wall / 1_us, 1e-12));
  }
}

TEST_CASE("sums of other groups stay as they are") {
  const ChakraTrace trace =
      read_chakra_text(metadata() + written({1, COLL, 77, {}, collective(0, size, "7")}) +
                       written({2, COLL, 77, {1}, collective(0, size, "8")}));
  TraceJob job = on_nodes(4, {.tp = 4});
  job.roles = {{"7", TraceRole::tp, 0}, {"8", TraceRole::dp, 0}};
  const std::vector<TraceMessages> messages = messages_of(trace);
  const CompressionPlan plan = shrink(4, 0);
  const RepricedTrace before = reprice(trace, messages, job);
  const RepricedTrace after = reprice(trace, messages, job, {*plan.method});
  CHECK(after.durations[0] == before.durations[0]);
  CHECK(after.durations[1] < before.durations[1]);
}

TEST_CASE("what a trace cannot be compressed by is refused with the reason") {
  CHECK(problems(on_nodes(4), *shrink(4, 1).method).empty());
  Method matrices = *shrink(4, 1).method;
  matrices.granularity = Granularity::tensor;
  matrices.matrices_only = true;
  CHECK_THAT(problems(on_nodes(4), matrices), ContainsSubstring("vectors without shapes"));
  Method scatters = *shrink(4, 1).method;
  scatters.scatters = true;
  CHECK_THAT(problems(on_nodes(4), scatters), ContainsSubstring("its own part"));
  Method host = *shrink(4, 1).method;
  host.decode.on_host = true;
  CHECK_THAT(problems(on_nodes(4), host), ContainsSubstring("runs on the host"));
  TraceJob tensor_parallel = on_nodes(2, {.tp = 4});
  tensor_parallel.roles = {{"*", TraceRole::tp, 0}};
  CHECK_THAT(problems(tensor_parallel, *shrink(4, 1).method),
             ContainsSubstring("the trace has none"));
}
