// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "profiles/import/csv.hpp"
#include "profiles/import/nccl_tables.hpp"
#include "profiles/import/split.hpp"
#include "profiles/import/training_rows.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

const std::filesystem::path validation =
    std::filesystem::path(PAYOFF_SOURCE_DIR) / "tests/validation";

const NcclImport& shipped_tables() {
  static const NcclImport tables = read_nccl_tables(validation / "nccl");
  return tables;
}

const TrainingImport& shipped_rows() {
  static const TrainingImport rows = read_training_rows(validation / "training");
  return rows;
}

Split shipped_split() {
  Findings findings;
  Split split = read_split(validation / "split.csv", findings);
  REQUIRE(findings.empty());
  return split;
}

std::size_t count(const Findings& findings, Effect effect) {
  std::size_t found = 0;
  for (const Finding& finding : findings) {
    found += finding.effect == effect ? 1U : 0U;
  }
  return found;
}

}  // namespace

// grep -h '^- id:' nccl/*.yaml | wc -l; grep -h '^  - \[' nccl/*.yaml | wc -l
TEST_CASE("every shipped collective table is read") {
  const NcclImport& import = shipped_tables();
  for (const Finding& finding : import.findings) {
    FAIL_CHECK(to_text(finding));
  }
  CHECK(import.skipped.empty());
  CHECK(import.tables.size() == 170);
  std::size_t rows = 0;
  for (const NcclTable& table : import.tables) {
    rows += table.rows.size();
    CHECK(table.gpus == table.gpus_per_node * table.nodes);
    CHECK(bus_factor(table.collective, table.gpus).has_value());
  }
  CHECK(rows == 3570);
}

// grep -h '^  - {id' training/*.yaml | wc -l. 23 rows of DeepLearningExamples print batches whose
// product differs.
TEST_CASE("every shipped training row is read") {
  const TrainingImport& import = shipped_rows();
  for (const Finding& finding : import.findings) {
    if (finding.effect == Effect::rejected) {
      FAIL_CHECK(to_text(finding));
    }
  }
  CHECK(count(import.findings, Effect::noted) == 23);
  CHECK(import.rows.size() == 3048);
}

// Counted with Python over the same files: step_s in 2,704 rows, 1,443 of them listed as derived;
// 318 rows with another method than none, 309 with a baseline_id.
TEST_CASE("the origin of every step time is kept") {
  std::map<StepOrigin, int> origins;
  int compressed = 0;
  int with_baseline = 0;
  for (const TrainingRow& row : shipped_rows().rows) {
    ++origins[row.measured.step_origin];
    compressed += row.compressed() ? 1 : 0;
    with_baseline += row.baseline_id ? 1 : 0;
    CHECK(row.measured.step.has_value() == (row.measured.step_origin != StepOrigin::none));
  }
  CHECK(origins[StepOrigin::measured] == 1261);
  CHECK(origins[StepOrigin::derived] == 1443);
  CHECK(origins[StepOrigin::from_throughput] == 0);  // the collection derived what can be derived
  CHECK(origins[StepOrigin::none] == 344);
  CHECK(compressed == 318);
  CHECK(with_baseline == 309);
}

// The reader rejects a row whose printed step and throughput disagree; here the law itself, over
// the 1,536 rows that have both (counted with Python), so that a reader that stopped checking would
// be noticed.
TEST_CASE("step times are the global batch over the throughput") {
  int checked = 0;
  for (const TrainingRow& row : shipped_rows().rows) {
    const TrainingMeasurement& m = row.measured;
    if (!m.step || !row.layout.global_batch) {
      continue;
    }
    const double batch = *row.layout.global_batch;
    const std::string unit = row.layout.batch_unit.value_or("");
    std::optional<Seconds> expected;
    if (unit != "tokens" && m.samples) {
      expected = batch / *m.samples;
    } else if (unit == "tokens" && m.tokens) {
      expected = batch / *m.tokens;
    } else if (unit != "tokens" && m.tokens && row.model.seq) {
      expected = batch * *row.model.seq / *m.tokens;
    }
    if (expected && unit != "tokens-max") {
      ++checked;
      CHECK_THAT(*m.step / 1_s, WithinRel(*expected / 1_s, 0.01));
    }
  }
  CHECK(checked == 1536);
}

TEST_CASE("a table keeps what its file says") {
  const auto& tables = shipped_tables().tables;
  const auto found = std::find_if(tables.begin(), tables.end(), [](const NcclTable& t) {
    return t.id == "polaris_8n_all_reduce_nccl218_set4";
  });
  REQUIRE(found != tables.end());
  CHECK(found->source == "alcf_a100");
  CHECK(found->gpus == 32);
  CHECK(found->gpu == "a100-sxm-40");
  CHECK(found->intra == "nvlink-mesh-v3");
  CHECK(found->transport == "slingshot-ofi");
  CHECK(found->nics_per_node == 2);
  CHECK_THAT(found->nic_bandwidth / 1_GBps, WithinRel(25.0, 1e-12));
  CHECK(found->settings == std::vector<std::string>{"environment=set4"});
  CHECK_THAT(found->citation, ContainsSubstring("argonne-lcf/alcf-nccl-tests"));
}

TEST_CASE("a training row keeps what its file says") {
  const auto& rows = shipped_rows().rows;
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [](const TrainingRow& r) { return r.id == "sc21_t1_145B"; });
  REQUIRE(found != rows.end());
  CHECK(found->source == "megatron_sc21");
  CHECK(found->cluster.gpus == 1536);
  CHECK(found->model.hidden == 12288);
  CHECK(found->layout.tp == 8);
  CHECK(found->layout.vp == 2);
  CHECK(found->layout.zero == "0");
  CHECK(found->layout.overlap_dp == false);
  CHECK(found->precision == "fp16");
  CHECK(found->measured.step_origin == StepOrigin::derived);
  CHECK_THAT(*found->measured.step / 1_s, WithinRel(24.817, 1e-9));
  CHECK_FALSE(found->model.kv_heads.has_value());
  CHECK_FALSE(found->compressed());
}

TEST_CASE(
    "every shipped case belongs to a half, and the halves have the sizes that split.csv states") {
  const Split split = shipped_split();
  std::map<std::pair<std::string, std::string>, std::size_t> seen;
  for (const NcclTable& table : shipped_tables().tables) {
    const Half half = split.half(table);
    CHECK((half == Half::fit || half == Half::judge));
    seen[{table.source, split_system(table)}] += table.rows.size();
  }
  for (const TrainingRow& row : shipped_rows().rows) {
    const Half half = split.half(row);
    CHECK((half == Half::fit || half == Half::judge));
    ++seen[{row.source, split_system(row.cluster)}];
  }
  Findings findings;
  const CsvTable csv = read_csv(validation / "split.csv", findings);
  std::size_t compared = 0;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    const auto found = seen.find({csv.text(i, "source"), csv.text(i, "system")});
    if (found != seen.end()) {
      INFO(found->first.first << ' ' << found->first.second);
      CHECK(static_cast<double>(found->second) == csv.number(i, "cases").value_or(-1.0));
      ++compared;
    }
  }
  CHECK(compared == seen.size());
  CHECK(split.half("netx_whatif_sim_derived") == Half::oracle);
  CHECK(split.half("a file of somebody else") == Half::none);
}

TEST_CASE("no group is divided between the halves") {
  Findings findings;
  const CsvTable csv = read_csv(validation / "split.csv", findings);
  std::map<std::string, std::set<std::string>> halves;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    if (!csv.text(i, "sha").empty()) {
      halves[csv.text(i, "sha")].insert(csv.text(i, "half"));
    }
  }
  CHECK(halves.size() == 131);  // tail -n +2 split.csv | cut -d, -f7 | grep . | sort -u | wc -l
  for (const auto& [group, of_group] : halves) {
    CHECK(of_group.size() == 1);
  }
}

TEST_CASE("a compressed run and its baseline are in one half") {
  const Split split = shipped_split();
  std::map<std::string, Half> halves;
  for (const TrainingRow& row : shipped_rows().rows) {
    halves[row.id] = split.half(row);
  }
  for (const TrainingRow& row : shipped_rows().rows) {
    if (row.baseline_id) {
      CHECK(halves.at(*row.baseline_id) == halves.at(row.id));
    }
  }
}

// Rows counted with: grep -vc '^#' systems/NAME.csv, less the line of names.
TEST_CASE("the small tables are complete and name their source") {
  const std::map<std::string, std::size_t> sizes{
      {"accordion_floats", 18},  {"ddl_benchmarks", 252}, {"iisc_breakdown", 43},
      {"mgwfbp_alpha_beta", 22}, {"netx_batch_times", 3}, {"netx_ready_times", 533},
      {"netx_vector_add", 25},   {"netx_what_if", 270},   {"powersgd_payloads", 30},
      {"tc_cluster", 196}};
  for (const auto& [name, size] : sizes) {
    Findings findings;
    INFO(name);
    CHECK(read_csv(validation / "systems" / (name + ".csv"), findings).size() == size);
    CHECK(findings.empty());
  }
}

TEST_CASE("what follows from the counts of a row is filled in, what it misses is not") {
  const auto read = [](const std::string& layout, const std::string& more = "") {
    const TrainingImport import = parse_training_rows(
        "meta: {source: made up}\nrows:\n  - {id: a, cluster: {gpu: a100-sxm-80, gpus_per_node: 8},"
        " layout: {" +
            layout + "}, measured: {samples_per_s: 64}" + more + "}\n",
        "made_up.yaml");
    REQUIRE(import.rows.size() == 1);
    return import.rows.front();
  };
  const TrainingRow counted = read("tp: 2, pp: 4, dp: 8, micro_batch: 2, num_micro_batches: 16");
  CHECK(counted.cluster.gpus == 64);
  CHECK(counted.cluster.nodes == 8);
  CHECK(counted.layout.global_batch == 256);
  CHECK(counted.measured.step == 4_s);
  CHECK(read("tp: 1, pp: 1, dp: 4, global_batch: 64, grad_accum: 2").layout.micro_batch == 8);
  CHECK(read("tp: 1, pp: 1, dp: 4").cluster.nodes == 1);
  // No whole number, and what the source is said not to state.
  CHECK(!read("tp: 1, pp: 1, dp: 4, global_batch: 64, grad_accum: 3").layout.micro_batch);
  CHECK(!read("tp: 1, pp: 1, dp: 4, micro_batch: 2, grad_accum: 3", ", missing: [global_batch]")
             .layout.global_batch);
  CHECK(!read("tp: 100000, pp: 100000, dp: 4").cluster.gpus);
}
