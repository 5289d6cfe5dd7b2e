// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include <fmt/format.h>

#include "cli/import_parts.hpp"
#include "cli/import_report.hpp"
#include "cli/table.hpp"
#include "model/collective.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

constexpr double usual_noise = 0.02;  // of --observed, where nothing else is said

std::string us(double microseconds) { return significant(microseconds, 4); }

std::string head(const OneTrace& one) {
  const KinetoTrace& trace = one.trace;
  std::string text = trace.file;
  text += trace.gpu.empty() ? "" : ": " + trace.gpu;
  if (trace.rank >= 0) {
    text += fmt::format(", rank {}", trace.rank);
    text += trace.ranks > 0 ? fmt::format(" of {}", trace.ranks) : "";
  }
  text += trace.nccl_version.empty() ? "" : ", NCCL " + trace.nccl_version;
  text += fmt::format(", {} events", trace.events);
  if (one.timeline.devices > 1) {
    text += fmt::format("; {} GPUs, of which the steps are those of GPU {}, the busiest",
                        one.timeline.devices, one.timeline.device);
  }
  return text + "\n\n";
}

std::string steps_table(const OneTrace& one) {
  Table table({{"ms", Align::left},
               {"step", Align::right},
               {"compute", Align::right},
               {"hidden comm", Align::right},
               {"exposed comm", Align::right},
               {"idle", Align::right},
               {"on the host", Align::right}});
  for (std::size_t i = 0; i < std::min(one.timeline.steps.size(), most_table_rows); ++i) {
    const TracedStep& step = one.timeline.steps[i];
    table.add({step.name, milliseconds(step.wall), milliseconds(step.compute),
               milliseconds(step.hidden), milliseconds(step.exposed), milliseconds(step.idle),
               milliseconds(step.host)});
  }
  const bool ends_early = one.timeline.steps.size() > 1 && !one.timeline.steps.back().is_whole;
  const std::string last =
      ends_early ? "No next step ends the last one: it is no part of the measurement below.\n" : "";
  return table.markdown() + left_out_rows(one.timeline.steps.size(), "more steps") + last + "\n";
}

std::string streams_table(const OneTrace& one) {
  Table table({{"stream", Align::left},
               {"events", Align::right},
               {"of comm", Align::right},
               {"from first to last [ms]", Align::right},
               {"busy", Align::right},
               {"overlap", Align::right},
               {"idle", Align::right},
               {"of which not launched", Align::right}});
  for (std::size_t i = 0; i < std::min(one.timeline.streams.size(), most_table_rows); ++i) {
    const TracedStream& stream = one.timeline.streams[i];
    table.add({fmt::format("GPU {}, {}", stream.device, stream.stream),
               std::to_string(stream.events), std::to_string(stream.communications),
               milliseconds(stream.span), milliseconds(stream.busy), milliseconds(stream.overlap),
               milliseconds(stream.idle), milliseconds(stream.late)});
  }
  return table.markdown() + left_out_rows(one.timeline.streams.size(), "more streams") + "\n";
}

double median_us(const std::vector<std::int64_t>& nanoseconds) {
  std::vector<double> times;
  times.reserve(nanoseconds.size());
  for (const std::int64_t time : nanoseconds) {
    times.push_back(static_cast<double>(time) / 1e3);
  }
  return median(std::move(times));
}

std::string bus_rate(const TraceMessage& message, double time_us) {
  if (message.times.empty() || time_us <= 0.0) {
    return "";
  }
  const double rate = message.size / 1_GB / (time_us / 1e6);
  return significant(rate * bus_factor(message.collective, message.ranks));
}

std::string messages_table(const OneTrace& one) {
  std::vector<const TraceMessage*> messages;
  messages.reserve(one.trace.messages.size());
  for (const TraceMessage& message : one.trace.messages) {
    messages.push_back(&message);
  }
  if (messages.empty()) {
    return "The trace does not say what its messages are (PyTorch does from 2.3 on).\n\n";
  }
  const auto volume = [](const TraceMessage* message) {
    return message->size * static_cast<double>(message->calls);
  };
  std::stable_sort(
      messages.begin(), messages.end(),
      [&](const TraceMessage* a, const TraceMessage* b) { return volume(a) > volume(b); });
  Table table({{"collective", Align::left},
               {"group", Align::left},
               {"ranks", Align::right},
               {"type", Align::left},
               {"size", Align::right},
               {"calls", Align::right},
               {"time [us]", Align::right},
               {"busbw [GB/s]", Align::right}});
  for (std::size_t i = 0; i < std::min(messages.size(), most_table_rows); ++i) {
    const TraceMessage& message = *messages[i];
    const double time = median_us(message.times);
    table.add({std::string(name(message.collective)), message.group, std::to_string(message.ranks),
               message.type, to_text(message.size), std::to_string(message.calls),
               message.times.empty() ? "" : us(time), bus_rate(message, time)});
  }
  return table.markdown() + left_out_rows(messages.size(), "smaller rows") + "\n";
}

std::string pass_text(const std::vector<Seconds>& passes) {
  std::vector<double> times;
  times.reserve(passes.size());
  for (const Seconds time : passes) {
    times.push_back(time / 1_us);
  }
  return passes.empty() ? "" : us(median(std::move(times)));
}

std::string layers_table(const TracedLayers& layers) {
  if (layers.layers.empty()) {
    return "No annotation is a layer by its name (`--layer FROM=TO` says which are).\n";
  }
  Table table({{"layer", Align::left},
               {"passes", Align::right},
               {"forward [us]", Align::right},
               {"backward [us]", Align::right}});
  for (const TracedLayer& layer : layers.layers) {
    table.add({layer.layer, fmt::format("{} + {}", layer.forward.size(), layer.backward.size()),
               pass_text(layer.forward), pass_text(layer.backward)});
  }
  return table.markdown() +
         fmt::format(
             "\nLayers are {} of what the GPU does beside communication; the rest has no "
             "annotation (optimizer, gradients' sums, copies).\n",
             percent_text(layers.all > 0_s ? layers.attributed / layers.all : 0.0));
}

// To the nanosecond or six digits, as the option reads it.
std::string written(Seconds time) {
  return time >= 10_ms ? fmt::format("{:.3f}ms", time / 1_ms)
                       : fmt::format("{:.3f}us", time / 1_us);
}

std::vector<TracedStep> measured_steps(const TraceTimeline& timeline) {
  std::vector<TracedStep> whole = timeline.steps;
  std::erase_if(whole, [](const TracedStep& step) { return !step.is_whole; });
  return timeline.streams.empty() || !timeline.has_steps ? std::vector<TracedStep>{} : whole;
}

// Standard deviation over mean.
double relative_spread(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0.0;
  for (const double value : values) {
    squares += (value - mean) * (value - mean);
  }
  return values.size() < 2 ? 0.0 : std::sqrt(squares / (count - 1.0)) / mean;
}

}  // namespace

std::string why_no_measurement(const TraceTimeline& timeline) {
  if (timeline.streams.empty()) {
    return "nothing runs on a GPU: profile with ProfilerActivity.CUDA";
  }
  if (!timeline.has_steps) {
    return "it has no steps: call profiler.step() after each one";
  }
  return measured_steps(timeline).empty()
             ? "no step of it is whole, as no next one ends it: profile two or more"
             : "";
}

std::optional<TracedJob> job_of(const TraceReport& report) {
  std::vector<double> all;
  std::vector<double> steps;
  std::vector<double> exposed;
  for (const OneTrace& one : report.traces) {
    std::vector<double> own;
    std::vector<double> own_exposed;
    for (const TracedStep& step : measured_steps(one.timeline)) {
      own.push_back(step.wall / 1_us);
      own_exposed.push_back(step.exposed / 1_us);
    }
    if (!own.empty()) {
      all.insert(all.end(), own.begin(), own.end());
      steps.push_back(median(std::move(own)));
      exposed.push_back(median(std::move(own_exposed)));
    }
  }
  const double step = median(std::move(steps));
  if (step <= 0.0) {
    return std::nullopt;
  }
  TracedJob job;
  job.step = step * 1_us;
  job.exposed = median(std::move(exposed)) * 1_us;
  job.spread = relative_spread(all);
  job.noise = usual_noise;
  job.observed = fmt::format("step={},exposed={}", written(job.step), written(job.exposed));
  if (job.spread > usual_noise && job.spread < 1.0) {
    job.noise = job.spread;
    job.observed += fmt::format(",noise={:.2g}%", 100.0 * job.spread);
  }
  return job;
}

std::string trace_text(const TraceReport& report) {
  std::string text;
  for (const OneTrace& one : report.traces) {
    text += head(one) + steps_table(one) + streams_table(one) + messages_table(one);
  }
  text += layers_table(report.layers);
  if (const auto job = job_of(report)) {
    text +=
        fmt::format("\nAs a measurement: payoff predict EXPERIMENT --observed {}\n", job->observed);
  }
  return text;
}

}  // namespace payoff
