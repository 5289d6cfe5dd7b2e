// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/compression.hpp"
#include "model/units.hpp"

// The time laws of codec kernels (CodecLaw), one for each implementation class, from published
// timings by least squares on relative errors. Every row is linear in the class's constants:
//   time = dispatches d + kernels t0 + resident / (e1 B) + beyond / (e2 B) + host_syncs s + F / r
// with B the memory bandwidth and traffic split at the L2 size as price_pass() splits it, F the
// arithmetic of products and r its rate. A constant that no row tells apart is left to a stated
// assumption; where sizes do not tell arithmetic from traffic, it is in the bandwidth. t0 is only
// there to keep launch time out of the efficiencies: prices take the GPU's own launch time.

namespace payoff {

struct CodecTiming {
  std::string entry;  // of tests/validation/kernels/codec_timings.csv
  std::string gpu;    // that it was measured on
  Implementation implementation{};
  Bandwidth memory_bandwidth{};
  Bytes l2{};
  double dispatches{};  // operators, where the host bounds the time
  double kernels{};
  double host_syncs{};
  Bytes bytes{};
  Seconds time{};
  Bytes sectors{};  // of 32 bytes, gathered or scattered, beside `bytes`; not in a class's own fit
  Flops flops{};    // of products
  double relative_sd{};  // of the time, where it is known
};

// One constant of a law: in us for times, a share for efficiencies.
struct CodecConstant {
  std::string name;
  double value{};
  double sd{};       // of the fit; zero where nothing was fitted
  std::string from;  // "fit" or "assumed"
  bool told{true};   // false: no row lies there, and it is the other side of the cache's
};

struct CodecFit {
  Implementation implementation{};
  std::vector<CodecConstant> constants;         // of CodecLaw, in its order
  std::vector<std::string> fitted;              // as solved for: times in us, inverse efficiencies
  std::vector<std::vector<double>> covariance;  // of `fitted`
  std::vector<std::string> entries;             // of the rows, sorted
  std::vector<std::string> gpus;                // that they were measured on, sorted
  std::size_t rows{};
  double rms_error{};       // relative
  double largest_error{};   // relative
  FitRange<Bytes> streams;  // traffic of a kernel in the rows
  double relative_sd{};
  std::vector<double> values;                 // of `fitted`
  std::optional<CodecConstant> product_rate;  // in TFLOP/s, where rows have arithmetic
  FitRange<Flops> products;                   // of the rows

  [[nodiscard]] CodecLaw law() const;
};

// One fit for each of the three classes, in their order. Rows of a class that determine nothing
// (none at all) leave assumptions only.
[[nodiscard]] std::vector<CodecFit> fit_codecs(std::span<const CodecTiming> timings);

// What share of the memory bandwidth scattered sectors reach: the rest of the time of `timings`,
// once `streaming`, the law of their class, has taken its own, by least squares on relative errors.
// Nothing where nothing is left, or from fewer than two timings.
[[nodiscard]] std::optional<CodecConstant> fit_sectors(std::span<const CodecTiming> timings,
                                                       const CodecFit& streaming);

// profiles/fitted/codecs.yaml. `citations` names every entry of the timings.
[[nodiscard]] std::string codec_profile(const std::vector<CodecFit>& fits,
                                        const std::map<std::string, std::string>& citations);

}  // namespace payoff
