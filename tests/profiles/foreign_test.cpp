// SPDX-License-Identifier: Apache-2.0
// Files of other programs as samples. The inputs are made up, in the shape that the programs write
// (google/benchmark at 00e988c, NVIDIA/nvbench at 66212f1, NVIDIA/nccl-tests at a0b82b2).
#include "profiles/import/foreign.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

// 1 MiB and 2 MiB read in 4 us (real) are 262.144 and 524.288 GB/s.
const std::string google = R"({
  "context": {
    "date": "2026-11-20T12:30:15+01:00", "host_name": "nodea", "executable": "./codecs",
    "num_cpus": 2, "mhz_per_cpu": 2000, "cpu_scaling_enabled": false, "caches": [],
    "library_version": "v1.9.4", "gpu": "Some GPU", "library_build_type": "release"
  },
  "benchmarks": [
    {"name": "BM_Cast<float, half>/1048576/manual_time", "family_index": 0,
     "run_name": "BM_Cast<float, half>/1048576/manual_time", "run_type": "iteration",
     "repetitions": 2, "repetition_index": 0, "threads": 1, "iterations": 1000,
     "real_time": 4.0000000000000000e+00, "cpu_time": 9.0, "time_unit": "us",
     "bytes_per_second": 2.6214400000000000e+11},
    {"name": "BM_Cast<float, half>/1048576/manual_time", "family_index": 0,
     "run_name": "BM_Cast<float, half>/1048576/manual_time", "run_type": "iteration",
     "repetitions": 2, "repetition_index": 1, "threads": 1, "iterations": 1000,
     "real_time": 4.1, "cpu_time": 9.0, "time_unit": "us",
     "bytes_per_second": 2.5575024390243903e+11},
    {"name": "BM_Cast<float, half>/1048576/manual_time_mean", "family_index": 0,
     "run_name": "BM_Cast<float, half>/1048576/manual_time", "run_type": "aggregate",
     "repetitions": 2, "threads": 1, "aggregate_name": "mean", "iterations": 2,
     "real_time": 4.05, "cpu_time": 9.0, "time_unit": "us"},
    {"name": "BM_SmallGemm/m:64/n:128/k:32", "family_index": 1, "run_name": "BM_SmallGemm/m:64/n:128/k:32",
     "run_type": "iteration", "repetitions": 1, "repetition_index": 0, "threads": 1,
     "iterations": 10, "real_time": 2500.0, "cpu_time": 2000.0, "time_unit": "ns",
     "bytes_per_second": 1.6384e10, "flops": 524288.0, "label": "x"},
    {"name": "BM_Broken/1", "family_index": 2, "run_name": "BM_Broken/1", "run_type": "iteration",
     "repetitions": 1, "threads": 1, "error_occurred": true, "error_message": "no memory",
     "iterations": 0, "real_time": 0.0, "cpu_time": 0.0, "time_unit": "ns"}
  ]
}
)";

std::string summary(const std::string& tag, const std::string& value) {
  return R"({"tag": ")" + tag + R"(", "name": "x", "hint": "duration", "data": [
    {"name": "value", "type": "float64", "value": ")" +
         value + "\"}]}";
}

// 16,777,216 floats read and written, 134,217,728 bytes in 50 us on average: 2.68435456 TB/s.
std::string nvbench(const std::string& device = "0", const std::string& mean = "5e-05",
                    const std::string& more = {}) {
  return R"({"meta": {"argv": ["codec_bench", "--json", "x.json"], "version": {
  "json": {"major": 1, "minor": 0, "patch": 0, "string": "1.0.0"},
  "nvbench": {"major": 0, "minor": 2, "patch": 0, "string": "0.2.0"}}},
"devices": [{"id": 0, "name": "Some GPU", "sm_version": 900, "ptx_version": 900,
  "sm_default_clock_rate": 1980000000, "number_of_sms": 132, "global_memory_size": 85017755648,
  "l2_cache_size": 52428800, "ecc_state": true}],
"benchmarks": [{"name": "fake quantize", "index": 0, "devices": [0], "axes": [], "states": [
 {"name": "Device=0 T{ct}=F32 Elements{io}=2^24", "min_samples": 10, "device": )" +
         device + R"(, "type_config_index": 0,
  "axis_values": [{"name": "T{ct}", "type": "string", "value": "F32"},
                  {"name": "Elements{io}", "type": "int64", "value": "16777216"}],
  "summaries": [)" +
         summary("nv/cold/sample_size", "250") + "," + summary("nv/cold/time/gpu/mean", mean) +
         "," + summary("nv/cold/time/gpu/median", "4.9e-05") + "," +
         summary("nv/cold/time/gpu/stdev/relative", "0.02") + "," +
         summary("nv/cold/bw/global/bytes_per_second", "2.68435456e12") + "," +
         summary("nv/cold/sm_clock_rate/scaling/percent", "0.97") + "," +
         summary("nv/batch/sample_size", "9000") + "," +
         summary("nv/batch/time/gpu/mean", "4.5e-05") + more + R"(], "is_skipped": false},
 {"name": "Device=0 T{ct}=F32 Elements{io}=2^40", "device": 0, "type_config_index": 0,
  "axis_values": [{"name": "T{ct}", "type": "string", "value": "F32"},
                  {"name": "Elements{io}", "type": "int64", "value": "1099511627776"}],
  "summaries": null, "is_skipped": true, "skip_reason": "out of memory"}]}]}
)";
}

const std::string nccl = R"(# nccl-tests version 2.17.1 nccl-headers=22803 nccl-library=22803
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 2 minBytes 8 maxBytes 1073741824 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0 unalign: 0
#
# Using devices
#  Rank  0 Group  0 Pid   1001 on      nodea device  0 [0000:07:00] NVIDIA A100-SXM4-80GB
#  Rank  1 Group  0 Pid   1001 on      nodea device  1 [0000:0a:00] NVIDIA A100-SXM4-80GB
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
           8             2     float     sum      -1    12.05    0.00    0.00       0    11.79    0.00    0.00     N/A
  1073741824     268435456     float     sum      -1     5000  214.75  214.75       0     5100  210.54  210.54       0
)";

const std::string csv =
    "# times of our own\n"
    "kernel,implementation,state,elements,bits,read_bytes,written_bytes,time_us\n"
    "quantize,fused,cold,1024,4,4096,512,3.5\n"
    "quantize,fused,cold,1024,4,4096,512,3.7\n"
    "quantize,fused,cold,2048,4,8192,1024,4.5\r\n"
    "decode,,,1024,4,512,4096,3.0\n";

struct Import {
  explicit Import(const std::string& text, std::optional<MeasurementFormat> format = std::nullopt) {
    const std::size_t source = sources.add_file("runs/a.txt", text);
    read = parse_foreign({source, 0, text.size()}, format, sources, diagnostics);
  }
  [[nodiscard]] std::string errors() const { return render_text(diagnostics, sources); }

  SourceMap sources;
  Diagnostics diagnostics;
  std::optional<ForeignMeasurements> read;
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

void check_refused(const std::string& text, const std::string& record, const std::string& reason) {
  const Import import(text);
  INFO(import.errors());
  CHECK(!import.read);
  CHECK(import.diagnostics.has_errors());
  CHECK_THAT(import.errors(), ContainsSubstring(record) && ContainsSubstring(reason));
}

SamplesDevice some_gpu() {
  SamplesDevice device;
  device.name = "Some GPU";
  device.multiprocessors = 132;
  device.l2 = 50_MiB;
  device.memory = 80_GB;
  return device;
}

}  // namespace

TEST_CASE("Google Benchmark: repetitions are samples, names are parameters, rates are bytes") {
  const Import import(google);
  INFO(import.errors());
  REQUIRE(import.read);
  const ForeignMeasurements& read = *import.read;
  CHECK(read.format == MeasurementFormat::google_benchmark);
  CHECK(read.date == "2026-11-20T11:30:15Z");
  CHECK(read.version == "v1.9.4");
  CHECK(read.device.name == "Some GPU");
  REQUIRE(read.points.size() == 2);
  const SamplesPoint& cast = read.points[0];
  CHECK(cast.kernel == "cast_float_half");
  CHECK(cast.parameters == std::map<std::string, double>{{"size", 1048576.0}});
  CHECK(cast.traffic() == 1_MiB);  // of real_time, because the benchmark's own clock counted
  REQUIRE(cast.samples.size() == 2);
  CHECK_THAT(cast.samples[1] / 1_us, WithinRel(4.1, 1e-12));
  CHECK(cast.state == "hot");
  const SamplesPoint& gemm = read.points[1];
  CHECK(gemm.kernel == "small_gemm");
  CHECK(gemm.parameters == std::map<std::string, double>{{"k", 32.0}, {"m", 64.0}, {"n", 128.0}});
  CHECK_THAT(gemm.samples[0] / 1_us, WithinRel(2.5, 1e-12));
  CHECK(gemm.flops == Flops{524288.0});
  CHECK(gemm.traffic() == Bytes{32768.0});  // 16.384 GB/s of 2,000 ns of the processor
  CHECK_THAT(import.errors(), ContainsSubstring("BM_Broken/1: failed and is left out"));
}

TEST_CASE("nvbench: isolated times are cold, batches hot, and say how many they stand for") {
  const Import import(nvbench());
  INFO(import.errors());
  REQUIRE(import.read);
  const ForeignMeasurements& read = *import.read;
  CHECK(read.format == MeasurementFormat::nvbench);
  CHECK(read.version == "0.2.0");
  CHECK(read.device.multiprocessors == 132);
  CHECK(read.device.compute_capability == "9.0");
  CHECK(read.device.l2 == 50_MiB);
  REQUIRE(read.points.size() == 2);
  const SamplesPoint& cold = read.points[0];
  CHECK(cold.kernel == "fake_quantize_f32");
  CHECK(cold.parameters == std::map<std::string, double>{{"elements", 16777216.0}});
  CHECK(cold.state == "cold");
  CHECK(cold.traffic() == Bytes{134217728.0});
  CHECK_THAT(cold.samples.at(0) / 1_us, WithinRel(49.0, 1e-12));  // the median
  CHECK(cold.stands_for == SamplesSpread{250, 0.02});
  CHECK_THAT(cold.clock_ratio, WithinRel(0.97, 1e-12));
  const SamplesPoint& hot = read.points[1];
  CHECK(hot.state == "hot");
  CHECK_THAT(hot.samples.at(0) / 1_us, WithinRel(45.0, 1e-12));
  CHECK(hot.stands_for == SamplesSpread{9000, 0.0});
  CHECK_THAT(import.errors(), ContainsSubstring("benchmark fake quantize, state 1: was skipped") &&
                                  ContainsSubstring("out of memory"));
}

TEST_CASE("nvbench: traffic that is told by buffer is read and written apart") {
  const Import import(nvbench("0", "5e-05",
                              "," + summary("nv/gmem/reads/In", "67108864") + "," +
                                  summary("nv/gmem/writes/Out", "67108864")));
  REQUIRE(import.read);
  CHECK(import.read->points[0].read == Bytes{67108864.0});
  CHECK(import.read->points[0].written == Bytes{67108864.0});
}

TEST_CASE("nccl-tests: a collective is a point of its message, out of place and in place") {
  const Import import(nccl);
  INFO(import.errors());
  REQUIRE(import.read);
  const ForeignMeasurements& read = *import.read;
  CHECK(read.format == MeasurementFormat::nccl_tests);
  CHECK(read.device.name == "NVIDIA A100-SXM4-80GB");
  CHECK(read.version == "NCCL 2.28.3");
  REQUIRE(read.points.size() == 4);
  CHECK(read.points[2].kernel == "nccl_all_reduce_float");
  CHECK(read.points[2].traffic() == 1_GiB);
  CHECK_THAT(read.points[2].samples.at(0) / 1_us, WithinRel(5000.0, 1e-12));
  CHECK(read.points[3].parameters.at("in_place") == 1.0);
  CHECK(import.sources.place(read.points[3].place) == "runs/a.txt:11:1");
}

TEST_CASE("CSV: rows of one point are its samples, and other columns its parameters") {
  const Import import(csv);
  INFO(import.errors());
  REQUIRE(import.read);
  const std::vector<SamplesPoint>& points = import.read->points;
  REQUIRE(points.size() == 3);
  CHECK(points[0].samples == std::vector<Seconds>{3.5 * 1_us, 3.7 * 1_us});
  CHECK(points[0].parameters == std::map<std::string, double>{{"bits", 4.0}, {"elements", 1024.0}});
  CHECK(points[0].traffic() == Bytes{4608.0});
  CHECK(points[0].implementation == "fused");
  CHECK(points[2].implementation.empty());  // not stated
  CHECK_THAT(title_of(points[2]), Catch::Matchers::StartsWith("decode, hot, stream"));
  CHECK(points[2].state == "hot");
}

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

TEST_CASE("a byte order mark before a file of another program is passed over") {
  for (const std::string& text : {csv, replaced(csv, "# times of our own\n", ""), nccl, google}) {
    const Import import("\xef\xbb\xbf" + text);
    INFO(import.errors());
    CHECK(import.read);
  }
  const Import import("\xef\xbb\xbf" + replaced(csv, "3.7", "-3.7"));
  CHECK_THAT(import.errors(), ContainsSubstring("a.txt:4:37"));
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

TEST_CASE("files of one device become one samples file, which reads back as what was put in") {
  Import import(nvbench());
  const std::size_t second = import.sources.add_file("b.csv", csv);
  const auto rows =
      parse_foreign({second, 0, csv.size()}, std::nullopt, import.sources, import.diagnostics);
  REQUIRE((import.read && rows));
  const auto joined =
      join_measurements({*import.read, *rows}, {"fused", "2026-11-21T00:00:00Z", {}},
                        import.sources, import.diagnostics);
  INFO(import.errors());
  REQUIRE(joined);
  const std::string text = samples_text(*joined);
  const std::size_t source = import.sources.add_file("samples.json", text);
  const auto samples = parse_samples({source, 0, text.size()}, import.sources, import.diagnostics);
  INFO(import.errors());
  REQUIRE(samples);
  CHECK(samples->date == "2026-11-21T00:00:00Z");
  CHECK(samples->program == "CSV, nvbench 0.2.0 (imported)");
  CHECK(samples->device.memory == Bytes{85017755648.0});
  REQUIRE(samples->points.size() == 5);
  CHECK(samples->points[0].stands_for == SamplesSpread{250, 0.02});
  CHECK(samples->points[0].implementation == "fused");  // as the caller says
  CHECK(samples->points[0].samples == joined->samples.points[0].samples);
  CHECK(title_of(samples->points[4]) == "decode (fused), hot, stream, none, bits=4, elements=1024");
}

TEST_CASE("devices that differ, points that are there twice and what is not told are errors") {
  Import import(nvbench());
  const std::string other = replaced(google, "\"Some GPU\"", "\"Another GPU\"");
  const std::size_t second = import.sources.add_file("b.json", other);
  const auto runs =
      parse_foreign({second, 0, other.size()}, std::nullopt, import.sources, import.diagnostics);
  REQUIRE((import.read && runs));
  CHECK(!join_measurements({*import.read, *runs}, {}, import.sources, import.diagnostics));
  CHECK_THAT(import.errors(), ContainsSubstring("`Another GPU` is not that of runs/a.txt"));
  Diagnostics twice;
  CHECK(!join_measurements({*import.read, *import.read}, {"library", "2026-11-21T00:00:00Z", {}},
                           import.sources, twice));
  CHECK_THAT(render_text(twice, import.sources), ContainsSubstring("is there twice"));
  const Import rows(csv);
  REQUIRE(rows.read);
  Diagnostics nothing;
  CHECK(!join_measurements({*rows.read}, {}, rows.sources, nothing));
  CHECK_THAT(render_text(nothing, rows.sources), ContainsSubstring("which GPU was measured") &&
                                                     ContainsSubstring("when this was measured"));
  Diagnostics told;
  CHECK(join_measurements({*rows.read}, {"library", "2026-11-21T00:00:00Z", some_gpu()},
                          rows.sources, told));
}

TEST_CASE("dates are told in UTC") {
  CHECK(utc_date("2026-03-01T00:30:05+01:00") == "2026-02-28T23:30:05Z");
  CHECK(utc_date("2024-02-28T23:30:05-0100") == "2024-02-29T00:30:05Z");
  CHECK(utc_date("2026-11-20 12:00:00") == "2026-11-20T12:00:00Z");
  CHECK(utc_date("2026-11-20") == "2026-11-20T00:00:00Z");
  for (const char* wrong : {"", "2026", "2026-02-30", "2026-11-20T25:00:00", "20-11-2026",
                            "2026-11-20T12:00:00+1", "2026-11-20x"}) {
    CHECK(!utc_date(wrong));
  }
}
