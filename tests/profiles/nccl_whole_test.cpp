// SPDX-License-Identifier: Apache-2.0
// Logs of nccl-tests that are not all of a run, or not of one device. The logs are made up, in the
// layout of src/common.h and src/util.cu of NVIDIA/nccl-tests at a0b82b2.
#include <string>

#include <fmt/format.h>

#include "profiles/import/foreign.hpp"
#include "profiles/import/gpu_names.hpp"
#include "profiles/import/nccl_log.hpp"
#include "tests/catch.hpp"
#include "tests/profiles/foreign_texts.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using payoff::test::ForeignImport;

namespace {

const std::string ending = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 50.0\n#\n";
const std::string columns = "#  size  count  type  redop  root  time  algbw  busbw  #wrong\n";

std::string rank_line(int rank, const std::string& device) {
  return fmt::format("#  Rank  {0} Group  0 Pid  1 on  a device  {0} [0000:07:00] {1}\n", rank,
                     device);
}

// Of two ranks, whose busbw is algbw; the columns' names are in line 5.
std::string head(const std::string& sizes, const std::string& device = "NVIDIA H100 80GB HBM3") {
  return "# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 2 " + sizes +
         " warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n" +
         rank_line(0, "NVIDIA H100 80GB HBM3") + rank_line(1, device) + columns;
}

std::string row(double size) {
  const double us = 10.0 + size / 1e5;
  const double gbps = size / us / 1e3;
  return fmt::format("  {:.0f}  {:.0f}  float  sum  -1  {:.4f}  {:.2f}  {:.2f}  0\n", size,
                     size / 4.0, us, gbps, gbps);
}

std::string rows(double first, double last) {
  std::string text;
  for (double size = first; size <= last; size *= 4.0) {
    text += row(size);
  }
  return text;
}

const std::string announced = "minBytes 1024 maxBytes 1048576 step: 4(factor)";

std::string doubt(const std::string& text) {
  const NcclImport import = parse_nccl_log(text, "t.log");
  for (const Finding& finding : import.findings) {
    CHECK(finding.effect == Effect::noted);  // a table alone does not name its collective
  }
  REQUIRE(import.tables.size() == 1);
  CHECK(!import.tables[0].rows.empty());
  CHECK(import.doubts.size() < 2);
  return import.doubts.empty() ? "" : to_text(import.doubts.front());
}

}  // namespace

TEST_CASE("a log of all announced sizes is whole, with or without the sums behind it") {
  CHECK(doubt(head(announced) + rows(1024, 1 << 20) + ending).empty());
  CHECK(doubt(head(announced) + rows(1024, 1 << 20)).empty());
  // 1000 x 4^k below 1,000,000 ends at 256,000.
  const std::string uneven = head("minBytes 1000 maxBytes 1000000 step: 4(factor)");
  CHECK(doubt(uneven + rows(1000, 256000)).empty());
  // Six ranks share 1,048,576 bytes in parts of 16: 1,048,512.
  CHECK(doubt(head(announced) + rows(1024, 1 << 18) + row(1048512)).empty());
  // 1024, 2048, ..., 5120 of 5500
  const std::string steps = head("minBytes 1024 maxBytes 5500 step: 1024(bytes)");
  CHECK(doubt(steps + row(4096) + row(5120)).empty());
  CHECK_THAT(doubt(steps + row(3072) + row(4096)), ContainsSubstring("4096 bytes, and 5120"));
}

TEST_CASE("a log cut between rows names the last size and the one announced") {
  const std::string cut = head(announced) + rows(1024, 1 << 16);  // 1, 4, 16, 64 KiB in 6 to 9
  CHECK_THAT(doubt(cut), StartsWith("t.log:9:1") &&
                             ContainsSubstring("rows end at 65536 bytes, and 1048576 were"));
  CHECK(!doubt(cut + ending).empty());  // rows that somebody took out
  const ForeignImport import(cut);
  CHECK(import.read);
  CHECK(import.read->points.size() == 4);
  CHECK_THAT(import.errors(), ContainsSubstring("warning: the rows end at 65536 bytes"));
  // The program itself announced less before it began.
  CHECK(doubt("# nccl-tests version 2.17.1\n# nThread 1 nGpus 2 " + announced +
              "\n# Reducing maxBytes to 65536 due to memory limitation\n" +
              rank_line(0, "NVIDIA H100 80GB HBM3") + columns + rows(1024, 1 << 16))
            .empty());
}

TEST_CASE("rows without what stands before and behind them may not be all") {
  CHECK_THAT(doubt(columns + rows(1024, 4096)).substr(0, 9), StartsWith("t.log:3:1"));
  CHECK_THAT(doubt(columns + rows(1024, 4096)), ContainsSubstring("whether this row is the last"));
  CHECK(doubt(columns + rows(1024, 4096) + ending).empty());
}

TEST_CASE("each run of a log is whole or cut by itself") {
  const std::string whole = head(announced) + rows(1024, 1 << 20);
  const std::string cut = head(announced) + rows(1024, 1 << 16);
  const NcclImport import = parse_nccl_log(cut + whole + ending, "t.log");
  REQUIRE(import.tables.size() == 2);
  REQUIRE(import.doubts.size() == 1);
  CHECK(import.doubts[0].line == 9);
}

TEST_CASE("a run that gave up is an error at its first line that says so, and at no other") {
  const std::string abort =
      "a: Test NCCL failure common.cu:954 'unhandled cuda error / '\n"
      " .. a pid 4711: Test failure common.cu:844\n";
  const ForeignImport import(head(announced) + rows(1024, 1 << 16) + abort);
  CHECK(!import.read);
  CHECK(import.diagnostics.error_count() == 1);
  CHECK_THAT(import.errors(), ContainsSubstring("a.txt:10:1") &&
                                  ContainsSubstring("the run failed here: a: Test NCCL failure") &&
                                  ContainsSubstring("take this line out") &&
                                  !ContainsSubstring("rows end at"));
  for (const std::string said : {"a: Test CUDA failure common.cu:299 'out of memory'\n",
                                 "[1,0]<stderr>:a: Test timeout (Rank 0)\n"}) {
    INFO(said);
    CHECK(!ForeignImport(head(announced) + rows(1024, 1 << 20) + said).read);
  }
}

TEST_CASE("a log of two kinds of GPUs names the first rank on another and its line") {
  const ForeignImport mixed(head(announced, "NVIDIA A100-SXM4-80GB") + rows(1024, 1 << 20) +
                            ending);
  CHECK(!mixed.read);
  CHECK(mixed.diagnostics.error_count() == 1);
  const std::string other_rank = rank_line(1, "NVIDIA A100-SXM4-80GB");
  const std::string place = fmt::format("a.txt:4:{}\n", other_rank.find("NVIDIA") + 1);
  CHECK_THAT(mixed.errors(),
             ContainsSubstring(place) &&
                 ContainsSubstring("rank 1 is on `NVIDIA A100-SXM4-80GB`, and rank 0 "
                                   "at line 3 on `NVIDIA H100 80GB HBM3`"));
  // From run to run, too; a run that does not name its GPUs is of the one that is named.
  const std::string whole = head(announced) + rows(1024, 1 << 20) + ending;
  std::string other = whole;
  for (std::size_t at = other.find("H100"); at != std::string::npos; at = other.find("H100")) {
    other.replace(at, 4, "H800");
  }
  CHECK(ForeignImport(whole + other).diagnostics.error_count() == 1);
  const ForeignImport unnamed(whole + columns + rows(2048, 8192) + ending);
  REQUIRE(unnamed.read);
  CHECK(unnamed.read->device.name == "NVIDIA H100 80GB HBM3");
}

TEST_CASE("a driver's name is that of one GPU, or may be of any of its model") {
  CHECK(may_be_called("h100-sxm", "NVIDIA H100 80GB HBM3"));
  CHECK(!may_be_called("h100-pcie", "NVIDIA H100 80GB HBM3"));
  CHECK(!may_be_called("h20", "NVIDIA H200"));  // whose name begins with it
  CHECK(may_be_called("v100-sxm2-32", "Tesla V100-DGXS-32GB"));
  CHECK(may_be_called("rtx4090", "NVIDIA GeForce RTX 4090"));
  CHECK(!may_be_called("a100-sxm-80", "NVIDIA H800"));
}
