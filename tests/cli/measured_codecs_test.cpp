// SPDX-License-Identifier: Apache-2.0
// Selections, scattered accesses and steps of PowerSGD of an invented GPU: what was measured of
// them prices the methods whose passes they are.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/profile_library.hpp"
#include "model/compression.hpp"
#include "profiles/read_experiment.hpp"
#include "tests/cli/calibrated_codecs.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;
using payoff::test::Calibrated;
using payoff::test::scattered_share;
using payoff::test::Truth;

namespace {

constexpr double peak = test::peak_bandwidth;

Truth truth_of_all() {
  Truth truth;
  test::add_scattering(truth, "scatter_add", "fused", truth.more);
  test::add_selection(truth, "topk_radix", "fused", truth.more);
  test::add_streaming(truth, "cast_mean_fp16", "framework_ops", truth.more);
  test::add_factors(truth, "framework_ops", truth.more);
  return truth;
}

struct Read {
  Experiment experiment;
  Facts facts;

  [[nodiscard]] const Method& method(std::string_view name) const {
    const auto found = std::find_if(
        experiment.plans.begin(), experiment.plans.end(),
        [&](const CompressionPlan& plan) { return plan.method && plan.method->name == name; });
    REQUIRE(found != experiment.plans.end());
    return *found->method;
  }
  [[nodiscard]] std::optional<Provenance> provenance(std::string_view path) const {
    const auto found = std::find_if(facts.begin(), facts.end(),
                                    [&](const Fact& fact) { return fact.path == path; });
    return found == facts.end() ? std::nullopt : std::optional(found->kind);
  }
};

Read read_on(const Calibrated& gpu) {
  const Library library = find_library();
  SourceMap sources;
  Diagnostics diagnostics;
  auto document = load_yaml_text("experiment",
                                 "cluster: {profile: p3-8xlarge, nodes: 2, gpu: " + gpu.profile() +
                                     "}\nmodel: {profile: resnet-50}\nlayout: {micro_batch: 64}\n"
                                     "compress: [topk_fused, powersgd, fp8]\n",
                                 sources, diagnostics);
  REQUIRE(document);
  auto read = read_experiment(std::move(*document), {}, {library, sources, diagnostics});
  REQUIRE(read);
  return {std::move(read->experiment), std::move(read->facts)};
}

}  // namespace

TEST_CASE(
    "a method of Top-K is priced by the selection and the scattered sums that were measured") {
  const Truth truth = truth_of_all();
  const Calibrated gpu(truth);
  const Read read = read_on(gpu);
  const Method& topk = read.method("topk_fused");
  CHECK_THAT(topk.law.memory_efficiency, WithinRel(0.5 * truth.beyond, 1e-3));
  CHECK_THAT(topk.law.resident_efficiency, WithinRel(0.5 * truth.resident, 1e-3));
  CHECK_THAT(topk.law.random_efficiency, WithinRel(scattered_share, 1e-3));
  CHECK(read.provenance("compress.topk_fused.law.random_efficiency") == Provenance::measured);
  // Decoding 4 messages of 1 % of 64 Mi values: zeros and messages in five launches, sums at their
  // places.
  const double elements = 67108864.0;
  const double sent = 4.0 * 0.01 * elements;
  PassCost decode;
  decode.bytes = (4.0 * elements + 8.0 * sent) * 1_B;
  decode.random_bytes = 64.0 * sent * 1_B;
  decode.kernels = 5;
  const double cached = 5.0 * 50.0 * 1048576.0;
  const double expected = 5.0 * truth.launch_us + cached / (peak * 0.5 * truth.resident) +
                          (decode.bytes.si - cached) / (peak * 0.5 * truth.beyond) +
                          decode.random_bytes.si / (peak * scattered_share);
  REQUIRE(5 * topk.law.dispatch / 1_us < expected);  // the GPU and not the host takes longer
  const Seconds priced = price_pass(decode, topk.law, read.experiment.cluster.gpu, Precision::fp32);
  CHECK_THAT(priced / 1_us, WithinRel(expected, 1e-3));
}

TEST_CASE("PowerSGD's products take the rate of those that were measured in its steps") {
  const Truth truth = truth_of_all();
  const Read read = read_on(Calibrated(truth));
  const Method& factors = read.method("powersgd");
  CHECK_THAT(factors.law.product_rate / 1_TFLOPps, WithinRel(30.0, 1e-3));
  CHECK_THAT(factors.law.memory_efficiency, WithinRel(truth.beyond, 1e-3));
  CHECK(read.provenance("compress.powersgd.law.product_rate") == Provenance::measured);
  CHECK(!read.provenance("compress.powersgd.law.gemm_efficiency"));
  PassCost product;
  product.flops = Flops{6e12};
  const Seconds priced =
      price_pass(product, factors.law, read.experiment.cluster.gpu, Precision::bf16);
  CHECK_THAT(priced / 1_ms, WithinRel(200.0, 1e-3));  // at any precision
}

TEST_CASE("selections and products are no part of the law of their class") {
  const Read read = read_on(Calibrated(truth_of_all()));
  CHECK_THAT(read.method("fp8").law.memory_efficiency, WithinRel(Truth{}.beyond, 1e-3));
  const Read without = read_on(Calibrated());
  CHECK(without.method("fp8").law.memory_efficiency == read.method("fp8").law.memory_efficiency);
  CHECK(without.provenance("compress.topk_fused.law.random_efficiency") == Provenance::assumed);
}
