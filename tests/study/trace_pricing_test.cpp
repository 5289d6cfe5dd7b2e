// SPDX-License-Identifier: Apache-2.0
#include "study/trace_pricing.hpp"

#include <string>
#include <vector>

#include "model/groups.hpp"
#include "tests/catch.hpp"
#include "tests/chakra_writer.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using namespace payoff::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

TraceJob on_nodes(int nodes, ParallelLayout layout = {}) {
  TraceJob job;
  job.cluster = small_job({.nodes = nodes}).cluster;
  job.layout = layout;
  job.layout.dp = nodes * job.cluster.gpus_per_node / (layout.tp * layout.cp * layout.pp);
  return job;
}

Seconds alone(const TraceJob& job, const Group& group, Collective collective, Bytes size) {
  return CollectiveModel(job.cluster, group).price(collective, size).time;
}

RepricedTrace priced(const ChakraTrace& trace, const TraceJob& job) {
  const std::vector<TraceMessages> messages = messages_of(trace);
  REQUIRE(check_trace_job(trace, messages, job).empty());
  return reprice(trace, messages, job);
}

std::string problems(const ChakraTrace& trace, const TraceJob& job) {
  std::string text;
  for (const Problem& problem : check_trace_job(trace, messages_of(trace), job)) {
    text += problem.message + " (" + problem.help + ")\n";
  }
  return text;
}

// 1 ms, a message, 2 ms behind it.
ChakraTrace step_with(std::uint64_t kind, std::uint64_t size, const std::string& group = "") {
  return read_chakra_text(metadata() + written({1, COMP, 1000}) +
                          written({2, COLL, 77, {1}, collective(kind, size, group)}) +
                          written({3, COMP, 2000, {2}}));
}

}  // namespace

TEST_CASE("of a traced step only the message takes another time on other numbers of ranks") {
  const ChakraTrace trace = step_with(0, 64 << 20);
  for (const int nodes : {1, 2, 8, 64}) {
    const TraceJob job = on_nodes(nodes);
    const RepricedTrace result = priced(trace, job);
    const Seconds message = alone(job, data_group(job.layout, job.cluster.gpus_per_node),
                                  Collective::all_reduce, 64_MiB);
    CHECK_THAT(result.replay.times.wall / 1_us, WithinRel(3000 + message / 1_us, 1e-12));
    CHECK_THAT(result.replay.times.exposed / 1_us, WithinRel(message / 1_us, 1e-9));
    CHECK(result.sd > 0_s);
  }
}

TEST_CASE("a message among one rank costs nothing") {
  TraceJob job = on_nodes(1);
  job.cluster.gpus_per_node = 1;
  job.layout.dp = 1;
  CHECK_THAT(priced(step_with(0, 1 << 20), job).replay.times.wall / 1_us, WithinRel(3000.0, 1e-12));
}

TEST_CASE("a group is priced by its role in the layout") {
  const ChakraTrace trace = step_with(0, 8 << 20, "7");
  TraceJob job = on_nodes(4, {.tp = 2});
  for (const TraceRole role : {TraceRole::tp, TraceRole::dp, TraceRole::all}) {
    job.roles = {{"7", role, 0}};
    const Group expected = role == TraceRole::tp   ? tensor_group(job.layout, 4)
                           : role == TraceRole::dp ? data_group(job.layout, 4)
                                                   : Group{16, 4, 1};
    const RepricedTrace result = priced(trace, job);
    REQUIRE(result.messages.size() == 1);
    CHECK(result.messages[0].ranks == expected);
    CHECK(result.messages[0].price.time == alone(job, expected, Collective::all_reduce, 8_MiB));
  }
}

TEST_CASE("what all ranks gather stays as large, and the part of each becomes smaller") {
  const ChakraTrace trace = step_with(2, 1 << 20, "7");  // of 8 ranks: 8 MiB
  TraceJob job = on_nodes(4);
  CHECK_THAT(problems(trace, job), ContainsSubstring("does not say among how many ranks"));
  job.roles = {{"*", TraceRole::dp, 8}};
  CHECK(priced(trace, job).messages[0].size == 8_MiB);
  CHECK(priced(trace, job).messages[0].price.time ==
        alone(job, data_group(job.layout, 4), Collective::all_gather, 8_MiB));
  CHECK(priced(step_with(7, 1 << 20, "7"), job).messages[0].size == 1_MiB);
}

TEST_CASE("sends go to the next stage, and two directions run beside each other") {
  const std::string sent = number("comm_size", 9, 1 << 20);
  const ChakraTrace trace = read_chakra_text(metadata() + written({1, SEND, 3, {}, sent}) +
                                             written({2, RECV, 3, {}, sent}));
  CHECK_THAT(problems(trace, on_nodes(4)), ContainsSubstring("needs a stage to send to"));
  const TraceJob job = on_nodes(4, {.pp = 4});
  const Seconds one = alone(job, boundary_group(job.layout, 4, 0), Collective::send_recv, 1_MiB);
  CHECK(priced(trace, job).replay.times.wall == one);
}

TEST_CASE("what a job cannot express or a trace does not tell is refused, never free") {
  CHECK_THAT(problems(step_with(3, 64), on_nodes(2)), ContainsSubstring("GATHER without a group"));
  CHECK_THAT(problems(step_with(0, 64, "7"), on_nodes(2, {.tp = 2})),
             ContainsSubstring("ALL_REDUCE of group 7 has no role in this layout (--group '7=dp"));
  TraceJob job = on_nodes(2, {.tp = 2});
  job.roles = {{"7", TraceRole::tp, 4}};
  CHECK_THAT(problems(step_with(0, 64, "7"), job),
             ContainsSubstring("traced among 4 ranks, and tp is 2"));
  CHECK_THAT(problems(step_with(0, 64), on_nodes(2, {.tp = 3})), !Catch::Matchers::Equals(""));
}

TEST_CASE("a barrier is a sum of one element") {
  const ChakraTrace trace =
      read_chakra_text(metadata() + written({1, COLL, 0, {}, number("comm_type", 9, 9)}));
  const TraceJob job = on_nodes(2);
  CHECK(priced(trace, job).replay.times.wall ==
        alone(job, data_group(job.layout, 4), Collective::all_reduce, 4_B));
}

TEST_CASE("with all links of a cluster faster no traced step takes longer") {
  const ChakraTrace trace = step_with(0, 32 << 20);
  const Experiment slow = small_job({.nodes = 4});
  TraceJob job = on_nodes(4);
  const Seconds before = priced(trace, job).replay.times.wall;
  job.cluster = all_faster(slow, 2.0).cluster;
  const Seconds after = priced(trace, job).replay.times.wall;
  CHECK(after < before);
  CHECK(after > 3000_us);
}
