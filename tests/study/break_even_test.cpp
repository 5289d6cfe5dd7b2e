// SPDX-License-Identifier: Apache-2.0
#include "study/break_even.hpp"

#include <optional>

#include "model/groups.hpp"
#include "study/job_axis.hpp"
#include "study/scaled_job.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

bool pays(const Experiment& experiment, std::size_t plan = 1) {
  const PreparedExperiment prepared(experiment);
  return prepared.predict(experiment.plans[plan]).step < prepared.predict(experiment.plans[0]).step;
}

// Where the sign of the gain changes: these tests know no noise.
constexpr BreakEvenOptions exact{.band = 0.0};

BreakEven only_plan(const Experiment& experiment, const BreakEvenOptions& options = exact) {
  const std::vector<BreakEven> all = break_evens(experiment, options);
  REQUIRE(all.size() == 1);
  return all.front();
}

// One bucket, nothing overlapped: backward, encode, message, decode.
Experiment one_bucket_job(const CompressionPlan& plan) {
  Experiment job = test::with_plans(test::small_job({.layers = 1}), {plan});
  job.training.overlap = false;
  job.training.bucket = 1_GB;
  job.training.first_bucket = 1_GB;
  return job;
}

}  // namespace

TEST_CASE("the bandwidths of the answer pay and those outside do not") {
  const Experiment job =
      test::with_plans(test::small_job(), {test::shrink(4, 30), test::sparse(0.01, 30)});
  const std::vector<BreakEven> all = break_evens(job, exact);
  REQUIRE(all.size() == 2);
  for (std::size_t plan = 0; plan < 2; ++plan) {
    REQUIRE(all[plan].bandwidth);
    const IntervalSet<Bandwidth>& set = *all[plan].bandwidth;
    CHECK_FALSE(set.never());
    CHECK_FALSE(set.always());
    CHECK(set.intervals.front().open_low);
    Experiment other = job;
    for (other.cluster.nic = 0.11_Gbps; other.cluster.nic < 1500_Gbps; other.cluster.nic *= 1.07) {
      INFO("plan " << plan << " at " << other.cluster.nic / 1_Gbps << " Gb/s");
      CHECK(set.contains(other.cluster.nic) == pays(other, plan + 1));
    }
  }
}

TEST_CASE("at the end of an interval the plan and its rival take the same time") {
  Experiment job = test::with_plans(test::small_job(), {test::shrink(4, 30)});
  const BreakEven result = only_plan(job, {.band = 0.0, .resolution = 1e-8});
  job.cluster.nic = result.bandwidth->intervals.back().high;
  const PreparedExperiment prepared(job);
  CHECK_THAT(prepared.predict(job.plans[1]).step / prepared.predict(job.plans[0]).step,
             WithinRel(1.0, 1e-6));
}

TEST_CASE("the codec may take as long as the network saves") {
  const CompressionPlan plan = test::shrink(4, 10);
  const Experiment job = one_bucket_job(plan);
  const CollectiveModel network(job.cluster, data_group(job.layout, 4));
  const Bytes dense = (2048.0 * 2048 + 2048) * 4_B;
  const Seconds saved = network.price(Collective::all_reduce, dense).time -
                        network.price(Collective::all_reduce, dense / 4).time;
  const BreakEven result = only_plan(job);
  REQUIRE(result.codec_time->intervals.size() == 1);
  CHECK(result.codec_time->intervals[0].open_low);
  CHECK_THAT(result.codec_time->intervals[0].high / saved, WithinRel(1.0, 2e-4));
  // Ten passes each way, read and written: 10 x 2 x 4 B an element at 0.8 TB/s, and two launches;
  // what fits the cache goes at 1 TB/s.
  const Waterfall w = PreparedExperiment(job).predict(job.plans[1]).waterfall;
  CHECK_THAT(result.codec_time_now / (w.encode + w.decode), WithinRel(1.0, 1e-12));
  CHECK(result.codec_time->contains(result.codec_time_now) == pays(job));
}

TEST_CASE("a codec that takes no time has a budget too") {
  const Experiment job = one_bucket_job(test::shrink(4, 0));
  const BreakEven free = only_plan(job);
  const BreakEven costly = only_plan(one_bucket_job(test::shrink(4, 10)));
  CHECK(free.codec_time_now == 0_s);
  CHECK_THAT(free.codec_time->intervals[0].high / costly.codec_time->intervals[0].high,
             WithinRel(1.0, 3e-4));
}

TEST_CASE("with a free codec every ratio above one pays") {
  const BreakEven result = only_plan(one_bucket_job(test::shrink(8, 0)));
  CHECK_THAT(result.wire_ratio_now, WithinRel(8.0, 1e-12));
  REQUIRE_FALSE(result.wire_ratio->never());
  CHECK_THAT(result.wire_ratio->intervals.front().low, WithinRel(1.0, 1e-3));
  CHECK(result.wire_ratio->intervals.back().open_high);
}

TEST_CASE("a gathered share counts what one worker contributes") {
  // 1 % of the elements as value and index: 4 bytes dense over 0.01 x 8.
  const BreakEven result = only_plan(one_bucket_job(test::sparse(0.01, 0)));
  CHECK_THAT(result.wire_ratio_now, WithinRel(50.0, 1e-3));
}

TEST_CASE("a codec longer than the whole reduction pays at no ratio and no bandwidth above") {
  const Experiment job =
      test::with_plans(test::small_job({.nic = 400_Gbps}), {test::shrink(4, 2000)});
  const BreakEven result = only_plan(job);
  CHECK(result.wire_ratio->never());
  CHECK_FALSE(result.bandwidth->contains(400_Gbps));
}

TEST_CASE("GPU counts of the answer pay and those outside do not, node by node") {
  const Experiment job = test::with_plans(test::small_job(), {test::sparse(0.02, 10)});
  const BreakEven result = only_plan(job, {.band = 0.0, .most_gpus = 4 * 256});
  REQUIRE(result.gpus);
  CHECK(result.gpus->scanned_low == 4);
  CHECK(result.gpus->scanned_high == 1024);
  int paying = 0;
  for (int nodes = 1; nodes <= 256; ++nodes) {
    const std::optional<Experiment> scaled = with_dp(job, 4 * nodes);
    REQUIRE(scaled);
    INFO(nodes << " nodes");
    CHECK(result.gpus->contains(4 * nodes) == pays(*scaled));
    paying += pays(*scaled) ? 1 : 0;
  }
  CHECK(paying > 0);
  CHECK(paying < 256);  // gathers grow with the workers: from some count on it does not pay
}

TEST_CASE("where a plan or the job ends is no break-even, and ends no other plan") {
  const Experiment job =
      test::with_plans(test::small_job(), {test::shrink(4, 3), test::shrink_among(84, 4, 3)});
  const std::vector<BreakEven> both = break_evens(job, {.band = 0.0, .most_gpus = 4 * 256});
  REQUIRE(both.size() == 2);
  REQUIRE(both[0].gpus);
  const BreakEven alone = only_plan(test::with_plans(test::small_job(), {test::shrink(4, 3)}),
                                    {.band = 0.0, .most_gpus = 4 * 256});
  CHECK(both[0].gpus->intervals == alone.gpus->intervals);
  CHECK(both[0].gpus->scanned_high == 1024);
  CHECK_FALSE(both[0].most_gpus);
  REQUIRE(both[1].gpus);
  CHECK(both[1].most_gpus == 84);
  CHECK(both[1].gpus->scanned_high == 84);
  REQUIRE_FALSE(both[1].gpus->never());
  CHECK(both[1].gpus->intervals.back().open_high);
}

TEST_CASE("the last number that is possible is found between those that are looked at") {
  const std::vector<int> counts{1, 2, 4, 8, 16, 256};
  const auto up_to = [&](int most, int of) {
    return last_possible([=](int x) { return x <= most && x % of == 0; }, counts);
  };
  CHECK(up_to(207, 1).count == 207);
  CHECK(up_to(207, 1).ends);
  CHECK(up_to(207, 16).count == 192);
  CHECK(up_to(207, 16).ends);
  CHECK(up_to(1000, 1).count == 256);
  CHECK_FALSE(up_to(1000, 1).ends);
  CHECK(up_to(1000, 48).count == 240);
  CHECK_FALSE(up_to(1000, 48).ends);  // 288 is possible
  CHECK(up_to(0, 1).count == 0);
}

TEST_CASE("on one node there is no bandwidth axis, and one GPU has no question") {
  Experiment job = test::with_plans(test::small_job({.nodes = 1}), {test::shrink(4, 1)});
  CHECK_FALSE(only_plan(job).bandwidth);
  job.plans.resize(1);
  job.cluster.gpus_per_node = 1;
  job.layout.dp = 1;
  CHECK(break_evens(job).empty());
}

TEST_CASE("a stronger rival leaves less: against 16-bit reduction the intervals shrink") {
  const Experiment job = test::with_plans(test::small_job(), {test::shrink(4, 30)});
  const BreakEven weak = only_plan(job);
  const BreakEven strong = only_plan(job, {.rivals = RemedyLimits{0, true, false}, .band = 0.0});
  CHECK(strong.bandwidth->intervals.back().high < weak.bandwidth->intervals.back().high);
  CHECK(strong.codec_time->intervals.back().high < weak.codec_time->intervals.back().high);
  CHECK(strong.wire_ratio->intervals.front().low > weak.wire_ratio->intervals.front().low);
}

TEST_CASE("a gain within the band is none, and a plan that changes nothing makes no difference") {
  const Experiment job = test::with_plans(test::small_job(), {test::shrink(4, 30)});
  const BreakEven any = only_plan(job);
  const BreakEven beyond = only_plan(job, {.band = 0.1});
  const Bandwidth edge = beyond.bandwidth->intervals.back().high;
  CHECK(edge < any.bandwidth->intervals.back().high);
  Experiment there = job;
  there.cluster.nic = edge;
  const PreparedExperiment prepared(there);
  CHECK_THAT(prepared.predict(job.plans[0]).step / prepared.predict(job.plans[1]).step,
             WithinRel(1.1, 1e-3));
  const BreakEven same =
      only_plan(test::with_plans(test::small_job(), {test::shrink(1, 0)}), {.band = 0.01});
  CHECK(same.bandwidth->never());
  CHECK(same.bandwidth->no_difference);
  CHECK(same.gpus->no_difference);
  CHECK_FALSE(same.codec_time->no_difference);  // a codec that takes long does make one
  CHECK_FALSE(any.bandwidth->no_difference);
}

TEST_CASE("a job that does not fit the memory pays nowhere") {
  Experiment job = test::with_plans(test::small_job({.nic = 1_Gbps}), {test::shrink(16, 2)});
  CHECK_FALSE(only_plan(job).bandwidth->never());
  job.cluster.gpu.memory = 1_MB;
  const BreakEven result = only_plan(job);
  CHECK(result.bandwidth->never());
  CHECK(result.codec_time->never());
  CHECK(result.wire_ratio->never());
  CHECK(result.gpus->never());
}

TEST_CASE("where it pays does not depend on where one asks: the rival is the best one everywhere") {
  // Latency makes the best bucket grow with the number of nodes.
  const auto asked_at = [](int nodes) {
    Experiment job =
        test::with_plans(test::small_job({.nodes = nodes, .layers = 24}), {test::sparse(0.02, 10)});
    job.cluster.network.law.launch = 300_us;
    BreakEvenOptions options{.rivals = RemedyLimits{}, .most_gpus = 4 * 128};
    options.points_per_decade = 4;
    return only_plan(job, options).gpus->intervals;
  };
  const auto answer = asked_at(2);
  CHECK_FALSE(answer.empty());
  CHECK(answer == asked_at(16));
  CHECK(answer == asked_at(64));
}

TEST_CASE("against the best remedy nothing pays that a remedy beats there") {
  const Experiment job = test::with_plans(test::small_job(), {test::shrink(4, 30)});
  const RemedyLimits limits;
  const BreakEven result = only_plan(job, {.rivals = limits, .band = 0.0});
  Experiment other = job;
  for (other.cluster.nic = 0.3_Gbps; other.cluster.nic < 300_Gbps; other.cluster.nic *= 2.3) {
    const PreparedExperiment prepared(other);
    const bool pays =
        prepared.predict(other.plans[1]).step < best_remedy(prepared, limits).step_per_batch();
    CHECK(result.bandwidth->contains(other.cluster.nic) == pays);
  }
}

TEST_CASE("the scan of bandwidths ends where something else than its NICs limits a node") {
  Experiment job = test::with_plans(test::small_job(), {test::shrink(4, 30)});
  job.cluster.network.node_limit = 2_GBps;  // sockets: 16 Gb/s, of which protocols use a share
  const BreakEven result = only_plan(job);
  REQUIRE(result.useful_bandwidth);
  CHECK(result.bandwidth->scanned_high == *result.useful_bandwidth);
  CHECK(*result.useful_bandwidth > 15.9_Gbps);
  const auto price_at = [&](Bandwidth nic) {
    job.cluster.nic = nic;
    const CollectiveModel network(job.cluster, data_group(job.layout, 4));
    return network.price(Collective::all_reduce, 1_GiB).time;
  };
  // Sockets and NICs in series are never quite as fast as the slower ones: 0.1 % is not noticed.
  CHECK_THAT(price_at(*result.useful_bandwidth) / price_at(1600_Gbps), WithinRel(1.0, 1.01e-3));
  CHECK(price_at(10_Gbps) > price_at(1600_Gbps));
  CHECK(limit_beyond(job, *result.useful_bandwidth) == NodeLimit::sockets);
}

TEST_CASE("without a limit of its sockets a node ends at the PCIe slots of its GPUs") {
  Experiment job = test::small_job();
  const std::optional<Bandwidth> useful = useful_bandwidth(job, 10'000_Gbps);
  REQUIRE(useful);
  CHECK(limit_beyond(job, *useful) == NodeLimit::pcie_slots);
}

TEST_CASE("the axis of bandwidths goes on while the library still chooses by the line rate") {
  // Behind sockets that carry 10 Gb/s, faster NICs move no byte faster, but change what NCCL thinks
  // of its algorithms (field: its tuning knows the line rate only).
  Experiment job = test::with_plans(test::small_job(), {test::shrink(4, 30)});
  job.cluster.network.node_limit = 1.25_GBps;
  const std::optional<Bandwidth> useful = useful_bandwidth(job, 10'000_Gbps);
  REQUIRE(useful);
  const Group group = data_group(job.layout, job.cluster.gpus_per_node);
  auto time_at = [&](Bandwidth nic, Bytes size) {
    job.cluster.nic = nic;
    return CollectiveModel(job.cluster, group).price(Collective::all_reduce, size).time;
  };
  for (Bytes size = 64_KiB; size <= 1_GiB; size *= 2) {
    for (Bandwidth nic = *useful; nic < 5'000_Gbps; nic *= 1.13) {
      CHECK_THAT(time_at(nic, size) / time_at(10'000_Gbps, size), WithinRel(1.0, 1.01e-3));
    }
  }
}

TEST_CASE("where the table says that a cast pays, a job with that bandwidth says so too") {
  Experiment job = test::with_plans(test::small_job(), {test::shrink(2, 30)});
  job.cluster.network.node_limit = 1.25_GBps;
  const BreakEven result = only_plan(job, {.band = 0.0});
  REQUIRE(result.bandwidth);
  for (Bandwidth nic = 1_Gbps; nic < 3'000_Gbps; nic *= 1.37) {
    Experiment other = job;
    other.cluster.nic = nic;
    const PreparedExperiment prepared(other);
    const bool pays = prepared.predict(other.plans[1]).step < prepared.predict(other.plans[0]).step;
    const bool beyond = result.useful_bandwidth && nic > *result.useful_bandwidth;
    const Bandwidth asked = beyond ? *result.useful_bandwidth : nic;
    CHECK(result.bandwidth->contains(asked) == pays);
  }
}
