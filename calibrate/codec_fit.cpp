// SPDX-License-Identifier: Apache-2.0
#include "calibrate/codec_fit.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace payoff {
namespace {

enum Term : std::size_t { dispatch, launch, resident, beyond, sync };
constexpr std::array<std::string_view, 5> term_names{
    "dispatch", "launch", "1 / resident_efficiency", "1 / memory_efficiency", "host_sync"};

// What no published row of the fit half tells; marked `assumed` in the profile.
constexpr double assumed_host_sync_us = 10.0;
constexpr double assumed_random_efficiency = 0.3;  // 32 B sectors out of 64 to 128 B bursts
constexpr double assumed_gemm_efficiency = 0.25;   // products with a side of a few columns
// Spread between machines of one class where one machine only was measured.
constexpr double assumed_discrepancy = 0.5;

std::array<double, 5> row_of(const CodecTiming& timing) {
  const double kernels = std::max(timing.kernels, 1.0);
  const Bytes inside = std::min(timing.bytes, timing.l2 * kernels);
  const auto microseconds = [&](Bytes traffic) { return traffic / timing.memory_bandwidth / 1_us; };
  return {timing.dispatches, timing.kernels, microseconds(inside),
          microseconds(timing.bytes - inside), timing.host_syncs};
}

struct Solution {
  std::vector<Term> terms;
  Eigen::VectorXd values;
  Eigen::MatrixXd covariance;
  Eigen::VectorXd errors;  // relative
};

using Rows = std::vector<std::array<double, 5>>;

// Rows divided by their times, so that every row counts by its relative error.
Rows scaled_rows(const std::vector<CodecTiming>& timings) {
  Rows rows;
  for (const CodecTiming& timing : timings) {
    rows.push_back(row_of(timing));
    for (double& cell : rows.back()) {
      cell /= timing.time / 1_us;
    }
  }
  return rows;
}

Eigen::MatrixXd matrix_of(const Rows& rows, const std::vector<Term>& terms) {
  Eigen::MatrixXd matrix(static_cast<Eigen::Index>(rows.size()),
                         static_cast<Eigen::Index>(terms.size()));
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
      matrix(i, j) = rows[static_cast<std::size_t>(i)][terms[static_cast<std::size_t>(j)]];
    }
  }
  return matrix;
}

std::vector<Term> terms_present(const Rows& rows) {
  std::vector<Term> present;
  for (const Term term : {dispatch, launch, resident, beyond, sync}) {
    if (std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row[term] > 0.0; })) {
      present.push_back(term);
    }
  }
  return present;
}

Solution solve(const std::vector<CodecTiming>& timings) {
  Rows rows = scaled_rows(timings);
  std::vector<Term> terms = terms_present(rows);
  if (matrix_of(rows, terms).colPivHouseholderQr().rank() <
      static_cast<Eigen::Index>(terms.size())) {
    // Too few sizes to tell the two bandwidths apart: one for both.
    for (auto& row : rows) {
      row[beyond] += row[resident];
      row[resident] = 0.0;
    }
    terms = terms_present(rows);
  }
  const Eigen::MatrixXd design = matrix_of(rows, terms);
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(design.rows());
  Solution solution{terms, design.colPivHouseholderQr().solve(ones), {}, {}};
  solution.errors = design * solution.values - ones;
  const double freedom = std::max(1.0, static_cast<double>(design.rows() - design.cols()));
  solution.covariance =
      (design.transpose() * design).inverse() * (solution.errors.squaredNorm() / freedom);
  return solution;
}

// Of all rows, each once.
std::vector<std::string> names_of(const std::vector<CodecTiming>& timings,
                                  std::string CodecTiming::*name) {
  std::set<std::string> names;
  for (const CodecTiming& timing : timings) {
    names.insert(timing.*name);
  }
  return {names.begin(), names.end()};
}

// The constants of the law from the solution's terms; inverse efficiencies by first order.
class Constants {
 public:
  explicit Constants(const Solution& solution) : solution_(solution) {}

  [[nodiscard]] CodecConstant time(std::string_view name, Term term, double otherwise) const {
    const auto at = find(term);
    if (at < 0) {
      return {std::string(name), otherwise, 0.0, "assumed"};
    }
    return {std::string(name), solution_.values(at), std::sqrt(solution_.covariance(at, at)),
            "fit"};
  }

  [[nodiscard]] CodecConstant share(std::string_view name, Term term, Term otherwise) const {
    const auto own = find(term);
    const auto at = own < 0 ? find(otherwise) : own;
    const double value = 1.0 / solution_.values(at);
    return {std::string(name), value, value * value * std::sqrt(solution_.covariance(at, at)),
            "fit"};
  }

 private:
  [[nodiscard]] Eigen::Index find(Term term) const {
    const auto found = std::find(solution_.terms.begin(), solution_.terms.end(), term);
    return found == solution_.terms.end() ? -1 : found - solution_.terms.begin();
  }

  const Solution& solution_;
};

void record_quality(const std::vector<CodecTiming>& timings, const Solution& solution,
                    CodecFit& fit) {
  fit.rows = timings.size();
  fit.rms_error = std::sqrt(solution.errors.squaredNorm() / static_cast<double>(timings.size()));
  fit.largest_error = solution.errors.cwiseAbs().maxCoeff();
  std::set<double> machines;
  for (const CodecTiming& timing : timings) {
    fit.streams.include(timing.bytes / std::max(timing.kernels, 1.0));
    machines.insert(timing.memory_bandwidth.si);
  }
  const double between = machines.size() > 1 ? 0.0 : assumed_discrepancy;
  fit.relative_sd = std::hypot(fit.rms_error, between);
  for (std::size_t i = 0; i < solution.terms.size(); ++i) {
    fit.fitted.emplace_back(term_names[solution.terms[i]]);
    fit.covariance.emplace_back();
    for (std::size_t j = 0; j < solution.terms.size(); ++j) {
      fit.covariance[i].push_back(
          solution.covariance(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)));
    }
  }
}

CodecFit fit_class(Implementation implementation, const std::vector<CodecTiming>& timings) {
  CodecFit fit;
  fit.implementation = implementation;
  const Solution solution = solve(timings);
  const Constants constants(solution);
  fit.entries = names_of(timings, &CodecTiming::entry);
  fit.gpus = names_of(timings, &CodecTiming::gpu);
  fit.constants = {constants.time("dispatch", dispatch, 0.0),
                   constants.time("host_sync", sync, assumed_host_sync_us),
                   constants.share("resident_efficiency", resident, beyond),
                   constants.share("memory_efficiency", beyond, resident),
                   {"random_efficiency", assumed_random_efficiency, 0.0, "assumed"},
                   {"gemm_efficiency", assumed_gemm_efficiency, 0.0, "assumed"}};
  record_quality(timings, solution, fit);
  return fit;
}

}  // namespace

CodecLaw CodecFit::law() const {
  const auto value = [&](std::size_t index) { return constants[index].value; };
  return {value(0) * 1_us, value(1) * 1_us, value(2), value(3),
          value(4),        value(5),        streams,  relative_sd};
}

std::string_view name(Implementation implementation) {
  constexpr std::array<std::string_view, 3> names{"framework_ops", "library", "fused"};
  return names[static_cast<std::size_t>(implementation)];
}

std::vector<CodecFit> fit_codecs(std::span<const CodecTiming> timings) {
  std::vector<CodecFit> fits;
  for (const Implementation implementation :
       {Implementation::framework_ops, Implementation::library, Implementation::fused}) {
    std::vector<CodecTiming> own;
    std::copy_if(timings.begin(), timings.end(), std::back_inserter(own),
                 [&](const CodecTiming& t) { return t.implementation == implementation; });
    if (!own.empty()) {
      fits.push_back(fit_class(implementation, own));
    }
  }
  return fits;
}

}  // namespace payoff
