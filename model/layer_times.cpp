// SPDX-License-Identifier: Apache-2.0
#include "model/layer_times.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace payoff {
namespace {

bool is_of(const LayerTime& time, const ParallelLayout& layout) {
  return time.micro_batch == layout.micro_batch && time.tp == layout.tp && time.cp == layout.cp &&
         time.ep == layout.ep && time.etp == layout.etp;
}

// Of a measured time, or of a layout.
template <typename Sizes>
std::string sizes_text(const Sizes& of) {
  std::string text =
      "micro-batch " + std::to_string(of.micro_batch) + ", tp " + std::to_string(of.tp);
  text += of.cp > 1 ? ", cp " + std::to_string(of.cp) : "";
  text += of.ep > 1 ? ", ep " + std::to_string(of.ep) : "";
  return text + (of.etp > 1 ? ", etp " + std::to_string(of.etp) : "");
}

// Each once, in the order of the file.
std::string measured_sizes(const LayerTimes& times, const std::string& layer) {
  std::vector<std::string> known;
  for (const LayerTime& time : times) {
    const std::string sizes = sizes_text(time);
    if (time.layer == layer && std::find(known.begin(), known.end(), sizes) == known.end()) {
      known.push_back(sizes);
    }
  }
  std::string text;
  for (const std::string& sizes : known) {
    text += (text.empty() ? "" : "; ") + sizes;
  }
  return text;
}

}  // namespace

Problems check_layer_times(const LayerTimes& times, const ParallelLayout& layout) {
  Problems problems;
  std::vector<std::string> asked;
  for (const LayerTime& time : times) {
    if (std::find(asked.begin(), asked.end(), time.layer) != asked.end()) {
      continue;
    }
    asked.push_back(time.layer);
    const bool fits = std::any_of(times.begin(), times.end(), [&](const LayerTime& other) {
      return other.layer == time.layer && is_of(other, layout);
    });
    if (!fits) {
      problems.push_back({"model.layer_times",
                          "`" + time.layer + "` was not measured at " + sizes_text(layout),
                          "measured: " + measured_sizes(times, time.layer)});
    }
  }
  return problems;
}

void use_layer_times(const LayerTimes& times, const ParallelLayout& layout, Workload& workload) {
  const auto time_of = [&](std::string_view layer) {
    return std::find_if(times.begin(), times.end(), [&](const LayerTime& time) {
      return time.layer == layer && is_of(time, layout);
    });
  };
  const auto of_blocks = time_of(every_block);
  for (Layer& layer : workload.layers) {
    const auto own = time_of(layer.name);
    const bool is_block = layer.recomputable && of_blocks != times.end();
    if (own != times.end() || is_block) {
      const LayerTime& time = own != times.end() ? *own : *of_blocks;
      layer.measured = MeasuredLayer{time.forward, time.backward};
    }
  }
}

}  // namespace payoff
