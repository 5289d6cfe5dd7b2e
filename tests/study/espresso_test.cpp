// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "profiles/read_experiment.hpp"
#include "study/bucket_choice.hpp"
#include "tests/catch.hpp"
#include "tests/model/csv.hpp"

// Espresso (EuroSys 2023) chooses for each tensor whether to compress it, on the GPU or by the
// cores of the host. Its authors published the tensors of six models, when backward has each of
// them on a V100, and what their selector chose for 4 nodes of 8 (tests/validation/systems). Here
// that choice, everything compressed alike, and this project's choice have the same prices.

using namespace payoff;

namespace {

struct Tensor {
  std::int64_t elements{};
  Seconds gap{};
  int option{};
};

struct Job {
  std::string model;
  std::string intra;       // nvlink and 100 Gb/s, or pcie and 25 Gb/s: their two testbeds
  std::string compressor;  // randomk, dgc, efsignsgd
  int micro_batch{};
};

std::vector<Tensor> tensors_of(const std::string& model) {
  std::vector<Tensor> tensors;
  for (const test::CsvRow& row : test::read_csv("tests/validation/systems/espresso_tensors.csv")) {
    if (row.text("model") == model) {
      tensors.push_back({static_cast<std::int64_t>(row.number("elements")),
                         row.number("gap_us") * 1_us, static_cast<int>(row.number("option"))});
    }
  }
  return tensors;
}

// A layer a tensor, in the order of forward; forward takes half of backward (assumed: their list
// has backward only).
Workload workload_of(const std::vector<Tensor>& tensors, LayerTimes& times) {
  Workload workload;
  workload.name = "tensors";
  for (std::size_t i = tensors.size(); i-- > 0;) {
    Layer& layer = workload.layers.emplace_back();
    layer.name = "tensor " + std::to_string(i);
    layer.parameters = {{tensors[i].elements, 1, false}};
    layer.forward = {Operator{.kind = OperatorKind::gemm,
                              .rows_per_sample = 1,
                              .columns = 1,
                              .depth = 1}};  // of which only the measured time counts
    times.push_back(
        {.layer = layer.name, .forward = 0.5 * tensors[i].gap, .backward = tensors[i].gap});
  }
  return workload;
}

// Methods in the order: on the GPU between all ranks, on the GPU between nodes, on the host, fp16.
enum Way : std::size_t { dense, everywhere, between_nodes, on_host, half };

Experiment experiment_of(const Job& job, const std::vector<Tensor>& tensors) {
  const std::filesystem::path source = PAYOFF_SOURCE_DIR;
  const std::filesystem::path example = source / "examples/15-espresso";
  const std::string ratio = job.compressor == "efsignsgd" ? "" : ":ratio=0.01";
  const std::string among_all = job.compressor == "randomk" ? "randomk_indexed" : job.compressor;
  std::vector<Setting> settings{
      {1, "cluster.nodes=4"},
      {1, "layout.dp=32"},
      {1, "compress=[\"" + among_all + ratio + "\", \"" + job.compressor + "_nodes" + ratio +
              "\", \"" + job.compressor + "_host" + ratio + "\", fp16]"}};
  if (job.intra == "nvlink") {
    settings.push_back({1, "cluster.gpu=v100-sxm2-32"});
    settings.push_back({1, "cluster.fabric=nvlink-mesh-v2"});
    settings.push_back({1, "cluster.inter.bandwidth=100 Gb/s"});
  }
  SourceMap sources;
  Diagnostics diagnostics;
  const Library library(source / "profiles");
  auto read =
      read_experiment(example / "experiment.yaml", settings, {library, sources, diagnostics});
  REQUIRE(read);
  Experiment experiment = std::move(read->experiment);
  REQUIRE(experiment.plans.size() == 5);
  experiment.layer_times.clear();
  experiment.model = workload_of(tensors, experiment.layer_times);
  experiment.layout.micro_batch = 1;
  return experiment;
}

// What they chose, by the numbers of their scheduler. What they compress in the node as well (6 and
// above) is compressed between nodes here: no method of theirs at both levels is known by its code.
Way way_of(int option) {
  switch (option) {
    case 0:
      return dense;
    case 1:
      return half;
    case 5:
      return on_host;
    default:
      return between_nodes;
  }
}

CompressionPlan as_they_chose(const Experiment& experiment, const std::vector<Tensor>& tensors) {
  CompressionPlan plan;
  for (const Way way : {everywhere, between_nodes, on_host, half}) {
    BucketSet buckets;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (way_of(tensors[i].option) == way) {
        const auto number = static_cast<std::int64_t>(i);
        buckets.ranges.push_back({number, number});
      }
    }
    if (buckets.ranges.empty()) {
      continue;
    }
    const Method& method = *experiment.plans[way].method;
    if (!plan.method) {
      plan.method = method;
      plan.buckets = buckets;
    } else {
      plan.others.push_back({method, buckets});
    }
  }
  return plan;
}

std::size_t count_on_host(const CompressionPlan& plan, std::size_t buckets) {
  std::size_t count = 0;
  const std::vector<const Method*> methods = plan.gradient_methods();
  for (std::size_t m = 0; m < methods.size(); ++m) {
    for (std::size_t i = 0; i < buckets && methods[m]->host; ++i) {
      count += plan.buckets_of(m).holds(i) ? 1U : 0U;
    }
  }
  return count;
}

}  // namespace

TEST_CASE("choosing for each of Espresso's tensors beats everything alike, and its own choice") {
  const Job job = GENERATE(Job{"bert", "nvlink", "randomk"}, Job{"gpt2", "nvlink", "efsignsgd"},
                           Job{"ugatit", "nvlink", "dgc"}, Job{"lstm", "pcie", "efsignsgd"},
                           Job{"resnet101", "pcie", "dgc"}, Job{"vgg16", "pcie", "randomk"});
  const std::vector<Tensor> tensors = tensors_of(job.model);
  const Experiment experiment = experiment_of(job, tensors);
  REQUIRE(check(experiment).empty());
  const PreparedExperiment prepared(experiment);
  REQUIRE(prepared.most_buckets() == tensors.size());

  const Seconds none = prepared.predict(experiment.plans[dense]).step;
  Seconds alike = none;
  for (std::size_t plan = 1; plan < experiment.plans.size(); ++plan) {
    alike = std::min(alike, prepared.predict(experiment.plans[plan]).step);
  }
  const Seconds theirs = prepared.predict(as_they_chose(experiment, tensors)).step;
  BucketWays ways{experiment.plans.front(), {}};
  for (std::size_t plan = 1; plan < experiment.plans.size(); ++plan) {
    ways.methods.push_back(*experiment.plans[plan].method);
  }
  BucketChooser chooser(prepared, [](const CompressionPlan&, const StepPlan&) { return true; });
  const BucketChoice ours = chooser.choose({ways}, 1);

  INFO(job.model << ": none " << none / 1_ms << " ms, alike " << alike / 1_ms << ", theirs "
                 << theirs / 1_ms << ", ours " << ours.step / 1_ms << " with "
                 << count_on_host(ours.plan, tensors.size()) << " of " << tensors.size()
                 << " on the host, " << ours.evaluated << " plans priced");
  std::printf(
      "%-10s none %7.1f  alike %7.1f  theirs %7.1f  ours %7.1f ms, %zu of %zu on the host, "
      "%llu plans\n",
      job.model.c_str(), none / 1_ms, alike / 1_ms, theirs / 1_ms, ours.step / 1_ms,
      count_on_host(ours.plan, tensors.size()), tensors.size(),
      static_cast<unsigned long long>(ours.evaluated));
  CHECK(ours.step <= alike);
  CHECK(ours.step <= theirs);
  CHECK(theirs < none);
}
