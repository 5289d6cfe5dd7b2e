// SPDX-License-Identifier: Apache-2.0
// Files of other programs as samples.
#include "profiles/import/foreign.hpp"

#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/profiles/foreign_texts.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using payoff::test::csv;
using payoff::test::google;
using payoff::test::nccl;
using payoff::test::nvbench;
using payoff::test::replaced;
using payoff::test::summary;
using Import = payoff::test::ForeignImport;

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

TEST_CASE("a byte order mark before a file of another program is passed over") {
  for (const std::string& text : {csv, replaced(csv, "# times of our own\n", ""), nccl, google}) {
    const Import import("\xef\xbb\xbf" + text);
    INFO(import.errors());
    CHECK(import.read);
  }
  const Import import("\xef\xbb\xbf" + replaced(csv, "3.7", "-3.7"));
  CHECK_THAT(import.errors(), ContainsSubstring("a.txt:4:37"));
}

// A product of 64 x 128 x 32 takes 2 * 64 * 128 * 32 = 524,288 operations.
TEST_CASE("CSV: bytes are the width of a product's elements, and the traffic of other rows") {
  const std::string names = "kernel,elements,m,n,k,bytes,flops,time_us\n";
  const Import import(names +
                      "gemm,,64,128,32,2,524288,3\ngemm,,64,128,32,1,,3\nroofline,4,,,,96,7,3\n"
                      "cast,4,,,,24,,3\ncast,2,,,,12,,3\n");
  INFO(import.errors());
  REQUIRE(import.read);
  const std::vector<SamplesPoint>& points = import.read->points;
  REQUIRE(points.size() == 5);
  CHECK(points[0].parameters ==
        std::map<std::string, double>{{"bytes", 2.0}, {"k", 32.0}, {"m", 64.0}, {"n", 128.0}});
  CHECK(points[0].traffic() == Bytes{});
  CHECK(points[0].flops == Flops{524288.0});
  CHECK(points[1].parameters.at("bytes") == 1.0);
  for (const std::size_t i : {2U, 3U, 4U}) {  // no element has 96 bytes
    CHECK(!points[i].parameters.contains("bytes"));
  }
  CHECK(points[2].traffic() == Bytes{96.0});
  CHECK(points[3].traffic() == Bytes{24.0});
  CHECK(points[4].traffic() == Bytes{12.0});
}

TEST_CASE("CSV: beside what is read or written, bytes are a width in every row") {
  for (const std::string traffic : {"read_bytes", "written_bytes"}) {
    const std::string names = "kernel,elements,bytes," + traffic + ",time_us\n";
    const Import import(names + "cast,1024,2,4096,3\ncast,2048,4,,3\n");
    INFO(import.errors());
    REQUIRE(import.read);
    CHECK(import.read->points.at(0).parameters.at("bytes") == 2.0);
    CHECK(import.read->points.at(0).traffic() == Bytes{4096.0});
    CHECK(import.read->points.at(1).parameters.at("bytes") == 4.0);
    CHECK(import.read->points.at(1).traffic() == Bytes{});
    test::check_refused(names + "cast,1024,4096,,3\n", "a.txt:2:11",
                        "`bytes` is the width of an element, and cannot be 4096");
  }
}
