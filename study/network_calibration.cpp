// SPDX-License-Identifier: Apache-2.0
#include "study/network_calibration.hpp"

#include <map>
#include <set>
#include <utility>

#include "calibrate/launch_fit.hpp"
#include "model/group_paths.hpp"
#include "profiles/diagnostics.hpp"
#include "profiles/import/collective_case.hpp"
#include "profiles/read_fitted.hpp"
#include "profiles/read_hardware.hpp"
#include "study/shipped_profiles.hpp"

namespace payoff {
namespace {

// Profiles of links and the mapping of tables to them; throws for a shipped profile in error.
class Catalogue {
 public:
  Catalogue(const Library& library, bool with_laws)
      : context_{library, sources_, diagnostics_, with_laws}, cases_(context_) {}

  [[nodiscard]] CollectiveCases::Result from(const NcclTable& table) { return cases_.from(table); }

  [[nodiscard]] std::vector<Fabric> fabrics() const {
    return all_values(read_shipped<Fabric>(ProfileKind::fabric, context_, read_fabric));
  }
  [[nodiscard]] std::vector<Network> networks() const {
    return all_values(read_shipped<Network>(ProfileKind::network, context_, read_network));
  }

  [[nodiscard]] HostLaw host() const { return read_host_law(context_); }

  void check() const { throw_if_unreadable(diagnostics_, sources_); }

 private:
  SourceMap sources_;
  Diagnostics diagnostics_;
  ReadContext context_;
  CollectiveCases cases_;
};

std::string link_of(const MeasuredCollective& measured) {
  const bool between = paths_of(measured.cluster, measured.group).domains > 1;
  return between ? measured.cluster.network.name : measured.cluster.fabric.name;
}

// By what messages grow that are so large that nothing else counts.
Seconds wire_time(const CollectiveModel& model, const MeasuredCollective& measured, Bytes size,
                  const CollectivePrice& price) {
  constexpr Bytes huge = 1024_GiB;
  const auto time = [&](Bytes bytes) {
    return model.price_pinned(measured.collective, bytes, price.algorithm, price.protocol)->time;
  };
  return (time(2 * huge) - time(huge)) * (size / huge);
}

void add_cases(CollectiveTable& table, const HostLaw& host) {
  const MeasuredCollective& measured = table.measured;
  const bool launches = launches_are_priced(measured);
  const CollectiveModel model(measured.cluster, measured.group, measured.release);
  for (const CollectivePoint& point : measured.points) {
    auto price =
        model.price_pinned(measured.collective, point.size, measured.algorithm, measured.protocol);
    if (!price) {
      table.reasons = {"settings: NCCL has no such combination of algorithm and protocol here"};
      table.cases.clear();
      return;
    }
    const CollectivePrice alone = *price;
    const Seconds wire = wire_time(model, measured, point.size, *price);
    if (launches) {
      price = launched_by_one_process(*price, measured.group.ranks_per_node, host);
    }
    table.cases.push_back({point, *price, wire, alone.latency, price->time - alone.time,
                           launches || is_comparable(measured, point),
                           model.tuner().estimate(measured.collective, point.size, price->algorithm,
                                                  price->protocol)});
  }
}

}  // namespace

NetworkCalibration calibrate_network(const Library& library,
                                     const std::filesystem::path& validation) {
  Findings findings;
  const Split split = read_split(validation / "split.csv", findings);
  const NcclImport import = read_nccl_tables(validation / "nccl");
  findings.insert(findings.end(), import.findings.begin(), import.findings.end());
  throw_if_any(findings, "the published tables cannot be used");
  Catalogue catalogue(library, false);
  NetworkCalibration calibration;
  std::vector<MeasuredCollective> cases;
  std::map<std::string, std::string> citations;
  for (const NcclTable& table : import.tables) {
    if (split.half(table) != Half::fit) {
      continue;
    }
    CollectiveCases::Result mapped = catalogue.from(table);
    if (mapped.measured) {
      cases.push_back(std::move(*mapped.measured));
      citations.emplace(table.id, table.citation);
    } else {
      calibration.left_out.push_back({table.id, std::move(mapped.reasons)});
    }
  }
  const std::vector<Fabric> fabrics = catalogue.fabrics();
  const std::vector<Network> networks = catalogue.networks();
  catalogue.check();
  calibration.fit = fit_network(cases, fabrics, networks);
  calibration.profile = network_profile(calibration.fit, citations);
  return calibration;
}

std::vector<CollectiveTable> predict_collectives(const std::vector<NcclTable>& tables,
                                                 const Split& split, const Library& library) {
  Catalogue catalogue(library, true);
  const HostLaw host = catalogue.host();
  std::vector<CollectiveTable> result;
  std::set<std::string> seen;
  for (const NcclTable& table : tables) {
    CollectiveTable predicted;
    predicted.id = table.id;
    predicted.source = table.source;
    predicted.system = split_system(table);
    predicted.half = split.half(table);
    CollectiveCases::Result mapped = catalogue.from(table);
    predicted.reasons = std::move(mapped.reasons);
    if (mapped.measured) {
      predicted.measured = std::move(*mapped.measured);
      predicted.link = link_of(predicted.measured);
      add_cases(predicted, host);
      if (predicted.half == Half::fit) {
        seen.insert(predicted.link);
      }
    }
    result.push_back(std::move(predicted));
  }
  for (CollectiveTable& table : result) {
    table.link_seen = seen.contains(table.link);
  }
  catalogue.check();
  return result;
}

}  // namespace payoff
