// SPDX-License-Identifier: Apache-2.0
#include "tests/catalogue/methods.hpp"

#include "tests/catch.hpp"

namespace payoff::test {

const std::map<std::string, MethodProfile>& catalogue() {
  static const std::map<std::string, MethodProfile> all = [] {
    const Library library(PAYOFF_SOURCE_DIR "/profiles");
    SourceMap sources;
    Diagnostics diagnostics;
    const ReadContext context{library, sources, diagnostics};
    std::map<std::string, MethodProfile> read;
    for (const std::string& name : library.names(ProfileKind::compression)) {
      if (auto profile = read_method_profile(name, std::nullopt, context)) {
        read.emplace(name, std::move(*profile));
      }
    }
    INFO(render_text(diagnostics, sources));
    REQUIRE_FALSE(diagnostics.has_errors());
    return read;
  }();
  return all;
}

Method method(const std::string& name, const std::map<std::string, double>& parameters) {
  INFO("method " << name);
  Method found = catalogue().at(name).profile.value;
  for (const auto& [key, value] : parameters) {
    REQUIRE(found.parameters.count(key) == 1);
    found.parameters[key] = value;
  }
  return found;
}

Bytes sent(const Method& method, const std::vector<ParameterTensor>& tensors, Bytes element,
           const Workers& group, std::size_t round) {
  Bytes total;
  for (const ParameterTensor& tensor : tensors) {
    const CallCost cost = compress(method, {&tensor, 1}, element, group.all, group.in_node);
    total += cost.rounds.empty() ? cost.dense_message : cost.rounds.at(round).message;
  }
  return total;
}

CompressionPlan compressed(const Method& method, Traffic traffic, bool forward, bool backward,
                           const BlockRange& blocks) {
  CompressionPlan plan;
  plan.label = method.name;
  plan.activations.push_back({method, traffic, forward, backward, blocks});
  return plan;
}

Bytes sent(const Method& method, const std::vector<ParameterTensor>& tensors, Bytes element,
           const Workers& group) {
  Bytes total;
  for (const ParameterTensor& tensor : tensors) {
    const CallCost cost = compress(method, {&tensor, 1}, element, group.all, group.in_node);
    total += cost.dense_message;
    for (const RoundCost& round : cost.rounds) {
      total += round.message;
    }
  }
  return total;
}

}  // namespace payoff::test
