// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <vector>

#include "profiles/read_hardware.hpp"
#include "tests/catalogue/methods.hpp"
#include "tests/catch.hpp"

// Parts of compressed steps that vineeths96/Gradient-Compression logged on V100s of AWS P3
// (tests/validation/systems/iisc_breakdown.csv, all of it in the judge half: nothing was fitted to
// it). VGG16 of kuangliu/pytorch-cifar, 14,728,266 parameters; the GPU was waited for around every
// part.

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

constexpr std::int64_t vgg16 = 14728266;

Gpu v100() {
  const Library library(PAYOFF_SOURCE_DIR "/profiles");
  SourceMap sources;
  Diagnostics diagnostics;
  const auto gpu = read_gpu("v100-sxm2-16", std::nullopt, {library, sources, diagnostics});
  INFO(render_text(diagnostics, sources));
  REQUIRE(gpu);
  return gpu->value;
}

CallCost cost_of(const Method& method, int workers) {
  const ParameterTensor bucket{vgg16, 1, false};
  return compress(method, {&bucket, 1}, 4_B, workers, 1);
}

// One worker, run "2021_01_04/P3 Multi Node/1 GPU": what no message is in.
struct Logged {
  const char* method;
  double norm_ms;
  double compress_ms;
  double decompress_ms;
};
const std::vector<Logged> alone{{"qsgd_maxnorm", 0.381, 2.132, 0.219},
                                {"qsgd_maxnorm_two_scale", 0.381, 4.708, 1.010}};

}  // namespace

TEST_CASE("encoders and decoders of max-norm QSGD take what was logged, within their interval") {
  const Gpu gpu = v100();
  for (const Logged& logged : alone) {
    INFO(logged.method);
    const Method method = test::method(logged.method);
    const CallCost cost = cost_of(method, 1);
    const double most = std::exp(1.645 * method.law.relative_sd);
    const auto ms = [&](const PassCost& pass) {
      return price_pass(pass, method.law, gpu, Precision::fp32) / 1_ms;
    };
    Seconds encode;
    for (std::size_t round = 1; round < cost.rounds.size(); ++round) {
      encode += price_pass(cost.rounds[round].encode, method.law, gpu, Precision::fp32);
    }
    const auto holds = [&](double predicted, double measured) {
      CAPTURE(predicted, measured);
      CHECK(std::max(predicted / measured, measured / predicted) < most);
    };
    holds(ms(cost.rounds[0].encode), logged.norm_ms);
    holds(encode / 1_ms, logged.compress_ms);
    holds(ms(cost.decode), logged.decompress_ms);
  }
}

TEST_CASE("max-norm QSGD sends a byte an element, and its two-scale form a mask of another") {
  // Four nodes, runs 2021_01_04, 2021_04_15 and 2021_04_22: the sum of ResNet-50's gradients for
  // CIFAR-10, 23,520,842 floats, less the copies that one worker takes, beside that of the bytes.
  const double dense = (135.898 + 128.001 + 135.039) / 3 - 9.092;
  const double bytes = (18.391 + 18.183 + 18.369) / 3;
  const double sent = cost_of(test::method("qsgd_maxnorm"), 4).rounds[1].message / 1_B;
  CHECK(sent == vgg16);
  CHECK_THAT(bytes / dense, WithinRel(sent / (4.0 * 23520842), 0.15));
  // What compress_ms grows by beyond one worker is the sum of the mask: 22.9, 22.7 and 22.9 ms.
  const double mask = (22.914 + 22.747 + 22.935) / 3 - 4.708;
  const CallCost two_scale = cost_of(test::method("qsgd_maxnorm_two_scale"), 4);
  CHECK(two_scale.rounds[2].message / 1_B == vgg16);
  CHECK_THAT(mask / bytes,
             WithinRel(two_scale.rounds[1].message / two_scale.rounds[2].message, 0.15));
}
