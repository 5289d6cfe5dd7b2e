// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "model/decimal_text.hpp"
#include "study/row_names.hpp"
#include "study/row_parts.hpp"

namespace payoff {
namespace {

// Identities of data sets of faces: Deng et al. 2018 (ArcFace, table 1; MS1MV2 is "emore"), An et
// al. 2021 (Partial FC, table 1).
constexpr std::array<std::pair<std::string_view, int>, 4> identities{
    {{"emore", 85742}, {"ms1mv2", 85742}, {"glint360k", 360232}, {"ms1mv3", 93431}}};

int classes_of(const TrainingModel& model) {
  for (const auto& words : {model.name, model.dataset, model.variant}) {
    const std::string bare = bare_name(words.value_or(""));
    for (const auto& [data, count] : identities) {
      if (bare.find(data) != std::string::npos) {
        return count;
      }
    }
  }
  return 0;
}

// The number in "Partial FC, sample_ratio = 0.1"; 1: all classes.
double sampled(const std::string& mode) {
  const auto at = mode.find_first_of("0123456789");
  const double share = at == std::string::npos ? 1.0 : detail::read_decimal(mode.substr(at)).number;
  return share > 0 && share <= 1 ? share : 1.0;
}

}  // namespace

// A class for each person. Each rank holds the whole matrix, whose gradient is summed like any
// other's, or a part of its columns, which it multiplies with the vectors of the samples of all
// ranks (model parallelism; Partial FC: with a share of them, drawn anew in each step). Such parts
// are summed by nobody; gathering 512 numbers a sample and two sums a sample are left out.
Workload RowReader::face_network(const std::string& name, const Training& training) const {
  std::vector<ConvnetRow> rows = catalogue_.convnets.at(name);
  const int classes = classes_of(row_.model);
  const std::string mode = row_.layout.mode.value_or("Data Parallelism");
  const bool whole = mode == "Data Parallelism";
  if (classes == 0) {
    reason("number of classes not stated");
  }
  if (!whole && !mode.starts_with("Model Parallelism") && !mode.starts_with("Partial FC")) {
    reason("classifier spread over ranks: " + mode);
  }
  const int ranks = whole ? 1 : row_.layout.dp.value_or(row_.cluster.gpus.value_or(1));
  ConvnetRow classifier{.name = "classifier", .op = ConvnetOperator::linear};
  classifier.in = rows.back().out;
  classifier.out = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(sampled(mode) * classes / static_cast<double>(ranks)));
  classifier.height = ranks;       // samples of all ranks for each of one's own
  ConvnetRow margin = classifier;  // cosines, margin, softmax
  margin.name = "margin";
  margin.op = ConvnetOperator::elementwise;
  margin.in = margin.out;
  rows.push_back(classifier);
  rows.push_back(margin);
  Workload workload =
      convnet_workload(row_.model.name.value_or(name), rows, activation_size(training.precision));
  if (!whole) {
    Layer& held = workload.layers.at(workload.layers.size() - 2);
    held.tables.weights = static_cast<double>(classifier.in) * classes / ranks * 4_B;
    held.tables.state = held.tables.weights;  // momentum
    held.parameters.clear();
  }
  return workload;
}

}  // namespace payoff
