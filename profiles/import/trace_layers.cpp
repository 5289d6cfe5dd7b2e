// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/trace_layers.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "profiles/import/trace_passes.hpp"
#include "profiles/import/trace_timeline.hpp"

namespace payoff {
namespace {

using import_detail::LayerPass;

struct Stretch {
  std::int64_t begin{};
  std::int64_t end{};
};

// When any of some events run.
class BusyTimes {
 public:
  explicit BusyTimes(std::vector<Stretch> events) {
    std::sort(events.begin(), events.end(),
              [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
    for (const Stretch& event : events) {
      if (!merged_.empty() && event.begin <= merged_.back().end) {
        merged_.back().end = std::max(merged_.back().end, event.end);
      } else {
        merged_.push_back(event);
      }
    }
    before_.reserve(merged_.size());
    std::int64_t sum = 0;
    for (const Stretch& each : merged_) {
      before_.push_back(sum);
      sum += each.end - each.begin;
    }
  }

  [[nodiscard]] std::int64_t within(std::int64_t begin, std::int64_t end) const {
    return until(end) - until(begin);
  }
  [[nodiscard]] const std::vector<Stretch>& stretches() const { return merged_; }

 private:
  [[nodiscard]] std::int64_t until(std::int64_t time) const {
    const auto after =
        std::upper_bound(merged_.begin(), merged_.end(), time,
                         [](std::int64_t t, const Stretch& each) { return t < each.begin; });
    if (after == merged_.begin()) {
      return 0;
    }
    const auto last = static_cast<std::size_t>(after - merged_.begin()) - 1;
    return before_[last] + std::min(time, merged_[last].end) - merged_[last].begin;
  }

  std::vector<Stretch> merged_;
  std::vector<std::int64_t> before_;
};

// Of one GPU: when it computes, and when its messages end.
struct OnDevice {
  BusyTimes compute;
  std::vector<std::int64_t> message_ends;  // sorted

  // The part of a gap that no message was waited for: what is idle in it after the last message
  // that ends there. One that goes on through the gap held nothing up.
  [[nodiscard]] std::int64_t launch_time(std::int64_t begin, std::int64_t end) const {
    const auto after = std::upper_bound(message_ends.begin(), message_ends.end(), end);
    const std::int64_t message = after == message_ends.begin() ? begin : *std::prev(after);
    const std::int64_t free = std::max(begin, message);
    return end - free - compute.within(free, end);
  }
};

std::map<int, OnDevice> devices_of(const KinetoTrace& trace) {
  std::map<int, std::pair<std::vector<Stretch>, std::vector<std::int64_t>>> events;
  for (const GpuEvent& event : trace.gpu_events) {
    auto& [compute, ends] = events[event.device];
    if (event.communicates) {
      ends.push_back(event.end);
    } else {
      compute.push_back({event.begin, event.end});
    }
  }
  std::map<int, OnDevice> devices;
  for (auto& [device, found] : events) {
    std::sort(found.second.begin(), found.second.end());
    devices.emplace(device, OnDevice{BusyTimes(std::move(found.first)), std::move(found.second)});
  }
  return devices;
}

// When its kernels run, and their launches in between.
std::int64_t time_of(std::vector<Stretch> kernels, const OnDevice& device) {
  const BusyTimes own(std::move(kernels));
  std::int64_t time = 0;
  std::optional<std::int64_t> end;
  for (const Stretch& stretch : own.stretches()) {
    time += stretch.end - stretch.begin;
    time += end ? device.launch_time(*end, stretch.begin) : 0;
    end = stretch.end;
  }
  return time;
}

std::optional<std::string> named_by(std::string_view annotation,
                                    const std::vector<LayerRule>& rules) {
  for (const LayerRule& rule : rules) {
    const std::size_t star = rule.from.find('*');
    if (star == std::string::npos) {
      if (annotation == rule.from) {
        return rule.to;
      }
      continue;
    }
    const std::string_view before = std::string_view(rule.from).substr(0, star);
    const std::string_view after = std::string_view(rule.from).substr(star + 1);
    if (annotation.size() > before.size() + after.size() && annotation.starts_with(before) &&
        annotation.ends_with(after)) {
      const std::string_view any =
          annotation.substr(before.size(), annotation.size() - before.size() - after.size());
      const std::size_t place = rule.to.find('*');
      return place == std::string::npos ? rule.to : std::string(rule.to).replace(place, 1, any);
    }
  }
  return std::nullopt;
}

using PassKey = std::pair<std::size_t, LayerPass>;  // of an instance

struct PassKernels {
  int device{};
  std::vector<Stretch> kernels;
};

TracedLayer& layer_named(const std::string& name, TracedLayers& layers,
                         std::map<std::string, std::size_t>& places) {
  const auto [place, is_new] = places.emplace(name, layers.layers.size());
  if (is_new) {
    layers.layers.push_back({name, {}, {}});
  }
  return layers.layers[place->second];
}

std::vector<double> numbers(const std::vector<Seconds>& times) {
  std::vector<double> values;
  values.reserve(times.size());
  for (const Seconds time : times) {
    values.push_back(time / 1_us);
  }
  return values;
}

}  // namespace

std::vector<LayerRule> usual_layer_rules() {
  return {{"embedding", "embedding"}, {"head", "head"}, {"block", "block"}, {"block *", "block *"}};
}

bool fits_table(std::string_view layer) {
  return !layer.empty() && layer.find_first_of(",\"\n\r") == std::string_view::npos;
}

std::optional<std::string> layer_of(std::string_view annotation,
                                    const std::vector<LayerRule>& rules) {
  std::optional<std::string> layer = named_by(annotation, rules);
  return layer && fits_table(*layer) ? layer : std::nullopt;
}

std::vector<std::string> unfit_annotations(const std::vector<std::string>& names,
                                           const std::vector<LayerRule>& rules) {
  std::vector<std::string> unfit;
  for (const std::string& name : names) {
    const std::optional<std::string> layer = named_by(name, rules);
    if (layer && !fits_table(*layer)) {
      unfit.push_back(name);
    }
  }
  return unfit;
}

TracedLayers layers_of(const KinetoTrace& trace, const std::vector<LayerRule>& rules) {
  const import_detail::TracePasses passes(trace, rules);
  std::map<PassKey, PassKernels> kernels;
  TracedLayers layers;
  for (std::size_t i = 0; i < trace.gpu_events.size(); ++i) {
    const GpuEvent& event = trace.gpu_events[i];
    if (event.communicates) {
      continue;
    }
    const Seconds time = static_cast<double>(event.end - event.begin) * 1_ns;
    layers.all += time;
    if (const auto pass = passes.of(i)) {
      layers.attributed += time;
      if (pass->second != LayerPass::recomputation) {
        PassKernels& own = kernels[*pass];
        own.device = event.device;
        own.kernels.push_back({event.begin, event.end});
      }
    }
  }
  const std::map<int, OnDevice> devices = devices_of(trace);
  std::map<std::string, std::size_t> places;
  for (auto& [key, own] : kernels) {
    const std::int64_t time = time_of(std::move(own.kernels), devices.at(own.device));
    TracedLayer& layer = layer_named(passes.layer(key.first), layers, places);
    (key.second == LayerPass::forward ? layer.forward : layer.backward)
        .push_back(static_cast<double>(time) * 1_ns);
  }
  return layers;
}

TracedLayers join(std::vector<TracedLayers> traces) {
  TracedLayers all;
  std::map<std::string, std::size_t> places;
  for (TracedLayers& trace : traces) {
    all.attributed += trace.attributed;
    all.all += trace.all;
    for (TracedLayer& layer : trace.layers) {
      TracedLayer& joined = layer_named(layer.layer, all, places);
      joined.forward.insert(joined.forward.end(), layer.forward.begin(), layer.forward.end());
      joined.backward.insert(joined.backward.end(), layer.backward.begin(), layer.backward.end());
    }
  }
  return all;
}

std::string layer_times_csv(const TracedLayers& layers, const LayerTimesAt& at) {
  std::string text = "layer,micro_batch,forward_us,backward_us,tp,cp,ep,etp\n";
  for (const TracedLayer& layer : layers.layers) {
    if (!layer.forward.empty() && !layer.backward.empty()) {
      text += fmt::format("{},{},{:.3f},{:.3f},{},{},{},{}\n", layer.layer, at.micro_batch,
                          median(numbers(layer.forward)), median(numbers(layer.backward)), at.tp,
                          at.cp, at.ep, at.etp);
    }
  }
  return text;
}

}  // namespace payoff
