// SPDX-License-Identifier: Apache-2.0
// Which points of batched kernels share a law.
#include <map>
#include <string>

#include "study/kernel_calibration.hpp"
#include "tests/catch.hpp"

using namespace payoff;

namespace {

SamplesPoint point_of(const std::string& kernel, std::map<std::string, double> parameters,
                      double bytes, double us) {
  SamplesPoint point;
  point.kernel = kernel;
  point.family = "low_rank";
  point.implementation = "library";
  point.input = "gaussian";
  point.state = "cold";
  point.mode = "stream";
  point.parameters = std::move(parameters);
  point.read = Bytes{bytes};
  point.flops = Flops{bytes};
  point.launches = 1.0;
  point.samples = {us * 1_us, 1.01 * us * 1_us, 0.99 * us * 1_us};
  return point;
}

}  // namespace

TEST_CASE("steps of several matrices at once have a law of their own for each size of the batch") {
  SamplesFile file;
  for (const double rank : {1.0, 2.0, 4.0, 8.0}) {
    const double bytes = 1e6 * rank;
    file.points.push_back(point_of("power_sgd", {{"rank", rank}}, bytes, 10.0 * rank));
    for (const double batch : {1.0, 8.0, 48.0}) {
      // Side by side: a batch moves more bytes, and takes hardly longer.
      file.points.push_back(point_of("power_sgd", {{"rank", rank}, {"batch", batch}}, batch * bytes,
                                     10.0 * rank + 0.1 * batch));
      file.points.push_back(
          point_of("gemm", {{"m", rank}, {"batch", batch}}, batch * bytes, 1.0 + batch * rank));
    }
  }
  Diagnostics diagnostics;
  const KernelCalibration calibration = calibrate_kernels({file}, diagnostics);
  CHECK(!diagnostics.has_errors());
  std::map<std::string, std::size_t> points;
  for (const KernelLaw& law : calibration.laws) {
    points[title_of(law)] = law.points.size();
  }
  const std::string step = "power_sgd (library), cold, stream, gaussian";
  CHECK(points == std::map<std::string, std::size_t>{
                      {"gemm (library), cold, stream, gaussian", 12},  // a larger product
                      {step, 8},  // one matrix, whether its file says so or not
                      {step + ", batch=48", 4},
                      {step + ", batch=8", 4}});
}
