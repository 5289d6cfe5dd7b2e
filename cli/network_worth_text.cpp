// SPDX-License-Identifier: Apache-2.0
#include "cli/network_worth_text.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/table.hpp"
#include "model/units_text.hpp"
#include "study/network_worth.hpp"

namespace payoff {
namespace {

using Json = nlohmann::ordered_json;

std::vector<NetworkWorth> worths_of(const PredictionReport& report) {
  const Experiment& experiment = report.read.experiment;
  return network_worths(experiment, report.payoff, report.break_evens,
                        {report.training.tokens.value_or(0.0),
                         price_of(experiment, report.training), *report.training.usd_per_gbps});
}

std::string rounded(double usd) { return number_text(usd) + " USD"; }

std::string saved_text(const NetworkWorth& worth, bool priced) {
  return priced ? fmt::format("{} ({} to {})", rounded(worth.saved_usd),
                              number_text(worth.saved_low_usd), number_text(worth.saved_high_usd))
                : "no price";
}

}  // namespace

std::string network_worth_text(const PredictionReport& report) {
  if (!report.training.usd_per_gbps) {
    return {};
  }
  const Cluster& cluster = report.read.experiment.cluster;
  const std::vector<NetworkWorth> worths = worths_of(report);
  if (std::none_of(worths.begin(), worths.end(),
                   [](const NetworkWorth& w) { return w.pays_now; })) {
    return fmt::format(
        "\nNo strategy beats the best remedy on NICs of {}: no network need be bought to make "
        "compression pointless.\n",
        link_rate_text(cluster.nic));
  }
  const bool priced = price_of(report.read.experiment, report.training) > Price{};
  Table table({{"compression is pointless", Align::left},
               {"NICs from", Align::right},
               {"more line rate", Align::right},
               {"costs", Align::right},
               {"a training saves (90 %)", Align::right},
               {"as much as", Align::right}});
  for (const NetworkWorth& worth : worths) {
    if (!worth.pays_now) {
      continue;
    }
    const bool ends = worth.pointless_from.has_value();
    table.add({worth.label, ends ? link_rate_text(*worth.pointless_from) : "never",
               ends ? link_rate_text(worth.added) : "", ends ? rounded(worth.network_usd) : "",
               saved_text(worth, priced),
               worth.trainings ? number_text(*worth.trainings) + " trainings" : ""});
  }
  return fmt::format(
      "\n{}\nNICs are {} now. The network costs {} USD for each Gb/s of a NIC (--network-price), "
      "once; a training saves the price of the nodes for the time that it is shorter than with "
      "the best remedy.\n",
      table.markdown(), link_rate_text(cluster.nic), number_text(*report.training.usd_per_gbps));
}

Json network_worth_json(const PredictionReport& report) {
  if (!report.training.usd_per_gbps) {
    return nullptr;
  }
  Json json{{"gigabit_per_second_usd", *report.training.usd_per_gbps}, {"plans", Json::array()}};
  const auto rate = [](const std::optional<Bandwidth>& value) {
    return value ? Json(value->si) : Json(nullptr);
  };
  for (const NetworkWorth& worth : worths_of(report)) {
    json["plans"].push_back(
        {{"label", worth.label},
         {"pays_now", worth.pays_now},
         {"pointless_from_bytes_per_second", rate(worth.pointless_from)},
         {"added_bytes_per_second", worth.added.si},
         {"network_usd", worth.network_usd},
         {"saved_usd", worth.saved_usd},
         {"saved_low_usd", worth.saved_low_usd},
         {"saved_high_usd", worth.saved_high_usd},
         {"trainings", worth.trainings ? Json(*worth.trainings) : Json(nullptr)}});
  }
  return json;
}

}  // namespace payoff
