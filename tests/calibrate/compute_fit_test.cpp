// SPDX-License-Identifier: Apache-2.0
#include "calibrate/compute_fit.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/compute_priors.hpp"
#include "model/recommender.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

const std::array<std::string, 2> stacks{"seen", "unseen"};

Experiment one_gpu(std::int64_t layers, std::int64_t hidden, int micro_batch) {
  Experiment experiment;
  Gpu& gpu = experiment.cluster.gpu;
  gpu.name = "gpu";
  gpu.architecture = Architecture::ampere;
  gpu.compute_units = 108;
  gpu.memory_bandwidth = 2_TBps;
  gpu.peak.values = {20_TFLOPps, 160_TFLOPps, 312_TFLOPps, 312_TFLOPps, {}};
  experiment.model = TransformerShape{.name = "gpt",
                                      .layers = layers,
                                      .hidden = hidden,
                                      .heads = hidden / 64,
                                      .kv_heads = hidden / 64,
                                      .head_size = 64,
                                      .feed_forward = 4 * hidden,
                                      .vocabulary = 32000,
                                      .positions = 1024,
                                      .sequence = 1024};
  experiment.layout.micro_batch = micro_batch;
  experiment.training.optimizer_traffic_per_parameter = 28_B;
  experiment.software.name = "seen";
  experiment.software.fused_elementwise = true;
  experiment.software.hides_launch = 1;
  return experiment;
}

// Steps that a GPU with this law and stack would take.
std::vector<ComputeCase> synthetic(double gemm, double memory, Seconds host) {
  std::vector<ComputeCase> cases;
  for (const int micro_batch : {1, 2, 4, 8, 16}) {
    for (const std::int64_t hidden : {256, 512, 1024, 2048}) {
      Experiment experiment = one_gpu(4, hidden, micro_batch);
      Experiment truth = experiment;
      ComputeLaw& law = truth.cluster.gpu.law;
      law.gemm_efficiency.values = {gemm, gemm, gemm, gemm, gemm};
      law.memory_efficiency = memory;
      law.depth_half = 100;
      law.launch = 2.5_us;
      truth.software.host_per_kernel = host;
      truth.software.host_per_step = 5_ms;
      truth.software.memory_traffic_ratio = 1.1;
      const PreparedExperiment prepared(truth);
      cases.push_back({std::move(experiment), evaluate(prepared.plan(CompressionPlan{})).step,
                       std::to_string(hidden),
                       "h" + std::to_string(hidden) + "-b" + std::to_string(micro_batch)});
    }
  }
  return cases;
}

const ComputeFit& synthetic_fit() {
  static const ComputeFit fit = fit_compute(synthetic(0.60, 0.80, 20_us), stacks);
  return fit;
}

}  // namespace

// The priors are 0.87 x 0.88 of the peak and 8 us: they pull, but twenty independent steps win.
TEST_CASE("a fit to synthetic steps finds the law that made them") {
  const ComputeFit& fit = synthetic_fit();
  for (const double residual : fit.fit.log_residuals) {
    CHECK(std::abs(residual) < 0.03);
  }
  const FittedLaw& ampere = fit.laws.at(static_cast<std::size_t>(Architecture::ampere));
  CHECK_THAT(ampere[LawParameter::gemm_16].value, WithinRel(0.60, 0.05));
  CHECK_THAT(fit.software[0][SoftwareParameter::host_per_kernel].value, WithinRel(20e-6, 0.25));
  CHECK(ampere.sources.size() == 20);
}

TEST_CASE("what no step contains keeps its prior") {
  const ComputeFit& fit = synthetic_fit();
  const FittedLaw& ampere = fit.laws.at(static_cast<std::size_t>(Architecture::ampere));
  const LawPrior& convolution =
      law_prior(Architecture::ampere)[static_cast<std::size_t>(LawParameter::convolution)];
  CHECK(ampere[LawParameter::convolution].cases == 0);
  CHECK_THAT(ampere[LawParameter::convolution].value, WithinRel(convolution.value, 1e-9));
  CHECK(fit.software[1].cases == 0);
  CHECK(fit.software[1].relative_sd == unknown_stack_sd);
}

// The share of its best product that a GPU sustains is one number for all architectures: what
// ampere shows moves the others, and their widths say that they were not measured.
TEST_CASE("an architecture without steps learns the sustained share from the others") {
  const ComputeFit& fit = synthetic_fit();
  const FittedLaw& ampere = fit.laws.at(static_cast<std::size_t>(Architecture::ampere));
  const FittedLaw& hopper = fit.laws.at(static_cast<std::size_t>(Architecture::hopper));
  CHECK(hopper[LawParameter::gemm_16].value < 0.80 * sustained_prior.value);
  CHECK(hopper[LawParameter::gemm_16].log_sd > ampere[LawParameter::gemm_16].log_sd);
}

// Its tables are looked up and its products run on the same GPU, but it is fitted after all else.
TEST_CASE("a recommender moves its stack, and nothing else") {
  const std::vector<std::string> with_its_own{"recommender", "seen", "unseen"};
  std::vector<ComputeCase> cases = synthetic(0.60, 0.80, 20_us);
  const RecommenderShape shape{
      "dlrm", 13, {512, 256, 128}, {{1000000, 1000}, 128}, {1024, 1024, 512, 256, 1}};
  const FittedLaw& ampere = synthetic_fit().laws.at(static_cast<std::size_t>(Architecture::ampere));
  for (const int samples : {4096, 16384, 65536}) {
    Experiment experiment = one_gpu(1, 256, samples);
    experiment.model = recommender_workload(shape, 1, 2_B);
    experiment.software.name = "recommender";
    Experiment truth = experiment;  // of the law that the others tell
    truth.cluster.gpu.law = law_of(ampere);
    truth.software.host_per_kernel = 8_us;
    truth.software.host_per_step = 2_ms;
    truth.software.memory_traffic_ratio = synthetic_fit().traffic.value;
    const PreparedExperiment prepared(truth);
    // In between, for the residuals to keep the order of the cases.
    cases.insert(cases.begin() + 3,
                 {std::move(experiment), evaluate(prepared.plan(CompressionPlan{})).step,
                  std::to_string(samples), "recommender-" + std::to_string(samples)});
  }
  const ComputeFit fit = fit_compute(cases, with_its_own);
  for (std::size_t a = 0; a < fit.laws.size(); ++a) {
    CHECK(fit.laws[a].sources == synthetic_fit().laws[a].sources);
    for (std::size_t p = 0; p < law_parameter_count; ++p) {
      CHECK(fit.laws[a].parameters.at(p).value == synthetic_fit().laws[a].parameters.at(p).value);
      CHECK(fit.laws[a].parameters.at(p).log_sd == synthetic_fit().laws[a].parameters.at(p).log_sd);
    }
  }
  CHECK(fit.software[1].relative_sd == synthetic_fit().software[0].relative_sd);
  CHECK(fit.measured.at("gpu").products[Precision::fp16].smallest ==
        synthetic_fit().measured.at("gpu").products[Precision::fp16].smallest);
  // The prior is 5 ms, and wide.
  CHECK(fit.software[0].cases == 3);
  CHECK_THAT(fit.software[0][SoftwareParameter::host_per_step].value, WithinRel(2e-3, 0.1));
  CHECK(fit.software[0].relative_sd < 0.03);
}

TEST_CASE("the same cases give the same profile, to the byte") {
  const auto cases = synthetic(0.60, 0.80, 20_us);
  const std::vector<Gpu> gpus{cases.front().experiment.cluster.gpu};
  const std::string text = compute_profile(synthetic_fit(), gpus);
  CHECK(text == compute_profile(fit_compute(cases, stacks), gpus));
  // A precision that the GPU lacks has no efficiency.
  CHECK(text.find("fp16:") != std::string::npos);
  CHECK(text.find("fp8:") == std::string::npos);
  CHECK(text.find("from: ampere_steps") != std::string::npos);
  CHECK(text.find("from: assumed") != std::string::npos);
}

TEST_CASE("the profile says how much work the kernels of a GPU's own steps had") {
  const ComputeFit& fit = synthetic_fit();
  const Gpu seen = synthetic(0.60, 0.80, 20_us).front().experiment.cluster.gpu;
  REQUIRE(fit.measured.size() == 1);
  const KernelAmounts& measured = fit.measured.at(seen.name);
  CHECK_FALSE(measured.products[Precision::fp16].empty());
  CHECK(measured.products[Precision::fp16] == measured.products[Precision::bf16]);  // one parameter
  CHECK(measured.products[Precision::fp8].empty());
  CHECK(measured.convolutions.empty());
  Gpu other = seen;
  other.name = "other";
  CHECK_THAT(compute_profile(fit, std::span(&seen, 1)),
             Catch::Matchers::Contains("    measured:\n      fp16: {smallest: "));
  CHECK_THAT(compute_profile(fit, std::span(&other, 1)), !Catch::Matchers::Contains("measured:"));
}
