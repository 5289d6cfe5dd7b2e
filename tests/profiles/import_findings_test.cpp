// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "profiles/import/nccl_tables.hpp"
#include "profiles/import/training_rows.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::filesystem::path validation =
    std::filesystem::path(PAYOFF_SOURCE_DIR) / "tests/validation";

const std::string table_head = R"(tables:
- id: eight
  gpus: 8
  nodes: 2
  cluster: {gpu: a100-sxm-40, gpus_per_node: 4, nodes: 2, intra: nvlink-mesh-v3, nics_per_node: 2, nic_gbps: 200, transport: ib, launch: process-per-gpu}
  collective: all_reduce
  source: a page
  provenance: quoted
)";

const std::string row_head = "meta: {source: a page}\nrows:\n";

}  // namespace

TEST_CASE("rows of zero bytes are dropped and counted") {
  const NcclImport import = parse_nccl_tables(
      table_head + "  columns: [bytes, time_us]\n  rows:\n  - [0, 1.5]\n  - [64, 20]\n", "t.yaml");
  REQUIRE(import.tables.size() == 1);
  CHECK(import.findings.empty());
  CHECK(import.tables[0].empty_rows == 1);
  REQUIRE(import.tables[0].rows.size() == 1);
  CHECK(import.tables[0].rows[0].size == 64_B);
  CHECK_FALSE(import.tables[0].rows[0].in_place.has_value());
}

// 1 GiB in 10 ms are 107.37 GB/s. busbw of an all-reduce over 8 ranks is 2 x 7/8 = 1.75 of that,
// over 16 ranks 1.875.
TEST_CASE("a bus bandwidth that another rank count explains is rejected with its row") {
  const std::string columns = "  columns: [bytes, time_us, algbw_GBps, busbw_GBps]\n  rows:\n";
  const NcclImport import =
      parse_nccl_tables(table_head + columns +
                            "  - [1073741824, 10000, 107.37, 187.90]\n  - [2147483648, 20000, "
                            "107.37, 201.32]\n  - [4294967296, 40000, 95.0, 166.25]\n",
                        "t.yaml");
  REQUIRE(import.tables.size() == 1);
  CHECK(import.tables[0].rows.size() == 1);
  REQUIRE(import.findings.size() == 2);
  CHECK(import.findings[0].line == 12);
  CHECK(import.findings[0].entry == "eight");
  CHECK_THAT(import.findings[0].message, ContainsSubstring("contradicts 8 ranks"));
  CHECK(import.findings[1].line == 13);
  CHECK_THAT(import.findings[1].message, ContainsSubstring("contradicts bytes / time = 107.37"));
}

// 64 MiB in 20 ms are 3.36 GB/s; bandwidths are printed to 0.01 GB/s.
TEST_CASE("bandwidths are checked in place, without algbw, and where they are small") {
  const auto problem = [](const std::string& columns, const std::string& row) {
    const NcclImport import = parse_nccl_tables(
        table_head + "  columns: [" + columns + "]\n  rows:\n  - [" + row + "]\n", "t.yaml");
    REQUIRE_FALSE(import.findings.empty());
    return import.findings[0].message;
  };
  CHECK_THAT(problem("bytes, time_us, busbw_GBps", "1073741824, 10000, 201.32"),
             ContainsSubstring("contradicts 8 ranks") && ContainsSubstring("16 ranks would"));
  CHECK_THAT(problem("bytes, time_us, busbw_GBps", "1073741824, 10000, 300"),
             ContainsSubstring("contradicts 8 ranks") && !ContainsSubstring("would"));
  CHECK_THAT(
      problem("bytes, time_us, time_us_inplace, busbw_inplace", "1073741824, 10000, 10000, 201.32"),
      ContainsSubstring("contradicts 8 ranks") && ContainsSubstring("in place"));
  CHECK_THAT(problem("bytes, time_us, algbw_GBps", "67108864, 20000, 3.5"),
             ContainsSubstring("contradicts bytes / time = 3.36"));
  CHECK(parse_nccl_tables(table_head + "  columns: [bytes, time_us, algbw_GBps, busbw_GBps]\n"
                                       "  rows:\n  - [8, 14, 0, 0]\n  - [67108864, 20000, 3.36, "
                                       "5.87]\n",
                          "t.yaml")
            .findings.empty());
}

TEST_CASE("a source or a provenance of blanks is none") {
  std::string text = table_head + "  columns: [bytes, time_us]\n  rows:\n  - [64, 20]\n";
  text.replace(text.find("quoted"), 6, "\" \"");
  const NcclImport import = parse_nccl_tables(text, "t.yaml");
  REQUIRE(import.findings.size() == 1);
  CHECK_THAT(import.findings[0].message, ContainsSubstring("provenance is missing"));
  CHECK_FALSE(
      parse_training_rows("meta: {source: ' '}\nrows:\n- {id: a}\n", "r.yaml").findings.empty());
}

TEST_CASE("a speedup that the row and its baseline do not give is rejected") {
  const auto read = [](const std::string& baseline, const std::string& compressed) {
    return parse_training_rows(row_head + "  - {id: b, measured: {" + baseline + "}}\n" +
                                   "  - {id: c, baseline_id: b, compression: {method: topk}, "
                                   "measured: {" +
                                   compressed + "}}\n",
                               "r.yaml");
  };
  const TrainingImport wrong = read("step_s: 1.0", "step_s: 0.8, speedup_vs_baseline: 1.5");
  REQUIRE(wrong.rows.size() == 1);
  REQUIRE(wrong.findings.size() == 1);
  CHECK(wrong.findings[0].line == 4);
  CHECK(wrong.findings[0].entry == "c");
  CHECK_THAT(wrong.findings[0].message, ContainsSubstring("1.25"));
  CHECK(read("step_s: 1.0", "step_s: 0.8, speedup_vs_baseline: 1.25").rows.size() == 2);
  CHECK(read("samples_per_s: 10", "samples_per_s: 8, speedup_vs_baseline: 1.25").rows.size() == 1);
  CHECK(read("samples_per_s: 10", "samples_per_s: 8, speedup_vs_baseline: 0.8").rows.size() == 2);
  CHECK(read("samples_per_s: 10", "step_s: 8, speedup_vs_baseline: 3").rows.size() == 2);
}

TEST_CASE("a speedup that the row leaves out is what it and its baseline give") {
  const auto speedup = [](const std::string& baseline, const std::string& compressed) {
    return parse_training_rows(row_head + "  - {id: b, measured: {" + baseline + "}}\n" +
                                   "  - {id: c, baseline_id: b, compression: {method: topk}, "
                                   "measured: {" +
                                   compressed + "}}\n",
                               "r.yaml")
        .rows.at(1)
        .measured.speedup_vs_baseline;
  };
  CHECK(speedup("step_s: 1.0", "step_s: 0.8") == 1.25);
  CHECK(speedup("epoch_s: 10", "epoch_s: 8") == 1.25);
  CHECK(speedup("epoch_s: 10, step_s: 3", "epoch_s: 8, step_s: 2") == 1.5);
  CHECK_FALSE(speedup("samples_per_s: 10", "step_s: 8"));  // nothing in common
}

TEST_CASE("everything that is wrong with a table is reported at its place") {
  const std::string text =
      "tables:\n- id: first\n  gpus: nine\n  nodes: 2\n  collective: all_reduce\n  source: a page\n"
      "  cluster: {gpu: t4, gpus_per_node: 4, nodes: 2, transport: [tcp]}\n  columns: [bytes]\n  "
      "rows: []\n- 7\n";
  const NcclImport import = parse_nccl_tables(text, "t.yaml");
  CHECK(import.tables.empty());
  std::vector<std::string> texts;
  for (const Finding& finding : import.findings) {
    texts.push_back(to_text(finding));
  }
  const auto has = [&texts](const std::string& wanted) {
    return std::find(texts.begin(), texts.end(), wanted) != texts.end();
  };
  CHECK(has("t.yaml:3:9: first: gpus: expected a number, found 'nine'"));
  CHECK(has("t.yaml:2:3: first: provenance is missing"));
  CHECK(has("t.yaml:7:12: first: intra is missing"));
  CHECK(has("t.yaml:7:61: first: transport: expected a text"));
  CHECK(has("t.yaml:2:3: first: column time_us is missing"));
  CHECK(has("t.yaml:10:3: expected a mapping of keys to values"));
}

TEST_CASE("rows that cannot be read are named and the others kept") {
  const NcclImport import =
      parse_nccl_tables(table_head +
                            "  columns: [bytes, time_us, time_us_inplace]\n  rows:\n  - [64, 20, "
                            "19]\n  - [128, fast, 19]\n  - [256, 20]\n  - [512, -1, 3]\n"
                            "  - [32, 20, 19]\n  - [1024, 21, ~]\n",
                        "t.yaml");
  REQUIRE(import.tables.size() == 1);
  CHECK(import.tables[0].rows.size() == 2);
  REQUIRE(import.findings.size() == 4);
  CHECK(import.findings[0].line == 12);
  CHECK(import.findings[0].column == 11);
  CHECK_THAT(import.findings[1].message, ContainsSubstring("3 values"));
  CHECK_THAT(import.findings[2].message, ContainsSubstring("positive"));
  CHECK_THAT(import.findings[3].message, ContainsSubstring("ascend"));
}

TEST_CASE("a training row that contradicts itself is rejected") {
  const auto first_problem = [](const std::string& row) {
    const TrainingImport import =
        parse_training_rows(row_head + "  - {id: r, " + row + "}\n", "r.yaml");
    CHECK(import.rows.empty());
    REQUIRE_FALSE(import.findings.empty());
    CHECK(import.findings[0].line == 3);
    return import.findings[0].message;
  };
  CHECK_THAT(first_problem("cluster: {gpus: 16}, layout: {tp: 2, pp: 2, dp: 2}"),
             ContainsSubstring("contradict 16 gpus"));
  CHECK_THAT(first_problem("cluster: {gpus: 9, nodes: 1, gpus_per_node: 8}"),
             ContainsSubstring("9 gpus contradict 1 nodes of 8"));
  CHECK_THAT(
      first_problem("layout: {global_batch: 64}, measured: {step_s: 1.0, samples_per_s: 32}"),
      ContainsSubstring("contradicts global_batch"));
  CHECK_THAT(first_problem("layout: {dp: many}"), ContainsSubstring("expected a number"));
  CHECK_THAT(first_problem("measured: {step_s: 0}"), ContainsSubstring("positive"));
}

TEST_CASE("a count of a training row that is none is rejected with its name") {
  for (const std::string name : {"tp", "pp", "dp", "micro_batch", "global_batch"}) {
    const TrainingImport import = parse_training_rows(
        row_head + "- {id: x, layout: {" + name + ": 0}, measured: {step_s: 1}}\n", "t.yaml");
    INFO(name);
    CHECK(import.rows.empty());
    REQUIRE(import.findings.size() == 1);
    CHECK(import.findings[0].message == name + " must be at least 1, is 0");
  }
}

TEST_CASE("a step time is derived from throughput only where both count the same") {
  const auto step = [](const std::string& row) {
    const TrainingImport import =
        parse_training_rows(row_head + "  - {id: r, " + row + "}\n", "r.yaml");
    REQUIRE(import.rows.size() == 1);
    return import.rows[0].measured;
  };
  const TrainingMeasurement samples =
      step("layout: {global_batch: 64}, measured: {samples_per_s: 32}");
  CHECK(samples.step_origin == StepOrigin::from_throughput);
  CHECK(samples.step == 2_s);
  CHECK(step("cluster: {gpus: 4}, layout: {global_batch: 64}, measured: {samples_per_s_per_gpu: 8}")
            .step == 2_s);
  CHECK(
      step("model: {seq: 512}, layout: {global_batch: 64}, measured: {tokens_per_s: 16384}").step ==
      2_s);
  CHECK(step("layout: {global_batch: 32768, batch_unit: tokens}, measured: {tokens_per_s: 16384}")
            .step == 2_s);
  CHECK_FALSE(
      step("layout: {global_batch: 64, batch_unit: tokens-max}, measured: {tokens_per_s: 32}")
          .step.has_value());
  CHECK_FALSE(step("layout: {global_batch: 64}, measured: {tokens_per_s: 32}").step.has_value());
  CHECK_FALSE(step("layout: {global_batch: 64}, measured: {samples_per_s: 32}, missing: [step_s]")
                  .step.has_value());
}

TEST_CASE("a row without a source, a repeated id and a baseline that is not there are reported") {
  const TrainingImport import = parse_training_rows(
      "rows:\n- {id: a}\n- {id: b, source_ref: page 3}\n- {id: b, source_ref: page 3}\n"
      "- {id: c, source_ref: page 3, baseline_id: nowhere}\n",
      "r.yaml");
  CHECK(import.rows.size() == 2);
  REQUIRE(import.findings.size() == 3);
  CHECK_THAT(import.findings[0].message, ContainsSubstring("source_ref is missing"));
  CHECK_THAT(import.findings[1].message, ContainsSubstring("twice"));
  CHECK(import.findings[2].effect == Effect::noted);
  CHECK_THAT(import.findings[2].message, ContainsSubstring("nowhere"));
}

TEST_CASE("a file cut anywhere gives findings, never an exception") {
  const std::string tables =
      table_head +
      "  columns: [bytes, time_us, algbw_GBps]\n  rows:\n  - [64, 20, 0.01]\n  - [128, 21, 0.02]\n";
  for (std::size_t length = 0; length < tables.size(); ++length) {
    CHECK_NOTHROW(parse_nccl_tables(tables.substr(0, length), "t.yaml"));
  }
  const std::string rows = row_head +
                           "  - {id: r, trust: high, cluster: &c {gpu: t4, nodes: 1}, layout: {dp: "
                           "4, zero: 3}, measured: {step_s: 1}, missing: [a, b]}\n"
                           "  - {id: s, cluster: *c, precision: fp16}\n";
  for (std::size_t length = 0; length < rows.size(); ++length) {
    CHECK_NOTHROW(parse_training_rows(rows.substr(0, length), "r.yaml"));
  }
}

TEST_CASE("a file that is not there, not YAML or of another schema is a finding") {
  CHECK(read_nccl_tables(validation / "no such file.yaml").findings.size() == 1);
  CHECK(read_training_rows(validation / "no such file.yaml").findings.size() == 1);
  const NcclImport broken = parse_nccl_tables("tables: [1, 2\nrows: }", "t.yaml");
  REQUIRE(broken.findings.size() == 1);
  CHECK(broken.findings[0].line == 2);
  CHECK_THAT(parse_nccl_tables("rows: []\n", "t.yaml").findings.at(0).message,
             ContainsSubstring("no list `tables:`"));
  CHECK_THAT(parse_training_rows("tables: []\n", "t.yaml").findings.at(0).message,
             ContainsSubstring("no list `rows:`"));
  CHECK(read_training_rows(validation / "nccl").skipped.size() ==
        12);  // ls nccl/*.yaml | wc -l: none of them has rows
}

TEST_CASE("what a source says in words that it pinned is a setting; of a list NCCL chooses") {
  const auto settings = [](const std::string& words) {
    const NcclImport import =
        parse_nccl_tables(table_head + "  system: \"" + words +
                              "\"\n  columns: [bytes, time_us]\n  rows:\n  - [64, 20]\n",
                          "t.yaml");
    return import.tables.at(0).settings;
  };
  CHECK(settings("2 nodes, NCCL_ALGO=Tree forced") == std::vector<std::string>{"algorithm=tree"});
  CHECK(settings("NCCL_ALGO=RING, NCCL_PROTO=LL128") ==
        std::vector<std::string>{"algorithm=ring", "protocol=ll128"});
  CHECK(settings("NCCL_ALGO=Ring,Tree").empty());
  CHECK(settings("NCCL_ALGO=^NVLS").empty());
  CHECK(settings("a machine").empty());
}
