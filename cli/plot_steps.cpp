// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/plot_labels.hpp"
#include "cli/plot_view.hpp"
#include "cli/step_bars.hpp"
#include "cli/table.hpp"
#include "model/units_text.hpp"
#include "study/remedy.hpp"

// `payoff plot --waterfall`: where the time of a step goes, strategy by strategy.

namespace payoff {
namespace {

// Parts as a reader asks for them: those of one cause together. Each of Waterfall is in one.
struct Part {
  StepPart looks;
  std::string column;
  Seconds (*time)(const Waterfall&);
};

// Computing in greys and blues, codecs in orange, communication in reds and greens, waiting pale:
// colours of Okabe and Ito 2008 and shades of them, neighbours of different lightness.
const std::vector<Part>& all_parts() {
  static const std::vector<Part> parts = {
      {{"forward, recomputation", "#0072b2", 'f'},
       "forward",
       [](const Waterfall& w) { return w.forward + w.recompute; }},
      {{"backward", "#56b4e9", 'b'}, "backward", [](const Waterfall& w) { return w.backward; }},
      {{"slowed by what runs beside", "#b3dcf5", 's'},
       "interference",
       [](const Waterfall& w) { return w.interference; }},
      {{"optimizer, host, copies into buckets", "#7f7f7f", 'o'},
       "optimizer_host_copies",
       [](const Waterfall& w) { return w.optimizer + w.host + w.bucket_copy; }},
      {{"encode", "#e69f00", 'e'}, "encode", [](const Waterfall& w) { return w.encode; }},
      {{"decode", "#f5d78e", 'd'}, "decode", [](const Waterfall& w) { return w.decode; }},
      {{"gradients, exposed", "#d55e00", 'G'},
       "exposed_dp",
       [](const Waterfall& w) { return w.exposed_dp; }},
      {{"tensor and context parallel, exposed", "#009e73", 'T'},
       "exposed_tp_cp",
       [](const Waterfall& w) { return w.exposed_tp + w.exposed_cp; }},
      {{"experts, exposed", "#cc79a7", 'E'},
       "exposed_ep",
       [](const Waterfall& w) { return w.exposed_ep; }},
      {{"pipeline sends, exposed", "#7fceb9", 'P'},
       "exposed_pp",
       [](const Waterfall& w) { return w.exposed_pp; }},
      {{"pipeline bubble", "#d9d9d9", '-'}, "bubble", [](const Waterfall& w) { return w.bubble; }},
      {{"latest host, data, checkpoint", "#404040", 'w'}, "overheads", [](const Waterfall& w) {
         return w.host_jitter + w.data_stall + w.checkpoint;
       }}};
  return parts;
}

struct Step {
  std::string label;
  Waterfall waterfall;
  double batches{1};  // of the job as given
};

std::vector<Step> steps_of(const ReadExperiment& read) {
  const PreparedExperiment prepared(read.experiment);
  std::vector<Step> steps;
  for (const CompressionPlan& plan : read.experiment.plans) {
    const bool given = steps.empty();
    steps.push_back({given ? "uncompressed" : plan.label, prepared.predict(plan).waterfall});
    if (given) {
      const Variant remedy = best_remedy(prepared, read.limits);
      if (!remedy.description.empty()) {
        steps.push_back({"best remedy", remedy.prediction.waterfall, remedy.batches});
      }
    }
  }
  return steps;
}

std::vector<double> times_of(const Step& step, const std::vector<Part>& parts) {
  std::vector<double> times;
  times.reserve(parts.size());
  for (const Part& part : parts) {
    times.push_back(part.time(step.waterfall).si / step.batches);
  }
  return times;
}

// Those that take time in any of the steps.
std::vector<Part> parts_of(const std::vector<Step>& steps) {
  std::vector<Part> parts;
  for (const Part& part : all_parts()) {
    for (const Step& step : steps) {
      if (part.time(step.waterfall) > 0_s) {
        parts.push_back(part);
        break;
      }
    }
  }
  return parts;
}

StepBars bars_of(const ReadExperiment& read, const std::vector<Step>& steps,
                 const std::vector<Part>& parts) {
  StepBars bars;
  bars.title = plot_title(read.experiment, {});
  bars.captions = {"Each bar is as long as a step: what overlaps is counted once."};
  const Variant remedy = best_remedy(read.experiment, read.limits);
  if (!remedy.description.empty()) {
    bars.captions.push_back("Best remedy: " + remedy.description +
                            (remedy.batches > 1.0 ? ", for one batch of the job as given." : "."));
  }
  if (const std::string note = memory_note(read.experiment); !note.empty()) {
    bars.captions.push_back(note);
  }
  for (const Part& part : parts) {
    bars.parts.push_back(part.looks);
  }
  const Seconds given = steps.front().waterfall.total();
  for (const Step& step : steps) {
    const Seconds time = step.waterfall.total() / step.batches;
    bars.bars.push_back({step.label, times_of(step, parts),
                         fmt::format("{}, {}x", to_text(time), significant(given / time))});
  }
  return bars;
}

std::string steps_csv(const std::vector<Step>& steps) {
  std::vector<std::string> header{"strategy", "step_seconds"};
  for (const Part& part : all_parts()) {
    header.push_back(part.column + "_seconds");
  }
  std::string text = csv_line(header);
  for (const Step& step : steps) {
    std::vector<std::string> line{step.label,
                                  exact_number(step.waterfall.total().si / step.batches)};
    for (const double time : times_of(step, all_parts())) {
      line.push_back(exact_number(time));
    }
    text += csv_line(line);
  }
  return text;
}

}  // namespace

PlotView view_steps(const ReadExperiment& read) {
  const std::vector<Step> steps = steps_of(read);
  const StepBars bars = bars_of(read, steps, parts_of(steps));
  PlotView view;
  view.csv = steps_csv(steps);
  view.script = [bars](Picture picture, const std::string& output) {
    return gnuplot_script(bars, picture, output);
  };
  view.typed = [bars](const TypedForm& form) { return typed(bars, form); };
  return view;
}

}  // namespace payoff
