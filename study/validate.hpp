// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/import/split.hpp"

// Predicted against measured, case by case and in summary. A case that cannot be predicted counts
// as unsupported and keeps its reasons. Errors are relative to the measured value; the halves of
// the split (tests/validation/README.md) are never summed up together, because one of them was
// fitted. Medians and percentiles interpolate between order statistics (study/draws.hpp).

namespace payoff {

enum class CaseKind { collective, step, compression };
inline constexpr int case_kind_count = 3;
[[nodiscard]] std::string_view name(CaseKind kind);

// What a compression case says: faster or not, outside the noise of measuring.
enum class Call { none, pays, does_not, within_noise };
[[nodiscard]] std::string_view name(Call call);

// A class of sizes or scales; `order` sorts the classes of one kind.
struct Band {
  int order{};
  std::string text;
  auto operator<=>(const Band&) const = default;
};

// What another predictor says about the same case: NCCL's tuner, the model of a paper.
struct Rival {
  std::string name;
  double predicted{};
  Call call{Call::none};
};

// What a case ran on and with, as far as its source says so: names of profiles.
struct CaseSubject {
  std::string gpu;
  std::string fabric;
  std::string network;  // empty: of one node
  std::string software;
  std::string method;   // of compression
  std::string call;     // of a collective: "all_reduce, ring, simple"
  std::string program;  // of nccl-tests, which measures that collective
  int gpus{};
  int nodes{};
};

struct ValidationCase {
  std::string id;
  std::string source;
  std::string system;  // as in the split
  CaseKind kind{};
  Half half{Half::none};
  Band size;
  Band scale;
  std::string unit;  // "s", or "1" for ratios
  std::optional<double> predicted;
  double low{};  // of the 90 % interval
  double high{};
  std::optional<double> measured;
  std::vector<std::string> reasons;      // why there is no prediction
  std::vector<std::string> assumptions;  // what the source does not state
  Call predicted_call{Call::none};
  Call measured_call{Call::none};
  std::vector<Rival> rivals;
  // Seconds of the predicted step (of a speedup: of the compressed step) or collective by the terms
  // of its waterfall, without those that are zero.
  std::vector<std::pair<std::string, double>> terms;
  CaseSubject subject;

  [[nodiscard]] bool scored() const { return predicted && measured; }
  [[nodiscard]] double error() const { return *predicted / *measured - 1.0; }
  [[nodiscard]] bool covered() const { return *measured >= low && *measured <= high; }
};

// A measured speedup is called only outside `noise` of 1; a predicted one by its probability.
[[nodiscard]] Call call_of_measured(double speedup, double noise = 0.05);
[[nodiscard]] Call call_of_predicted(double probability);

struct ErrorStatistics {
  std::size_t count{};
  double median{};  // of |error|
  double p95{};
  double bias{};  // median of the signed error
};

// Compression: share of the cases outside the noise that are not called, and the mean of the shares
// of right calls among those that pay and those that do not; nullopt where either class is empty.
struct CallStatistics {
  std::size_t callable{};
  double abstention{};
  std::optional<double> balanced_accuracy;
};

struct RivalSummary {
  std::string name;
  ErrorStatistics errors;
  double ours_median{};  // of |error|, on the cases that the rival predicts
  CallStatistics calls;
};

struct ValidationSummary {
  CaseKind kind{};
  Half half{Half::none};
  Band group;  // empty: all cases of the kind and half
  std::size_t cases{};
  std::size_t unsupported{};
  ErrorStatistics errors;
  double coverage{};  // share of the measured values inside the 90 % interval
  CallStatistics calls;
  std::vector<RivalSummary> rivals;  // by name
};

enum class GroupBy { nothing, source, size, scale };

// One for each kind, half and group, in this order; halves: judge, fit, others.
[[nodiscard]] std::vector<ValidationSummary> summarise(const std::vector<ValidationCase>& cases,
                                                       GroupBy by);

struct ReasonCount {
  CaseKind kind{};
  std::string reason;
  std::size_t cases{};
};

// Why cases are unsupported, the most frequent reason first; a case with several counts for each.
// Reasons that differ in a number only count together, the number printed as `N`.
[[nodiscard]] std::vector<ReasonCount> count_reasons(const std::vector<ValidationCase>& cases);

// The scored cases with the largest |ln(predicted / measured)|, the worst first; ties by id.
[[nodiscard]] std::vector<const ValidationCase*> worst_cases(
    const std::vector<ValidationCase>& cases, CaseKind kind, Half half, std::size_t count);

}  // namespace payoff
