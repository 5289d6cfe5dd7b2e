// SPDX-License-Identifier: Apache-2.0
// Files of other programs that cannot be samples: each mistake with its record and its place.
#include <string>

#include "tests/catch.hpp"
#include "tests/profiles/foreign_texts.hpp"

using namespace payoff;
using payoff::test::check_refused;
using payoff::test::csv;
using payoff::test::google;
using payoff::test::nccl;
using payoff::test::nvbench;
using payoff::test::replaced;
using Import = payoff::test::ForeignImport;

TEST_CASE("every mistake names its record and its place, and the file gives nothing") {
  check_refused(replaced(google, "4.0000000000000000e+00", "NaN"), "a.txt:11:19", "not valid JSON");
  check_refused(replaced(google, "4.1,", "-4.1,"), "BM_Cast<float, half>/1048576/manual_time",
                "`real_time` cannot be -4.1");
  check_refused(replaced(google, "\"ns\",\n     \"bytes", "\"weeks\",\n     \"bytes"),
                "BM_SmallGemm/m:64/n:128/k:32", "`weeks` is none of ns");
  check_refused(replaced(google, "12:30:15+01:00", "noon"), "a.txt:3", "`date` cannot be read");
  check_refused(google.substr(0, google.size() / 2), "a.txt", "the file ends here");
  check_refused(nvbench("1"), "a.txt:8:80", "device 1 is not in the list `devices`");
  check_refused(replaced(nvbench(), "\"is_skipped\": true", "\"is_skipped\": false"),
                "benchmark fake quantize, state 1", "`summaries` is");
  check_refused(replaced(replaced(nvbench(), "\"is_skipped\": true", "\"is_skipped\": false"),
                         "2^40\", \"device\": 0", "2^40\", \"device\": 1"),
                "benchmark fake quantize, state 1", "device 1 after device 0");
  check_refused(replaced(nvbench(),
                         "\"device\": 0, \"type_config_index\": 0,\n  \"axis_values\": "
                         "[{\"name\": \"T{ct}\", \"type\": \"string\", \"value\": "
                         "\"F32\"},\n                  {\"name\": \"Elements{io}\", "
                         "\"type\": \"int64\", \"value\": \"16777216\"}]",
                         "\"device\": 0, \"axis_values\": [{\"name\": \"Elements\", \"type\": "
                         "\"int64\", \"value\": \"many\"}]"),
                "benchmark fake quantize, state 0", "`Elements` is not a number");
  check_refused(nvbench("0", "nan"), "state 0", "`nv/cold/time/gpu/mean` is not a number");
  check_refused(replaced(nvbench(), R"("major": 1)", R"("major": 2)"), "a.txt:2",
                "this version of nvbench's JSON is not known");
  check_refused(replaced(nccl, "5000  214.75", "5000  314.75"), "a.txt:11:1",
                "contradicts bytes / time");
  check_refused(nccl.substr(0, nccl.size() - 60), "a.txt:11", "values under 13 names");
  check_refused(replaced(csv, "3.7", "-3.7"), "row 4", "`time_us` cannot be -3.7");
  check_refused(replaced(csv, "8192", "8k"), "row 5", "`read_bytes` is not a number");
  check_refused(replaced(csv, "fused,cold,1024", "fast,cold,1024"), "row 3",
                "`implementation` cannot be `fast`");
  check_refused(replaced(csv, "decode,,,1024", "decode,,1024"), "row 6", "7 cells under 8 names");
  check_refused(replaced(csv, ",time_us", ",time"), "row 2", "no column `time_us`");
  check_refused(replaced(csv, ",bits,", ",elements,"), "row 2", "`elements` is there twice");
  check_refused(replaced(csv, "decode", "De code"), "row 6", "did you mean `de_code`?");
}

TEST_CASE("CSV: two times of a row, and a name near an amount's, are no columns") {
  // At the second time: a row would be two samples of one run.
  check_refused(replaced(csv, ",bits,", ",time_ms,"), "a.txt:2:71",
                "`time_us` and `time_ms` are two times of a row");
  check_refused(replaced(csv, ",read_bytes", ",read_byte"), "a.txt:2:43",
                "did you mean `read_bytes`?");
  check_refused(replaced(csv, ",written_bytes", ",writen_bytes"), "row 2",
                "the column `writen_bytes` would be a parameter");
  check_refused(replaced(csv, ",bits,", ",time_uss,"), "row 2", "`time_us`?");
  for (const char* parameter : {",group,", ",ratio,", ",stride,", ",tiles,"}) {
    INFO(parameter);
    CHECK(Import(replaced(csv, ",bits,", parameter)).read);
  }
}

TEST_CASE("what nobody can tell is asked for") {
  check_refused("hello\n", "a.txt:1:1", "which program wrote it");
  check_refused("{\"format\": \"payoff-samples\"}", "a.txt:1:1", "a samples file already");
  check_refused("kernel,time_us\n", "a.txt:1:1", "no time of a kernel");
  CHECK(!Import("hello\n", MeasurementFormat::nvbench).read);
}

TEST_CASE("a file cut anywhere is refused or read, never more") {
  for (const std::string& whole : {google, nvbench(), nccl, csv}) {
    for (std::size_t length = 0; length < whole.size(); length += 7) {
      const Import import(whole.substr(0, length));
      CHECK(import.read.has_value() != import.diagnostics.has_errors());
    }
  }
}
