// SPDX-License-Identifier: Apache-2.0
#include "study/switch_cost.hpp"

#include "study/checkpoint.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

// Adam with 16-bit weights: 2 bytes, and 12 of 32-bit weight and two moments (Rajbhandari et al.
// 2020, ZeRO, section 3.1). 1000 dense parameters a rank of each stage.
CheckpointShape shape(int dp, int tp, int zero, int shard = 0) {
  CheckpointShape result;
  result.layout.dp = dp;
  result.layout.tp = tp;
  result.layout.zero = zero;
  result.layout.shard = shard;
  result.gpus_per_node = 2;
  result.stages = {{1000, 0, 10}};
  result.parameters = 1000.0 * tp;
  result.tensors = 10;
  result.state = {2_B, 12_B, true};
  return result;
}

SwitchOptions ten_seconds() {  // restart alone
  SwitchOptions options;
  options.storage = {1e15 * 1_B / 1_s, {}, {}};
  options.restart = 10_s;
  return options;
}

SwitchAnswer switched(const Experiment& a, const Experiment& b, const SwitchOptions& options) {
  return switch_cost(a, a.plans[0], b, b.plans[0], options);
}

}  // namespace

TEST_CASE("a checkpoint has the state of every tensor part once, however it is sharded") {
  for (const int zero : {0, 1, 2, 3}) {
    INFO("zero " << zero);
    CHECK(save_traffic(shape(4, 2, zero)).total == 2 * 14000_B);
  }
  // Two replicas of a copy in two parts: only one of them writes.
  CHECK(save_traffic(shape(4, 1, 3, 2)).total == 14000_B);
  // Nodes of two GPUs. Without zero the first has both parts; with zero 3 every rank an eighth,
  // with zero 1 the first node the weights (4000) and a quarter of the optimizer's (24000).
  CHECK(save_traffic(shape(4, 2, 0)).busiest_node == 28000_B);
  CHECK(save_traffic(shape(4, 2, 3)).busiest_node == 7000_B);
  CHECK(save_traffic(shape(4, 2, 1)).busiest_node == 10000_B);
}

TEST_CASE("every rank reads what it holds: replicas read the same bytes again") {
  // Four ranks with all, with the weights and half of the optimizer's, with half of both.
  CHECK(native_load_traffic(shape(2, 2, 0)).total == 4 * 14000_B);
  CHECK(native_load_traffic(shape(2, 2, 1)).total == 4 * (2000_B + 6000_B));
  CHECK(native_load_traffic(shape(2, 2, 3)).total == 4 * (1000_B + 6000_B));
  // Atoms: 12 bytes of every parameter of the shard, the short weights are gathered.
  CHECK(atoms_load_traffic(shape(2, 2, 0)).total == 4 * 12000_B);
  CHECK(atoms_load_traffic(shape(2, 2, 1)).total == 4 * 6000_B);
  CHECK(atoms_load_traffic(shape(2, 2, 3)).total == 4 * 6000_B);
  // Of 10 tensors three files each; half of them, and the one that the shard ends in.
  CHECK(atoms_load_traffic(shape(2, 2, 0)).files == 30);
  CHECK(atoms_load_traffic(shape(2, 2, 1)).files == 18);
}

TEST_CASE("experts are saved once, by the ranks that hold them") {
  CheckpointShape mixture = shape(4, 1, 0);
  mixture.layout.ep = 2;
  mixture.stages = {{100, 300, 10}};  // two ranks have 600 parameters of experts between them
  for (const int zero : {0, 1, 3}) {
    INFO("zero " << zero);
    mixture.layout.zero = zero;
    CHECK(save_traffic(mixture).total == 700 * 14_B);
  }
}

TEST_CASE("storage is as fast as its total or its busiest node, and files open one by one") {
  const CheckpointTraffic traffic{100_GB, 40_GB, 3};
  const Transfer by_node = transfer(traffic, {20_GBps, 5_GBps, 1_s});
  CHECK_THAT(by_node.time / 1_s, WithinRel(40.0 / 5 + 3, 1e-12));
  CHECK(by_node.limit == StorageLimit::node);
  const Transfer by_total = transfer(traffic, {4_GBps, 5_GBps, {}});
  CHECK_THAT(by_total.time / 1_s, WithinRel(25.0, 1e-12));
  CHECK(by_total.limit == StorageLimit::total);
  CHECK(transfer(traffic, {20_GBps, {}, 10_s}).limit == StorageLimit::files);
}

TEST_CASE("a conversion reads the 32-bit state and writes every parameter once") {
  // Two nodes of two processes; 8 ranks saved two files each.
  const Conversion both = conversion(shape(4, 2, 1), {1_GBps, {}, {}}, 2);
  CHECK_THAT(both.read.traffic.total / 1_B, WithinRel(2 * 12000.0, 1e-12));
  CHECK_THAT(both.read.traffic.busiest_node / 1_B, WithinRel(12000.0, 1e-12));
  CHECK(both.read.traffic.files == 4);
  CHECK_THAT(both.write.traffic.total / 1_B, WithinRel(2000 * 12.0, 1e-12));
  CHECK(both.write.traffic.files == 3 * 3);  // ten tensors on four processes
  // Without a shorter copy the weights are all there is: 4 bytes and two moments.
  CheckpointShape full = shape(4, 2, 1);
  full.state = {4_B, 8_B, false};
  CHECK_THAT(conversion(full, {1_GBps, {}, {}}, 1).read.traffic.total / 1_B,
             WithinRel(2 * 12000.0, 1e-12));
}

TEST_CASE("replicas without zero may come and go as the checkpoint is, shards may not") {
  CHECK(same_shards(shape(2, 2, 0), shape(8, 2, 0)));
  CHECK_FALSE(same_shards(shape(2, 2, 1), shape(8, 2, 1)));
  CHECK_FALSE(same_shards(shape(2, 2, 0), shape(4, 1, 0)));
  CHECK(same_shards(shape(4, 1, 3, 2), shape(8, 1, 3, 2)));
}

TEST_CASE("a switch is won back when the new job has caught up with the old one") {
  const Experiment fast = test::small_job();
  Experiment slow = fast;
  slow.training.overlap = false;
  const SwitchAnswer answer = switched(slow, fast, ten_seconds());
  CHECK_FALSE(answer.conversion);
  REQUIRE(answer.steps);
  // The new one stands still for the cost; the old one would have run on.
  const Seconds since = answer.cost + *answer.steps * answer.b.step;
  CHECK_THAT(since / 1_s, WithinRel(*answer.steps * answer.a.step / 1_s, 1e-9));
  CHECK_THAT(*answer.after / 1_s, WithinRel(since / 1_s, 1e-9));
  CHECK(*answer.steps_low <= *answer.steps);
  CHECK(*answer.steps <= *answer.steps_high);
  CHECK(answer.probability == 1.0);
  const SwitchAnswer back = switched(fast, slow, ten_seconds());
  CHECK_FALSE(back.steps);
  CHECK_FALSE(back.after_low);
  CHECK(back.probability == 0.0);
  CHECK_THAT(back.gain / 1_s, WithinRel(-answer.gain / 1_s, 1e-9));
}

TEST_CASE("steps of other batches are compared by what they get done") {
  const Experiment one = test::small_job();
  Experiment two = one;
  two.layout.micro_batches = 2 * one.layout.micro_batches;  // reduces once for twice the samples
  const SwitchAnswer answer = switched(one, two, ten_seconds());
  CHECK_THAT(answer.gain / 1_s, WithinRel((2 * answer.a.step - answer.b.step) / 1_s, 1e-9));
  CHECK(answer.gain > 0_s);
}

TEST_CASE("a checkpoint goes on with its own model and optimizer only") {
  const Experiment job = test::small_job();
  CHECK(check_switch(job, job).empty());
  Experiment other = job;
  Workload another = *table_of(other.model);
  another.name = "another";
  other.model = another;
  other.training.optimizer_bytes_per_parameter += 4_B;
  const Problems problems = check_switch(job, other);
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].path == "model");
  CHECK(problems[1].path == "training.optimizer");
}
