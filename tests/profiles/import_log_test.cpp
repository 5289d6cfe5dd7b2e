// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "profiles/import/nccl_log.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

// The logs below are made up in the layout that nccl-tests prints (src/util.cu at a0b82b2, and the
// older layout without redop and root); 1 GiB in 5,000 us are 214.75 GB/s, times 2 x 7/8 are 375.81
// GB/s.

namespace {

const std::string devices = R"(# nccl-tests version 2.17.1 nccl-headers=22803 nccl-library=22803
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 1 minBytes 8 maxBytes 1073741824 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0 unalign: 0
#
# Using devices
#  Rank  0 Group  0 Pid   1001 on      nodea device  0 [0000:07:00] NVIDIA A100-SXM4-80GB
#  Rank  1 Group  0 Pid   1002 on      nodea device  1 [0000:0a:00] NVIDIA A100-SXM4-80GB
#  Rank  2 Group  0 Pid   1003 on      nodea device  2 [0000:47:00] NVIDIA A100-SXM4-80GB
#  Rank  3 Group  0 Pid   1004 on      nodea device  3 [0000:4e:00] NVIDIA A100-SXM4-80GB
#  Rank  4 Group  0 Pid   2001 on      nodeb device  0 [0000:07:00] NVIDIA A100-SXM4-80GB
#  Rank  5 Group  0 Pid   2002 on      nodeb device  1 [0000:0a:00] NVIDIA A100-SXM4-80GB
#  Rank  6 Group  0 Pid   2003 on      nodeb device  2 [0000:47:00] NVIDIA A100-SXM4-80GB
#  Rank  7 Group  0 Pid   2004 on      nodeb device  3 [0000:4e:00] NVIDIA A100-SXM4-80GB
)";

const std::string table = R"(#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
           0             0     float     sum      -1     0.20    0.00    0.00       0     0.18    0.00    0.00       0
           8             2     float     sum      -1    25.05    0.00    0.00       0    24.79    0.00    0.00     N/A
  1073741824     268435456     float     sum      -1     5000  214.75  375.81       0     5100  210.54  368.44       0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 178.9
#
)";

}  // namespace

TEST_CASE("the text of nccl-tests becomes a table") {
  const NcclImport import = parse_nccl_log(devices + table, "runs/first.log");
  CHECK(import.findings.empty());
  REQUIRE(import.tables.size() == 1);
  const NcclTable& read = import.tables[0];
  CHECK(read.id == "first");
  CHECK(read.collective == "all_reduce");
  CHECK(read.gpus == 8);
  CHECK(read.nodes == 2);
  CHECK(read.gpus_per_node == 4);
  CHECK(read.gpu == "a100-sxm-80");
  CHECK(read.launch == "process-per-gpu");
  CHECK(read.nccl_version == "2.28.3");
  CHECK(read.dtype == "float");
  CHECK(read.transport.empty());  // the log does not say
  CHECK(read.empty_rows == 1);
  REQUIRE(read.rows.size() == 2);
  CHECK_THAT(read.rows[0].out_of_place / 1_us, WithinRel(25.05, 1e-12));
  CHECK_THAT(*read.rows[0].in_place / 1_us, WithinRel(24.79, 1e-12));
  CHECK(read.rows[1].size == 1_GiB);
}

TEST_CASE("lines that MPI labels are read like others") {
  std::string labelled;
  std::string line;
  for (const char c : devices + table) {
    line += c;
    if (c == '\n') {
      labelled += "[1,0]<stdout>:" + line;
      line.clear();
    }
  }
  REQUIRE(parse_nccl_log(labelled, "t.log").tables.size() == 1);
  CHECK(parse_nccl_log(labelled, "t.log").tables[0].rows.size() == 2);
}

TEST_CASE("several runs in one log are several tables") {
  const NcclImport import = parse_nccl_log(devices + table + devices + table, "t.log");
  REQUIRE(import.tables.size() == 2);
  CHECK(import.tables[0].id == "t");
  CHECK(import.tables[1].id == "t#2");
  CHECK(import.tables[1].gpus == 8);
}

// An older all-gather: no redop, no root, `error` instead of #wrong, one process for all GPUs.
TEST_CASE("columns are taken from the header of the log") {
  const NcclImport import = parse_nccl_log(
      "# nThread 1 nGpus 2 minBytes 8 maxBytes 128 step: 2(factor) warmup iters: 5 iters: 20 "
      "validation: 1\n"
      "# Using devices\n"
      "#   Rank  0 Pid   5 on   host device  0 [0x1a] Tesla V100-SXM2-32GB\n"
      "#   Rank  1 Pid   5 on   host device  1 [0x1b] Tesla V100-SXM2-32GB\n"
      "#       size         count    type     time   algbw   busbw  error     time   algbw   busbw "
      " error\n"
      "          16             2   float    12.50    0.00    0.00  0e+00    11.25    0.00    0.00 "
      " 0e+00\n",
      "all_gather_2.txt");
  CHECK(import.findings.empty());
  REQUIRE(import.tables.size() == 1);
  CHECK(import.tables[0].collective == "all_gather");  // from the name of the file
  CHECK(import.tables[0].gpu == "v100-sxm2-32");
  CHECK(import.tables[0].launch == "single-process");
  CHECK(import.tables[0].transport == "none");
  REQUIRE(import.tables[0].rows.size() == 1);
  CHECK_THAT(import.tables[0].rows[0].out_of_place / 1_us, WithinRel(12.5, 1e-12));
  CHECK_THAT(import.tables[0].rows[0].in_place.value_or(0_s) / 1_us, WithinRel(11.25, 1e-12));
}

TEST_CASE("a log that contradicts itself or ends early names the line") {
  const std::string wrong =
      "  2147483648     536870912     float     sum      -1    10000  214.75  402.65       0    "
      "10000  214.75  402.65       0\n";
  const NcclImport import =
      parse_nccl_log(devices + table + wrong + "  4294967296     10737\n", "t.log");
  REQUIRE(import.findings.size() == 2);
  CHECK_THAT(import.findings[0].message, ContainsSubstring("2 values"));
  CHECK(import.findings[0].line == 25);
  CHECK_THAT(import.findings[1].message, ContainsSubstring("contradicts 8 ranks"));
  CHECK(import.findings[1].line == 24);
  CHECK_THAT(parse_nccl_log("hello\n", "t.log").findings.at(0).message,
             ContainsSubstring("no table"));
}

TEST_CASE("two runs behind each other keep their own names") {
  std::string second = devices;
  second.replace(second.find("all_reduce_perf"), 15, "broadcast_perf");
  const std::string row =
      "  1073741824     268435456     float    none       0     5000  214.75  214.75       0\n";
  const std::string header = "#  size  count  type  redop  root  time  algbw  busbw  #wrong\n";
  const NcclImport import = parse_nccl_log(devices + table + second + header + row, "t.log");
  CHECK(import.findings.empty());
  REQUIRE(import.tables.size() == 2);
  CHECK(import.tables[0].collective == "all_reduce");
  CHECK(import.tables[1].collective == "broadcast");
}

TEST_CASE("what failed its check, or ran on unequal hosts, is told by nccl-tests' own words") {
  std::string failed = table;
  failed.replace(failed.rfind("       0\n"), 9, "      17\n");  // in place
  const NcclImport wrong = parse_nccl_log(devices + failed, "t.log");
  REQUIRE(wrong.findings.size() == 1);
  CHECK_THAT(wrong.findings[0].message, ContainsSubstring("17 wrong values"));
  CHECK(wrong.findings[0].line == 20);
  CHECK(wrong.tables.at(0).rows.size() == 1);

  std::string uneven = devices;
  uneven.replace(uneven.find("nodeb"), 5, "nodea");  // 5 + 3, which fills two nodes of 4 on average
  CHECK_THAT(parse_nccl_log(uneven + table, "t.log").findings.at(0).message,
             ContainsSubstring("8 ranks on 2 hosts"));

  std::string other = devices;
  other.replace(other.find("all_reduce_perf"), 15, "scatter_perf");
  const NcclImport scatter = parse_nccl_log(other + table, "all_reduce.log");
  REQUIRE(scatter.tables.size() == 1);
  CHECK(scatter.tables[0].collective.empty());  // whatever the file is called
  CHECK_THAT(scatter.findings.at(0).message, ContainsSubstring("scatter_perf measures none"));
}

TEST_CASE("the JSON of nccl-tests becomes the same table as its text") {
  const std::string json =
      R"({"version":3,"args":["./build/all_reduce_perf","-J","x.json"],"env":[],"nccl_version":22803,
"config":{"nthreads":1,"ngpus":1,"graph":0,"devices":[
{"rank":0,"group":0,"pid":1,"hostname":"nodea","device":0,"device_hex":"07","device_info":"NVIDIA A100-SXM4-80GB"},
{"rank":1,"group":0,"pid":2,"hostname":"nodeb","device":0,"device_hex":"07","device_info":"NVIDIA A100-SXM4-80GB"}]},
"results":[{"size":1073741824,"count":268435456,"type":"float","redop":"sum","root":"    -1",
"out_of_place":{"time":50000.25,"alg_bw":21.4747,"bus_bw":21.4747,"nwrong":0.0},
"in_place":{"time":50100.5,"alg_bw":21.4317,"bus_bw":21.4317,"nwrong":null},"actual_iterations":20,"experiment_name":""}],
"out_of_bounds":{"count":0,"okay":"true"}})";
  const NcclImport import = parse_nccl_json(json, "x.json");
  CHECK(import.findings.empty());
  REQUIRE(import.tables.size() == 1);
  CHECK(import.tables[0].collective == "all_reduce");
  CHECK(import.tables[0].nodes == 2);
  CHECK(import.tables[0].gpus_per_node == 1);
  CHECK(import.tables[0].nccl_version == "2.28.3");
  REQUIRE(import.tables[0].rows.size() == 1);
  CHECK_THAT(*import.tables[0].rows[0].in_place / 1_us, WithinRel(50100.5, 1e-12));
  for (std::size_t length = 0; length < json.size(); ++length) {
    CHECK_NOTHROW(parse_nccl_json(json.substr(0, length), "x.json"));
  }
  CHECK(parse_nccl_json("[1]", "x.json").findings.size() == 1);
}

// NCCL_VERSION_CODE is 1000 a + 100 b + c up to 2.8, 10000 a + 100 b + c from 2.9 (nccl.h).
TEST_CASE("a version code of NCCL is read with the rule of its time") {
  CHECK(nccl_version_text(2804) == "2.8.4");
  CHECK(nccl_version_text(20906) == "2.9.6");
  CHECK(nccl_version_text(22803) == "2.28.3");
}
