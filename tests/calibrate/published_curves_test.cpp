// SPDX-License-Identifier: Apache-2.0
// Sweeps that others published, through the forms of kernels: errors no larger than those of fits
// by logarithms, which the notes to the collection give (relative errors, RMS and largest, to three
// digits).
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

struct Errors {
  double rms{};
  double largest{};
};

struct Noted {
  const char* curve;
  Errors affine;
  Errors two_bandwidths{};  // none: four points, nothing to fit four unknowns to
};

constexpr double half_a_digit = 0.0005;
// Squares of relative errors are fitted here, of logarithms there: a point that a form cannot
// explain is weighed otherwise. Where the form fits there is next to no difference.
constexpr double largest_off_a_line = 0.0225;
constexpr double largest_off_a_knee = 0.001;

}  // namespace

TEST_CASE("published sweeps fit as well as the notes say, or better") {
  for (const Noted& noted : {Noted{"sdp4bit_quantize", {0.069, 0.136}, {0.009, 0.017}},
                             {"sdp4bit_quantize_hadamard", {0.068, 0.135}, {0.008, 0.017}},
                             {"sdp4bit_dequantize", {0.078, 0.147}, {0.009, 0.017}},
                             {"espresso_cpu_randomk_enc", {0.154, 0.469}, {0.154, 0.469}},
                             {"espresso_cpu_dgc_enc", {0.037, 0.076}, {0.016, 0.028}},
                             {"espresso_cpu_efsignsgd_enc", {0.06, 0.223}, {0.06, 0.223}},
                             {"espresso_cpu_onebit_enc", {0.037, 0.096}, {0.036, 0.098}},
                             {"espresso_cpu_efsignsgd_dec", {0.065, 0.205}, {0.065, 0.205}},
                             {"espresso_cpu_dgc_dec", {0.428, 0.606}, {0.057, 0.096}},
                             {"cub_topk_a6000", {0.053, 0.087}},
                             {"thrust_sort_a6000", {0.015, 0.025}},
                             {"cub_topk_h100pcie", {0.013, 0.014}},
                             {"cub_radix_sort_f32", {0.012, 0.015}},
                             {"quickreduce_baseline", {0.085, 0.222}, {0.052, 0.122}},
                             {"quickreduce_int4", {0.046, 0.082}, {0.012, 0.023}}}) {
    const std::vector<KernelPoint> points = curve(noted.curve);
    const KernelFit affine = fit_kernel(points, KernelForm::affine).value();
    INFO(noted.curve << ": affine " << affine.rms_error << ", largest " << affine.largest_error);
    CHECK(affine.rms_error < noted.affine.rms + half_a_digit);
    CHECK(affine.largest_error < noted.affine.largest + half_a_digit + largest_off_a_line);
    const auto knee = fit_kernel(points, KernelForm::two_bandwidths);
    CHECK(knee.has_value() == (noted.two_bandwidths.rms > 0.0));
    if (knee) {
      INFO("two bandwidths " << knee->rms_error << ", largest " << knee->largest_error);
      CHECK(knee->rms_error < noted.two_bandwidths.rms + half_a_digit);
      CHECK(knee->largest_error < noted.two_bandwidths.largest + half_a_digit + largest_off_a_knee);
    }
  }
}

TEST_CASE("a knee is chosen where eight sizes show it, and never from six") {
  CHECK(fit_kernel(curve("sdp4bit_quantize")).form == KernelForm::affine);
  CHECK(fit_kernel(curve("espresso_cpu_dgc_dec")).form == KernelForm::two_bandwidths);
  // 17 sizes without a knee but with one point half as long again: no form explains it.
  CHECK(fit_kernel(curve("espresso_cpu_randomk_enc")).form != KernelForm::constant);
}
