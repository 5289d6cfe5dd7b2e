// SPDX-License-Identifier: Apache-2.0
// What other programs wrote that is no time of a kernel: every row of it is told in one run, at its
// place, and nothing is imported. The inputs are made up, in the shape that the programs write.
#include <string>
#include <vector>

#include "profiles/import/foreign.hpp"
#include "tests/catch.hpp"
#include "tests/profiles/foreign_texts.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using payoff::test::ForeignImport;

namespace {

const std::string log_head =
    "# Collective test starting: all_reduce_perf\n"
    "# nThread 1 nGpus 2 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 agg "
    "iters: 1 validation: 1 graph: 0\n# Using devices\n"
    "#  Rank  0 Group  0 Pid  1 on  a device  0 [0000:07:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid  1 on  a device  1 [0000:0a:00] NVIDIA H100 80GB HBM3\n"
    "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";

// Rows begin in line 7; 8 bytes in 12 us are 0.00 GB/s.
std::string row(const std::string& size, const std::string& time, const std::string& wrong,
                const std::string& in_place, const std::string& wrong_in_place) {
  return size + " 2 float sum -1 " + time + " 0.00 0.00 " + wrong + " " + in_place + " 0.00 0.00 " +
         wrong_in_place + "\n";
}

std::string json_row(const std::string& size, const std::string& out, const std::string& in) {
  return "{\"size\": " + size + ", \"type\": \"float\", \"out_of_place\": {" + out +
         "}, \"in_place\": {" + in + "}}";
}

std::string json_of(const std::string& rows) {
  return "{\"args\": [\"all_reduce_perf\"], \"config\": {\"nthreads\": 1, \"ngpus\": 2, "
         "\"devices\": [{\"hostname\": \"a\", \"device_info\": \"X\"}, {\"hostname\": \"a\", "
         "\"device_info\": \"X\"}]},\n\"results\": [\n" +
         rows + "]}\n";
}

std::string google_of(const std::string& runs) {
  return "{\"context\": {\"date\": \"2026-11-20T12:30:15+01:00\"},\n\"benchmarks\": [\n" + runs +
         "]}\n";
}

std::string google_run(const std::string& size, const std::string& time,
                       const std::string& more = "") {
  return "{\"name\": \"BM_Cast/" + size + "\", \"run_type\": \"iteration\", " + more +
         "\"real_time\": " + time + ", \"cpu_time\": 9.0, \"time_unit\": \"us\"}";
}

void check_told(const std::string& text, std::size_t errors,
                const std::vector<std::string>& messages) {
  const ForeignImport refusal(text);
  INFO(refusal.errors());
  CHECK(!refusal.read);
  CHECK(refusal.diagnostics.error_count() == errors);
  for (const std::string& message : messages) {
    CHECK_THAT(refusal.errors(), ContainsSubstring(message));
  }
}

}  // namespace

// Columns: "8 2 float sum -1 12.0 0.00 0.00 0 -11.5 ...": the time in place begins in column 35.
TEST_CASE("every row of nccl-tests that is no measurement is told, at the word that says so") {
  check_told(log_head + row("8", "12.0", "0", "-11.5", "0") + row("16", "nan", "0", "11.5", "0") +
                 row("32", "12.0", "3", "11.5", "N/A") + row("64", "12.0", "0", "11.5", "1") +
                 row("24", "12.0", "0", "11.5", "0") + row("256", "-1", "2", "0", "0"),
             7,
             {"a.txt:7:35", "the time in place cannot be -11.5 us", "a.txt:8:19",
              "the time `nan` is no number", "a.txt:9:34", "3 wrong values: what failed its check",
              "a.txt:10:51", "1 wrong values in place", "a.txt:12:", "the time cannot be -1 us",
              "2 wrong values", "the time in place cannot be 0 us", "measure again"});
}

TEST_CASE("of a row of nccl-tests that has one number too few the others are judged as well") {
  check_told(log_head + row("8", "nan", "0", "-11.5", "2"), 3,
             {"the time `nan` is no number", "the time in place cannot be -11.5 us",
              "2 wrong values in place"});
}

TEST_CASE("so is every row of its JSON, and what is no number of JSON does not hide the rest") {
  check_told(json_of(json_row("8", "\"time\": 12.0, \"nwrong\": 0", "\"time\": -11.5") + ",\n" +
                     json_row("16", "\"time\": NaN", "\"time\": 11.5") + ",\n" +
                     json_row("32", "\"time\": 12.0, \"nwrong\": 3", "\"time\": \"fast\"") + ",\n" +
                     json_row("64", "\"time\": 12.0, \"nwrong\": 7", "\"time\": 11.5")),
             4,
             {"a.txt:3:", "the time in place cannot be -11.5 us", "a.txt:4:", "NaN is no number",
              "inside `results`, entry 2, `out_of_place`, `time`",
              "a.txt:5:", "`time` is not a number", "a.txt:6:", "7 wrong values"});
}

TEST_CASE("a row that nccl-tests has not checked or run in place is a measurement") {
  const ForeignImport fine(log_head + row("8", "12.0", "N/A", "N/A", "N/A"));
  INFO(fine.errors());
  REQUIRE(fine.read);
  CHECK(fine.read->points.size() == 1);
  CHECK(fine.diagnostics.empty());
}

TEST_CASE("a size that is there again is more samples of its point, and said to be") {
  const ForeignImport again(log_head + row("8", "12.0", "0", "11.5", "0") +
                            row("16", "12.0", "0", "11.5", "0") +
                            row("8", "12.5", "0", "11.0", "0"));
  REQUIRE(again.read);
  CHECK(again.read->points.front().samples == std::vector<Seconds>{12.0 * 1_us, 12.5 * 1_us});
  CHECK(again.diagnostics.count(Severity::warning) == 1);
  CHECK_THAT(again.errors(), ContainsSubstring("a.txt:9:1") &&
                                 ContainsSubstring("is there again") &&
                                 ContainsSubstring("first at runs/a.txt:7:1") &&
                                 ContainsSubstring("and so is one more row"));
}

TEST_CASE("Google Benchmark: repetitions are samples, one that is there again is said to be") {
  const std::string first = google_run("8", "4.0", "\"repetition_index\": 0, ");
  const std::string second = google_run("8", "4.1", "\"repetition_index\": 1, ");
  CHECK(ForeignImport(google_of(first + "," + second)).diagnostics.empty());
  const ForeignImport again(google_of(first + ",\n" + second + ",\n" + first));
  REQUIRE(again.read);
  CHECK_THAT(again.errors(), ContainsSubstring("a.txt:5:1") &&
                                 ContainsSubstring("is there again") &&
                                 ContainsSubstring("first at runs/a.txt:3:1"));
}

TEST_CASE("every record of Google Benchmark that is wrong is told, also behind one that is NaN") {
  check_told(google_of(google_run("8", "NaN") + ",\n" + google_run("16", "-4") + ",\n" +
                       google_run("32", "4", "\"written_bytes\": 1e30, ") + ",\n" +
                       google_run("64", "-Infinity")),
             4,
             {"a.txt:3:", "NaN is no number", "inside `benchmarks`, entry 1 (BM_Cast/8)",
              "`real_time` cannot be -4", "`written_bytes` cannot be 1e+30",
              "a.txt:6:", "-Infinity is no number"});
}

TEST_CASE("every cell of a table that no kernel has is told, and names that are near are meant") {
  check_told(
      "kernel,elements,read_bytes,state,time_us\n"
      "copy,-8,8,cold,3\ncopy,8,1e30,cold,nan\ncopy,8,8,colt,0\n",
      5,
      {"a.txt:2:6", "`elements` cannot be -8", "at least 0", "a.txt:3:8",
       "`read_bytes` cannot be 1e30", "a.txt:3:18", "`time_us` is not a number", "a.txt:4:10",
       "did you mean `cold`?", "`time_us` cannot be 0"});
  check_told("kernle,time\ncopy,3\n", 2,
             {"a.txt:1:1", "no column `kernel`", "did you mean `kernel`?", "a.txt:1:8",
              "did you mean `time_us`?"});
}

TEST_CASE("nvbench: amounts that no kernel has are told with their state") {
  const auto value = [](const std::string& tag, const std::string& number) {
    return "{\"tag\": \"" + tag + "\", \"data\": [{\"name\": \"value\", \"value\": \"" + number +
           "\"}]}";
  };
  const std::string text =
      "{\"meta\": {\"version\": {\"json\": {\"major\": 1}}}, \"devices\": [{\"id\": 0, \"name\": "
      "\"X\", \"number_of_sms\": 1, \"l2_cache_size\": 1, \"global_memory_size\": 1, "
      "\"sm_version\": 900}],\n\"benchmarks\": [{\"name\": \"cast\", \"states\": [\n"
      "{\"device\": 0, \"is_skipped\": false, \"axis_values\": [{\"name\": \"Elements\", \"type\": "
      "\"int64\", \"value\": \"-8\"}], \"summaries\": [" +
      value("nv/batch/time/gpu/mean", "1e-5") +
      "]},\n{\"device\": 0, \"is_skipped\": false, \"summaries\": [" +
      value("nv/batch/time/gpu/mean", "-1e-5") + "]}]}]}";
  check_told(text, 2,
             {"a.txt:3:", "`elements` cannot be -8",
              "a.txt:4:", "benchmark cast, state 1: `nv/batch/time/gpu/mean` cannot be -1e-5"});
}

// One sensor that failed, or one column of a table that is off, is one mistake.
TEST_CASE("what is wrong with every record alike is one error, with the first and how many more") {
  std::string states;
  for (int i = 0; i < 112; ++i) {
    states += i > 0 ? ",\n" : "";
    states +=
        "{\"device\": 0, \"axis_values\": null, \"is_skipped\": false, \"summaries\": "
        "[{\"tag\": \"nv/cold/time/gpu/mean\", \"data\": [{\"name\": \"value\", \"value\": "
        "\"nan\"}]}]}";
  }
  const std::string nvbench =
      "{\"meta\": {\"version\": {\"json\": {\"major\": 1}}},\n\"devices\": [{\"id\": 0, "
      "\"name\": \"X\", \"number_of_sms\": 9, \"l2_cache_size\": 1, \"global_memory_size\": 1, "
      "\"sm_version\": 900}],\n\"benchmarks\": [{\"name\": \"cast\", \"states\": [\n" +
      states + "]}]}\n";
  check_told(nvbench, 1,
             {"a.txt:4:", "benchmark cast, state 0: `nv/cold/time/gpu/mean` is not a number",
              "(benchmark cast, state 3) and 108 more"});
  std::string csv = "kernel,size,time_us\n";
  std::string json;
  std::string rows;
  std::string runs;
  for (int i = 1; i <= 9; ++i) {
    const std::string size = std::to_string(8 * i);
    csv += "cast," + size + ",-1\n";
    json += (i > 1 ? ",\n" : "") + json_row(size, "\"time\": NaN", "\"time\": 1");
    rows += row(size, "0", "0", "N/A", "N/A");
    runs += (i > 1 ? ",\n" : "") + google_run(size, "-1");
  }
  check_told(csv, 1, {"a.txt:2:", "row 2: `time_us` cannot be -1", "(row 5) and 5 more"});
  check_told("kernel,size,time_us\ncast,1,-1\ncast,2,-1\n", 1,
             {"note: so is runs/a.txt:3:8 (row 3)\n"});
  check_told(json_of(json), 1, {"a.txt:3:", "NaN is no number", "and 5 more"});
  check_told(log_head + rows, 1, {"a.txt:7:", "the time cannot be 0 us", "and 5 more"});
  check_told(google_of(runs), 1, {"a.txt:3:", "`real_time` cannot be -1", "and 5 more"});
}
