// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/import/foreign.hpp"
#include "profiles/import/json_values.hpp"

// What the readers of profiles/import/foreign.hpp share (internal to them).

namespace payoff::import_detail {

// "FastCopy<float>" gives fast_copy_float, as the schema wants names of kernels; empty: nothing is
// left.
[[nodiscard]] std::string kernel_name(std::string_view text);

// A point of which nothing is known but what every program means: one launch in a loop.
[[nodiscard]] SamplesPoint plain_point(Span place);

// A point that was there before.
struct RepeatedPoint {
  std::string title;
  Span place;
  Span first;
};

// Points in the order in which they came; the same point again is more samples of it.
class PointCollector {
 public:
  void add(SamplesPoint point);
  [[nodiscard]] const std::vector<RepeatedPoint>& repeats() const { return repeats_; }
  [[nodiscard]] std::vector<SamplesPoint> points() && { return std::move(points_); }

 private:
  std::vector<SamplesPoint> points_;
  std::vector<RepeatedPoint> repeats_;
  std::map<std::string, std::size_t> places_;  // by title
};

// One warning for all of them, where the program that wrote them does not repeat by itself.
void report_repeats(const std::vector<RepeatedPoint>& repeats, const SourceMap& sources,
                    Diagnostics& diagnostics);

[[nodiscard]] ForeignMeasurements read_google_benchmark(const Node& root, const SourceMap& sources,
                                                        Diagnostics& diagnostics);
[[nodiscard]] ForeignMeasurements read_nvbench(const Node& root, const SourceMap& sources,
                                               Diagnostics& diagnostics);
// Of its text, or of its JSON where there is a tree.
[[nodiscard]] ForeignMeasurements read_nccl(Span text, const Node* root, const SourceMap& sources,
                                            Diagnostics& diagnostics);
[[nodiscard]] ForeignMeasurements read_csv_samples(Span text, const SourceMap& sources,
                                                   Diagnostics& diagnostics);

}  // namespace payoff::import_detail
