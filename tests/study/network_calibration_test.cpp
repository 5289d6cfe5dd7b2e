// SPDX-License-Identifier: Apache-2.0
#include "study/network_calibration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "calibrate/profile_difference.hpp"
#include "tests/catch.hpp"

using namespace payoff;

namespace {

const std::filesystem::path source{PAYOFF_SOURCE_DIR};
const std::filesystem::path validation = source / "tests/validation";

struct Tables {
  Split split;
  std::vector<NcclTable> tables;
};

Tables published() {
  Findings findings;
  Tables result{read_split(validation / "split.csv", findings), {}};
  NcclImport import = read_nccl_tables(validation / "nccl");
  REQUIRE(findings.empty());
  REQUIRE(import.findings.empty());
  result.tables = std::move(import.tables);
  return result;
}

using Errors = std::array<std::vector<double>, 4>;  // small, middle, 256 to 512 MiB, large

std::size_t band_of(Bytes size) {
  return size <= 64_KiB ? 0U : size <= 256_MiB ? 1U : size < 512_MiB ? 2U : 3U;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.at(values.size() / 2);
}

Errors errors_of(const std::vector<CollectiveTable>& tables, Half half, bool tuner) {
  Errors errors;
  for (const CollectiveTable& table : tables) {
    if (table.half != half) {
      continue;
    }
    for (const CollectiveCase& each : table.cases) {
      if (each.comparable && each.tuner) {
        const Seconds time = tuner ? *each.tuner : each.predicted.time;
        errors.at(band_of(each.measured.size)).push_back(std::abs(time / each.measured.time - 1));
      }
    }
  }
  return errors;
}

}  // namespace

TEST_CASE("fitting again gives the shipped laws of links", "[once]") {
  const NetworkCalibration calibration =
      calibrate_network(Library(source / "profiles"), validation);
  std::ifstream file(source / "profiles/fitted/network.yaml", std::ios::binary);
  std::ostringstream shipped;
  shipped << file.rdbuf();
  CHECK(profile_differences(shipped.str(), calibration.profile).empty());
}

TEST_CASE("no published collective took less than its bytes take at line rate") {
  constexpr double rounding = 0.999;
  const Tables data = published();
  std::size_t compared = 0;
  for (const CollectiveTable& table :
       predict_collectives(data.tables, data.split, Library(source / "profiles"))) {
    for (const CollectiveCase& each : table.cases) {
      INFO(table.id << " " << each.measured.size.si);
      CHECK(each.measured.time >= rounding * each.predicted.least);
      CHECK(each.predicted.least <= each.predicted.time);
      ++compared;
    }
  }
  CHECK(compared > 3000);
}

TEST_CASE("no table of the judge half has a part in the fit", "[once]") {
  const Tables data = published();
  std::set<std::string> judges;
  for (const NcclTable& table : data.tables) {
    if (data.split.half(table) == Half::judge) {
      judges.insert(table.id);
    }
  }
  REQUIRE(judges.size() > 20);
  const NetworkCalibration calibration =
      calibrate_network(Library(source / "profiles"), validation);
  for (const auto* side : {&calibration.fit.fabrics, &calibration.fit.networks}) {
    for (const LinkFit& link : *side) {
      for (const std::string& table : link.tables) {
        CHECK_FALSE(judges.contains(table));
      }
    }
  }
}

TEST_CASE("every published table is a case or says which field is missing") {
  const Tables data = published();
  const auto tables = predict_collectives(data.tables, data.split, Library(source / "profiles"));
  REQUIRE(tables.size() == data.tables.size());
  for (const CollectiveTable& table : tables) {
    CHECK(table.reasons.empty() != table.cases.empty());
  }
}

TEST_CASE(
    "errors of the laws by size stay below what they have reached, and below NCCL's tuner's") {
  const Tables data = published();
  const auto tables = predict_collectives(data.tables, data.split, Library(source / "profiles"));
  const Errors fit = errors_of(tables, Half::fit, false);
  const Errors judge = errors_of(tables, Half::judge, false);
  const Errors tuner = errors_of(tables, Half::judge, true);
  CHECK(median(fit[0]) < 0.07);
  CHECK(median(fit[1]) < 0.09);
  CHECK(median(fit[3]) < 0.035);
  for (const std::size_t band : {0U, 1U, 3U}) {
    CHECK(median(judge.at(band)) < median(tuner.at(band)));
  }
}

TEST_CASE("racks that a run does not fill are cases; one rank is none, and says so") {
  const auto table = [](const std::string& id, int nodes, const std::string& cluster) {
    const int gpus = cluster.find("gb200") == std::string::npos ? 1 : 4 * nodes;
    return "- {id: " + id + ", gpus: " + std::to_string(gpus) +
           ", nodes: " + std::to_string(nodes) + ", cluster: {nodes: " + std::to_string(nodes) +
           ", " + cluster +
           "}, collective: all_reduce, source: a page, provenance: quoted, columns: [bytes, "
           "time_us], rows: [[1048576, 100]]}\n";
  };
  const std::string racks =
      "gpu: gb200, gpus_per_node: 4, intra: nvl72, transport: ib, nics_per_node: 4, nic_gbps: 400";
  const std::string alone = "gpu: a100-pcie, gpus_per_node: 1, intra: none, transport: none";
  const NcclImport import =
      parse_nccl_tables("tables:\n" + table("in_one", 16, racks) + table("in_two", 32, racks) +
                            table("alone", 1, alone),
                        "t.yaml");
  REQUIRE(import.findings.empty());
  const auto predicted =
      predict_collectives(import.tables, published().split, Library(source / "profiles"));
  REQUIRE(predicted.size() == 3);
  CHECK(predicted[0].link == "nvl72");
  CHECK(predicted[1].link == "ib");
  CHECK(predicted[1].cases.size() == 1);
  CHECK(predicted[2].reasons == std::vector<std::string>{"gpus: one rank sends nothing"});
}
