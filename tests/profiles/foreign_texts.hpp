// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "profiles/import/foreign.hpp"
#include "tests/catch.hpp"

// What other programs write, made up in their shape (google/benchmark at 00e988c, NVIDIA/nvbench at
// 66212f1, NVIDIA/nccl-tests at a0b82b2), and what importing it gives.

namespace payoff::test {

// 1 MiB and 2 MiB read in 4 us (real) are 262.144 and 524.288 GB/s.
inline const std::string google = R"({
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

inline std::string summary(const std::string& tag, const std::string& value) {
  return R"({"tag": ")" + tag + R"(", "name": "x", "hint": "duration", "data": [
    {"name": "value", "type": "float64", "value": ")" +
         value + "\"}]}";
}

// 16,777,216 floats read and written, 134,217,728 bytes in 50 us on average: 2.68435456 TB/s.
inline std::string nvbench(const std::string& device = "0", const std::string& mean = "5e-05",
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

inline const std::string nccl = R"(# nccl-tests version 2.17.1 nccl-headers=22803 nccl-library=22803
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

inline const std::string csv =
    "# times of our own\n"
    "kernel,implementation,state,elements,bits,read_bytes,written_bytes,time_us\n"
    "quantize,fused,cold,1024,4,4096,512,3.5\n"
    "quantize,fused,cold,1024,4,4096,512,3.7\n"
    "quantize,fused,cold,2048,4,8192,1024,4.5\r\n"
    "decode,,,1024,4,512,4096,3.0\n";

struct ForeignImport {
  explicit ForeignImport(const std::string& text,
                         std::optional<MeasurementFormat> format = std::nullopt) {
    const std::size_t source = sources.add_file("runs/a.txt", text);
    read = parse_foreign({source, 0, text.size()}, format, sources, diagnostics);
  }
  [[nodiscard]] std::string errors() const { return render_text(diagnostics, sources); }

  SourceMap sources;
  Diagnostics diagnostics;
  std::optional<ForeignMeasurements> read;
};

inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

inline void check_refused(const std::string& text, const std::string& record,
                          const std::string& reason) {
  const ForeignImport import(text);
  INFO(import.errors());
  CHECK(!import.read);
  CHECK(import.diagnostics.has_errors());
  CHECK_THAT(import.errors(), Catch::Matchers::ContainsSubstring(record) &&
                                  Catch::Matchers::ContainsSubstring(reason));
}

inline SamplesDevice some_gpu() {
  SamplesDevice device;
  device.name = "Some GPU";
  device.multiprocessors = 132;
  device.l2 = 50_MiB;
  device.memory = 80_GB;
  return device;
}

}  // namespace payoff::test
