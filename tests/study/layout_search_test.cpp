// SPDX-License-Identifier: Apache-2.0
#include "study/layout_search.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "profiles/read_method.hpp"
#include "study/candidate_job.hpp"
#include "study/plan_layouts.hpp"
#include "study/step_bound.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;

namespace {

// 8 GPUs, 4 blocks; the states of a whole replica do not fit one of them.
Experiment transformer_job(Bandwidth nic = 100_Gbps) {
  Experiment job = test::small_job({.nodes = 2, .nic = nic});
  job.model = test::gpt(4, 1024, 16, 256, 8192);
  job.cluster.gpu.memory = 1000_MB;
  job.training.optimizer_bytes_per_parameter = 12_B;
  job.layout = {.dp = 2, .tp = 4, .micro_batch = 1, .micro_batches = 8};
  return test::with_plans(std::move(job), {test::shrink(10, 1), test::sparse(0.01, 2)});
}

Experiment mixture_job() {
  Experiment job = transformer_job();
  auto shape = test::llama(4, 512, 8, 8, 1024, 4096);
  shape.sequence = 256;
  shape.experts = {.count = 4, .per_token = 2, .width = 1024};
  job.model = shape;
  job.layout = {.dp = 8, .ep = 4, .micro_batch = 2, .micro_batches = 1};
  return job;
}

// Every candidate by the model's own checks and engine, one after the other.
struct BruteForce {
  SearchCounts counts;
  std::vector<Candidate> uncompressed;
  std::vector<Candidate> compressed;
};

BruteForce brute_force(const Experiment& experiment, const std::vector<LayoutAxis>& keep) {
  const LayoutSpace space = layout_space(experiment, keep);
  BruteForce all;
  for (const ModelParts& parts : model_parts(space)) {
    for_each_choice(space, parts, [&](const LayoutChoice& choice) {
      const std::uint64_t order = all.counts.layouts++;
      for (std::size_t plan = 0; plan < experiment.plans.size(); ++plan) {
        ++all.counts.considered;
        Experiment job = in_layout(experiment, layout_of(choice, space.given));
        if (plan > 0) {
          job.plans.push_back(experiment.plans[plan]);
        }
        if (!check(job).empty()) {
          ++all.counts.invalid;
          continue;
        }
        const StepPrediction prediction = PreparedExperiment(job).predict(job.plans.back());
        if (!prediction.memory.fits()) {
          ++all.counts.no_memory;
          continue;
        }
        ++all.counts.priced;
        (plan == 0 ? all.uncompressed : all.compressed)
            .push_back({choice, plan, prediction.step, prediction.memory.total(), order});
      }
    });
  }
  std::sort(all.uncompressed.begin(), all.uncompressed.end(), goes_before);
  std::sort(all.compressed.begin(), all.compressed.end(), goes_before);
  return all;
}

void check_against_brute_force(const Experiment& job, const std::vector<LayoutAxis>& keep) {
  const BruteForce all = brute_force(job, keep);
  SearchOptions options;
  options.keep = keep;
  options.finalists = 3;
  const SearchResult found = search_layouts(job, options);
  REQUIRE(found.is_complete);
  const auto first = [](const std::vector<Candidate>& candidates) {
    std::vector<Candidate> best;
    std::set<std::uint64_t> layouts;
    for (const Candidate& candidate : candidates) {
      if (best.size() < 3 && layouts.insert(candidate.order).second) {
        best.push_back(candidate);
      }
    }
    return best;
  };
  CHECK(found.uncompressed == first(all.uncompressed));
  CHECK(found.compressed == first(all.compressed));
  CHECK(found.counts.considered == all.counts.considered);
  // What is refused or does not fit of those ruled out by a bound nobody asked.
  CHECK(found.counts.invalid <= all.counts.invalid);
  CHECK(found.counts.no_memory <= all.counts.no_memory);
  CHECK(found.counts.priced <= all.counts.priced);
  CHECK(found.counts.considered ==
        found.counts.invalid + found.counts.no_memory + found.counts.pruned + found.counts.priced);
  CHECK(found.counts.pruned > 0);
}

// Of the catalogue.
std::vector<CompressionPlan> shipped_plans(const std::vector<std::string>& texts) {
  const std::filesystem::path source = PAYOFF_SOURCE_DIR;
  SourceMap sources;
  Diagnostics diagnostics;
  const Library library(source / "profiles");
  std::vector<CompressionPlan> plans;
  for (const std::string& text : texts) {
    const Span span{sources.add_argument(0, text), 0, text.size()};
    auto plan = read_plan(span, {library, sources, diagnostics});
    REQUIRE(plan);
    plans.push_back(std::move(plan->plan));
  }
  return plans;
}

}  // namespace

TEST_CASE("a search finds what pricing every candidate finds") {
  check_against_brute_force(transformer_job(), {LayoutAxis::cp, LayoutAxis::micro_batch});
}

TEST_CASE("of a mixture of experts too") {
  check_against_brute_force(mixture_job(),
                            {LayoutAxis::cp, LayoutAxis::micro_batch, LayoutAxis::schedule,
                             LayoutAxis::virtual_stages, LayoutAxis::recompute});
}

TEST_CASE("and of plans of shards, of whole gradients and of rounds inside nodes") {
  const std::vector<std::string> plans{"qgz", "qwz:traffic=dp_weights + qgz", "dgc_nodes"};
  const std::vector<LayoutAxis> keep{LayoutAxis::cp, LayoutAxis::micro_batch, LayoutAxis::schedule,
                                     LayoutAxis::virtual_stages, LayoutAxis::recompute};
  check_against_brute_force(test::with_plans(mixture_job(), shipped_plans(plans)), keep);
  check_against_brute_force(test::with_plans(transformer_job(), shipped_plans(plans)), keep);
}

TEST_CASE("a plan has a layout where pricing every candidate finds one that takes it") {
  Experiment job = transformer_job();
  job.cluster.gpu.memory = 32_GB;
  const std::vector<CompressionPlan> plans =
      shipped_plans({"qgz", "qwz:traffic=dp_weights", "powersgd:rank=4", "powersgd:rank=1024",
                     "dgc_host", "flash_communication:traffic=tp_activations"});
  for (const auto& keep :
       {std::vector{LayoutAxis::cp, LayoutAxis::micro_batch, LayoutAxis::zero},
        std::vector{LayoutAxis::cp, LayoutAxis::micro_batch, LayoutAxis::tp},
        std::vector{LayoutAxis::cp, LayoutAxis::micro_batch, LayoutAxis::tp, LayoutAxis::pp}}) {
    for (const CompressionPlan& plan : plans) {
      Experiment alone = job;
      alone.plans = {job.plans.front(), plan};
      INFO(plan.label << ", " << keep.size() << " kept");
      CHECK(has_layout_for(plan, job, keep) == !brute_force(alone, keep).compressed.empty());
    }
  }
}

TEST_CASE("a table of layers is searched over micro-batches and zero alone") {
  Experiment job = test::with_plans(test::small_job(), {test::shrink(10, 1)});
  job.layout.micro_batch = 8;
  const LayoutSpace space = layout_space(job);
  std::set<std::pair<int, int>> seen;
  for (const ModelParts& parts : model_parts(space)) {
    for_each_choice(space, parts, [&](const LayoutChoice& choice) {
      CHECK((choice.tp == 1 && choice.pp == 1 && choice.dp == 16));
      seen.emplace(choice.micro_batch, choice.zero);
    });
  }
  CHECK(seen.size() == 4 * 4);  // micro-batches of 1, 2, 4 and 8
  const BruteForce all = brute_force(job, {});
  const SearchResult found = search_layouts(job);
  REQUIRE_FALSE(found.compressed.empty());
  CHECK(found.uncompressed.front() == all.uncompressed.front());
  CHECK(found.compressed.front() == all.compressed.front());
}

TEST_CASE("no step and no memory is below the bound of its layout") {
  Experiment job = transformer_job(800_Gbps);
  job.cluster.gpu.memory = 32_GB;
  const LayoutSpace space = layout_space(job, {LayoutAxis::micro_batch});
  std::size_t number = 0;
  for (const ModelParts& parts : model_parts(space)) {
    Experiment in_parts = in_layout(job, with_parts(space.given, parts));
    std::optional<StepBounds> bounds;
    for_each_choice(space, parts, [&](const LayoutChoice& choice) {
      in_parts.layout = layout_of(choice, space.given);
      if (number++ % 7 != 0 || !check(in_parts).empty()) {
        return;
      }
      if (!bounds) {
        bounds.emplace(in_parts);
      }
      const PreparedExperiment prepared(in_layout(job, in_parts.layout));
      const StepPrediction none = prepared.predict(job.plans.front());
      const StepBound bound = bounds->step(in_parts.layout);
      CHECK(bound.step <= none.step);
      CHECK(bound.without_sums <= bound.step);
      CHECK(bound.step > 0.2 * none.step);  // and says something
      CHECK(bounds->memory(in_parts.layout).total() <= none.memory.total());
      if (choice.zero < 3) {
        CHECK(bounds->memory(in_parts.layout).total() == none.memory.total());
      }
      if (is_possible(job.plans[1], in_parts.layout)) {
        CHECK(bound.step <= prepared.predict(job.plans[1]).step);
      }
    });
  }
}

TEST_CASE("updates in backward may hide there, and are in no bound") {
  const Experiment after = in_layout(transformer_job(), transformer_job().layout);
  Experiment within = after;
  within.software.optimizer_in_backward = true;
  const StepBound bound = StepBounds(within).step(within.layout);
  const Seconds update =
      PreparedExperiment(after).plan(after.plans.front()).stages.front().optimizer.alone;
  const Seconds left_out = StepBounds(after).step(after.layout).step - bound.step;
  CHECK_THAT(left_out / update, Catch::Matchers::WithinRel(1.0, 1e-6));
  CompressionPlan beside = test::shrink(10, 1);
  beside.placement = Placement::side_stream;
  const PreparedExperiment prepared(within);
  CHECK(bound.step <= prepared.predict(within.plans.front()).step);
  CHECK(bound.step <= prepared.predict(beside).step);
}

TEST_CASE("the answer of a search does not depend on the number of threads") {
  SearchOptions one;
  one.keep = {LayoutAxis::cp, LayoutAxis::micro_batch, LayoutAxis::schedule};
  one.threads = 1;
  SearchOptions three = one;
  three.threads = 3;
  const SearchResult a = search_layouts(transformer_job(), one);
  const SearchResult b = search_layouts(transformer_job(), three);
  CHECK(a.counts == b.counts);
  CHECK(a.uncompressed == b.uncompressed);
  CHECK(a.compressed == b.compressed);
}

TEST_CASE("all candidates run the job's batch on the job's GPUs, and what is kept stays") {
  const Experiment job = transformer_job();
  const LayoutSpace space = layout_space(job, {LayoutAxis::tp, LayoutAxis::zero});
  for (const ModelParts& parts : model_parts(space)) {
    for_each_choice(space, parts, [&](const LayoutChoice& choice) {
      const ParallelLayout layout = layout_of(choice, space.given);
      CHECK(layout.ranks() == 8);
      CHECK(layout.global_batch() == 16);
      CHECK(layout.tp == 4);
      CHECK(layout.zero == 0);
    });
  }
}

TEST_CASE("of equal steps the simpler layout goes first") {
  Candidate simple;
  simple.step = 1_s;
  simple.layout.dp = 16;
  simple.order = 7;
  Candidate interleaved = simple;
  interleaved.layout.dp = 4;
  interleaved.layout.pp = 4;
  interleaved.layout.chunks = 2;
  interleaved.order = 1;
  CHECK(goes_before(simple, interleaved));
  interleaved.step = 0.9_s;
  CHECK(goes_before(interleaved, simple));
}

TEST_CASE("a search that is stopped has decided no more than it says") {
  const std::atomic<bool> stop{true};
  SearchOptions options;
  options.stop = &stop;
  const SearchResult found = search_layouts(transformer_job(), options);
  CHECK_FALSE(found.is_complete);
  CHECK(found.counts.priced == 0);
}

TEST_CASE("a search that is stopped half-way gives the best of what it knew") {
  std::atomic<bool> stop{false};
  SearchOptions options;
  options.threads = 1;
  options.stop = &stop;
  options.progress = [&](std::uint64_t, std::uint64_t) { stop = true; };
  const SearchResult found = search_layouts(transformer_job(800_Gbps), options);
  CHECK_FALSE(found.is_complete);
  CHECK_FALSE(found.uncompressed.empty());
  const SearchCounts& counts = found.counts;
  CHECK(counts.priced > 0);
  CHECK(counts.considered >= counts.invalid + counts.no_memory + counts.pruned + counts.priced);
}
