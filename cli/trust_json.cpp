// SPDX-License-Identifier: Apache-2.0
#include "cli/trust_json.hpp"

#include <nlohmann/json.hpp>

#include "cli/names.hpp"

namespace payoff {

using Json = nlohmann::ordered_json;

Json trust_json(const Trust& trust) {
  Json json{
      {"numbers", trust.numbers}, {"assumed", Json::array()}, {"extrapolated", Json::array()}};
  for (const Fact& fact : trust.assumed) {
    json["assumed"].push_back(fact.path);
  }
  for (const MessageUse& use : trust.messages) {
    if (use.extrapolated) {
      json["extrapolated"].push_back({{"plan", use.plan},
                                      {"message", name_of(use.kind)},
                                      {"collective", name(use.collective)},
                                      {"smallest_bytes", use.smallest.si},
                                      {"largest_bytes", use.largest.si}});
    }
  }
  json["extrapolated_kernels"] = Json::array();
  for (const KernelUse& use : trust.kernels) {
    if (use.extrapolated()) {
      json["extrapolated_kernels"].push_back(to_json(use));
    }
  }
  json["extrapolated_pairs"] = Json::array();
  for (const PairUse& use : trust.pairs) {
    if (use.extrapolated()) {
      json["extrapolated_pairs"].push_back(to_json(use));
    }
  }
  return json;
}

}  // namespace payoff
