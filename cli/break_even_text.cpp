// SPDX-License-Identifier: Apache-2.0
#include "cli/break_even_text.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/interval_text.hpp"
#include "cli/table.hpp"
#include "model/units_text.hpp"
#include "study/job_axis.hpp"

namespace payoff {
namespace {

std::string time_text(Seconds time) { return to_text(time); }
std::string ratio_text(double ratio) { return significant(ratio); }
std::string count_text(int count) { return std::to_string(count); }

// Of updated weights the codec is in the optimizer's time, and has none of its own to tell.
std::string codec_text(const BreakEven& entry) {
  return entry.codec_time ? fmt::format("{} ({})", interval_text(*entry.codec_time, time_text),
                                        to_text(entry.codec_time_now))
                          : "not scanned";
}

std::string gpus_text(const BreakEven& entry) {
  if (!entry.gpus) {
    return "not scanned";
  }
  return interval_text(*entry.gpus, count_text) + possible_text(entry);
}

std::string wire_text(const BreakEven& entry) {
  return fmt::format(
      "{} ({})", entry.wire_ratio ? interval_text(*entry.wire_ratio, ratio_text) : "not scanned",
      significant(entry.wire_ratio_now));
}

template <typename T>
nlohmann::ordered_json set_json(const IntervalSet<T>& set, double unit_of_one(T)) {
  nlohmann::ordered_json json{{"scanned_low", unit_of_one(set.scanned_low)},
                              {"scanned_high", unit_of_one(set.scanned_high)},
                              {"no_difference", set.no_difference},
                              {"pays", nlohmann::ordered_json::array()}};
  for (const Interval<T>& interval : set.intervals) {
    json["pays"].push_back({{"low", unit_of_one(interval.low)},
                            {"high", unit_of_one(interval.high)},
                            {"open_low", interval.open_low},
                            {"open_high", interval.open_high}});
  }
  return json;
}

double si(Bandwidth bandwidth) { return bandwidth.si; }
double si(Seconds time) { return time.si; }
double si(double ratio) { return ratio; }
double si(int count) { return count; }

}  // namespace

std::string possible_text(const BreakEven& entry) {
  const bool pays = entry.gpus && !entry.gpus->never();
  return pays && entry.most_gpus ? fmt::format(" (possible up to {})", *entry.most_gpus) : "";
}

std::string break_even_table(const std::vector<BreakEven>& break_evens, const Payoff& payoff) {
  if (break_evens.empty()) {
    return {};
  }
  Table table({{"pays against the best remedy", Align::left},
               {"bandwidth of a NIC", Align::left},
               {"encode + decode (now)", Align::left},
               {"wire ratio (now)", Align::left},
               {"GPUs", Align::left},
               {"slack", Align::right}});
  for (const BreakEven& entry : break_evens) {
    const auto plan =
        std::find_if(payoff.plans.begin(), payoff.plans.end(),
                     [&](const PlanPayoff& other) { return other.label == entry.label; });
    const double slack = plan == payoff.plans.end() || !plan->prediction.memory.fits()
                             ? 0.0
                             : plan->against_remedy.convergence_slack_ratio();
    table.add({entry.label,
               entry.bandwidth ? interval_text(*entry.bandwidth, link_rate_text) : "no NIC is used",
               codec_text(entry), wire_text(entry), gpus_text(entry),
               slack > payoff.band ? percent_text(slack) : "none"});
  }
  return table.markdown() +
         "\nOne axis at a time, everything else as given, the remedy the best one at each value; "
         "slack: more iterations that convergence may take.\n";
}

std::string useful_bandwidth_sentence(const std::vector<BreakEven>& break_evens,
                                      const Experiment& experiment) {
  if (break_evens.empty() || !break_evens.front().useful_bandwidth) {
    return {};
  }
  const Bandwidth useful = *break_evens.front().useful_bandwidth;
  const Cluster& cluster = experiment.cluster;
  return fmt::format(
      "NICs of more than {} change nothing, since {} of a node carry no more: the scan of "
      "bandwidths ends there{}.",
      link_rate_text(useful),
      limit_beyond(experiment, useful) == NodeLimit::sockets ? "the sockets" : "the PCIe slots",
      cluster.nic > useful ? fmt::format(" (these have {})", link_rate_text(cluster.nic)) : "");
}

nlohmann::ordered_json break_even_json(const BreakEven& entry) {
  nlohmann::ordered_json json;
  json["bandwidth_bytes_per_second"] =
      entry.bandwidth ? set_json<Bandwidth>(*entry.bandwidth, si) : nlohmann::ordered_json(nullptr);
  json["useful_bandwidth_bytes_per_second"] =
      entry.useful_bandwidth ? nlohmann::ordered_json(entry.useful_bandwidth->si)
                             : nlohmann::ordered_json(nullptr);
  json["codec_seconds"] =
      entry.codec_time ? set_json<Seconds>(*entry.codec_time, si) : nlohmann::ordered_json(nullptr);
  json["codec_now_seconds"] = entry.codec_time_now.si;
  json["wire_ratio"] =
      entry.wire_ratio ? set_json<double>(*entry.wire_ratio, si) : nlohmann::ordered_json(nullptr);
  json["wire_ratio_now"] = entry.wire_ratio_now;
  json["gpus"] = entry.gpus ? set_json<int>(*entry.gpus, si) : nlohmann::ordered_json(nullptr);
  json["most_gpus"] =
      entry.most_gpus ? nlohmann::ordered_json(*entry.most_gpus) : nlohmann::ordered_json(nullptr);
  return json;
}

std::string break_even_clause(const BreakEven& entry) {
  std::string text;
  if (entry.bandwidth) {
    const IntervalSet<Bandwidth>& set = *entry.bandwidth;
    if (set.always()) {
      text = fmt::format("at every bandwidth from {} {} per NIC", link_rate_text(set.scanned_low),
                         entry.useful_bandwidth ? "on" : "to " + link_rate_text(set.scanned_high));
    } else if (set.never()) {
      text = set.no_difference ? "at no bandwidth more than at others" : "at no bandwidth";
    } else {
      text = interval_text(set, link_rate_text) + " per NIC";
    }
  }
  if (entry.codec_time && !entry.codec_time->never() && !entry.codec_time->always() &&
      entry.codec_time->intervals.size() == 1) {
    text += fmt::format("{}with {} of encoding and decoding (now {})", text.empty() ? "" : ", and ",
                        interval_text(*entry.codec_time, time_text), to_text(entry.codec_time_now));
  }
  return text;
}

}  // namespace payoff
