// SPDX-License-Identifier: Apache-2.0
#include "calibrate/codec_fit.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

namespace payoff {
namespace {

enum Term : std::size_t { dispatch, launch, resident, beyond, sync, arithmetic };
constexpr std::size_t term_count = 6;
constexpr std::array<std::string_view, term_count> term_names{
    "dispatch",  "launch",          "1 / resident_efficiency", "1 / memory_efficiency",
    "host_sync", "1 / product_rate"};
using Row = std::array<double, term_count>;

// What no published row of the fit half tells; marked `assumed` in the profile.
constexpr double assumed_host_sync_us = 10.0;
constexpr double assumed_random_efficiency = 0.3;  // 32 B sectors out of 64 to 128 B bursts
constexpr double assumed_gemm_efficiency = 0.25;   // products with a side of a few columns
// Spread between machines of one class where one machine only was measured.
constexpr double assumed_discrepancy = 0.5;

Row row_of(const CodecTiming& timing) {
  const double kernels = std::max(timing.kernels, 1.0);
  const Bytes inside = std::min(timing.bytes, timing.l2 * kernels);
  const auto microseconds = [&](Bytes traffic) { return traffic / timing.memory_bandwidth / 1_us; };
  return {timing.dispatches,    timing.kernels,
          microseconds(inside), microseconds(timing.bytes - inside),
          timing.host_syncs,    timing.flops / 1_TFLOPps / 1_us};
}

struct Solution {
  std::vector<Term> terms;
  Eigen::VectorXd values;
  Eigen::MatrixXd covariance;
  Eigen::VectorXd errors;  // relative
  bool is_merged{};        // one bandwidth for both sides of the cache
};

using Rows = std::vector<Row>;

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
  for (const Term term : {dispatch, launch, resident, beyond, sync, arithmetic}) {
    if (std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row[term] > 0.0; })) {
      present.push_back(term);
    }
  }
  return present;
}

bool is_determined(const Rows& rows, const std::vector<Term>& terms) {
  return matrix_of(rows, terms).colPivHouseholderQr().rank() ==
         static_cast<Eigen::Index>(terms.size());
}

Rows without_term(Rows rows, Term term) {
  for (Row& row : rows) {
    row[term] = 0.0;
  }
  return rows;
}

// `noise` is the relative deviation of a time where it is known: what the fit misses few rows by
// may be less by chance.
Solution solve(Rows rows, double noise, bool is_merged = false) {
  std::vector<Term> terms = terms_present(rows);
  if (terms.empty()) {  // times of nothing: no launch, no traffic, no arithmetic
    return {{}, {}, {}, -Eigen::VectorXd::Ones(static_cast<Eigen::Index>(rows.size())), is_merged};
  }
  // Arithmetic in a fixed ratio to traffic is in its bandwidth, where that is all that is wrong.
  if (terms.back() == arithmetic && !is_determined(rows, terms)) {
    Rows others = without_term(rows, arithmetic);
    if (is_determined(others, terms_present(others))) {
      return solve(std::move(others), noise);
    }
  }
  // Waits of the host in a fixed ratio to launches are in their time, where that is all.
  if (!is_determined(rows, terms)) {
    Rows others = without_term(rows, sync);
    if (is_determined(others, terms_present(others))) {
      return solve(std::move(others), noise);
    }
  }
  if (!is_determined(rows, terms)) {
    // Too few sizes to tell the two bandwidths apart: one for both.
    for (Row& row : rows) {
      row[beyond] += row[resident];
      row[resident] = 0.0;
    }
    is_merged = true;
    terms = terms_present(rows);
    for (const Term other : {arithmetic, sync}) {
      if (!is_determined(rows, terms)) {
        rows = without_term(std::move(rows), other);
        terms = terms_present(rows);
      }
    }
  }
  const Eigen::MatrixXd design = matrix_of(rows, terms);
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(design.rows());
  Solution solution{terms, design.colPivHouseholderQr().solve(ones), {}, {}, is_merged};
  if (terms.back() == arithmetic && !(solution.values(design.cols() - 1) > 0.0)) {
    // It takes no time of its own.
    return solve(without_term(std::move(rows), arithmetic), noise, is_merged);
  }
  solution.errors = design * solution.values - ones;
  const double freedom = std::max(1.0, static_cast<double>(design.rows() - design.cols()));
  const double variance = std::max(solution.errors.squaredNorm() / freedom, noise * noise);
  solution.covariance = (design.transpose() * design).inverse() * variance;
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
  Constants(const Solution& solution, bool all_beyond)
      : solution_(solution), all_beyond_(all_beyond) {}

  [[nodiscard]] CodecConstant time(std::string_view name, Term term, double otherwise) const {
    const auto at = find(term);
    if (at < 0) {
      return {std::string(name), otherwise, 0.0, "assumed"};
    }
    return {std::string(name), solution_.values(at), std::sqrt(solution_.covariance(at, at)),
            "fit"};
  }

  // In TFLOP/s; nothing where products take no time of their own.
  [[nodiscard]] std::optional<CodecConstant> rate(std::string_view name, Term term) const {
    const auto at = find(term);
    if (at < 0) {
      return std::nullopt;
    }
    const double value = 1.0 / solution_.values(at);
    return CodecConstant{std::string(name), value,
                         value * value * std::sqrt(solution_.covariance(at, at)), "fit"};
  }

  [[nodiscard]] CodecConstant share(std::string_view name, Term term, Term otherwise) const {
    const auto own = find(term);
    const auto at = own < 0 ? find(otherwise) : own;
    if (at < 0) {
      return {std::string(name), 0.0, 0.0, "assumed", false};
    }
    const double value = 1.0 / solution_.values(at);
    const double sd = value * value * std::sqrt(solution_.covariance(at, at));
    const bool is_own = own >= 0 && (!solution_.is_merged || all_beyond_);
    return {std::string(name), value, sd, "fit", is_own && value > 0.0 && sd < value};
  }

 private:
  [[nodiscard]] Eigen::Index find(Term term) const {
    const auto found = std::find(solution_.terms.begin(), solution_.terms.end(), term);
    return found == solution_.terms.end() ? -1 : found - solution_.terms.begin();
  }

  const Solution& solution_;
  bool all_beyond_;  // every row is: one bandwidth for both sides is that of memory
};

// Of the times of all rows, RMS.
double noise_of(const std::vector<CodecTiming>& timings) {
  double squares = 0.0;
  for (const CodecTiming& timing : timings) {
    squares += timing.relative_sd * timing.relative_sd;
  }
  return std::sqrt(squares / static_cast<double>(timings.size()));
}

void record_quality(const std::vector<CodecTiming>& timings, const Solution& solution,
                    CodecFit& fit) {
  fit.rows = timings.size();
  fit.rms_error = std::sqrt(solution.errors.squaredNorm() / static_cast<double>(timings.size()));
  fit.largest_error = solution.errors.cwiseAbs().maxCoeff();
  std::set<double> machines;
  for (const CodecTiming& timing : timings) {
    fit.streams.include(timing.bytes / std::max(timing.kernels, 1.0));
    if (timing.flops > Flops{}) {
      fit.products.include(timing.flops);
    }
    machines.insert(timing.memory_bandwidth.si);
  }
  const double between = machines.size() > 1 ? 0.0 : assumed_discrepancy;
  fit.relative_sd = std::hypot(fit.rms_error, between);
  for (std::size_t i = 0; i < solution.terms.size(); ++i) {
    fit.fitted.emplace_back(term_names.at(solution.terms[i]));
    fit.values.push_back(solution.values(static_cast<Eigen::Index>(i)));
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
  const Rows rows = scaled_rows(timings);
  const Solution solution = solve(rows, noise_of(timings));
  const Constants constants(solution, std::all_of(rows.begin(), rows.end(), [](const Row& row) {
                              return row[beyond] > 0.0;
                            }));
  fit.entries = names_of(timings, &CodecTiming::entry);
  fit.gpus = names_of(timings, &CodecTiming::gpu);
  fit.constants = {constants.time("dispatch", dispatch, 0.0),
                   constants.time("host_sync", sync, assumed_host_sync_us),
                   constants.share("resident_efficiency", resident, beyond),
                   constants.share("memory_efficiency", beyond, resident),
                   {"random_efficiency", assumed_random_efficiency, 0.0, "assumed"},
                   {"gemm_efficiency", assumed_gemm_efficiency, 0.0, "assumed"}};
  fit.product_rate = constants.rate("product_rate", arithmetic);
  record_quality(timings, solution, fit);
  return fit;
}

// By the terms of a fit, in us. Traffic on the side of the cache that it saw nothing of goes at the
// bandwidth of the other one, as in law().
double time_by(const CodecFit& fit, const Row& row) {
  Row inverse{};
  for (std::size_t i = 0; i < fit.fitted.size(); ++i) {
    const auto* term = std::find(term_names.begin(), term_names.end(), fit.fitted[i]);
    inverse.at(static_cast<std::size_t>(term - term_names.begin())) = fit.values[i];
  }
  if (inverse[resident] == 0.0) {
    inverse[resident] = inverse[beyond];
  } else if (inverse[beyond] == 0.0) {
    inverse[beyond] = inverse[resident];
  }
  return std::inner_product(row.begin(), row.end(), inverse.begin(), 0.0);
}

}  // namespace

CodecLaw CodecFit::law() const {
  const auto value = [&](std::size_t index) { return constants[index].value; };
  CodecLaw law{value(0) * 1_us, value(1) * 1_us, value(2), value(3),
               value(4),        value(5),        streams,  relative_sd};
  if (product_rate) {
    law.product_rate = product_rate->value * 1_TFLOPps;
    law.products = products;
  }
  return law;
}

// One unknown x = 1 / efficiency: of a timing, its own streaming share and what x has to take of
// the rest, both over its time.
std::optional<CodecConstant> fit_sectors(std::span<const CodecTiming> timings,
                                         const CodecFit& streaming) {
  if (timings.size() < 2) {
    return std::nullopt;
  }
  double squares = 0.0;
  double with_rest = 0.0;
  double rests = 0.0;
  for (const CodecTiming& timing : timings) {
    const double time = timing.time / 1_us;
    const double each = timing.sectors / timing.memory_bandwidth / 1_us / time;
    const double rest = 1.0 - time_by(streaming, row_of(timing)) / time;
    squares += each * each;
    with_rest += each * rest;
    rests += rest * rest;
  }
  if (with_rest <= 0.0) {
    return std::nullopt;
  }
  const double inverse = with_rest / squares;
  const double left = std::max(0.0, rests - inverse * with_rest);
  const double sd = std::sqrt(left / static_cast<double>(timings.size() - 1) / squares);
  return CodecConstant{"random_efficiency", 1.0 / inverse, sd / (inverse * inverse), "fit"};
}

std::vector<CodecFit> fit_codecs(std::span<const CodecTiming> timings) {
  std::vector<CodecFit> fits;
  for (const auto& known : implementation_names) {
    const Implementation implementation = known.second;
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
