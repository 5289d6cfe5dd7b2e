// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_row.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/sweep_extrapolation.hpp"

namespace payoff {
namespace {

using Columns = std::array<double, RowWriter::column_count>;

// In the order of a line: what step_json() calls them.
constexpr std::array<std::string_view, RowWriter::column_count> row_columns{
    R"(,"step_seconds":)",
    R"(,"samples_per_second":)",
    R"(,"forward_seconds":)",
    R"(,"recompute_seconds":)",
    R"(,"backward_seconds":)",
    R"(,"interference_seconds":)",
    R"(,"encode_seconds":)",
    R"(,"decode_seconds":)",
    R"(,"bucket_copy_seconds":)",
    R"(,"exposed_tp_seconds":)",
    R"(,"exposed_cp_seconds":)",
    R"(,"exposed_ep_seconds":)",
    R"(,"exposed_pp_seconds":)",
    R"(,"exposed_dp_seconds":)",
    R"(,"bubble_seconds":)",
    R"(,"optimizer_seconds":)",
    R"(,"host_seconds":)",
    R"(,"host_jitter_seconds":)",
    R"(,"data_stall_seconds":)",
    R"(,"checkpoint_seconds":)",
    R"(,"dp_communication_seconds":)",
    R"(,"hidden_dp_seconds":)",
    R"(,"dp_bytes":)",
    R"(,"tp_bytes":)",
    R"(,"cp_bytes":)",
    R"(,"ep_bytes":)",
    R"(,"pp_bytes":)",
    R"(,"memory_bytes":)",
    R"(,"speedup":)",
};
// Of the job's overheads: where there are any.
constexpr std::size_t first_overhead = 17;
constexpr std::size_t end_of_overheads = 20;

Columns columns_of(const StepPrediction& p, const RowNumbers& numbers) {
  const Waterfall& w = p.waterfall;
  return {p.step.si,
          numbers.samples / p.step.si,
          w.forward.si,
          w.recompute.si,
          w.backward.si,
          w.interference.si,
          w.encode.si,
          w.decode.si,
          w.bucket_copy.si,
          w.exposed_tp.si,
          w.exposed_cp.si,
          w.exposed_ep.si,
          w.exposed_pp.si,
          w.exposed_dp.si,
          w.bubble.si,
          w.optimizer.si,
          w.host.si,
          w.host_jitter.si,
          w.data_stall.si,
          w.checkpoint.si,
          p.dp_communication.si,
          p.hidden_dp.si,
          p.dp_bytes.si,
          p.tp_bytes.si,
          p.cp_bytes.si,
          p.ep_bytes.si,
          p.pp_bytes.si,
          p.memory.total().si,
          numbers.speedup};
}

}  // namespace

RowWriter::RowWriter(const SweepQuestion& question) : rows_(question.strategies.size()) {
  const std::vector<SweepAxis>& axes = question.design.axes();
  // As axes_json() has them: all but the number of the job and the ends of the line.
  std::vector<std::size_t> values(axes.size(), 0);
  for (std::size_t a = 0; a < axes.size(); ++a) {
    std::vector<std::string>& texts = axis_texts_.emplace_back();
    for (values[a] = 0; values[a] < axes[a].values.size(); ++values[a]) {
      const auto json = axes_json(question, 0, values);
      const auto item = std::next(json.begin(), static_cast<std::ptrdiff_t>(a) + 1);
      texts.push_back(
          fmt::format(",{}:{}", nlohmann::ordered_json(item.key()).dump(), item.value().dump()));
    }
    values[a] = 0;
  }
  for (const std::string& strategy : question.strategies) {
    strategies_.push_back(",\"strategy\":" + nlohmann::ordered_json(strategy).dump());
  }
}

bool RowWriter::is_own_key(std::string_view key) {
  constexpr std::array<std::string_view, 5> others{"job", "gpus", "strategy", "status", "reason"};
  const std::string column = fmt::format(",\"{}\":", key);
  return std::find(others.begin(), others.end(), key) != others.end() ||
         std::find(row_columns.begin(), row_columns.end(), column) != row_columns.end() ||
         extrapolated_text({}).find(column) != std::string::npos;
}

void RowWriter::begin(std::uint64_t job, const std::vector<std::size_t>& values) {
  job_.clear();
  fmt::format_to(std::back_inserter(job_), "{{\"job\":{}", job);
  for (std::size_t a = 0; a < values.size(); ++a) {
    job_ += axis_texts_[a][values[a]];
  }
}

void RowWriter::add(std::size_t strategy, const StepPrediction& prediction,
                    const RowNumbers& numbers, std::string& lines) {
  lines += job_;
  fmt::format_to(std::back_inserter(lines), ",\"gpus\":{}", numbers.gpus);
  lines += strategies_[strategy];
  lines += prediction.memory.fits() ? R"(,"status":"fits","reason":null)"
                                    : R"(,"status":"does not fit","reason":null)";
  const Columns values = columns_of(prediction, numbers);
  Row& row = rows_[strategy];
  for (std::size_t c = 0; c < values.size(); ++c) {
    const bool overhead = c >= first_overhead && c < end_of_overheads;
    if (overhead && !(values[c] > 0.0)) {
      continue;
    }
    lines += row_columns[c];
    add_number(values[c], row[c], lines);
  }
  lines += numbers.extrapolated;
  lines += "}\n";
}

void RowWriter::add_impossible(std::size_t strategy, std::string_view reason,
                               std::string& lines) const {
  lines += job_;
  lines += strategies_[strategy];
  lines += R"(,"status":"impossible","reason":)";
  lines += reason;
  lines += "}\n";
}

// As nlohmann's dump() writes it. Bits are compared: of zeros there are two.
void RowWriter::add_number(double value, Number& known, std::string& lines) {
  if (std::bit_cast<std::uint64_t>(value) != std::bit_cast<std::uint64_t>(known.value)) {
    known.value = value;
    char* const begin = known.text.data();
    if (std::isfinite(value)) {
      const char* const end = nlohmann::detail::to_chars(begin, begin + known.text.size(), value);
      known.size = static_cast<std::uint8_t>(end - begin);
    } else {
      constexpr std::string_view null = "null";
      std::copy(null.begin(), null.end(), begin);
      known.size = static_cast<std::uint8_t>(null.size());
    }
  }
  lines.append(known.text.data(), known.size);
}

}  // namespace payoff
