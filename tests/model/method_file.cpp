// SPDX-License-Identifier: Apache-2.0
#include "tests/model/method_file.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include <yaml-cpp/yaml.h>

#include "tests/catch.hpp"

namespace method_file {
namespace {

using namespace payoff;

const std::filesystem::path folder{PAYOFF_SOURCE_DIR "/profiles/compression"};

template <typename Enum>
Enum choice(const YAML::Node& node, const std::map<std::string, Enum>& table) {
  const auto found = table.find(node.as<std::string>());
  REQUIRE(found != table.end());
  return found->second;
}

// Reads the formulas of one file.
class Formulas {
 public:
  Formulas(const YAML::Node& root, const std::map<std::string, double>& parameters)
      : names_(formula_names(parameters)) {
    for (const auto& entry : root["where"]) {
      where.push_back(parse(entry.second));
      names_.push_back(entry.first.as<std::string>());
    }
  }

  std::vector<Expression> where;

  [[nodiscard]] Expression parse(const YAML::Node& node) const {
    if (!node) {
      return {};
    }
    const auto text = node.as<std::string>();
    auto result = Expression::parse(text, names_);
    INFO(text << ": " << (result.errors.empty() ? "" : result.errors[0].message));
    REQUIRE(result.errors.empty());
    return result.expression;
  }

  [[nodiscard]] PassFormula pass(const YAML::Node& node) const {
    if (!node) {
      return {};
    }
    return {
        parse(node["bytes"]),       parse(node["random_bytes"]),
        parse(node["flops"]),       parse(node["kernels"]),
        parse(node["host_syncs"]),  parse(node["host_seconds"]),
        parse(node["block_bytes"]), node["runs_on"] && node["runs_on"].as<std::string>() == "host",
        parse(node["copied"])};
  }

 private:
  std::vector<std::string> names_;
};

YAML::Node root_of(const std::string& name) {
  return YAML::LoadFile((folder / (name + ".yaml")).string());
}

}  // namespace

Method load(const std::string& name, const std::map<std::string, double>& parameters) {
  INFO("method " << name);
  const YAML::Node root = root_of(name);
  Method method;
  method.name = root["method"].as<std::string>();
  method.implementation = choice<Implementation>(root["implementation"],
                                                 {{"framework_ops", Implementation::framework_ops},
                                                  {"library", Implementation::library},
                                                  {"fused", Implementation::fused}});
  method.granularity = choice<Granularity>(
      root["granularity"], {{"tensor", Granularity::tensor}, {"bucket", Granularity::bucket}});
  method.matrices_only = root["matrices_only"].as<bool>();
  method.sums_in_collective = root["sums_in_collective"].as<bool>();
  method.elementwise = root["elementwise"].as<bool>(false);
  for (const auto& entry : root["parameters"]) {
    method.parameters[entry.first.as<std::string>()] = entry.second["default"].as<double>();
  }
  for (const auto& [key, value] : parameters) {
    REQUIRE(method.parameters.count(key) == 1);
    method.parameters[key] = value;
  }
  const Formulas formulas(root, method.parameters);
  method.where = formulas.where;
  for (const auto& round : root["rounds"]) {
    method.rounds.push_back(
        {formulas.pass(round["encode"]),
         choice<Collective>(round["collective"], {{"all_reduce", Collective::all_reduce},
                                                  {"all_gather", Collective::all_gather},
                                                  {"broadcast", Collective::broadcast},
                                                  {"reduce", Collective::reduce},
                                                  {"all_to_all", Collective::all_to_all},
                                                  {"reduce_scatter", Collective::reduce_scatter},
                                                  {"send_recv", Collective::send_recv}}),
         formulas.parse(round["message"]),
         choice<Among>(round["among"] ? round["among"] : YAML::Node("all"),
                       {{"all", Among::all}, {"node", Among::node}, {"nodes", Among::nodes}})});
  }
  if (const YAML::Node host = root["host"]) {
    constexpr double core = 6e9;  // bytes a second, of any size: formulas do not depend on it
    method.host = HostCodec{{}, Bandwidth{core}, Bandwidth{core}, 1, 0};
  }
  method.decode = formulas.pass(root["decode"]);
  method.dense = formulas.pass(root["dense"]);
  method.worth = formulas.parse(root["worth"]);
  method.fits = formulas.parse(root["fits"]);
  method.state_bytes = formulas.parse(root["state"]);
  method.wire = {formulas.parse(root["wire"]["as_published"]),
                 formulas.parse(root["wire"]["as_implemented"])};
  return method;
}

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") {
      found.push_back(entry.path().stem().string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string wire_used(const std::string& name) {
  return root_of(name)["wire"]["used"].as<std::string>();
}

}  // namespace method_file
