// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/chart.hpp"
#include "cli/chart_typed.hpp"
#include "cli/counted.hpp"
#include "cli/plot_labels.hpp"
#include "cli/plot_view.hpp"
#include "cli/table.hpp"
#include "model/units_text.hpp"
#include "study/codec_rate.hpp"

// `payoff plot --roofline`: bytes of gradient that a codec handles in a second, by their size,
// below what the memory of the GPU allows, and beside what the network does without a codec.

namespace payoff {
namespace {

constexpr Bytes smallest_message = 4_KiB;
constexpr Bytes largest_message = 1_GiB;
constexpr int points_per_octave = 2;

std::vector<Bytes> sizes() {
  std::vector<Bytes> result;
  const double octaves = std::log2(largest_message / smallest_message);
  for (int i = 0; i <= octaves * points_per_octave; ++i) {
    result.push_back(std::exp2(i / double{points_per_octave}) * smallest_message);
  }
  return result;
}

ChartAxis size_axis() {
  ChartAxis axis = span_axis(smallest_message.si, largest_message.si, {});
  axis.ticks.clear();
  for (Bytes tick = smallest_message; tick <= largest_message; tick *= 8) {
    axis.ticks.push_back(tick.si);
    axis.labels.push_back(exact_text(tick));
  }
  return axis;
}

Chart chart_of(const PreparedExperiment& job) {
  const Experiment& experiment = job.experiment();
  Chart chart;
  chart.title = fmt::format("Codecs on {}, {} of {}", experiment.cluster.gpu.name,
                            counted(experiment.layout.ranks(), "GPU"), experiment.cluster.name);
  chart.captions = {
      "One gradient, a square matrix, encoded and decoded alone: below the line of the all-reduce "
      "that "
      "takes longer than to send it as it is."};
  chart.x_label = "size of the gradient, uncompressed";
  chart.y_label = "gradient per second [GB/s]";
  chart.values = ChartValues::positive;
  chart.y_unit = 1e9;
  chart.x = size_axis();
  const Bandwidth roof = memory_roof(job);
  chart.base_label = fmt::format("memory: every byte once, {}", to_text(roof));
  chart.base = {{smallest_message.si, roof.si}, {largest_message.si, roof.si}};
  chart.rival.label =
      fmt::format("all-reduce of it over {}", counted(job.data_network().group().ranks, "rank"));
  for (const Bytes size : sizes()) {
    chart.rival.points.push_back({size.si, reduction_rate(job, size).si});
  }
  for (std::size_t plan = 1; plan < experiment.plans.size(); ++plan) {
    ChartCurve curve{experiment.plans[plan].label, {}, {}, {}, {}};
    for (const CodecRate& rate : codec_rates(job, plan, sizes())) {
      curve.points.push_back({rate.size.si, rate.rate().si});
    }
    if (!curve.points.empty()) {
      chart.curves.push_back(std::move(curve));
    }
  }
  return chart;
}

std::string codecs_csv(const PreparedExperiment& job) {
  std::string text =
      csv_line({"strategy", "size_bytes", "encode_seconds", "decode_seconds",
                "rate_bytes_per_second", "all_reduce_bytes_per_second", "memory_bytes_per_second"});
  const std::vector<CompressionPlan>& plans = job.experiment().plans;
  for (std::size_t plan = 1; plan < plans.size(); ++plan) {
    for (const CodecRate& rate : codec_rates(job, plan, sizes())) {
      text += csv_line({plans[plan].label, exact_number(rate.size.si), exact_number(rate.encode.si),
                        exact_number(rate.decode.si), exact_number(rate.rate().si),
                        exact_number(reduction_rate(job, rate.size).si),
                        exact_number(memory_roof(job).si)});
    }
  }
  return text;
}

}  // namespace

std::optional<PlotView> view_codecs(const ReadExperiment& read, const PlotRequest& request,
                                    Session& session) {
  const PreparedExperiment job(read.experiment);
  if (job.data_network().group().ranks < 2) {
    session.diagnostics().error(request.place, "no gradients are sent in this job", {},
                                "one replica has nobody to send them to");
    return std::nullopt;
  }
  const Chart chart = chart_of(job);
  if (chart.curves.empty()) {
    session.diagnostics().error(request.place, "no strategy compresses gradients", {},
                                "for example `--compress powersgd:rank=4`");
    return std::nullopt;
  }
  PlotView view;
  view.csv = codecs_csv(job);
  view.script = [chart](Picture picture, const std::string& output) {
    return gnuplot_script(chart, picture, output);
  };
  view.typed = [chart](const TypedForm& form) { return typed(chart, form); };
  return view;
}

}  // namespace payoff
