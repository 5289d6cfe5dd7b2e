// SPDX-License-Identifier: Apache-2.0
// Sweeps that others published, through the forms of kernels: errors no larger than those of fits
// by logarithms, which the notes to the collection give (relative error, RMS, to three digits).
#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/kernel_fit.hpp"
#include "profiles/import/csv.hpp"
#include "tests/catch.hpp"

using namespace payoff;

namespace {

std::vector<KernelPoint> curve(const std::string& name) {
  static const CsvTable csv = [] {
    Findings findings;
    CsvTable table = read_csv(
        std::filesystem::path(PAYOFF_SOURCE_DIR) / "tests/validation/kernels/curves.csv", findings);
    REQUIRE(findings.empty());
    return table;
  }();
  std::vector<KernelPoint> points;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    if (csv.text(i, "curve") == name) {
      KernelPoint point;
      point.bytes = Bytes{csv.number(i, "bytes").value()};
      point.time = csv.number(i, "time_us").value() * 1_us;
      point.relative_sd = 0.01;
      points.push_back(point);
    }
  }
  REQUIRE(!points.empty());
  return points;
}

struct Noted {
  const char* curve;
  double affine;
  double two_bandwidths;  // 0: four points, nothing to fit four unknowns to
};

constexpr double half_a_digit = 0.0005;

}  // namespace

TEST_CASE("published sweeps fit as well as the notes say, or better") {
  for (const Noted& noted : {Noted{"sdp4bit_quantize", 0.069, 0.009},
                             {"sdp4bit_quantize_hadamard", 0.068, 0.008},
                             {"sdp4bit_dequantize", 0.078, 0.009},
                             {"espresso_cpu_randomk_enc", 0.154, 0.154},
                             {"espresso_cpu_dgc_enc", 0.037, 0.016},
                             {"espresso_cpu_efsignsgd_enc", 0.060, 0.060},
                             {"espresso_cpu_onebit_enc", 0.037, 0.036},
                             {"espresso_cpu_efsignsgd_dec", 0.065, 0.065},
                             {"espresso_cpu_dgc_dec", 0.428, 0.057},
                             {"cub_topk_a6000", 0.053, 0.0},
                             {"thrust_sort_a6000", 0.015, 0.0},
                             {"cub_topk_h100pcie", 0.013, 0.0},
                             {"cub_radix_sort_f32", 0.012, 0.0},
                             {"quickreduce_baseline", 0.085, 0.052},
                             {"quickreduce_int4", 0.046, 0.012}}) {
    const std::vector<KernelPoint> points = curve(noted.curve);
    const KernelFit affine = fit_kernel(points, KernelForm::affine).value();
    INFO(noted.curve << ": affine " << affine.rms_error);
    CHECK(affine.rms_error < noted.affine + half_a_digit);
    const auto knee = fit_kernel(points, KernelForm::two_bandwidths);
    CHECK(knee.has_value() == (noted.two_bandwidths > 0.0));
    if (knee) {
      INFO("two bandwidths " << knee->rms_error << ", largest " << knee->largest_error);
      CHECK(knee->rms_error < noted.two_bandwidths + half_a_digit);
    }
  }
}

TEST_CASE("a knee is chosen where eight sizes show it, and never from six") {
  CHECK(fit_kernel(curve("sdp4bit_quantize")).form == KernelForm::affine);
  CHECK(fit_kernel(curve("espresso_cpu_dgc_dec")).form == KernelForm::two_bandwidths);
  // 17 sizes without a knee but with one point half as long again: no form explains it.
  CHECK(fit_kernel(curve("espresso_cpu_randomk_enc")).form != KernelForm::constant);
}
