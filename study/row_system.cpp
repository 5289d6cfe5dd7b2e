// SPDX-License-Identifier: Apache-2.0
#include "study/row_system.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/across_nodes.hpp"
#include "study/row_method.hpp"
#include "study/row_names.hpp"
#include "study/row_parts.hpp"

namespace payoff {
namespace {

// Profiles of methods that the cores of hosts run; empty: there is none.
struct HostProfiles {
  std::string_view method;
  std::string_view hosts;    // that send to each other
  std::string_view servers;  // that push to servers, and pull from them
};
constexpr std::array host_profiles{HostProfiles{"randomk", "randomk_host", "randomk_servers"},
                                   HostProfiles{"topk", "", "topk_servers"},
                                   HostProfiles{"dgc", "dgc_host", "dgc_servers"},
                                   HostProfiles{"onebit", "onebit_host", "onebit_servers"},
                                   HostProfiles{"1bit", "onebit_host", "onebit_servers"},
                                   HostProfiles{"signsgd", "efsignsgd_host", "onebit_servers"},
                                   HostProfiles{"efsignsgd", "efsignsgd_host", "onebit_servers"}};

const HostProfiles* host_profiles_of(const TrainingRow& row) {
  const std::string method = canonical_method(row.compression.method);
  const auto* found = std::find_if(host_profiles.begin(), host_profiles.end(),
                                   [&](const HostProfiles& each) { return each.method == method; });
  return found == host_profiles.end() ? nullptr : found;
}

bool names(const std::optional<std::string>& text, std::string_view bare) {
  return text && bare_name(*text).find(bare) != std::string::npos;
}

// Who made what compresses, as far as the row says it.
bool is_system(const TrainingRow& row, std::string_view bare) {
  return names(row.compression.system, bare) || names(row.compression.library, bare);
}

void add_plans(std::vector<CompressionPlan> plans, RowPlan& result) {
  if (!result.plan && !plans.empty()) {
    result.plan = std::move(plans.front());
    plans.erase(plans.begin());
  }
  std::move(plans.begin(), plans.end(), std::back_inserter(result.others));
}

// Servers beside the workers, or on machines of their own: of the plan, and of what it is compared
// with.
void place_servers(const MethodCatalogue& methods, RowPlan& result) {
  const auto dense = methods.find("parameter_server");
  if (!result.plan || dense == methods.end()) {
    return;
  }
  const auto apart = [](CompressionPlan plan) {
    const auto found = plan.method->parameters.find("apart");
    if (found != plan.method->parameters.end()) {
      found->second = 1;
    }
    return plan;
  };
  CompressionPlan beside;
  beside.label = dense->second.name;
  beside.method = dense->second;
  result.others.push_back(apart(*result.plan));
  result.baselines.assign(result.others.size() + 1, beside);
  result.baselines.back() = apart(beside);
  result.assumptions.emplace_back("servers beside the workers, or on machines of their own");
}

std::vector<CompressionPlan> plans_of_hosts(const TrainingRow& row, const MethodCatalogue& methods,
                                            bool on_servers, RowPlan& result) {
  const HostProfiles* known = host_profiles_of(row);
  const std::string name(known == nullptr ? "" : on_servers ? known->servers : known->hosts);
  const auto profile = methods.find(name);
  if (profile == methods.end()) {
    result.reasons.push_back("no profile of " + row.compression.method +
                             (on_servers ? " on servers" : " on the CPU"));
    return {};
  }
  result.assumptions.push_back("compressed as " + name);
  return usual_plans(row, profile->second, result);
}

// Each GPU its part of the node's sum: what cannot be done so stays as it is, and is said.
void keep_to_nodes(RowPlan& result) {
  if (!result.plan) {
    return;
  }
  std::vector<CompressionPlan> plans{*std::move(result.plan)};
  std::move(result.others.begin(), result.others.end(), std::back_inserter(plans));
  result.plan.reset();
  result.others.clear();
  std::erase_if(plans, [](const CompressionPlan& plan) {
    return !plan.method || !not_across_nodes(*plan.method).empty();
  });
  for (CompressionPlan& plan : plans) {
    plan.method = across_nodes(*plan.method);
    plan.label += " among nodes";
  }
  if (plans.empty()) {
    result.reasons.emplace_back("cannot be compressed between nodes only");
    return;
  }
  result.assumptions.emplace_back("compressed between nodes only, by each GPU its part");
  add_plans(std::move(plans), result);
}

// A graph of nodes that average their models, whole or in bytes.
void plan_of_neighbours(const TrainingRow& row, const MethodCatalogue& methods, RowPlan& result) {
  const std::string method = canonical_method(row.compression.method);
  const bool bytes = method == "u8" || method == "int8" || method == "8bit" ||
                     row.compression.bits.value_or(0) == 8;
  const auto profile = methods.find(bytes ? "gossip_u8" : "");
  if (profile == methods.end()) {
    result.reasons.push_back("no profile of " + row.compression.method + " among neighbours");
    return;
  }
  result.assumptions.push_back("compressed as " + profile->first);
  add_plans(usual_plans(row, profile->second, result), result);
}

}  // namespace

Scheme scheme_of(const TrainingRow& row) {
  const TrainingCompression& stated = row.compression;
  if (row.layout.schedule == "decentralized") {
    return Scheme::neighbours;
  }
  const std::string where = stated.where.value_or("");
  if (stated.per_tensor_choice.value_or(false) || is_system(row, "espresso")) {
    return Scheme::chosen;
  }
  if (is_system(row, "hitopkcomm") || is_system(row, "hipress") || is_system(row, "bagua") ||
      names(row.software, "bagua")) {
    return Scheme::nodes;
  }
  const bool byteps = is_system(row, "byteps") || sums_on_servers(row);
  // What the cores of hosts have no profile for is taken as GPUs do it, unless the row says where.
  const HostProfiles* known = host_profiles_of(row);
  const bool on_host = where.ends_with("cpu") || (where != "gpu" && known != nullptr);
  return byteps && on_host        ? Scheme::servers
         : byteps                 ? Scheme::nodes
         : where.ends_with("cpu") ? Scheme::hosts
                                  : Scheme::workers;
}

void apply_scheme(const TrainingRow& row, const MethodCatalogue& methods, RowPlan& result) {
  const Scheme scheme = scheme_of(row);
  if (scheme == Scheme::neighbours) {
    plan_of_neighbours(row, methods, result);
    return;
  }
  if (scheme == Scheme::servers || scheme == Scheme::hosts) {
    add_plans(plans_of_hosts(row, methods, scheme == Scheme::servers, result), result);
  }
  if (scheme == Scheme::nodes || scheme == Scheme::chosen) {
    keep_to_nodes(result);
  }
  const HostProfiles* known = host_profiles_of(row);
  if (scheme == Scheme::chosen && known != nullptr && !known->hosts.empty()) {
    result.choices = plans_of_hosts(row, methods, false, result);
    result.assumptions.emplace_back("the best of them and of none for all tensors alike");
  }
  if (sums_on_servers(row) && result.reasons.empty()) {
    place_servers(methods, result);
  }
  if (!result.reasons.empty()) {
    result.plan.reset();
  }
}

}  // namespace payoff
