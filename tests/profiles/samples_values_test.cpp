// SPDX-License-Identifier: Apache-2.0
// What is wrong with the values and keys of samples files is told at its place, with what was
// meant.
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/profiles/samples_reading.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using payoff::test::file_of;
using payoff::test::point;
using payoff::test::replaced;
using Reading = payoff::test::SamplesReading;

TEST_CASE("every mistake of a file is named at its place, and the file gives nothing") {
  std::string wrong = replaced(point, "3.5e0", "-3.5");
  wrong = replaced(wrong, "16384,", "\"many\",");
  wrong = replaced(wrong, R"("launches": 1, )", "");
  const Reading reading(file_of(wrong));
  CHECK(!reading.file);
  CHECK(reading.diagnostics.error_count() == 3);
  CHECK_THAT(reading.errors(), ContainsSubstring("samples.json:8:25") &&
                                   ContainsSubstring("`samples_us` cannot be -3.5"));
  CHECK_THAT(reading.errors(), ContainsSubstring("samples.json:7:18") &&
                                   ContainsSubstring("`read_bytes` is not a number"));
  CHECK_THAT(reading.errors(), ContainsSubstring("missing key `launches`"));
}

TEST_CASE("the point that is wrong is named by its number and its kernel") {
  const Reading reading(file_of(point + "," + replaced(point, "3.25", "-3.25")));
  CHECK_THAT(reading.errors(), ContainsSubstring("point 2, copy"));
}

TEST_CASE("values that a point may not have are told with what was meant") {
  const auto told = [](const std::string& from, const std::string& to,
                       const std::vector<std::string>& reasons) {
    const Reading reading(file_of(replaced(point, from, to)));
    INFO(from << " -> " << to << "\n" << reading.errors());
    CHECK(!reading.file);
    CHECK(reading.diagnostics.error_count() == 1);
    for (const std::string& reason : reasons) {
      CHECK_THAT(reading.errors(), ContainsSubstring(reason));
    }
  };
  told("\"fused\"", "\"fusd\"", {"point 1, copy: unknown implementation `fusd`", "`fused`?"});
  told("\"cold\"", "\"warm\"", {"unknown state `warm`", "one of cold, hot"});
  told("\"stream\"", "\"streams\"", {"unknown mode `streams`", "did you mean `stream`?"});
  told("\"gaussian\"", "\"gauss\"", {"unknown input `gauss`"});
  told("\"stop\": \"noise\"", "\"stop\": \"nois\"", {"unknown stop `nois`", "`noise`?"});
  told("\"copy\"", "\"Copy\"", {"a-z, 0-9 and _", "did you mean `copy`?"});
  told("\"kernel\"", "\"kernle\"", {"samples.json:5:", "missing key `kernel`", "`kernel`?"});
  told(", \"stop\": \"noise\"", "", {"missing key `stop`"});
  told("\"discarded\": 2, ", "", {"missing key `discarded`"});
  told("\"family\": \"memory\", ", "", {"missing key `family`"});
  told("{\"elements\": 4096}", "{\"elements\": -4096}", {"`elements` cannot be -4096"});
  told("16384,", "1e30,", {"`read_bytes` cannot be 1e30", "at most"});
}

TEST_CASE("how samples were taken is checked like the samples") {
  const auto told = [](const std::string& key, const std::string& reason) {
    const Reading reading(file_of(replaced(point, "\"stop\"", key + ", \"stop\"")));
    INFO(key << "\n" << reading.errors());
    CHECK(reading.file.has_value() == reason.empty());
    CHECK(reading.diagnostics.error_count() == (reason.empty() ? 0 : 1));
    CHECK_THAT(reading.errors(), ContainsSubstring(reason));
  };
  told(R"("gated": false, "timed_out": 3, "clock_ratios": [1, 0.99, 0], "clock_reference": 0.7)",
       "");
  told(R"("gated": "maybe")", "point 1, copy: `gated` cannot be `maybe`");
  told(R"("gated": "false")", "`gated` cannot be `false`");
  told(R"("gated": true)", "absent where the samples waited");
  told(R"("gated": [])", "`gated` is a list");
  told(R"("timed_out": 0)", "`timed_out` cannot be 0");
  told(R"("timed_out": 1.5)", "a whole number");
  told(R"("timed_out": "many")", "`timed_out` is not a number");
  told(R"("clock_ratios": [1, 1])", "2 `clock_ratios` of 3 samples");
  told(R"("clock_ratios": [1, -1, 1])", "`clock_ratios` cannot be -1");
  told(R"("clock_ratios": [1, "1", 1])", "`clock_ratios` is a text, not a number");
  told(R"("clock_ratios": 1)", "`clock_ratios` is `1`");
  told(R"("clock_reference": 0)", "`clock_reference` cannot be 0");
  told(R"("clock_reference": 1.2)", "`clock_reference` cannot be 1.2");
}

TEST_CASE("a number in quotes is a text, and a part of a launch is none") {
  const auto told = [](const std::string& from, const std::string& to, const std::string& reason) {
    const Reading reading(file_of(replaced(point, from, to)));
    INFO(reading.errors());
    CHECK(!reading.file);
    CHECK(reading.diagnostics.error_count() == 1);
    CHECK_THAT(reading.errors(), ContainsSubstring(reason));
  };
  told("3.25", "\"3.25\"", "point 1, copy: `samples_us` is a text, not a number");
  told("3.25", "\"3.25\"", "3.25 without the quotes");
  told("4096}", "\"4096\"}", "`elements` is a text");
  told("16384,", "\"16384\",", "`read_bytes` is a text");
  told("\"launches\": 1", "\"launches\": 1.5", "`launches` cannot be 1.5");
  told("\"discarded\": 2", "\"discarded\": 0.5", "`discarded` cannot be 0.5");
}

TEST_CASE("the date and the seed of a file are checked") {
  const auto told = [](const std::string& from, const std::string& to) {
    const Reading reading(replaced(file_of(point), from, to));
    CHECK(!reading.file);
    CHECK(reading.diagnostics.error_count() == 1);
    return reading.errors();
  };
  CHECK_THAT(told("2026-11-22T03:00:00Z", "yesterday"),
             ContainsSubstring("samples.json:2:10") && ContainsSubstring("is not a date"));
  CHECK_THAT(told("2026-11-22T03:00:00Z", "2026-13-22T03:00:00Z"),
             ContainsSubstring("is not a date"));
  CHECK_THAT(told("2026-11-22T03:00:00Z", "2026-11-22"),
             ContainsSubstring("did you mean `2026-11-22T00:00:00Z`?"));
  CHECK_THAT(told(" \"seed\": 1,", ""), ContainsSubstring("missing key `seed`"));
  CHECK_THAT(told("\"seed\": 1", "\"seed\": -1"), ContainsSubstring("`seed` cannot be -1"));
  CHECK_THAT(told("measured_local", "measured"),
             ContainsSubstring("unknown provenance `measured`"));
}

TEST_CASE("what is wrong with every point alike is one error, and says how often") {
  std::string points;
  for (int i = 1; i <= 160; ++i) {
    const std::string one = replaced(point, "4096", std::to_string(i));
    points += (i > 1 ? "," : "") + replaced(one, ", \"stop\": \"noise\"", "");
  }
  const Reading reading(file_of(points));
  CHECK(reading.diagnostics.error_count() == 1);
  CHECK_THAT(reading.errors(), ContainsSubstring("point 1, copy: missing key `stop`") &&
                                   ContainsSubstring("so are samples.json:8:") &&
                                   ContainsSubstring("(point 2, copy)") &&
                                   ContainsSubstring("(point 4, copy) and 156 more"));
}

TEST_CASE("a key that is not known is told with the one that is near, wherever it stands") {
  const std::string run = R"(, "interference": [{"window_ms": 60, "members": [
   {"kernel": "gemm", "role": "compute", "parameters": {}, "alone_us": 2, "together_us": 3},
   {"kernel": "cast", "role": "codec", "parameters": {}, "alone_us": 2, "together_us": 3}]}])";
  const std::string whole = replaced(
      replaced(file_of(point), "}\n", run + R"(, "host": {"cpu": "x"}, "libraries": {"nccl": "2"},
 "timer_check": {"not_checked": "none"}, "imported_from": [{"file": "a", "format": "csv"}]})"),
      "\"stop\"", "\"stands_for\": {\"count\": 2}, \"stop\"");
  REQUIRE(Reading(whole).file);
  const auto told = [&](const std::string& key, const std::string& by, const std::string& reason) {
    const Reading reading(replaced(whole, "\"" + key + "\"", "\"" + by + "\""));
    INFO(by << "\n" << reading.errors());
    CHECK(!reading.file);
    CHECK(reading.diagnostics.error_count() == 1);
    CHECK_THAT(reading.errors(), ContainsSubstring(reason));
    CHECK_THAT(reading.errors(), ContainsSubstring("did you mean `" + key + "`?"));
  };
  told("clock_ratio", "clock_ratoi", "point 1, copy: unknown key `clock_ratoi`");
  told("anchors", "anchor", "samples.json:4:2");
  told("host", "hosts", "unknown key `hosts`");
  told("cpu", "cpus", "unknown key `cpus`");
  told("nccl", "ncl", "unknown key `ncl`");
  told("not_checked", "notchecked", "unknown key `notchecked`");
  told("file", "flie", "unknown key `flie`");
  told("multiprocessors", "multiprocesors", "missing key `multiprocessors`");  // and no second time
  told("after_points", "after_point", "missing key `after_points`");
  told("count", "counts", "missing key `count`");
  told("alone_us", "alone_u", "interference 1: missing key `alone_us`");
  const Reading other(
      replaced(whole, "\"together_us\"", "\"later\": {\"a\": [1]}, \"together_us\""));
  CHECK_THAT(other.errors(), ContainsSubstring("interference 1: unknown key `later`"));
}

TEST_CASE("the clock and the copy beside what ran together are checked") {
  const auto with = [](const std::string& more, const std::string& of_member = "") {
    return Reading(replaced(file_of(point), "\"points\"",
                            R"("interference": [{"window_ms": 60,)" + more + R"( "members": [
   {"kernel": "gemm", "role": "compute", "parameters": {"m": 4096},)" +
                                of_member + R"( "alone_us": 2, "together_us": 3},
   {"kernel": "cast", "role": "codec", "parameters": {}, "alone_us": 2, "together_us": 3}]}],
   "points")"));
  };
  const Reading all = with(R"("clock_ratio": 0.97, "clock_reference": 0.8, "repeats": 2,
   "copy_gb_per_s": [3000, 2990.5],)",
                           R"("instead_of": "bf16", "priority": -1, "alone_clock_ratio": 0.99,)");
  INFO(all.errors());
  REQUIRE(all.file);
  CHECK(all.file->together.at(0).clock_ratio == 0.97);
  CHECK(all.file->together.at(0).clock_reference == 0.8);
  CHECK(all.file->together.at(0).members.at(0).alone_clock_ratio == 0.99);
  CHECK(all.file->together.at(0).members.at(1).alone_clock_ratio == 1.0);  // not told
  const auto told = [](const Reading& reading, const std::string& reason) {
    CHECK(!reading.file);
    CHECK(reading.diagnostics.error_count() == 1);
    CHECK_THAT(reading.errors(), ContainsSubstring(reason));
  };
  told(with(R"("clock_ratio": 0,)"), "interference 1: `clock_ratio` cannot be 0");
  told(with(R"("clock_reference": 1.5,)"), "`clock_reference` cannot be 1.5");
  told(with(R"("copy_gb_per_s": [3000],)"), "1 copies in `copy_gb_per_s`");
  told(with(R"("copy_gb_per_s": [3000, -1],)"), "`copy_gb_per_s` cannot be -1");
  told(with(R"("repeats": "2",)"), "`repeats` is a text");
  told(with("", R"("alone_clock_ratio": -1,)"), "`alone_clock_ratio` cannot be -1");
  told(with("", R"("instead_of": "fp64",)"), "unknown instead_of `fp64`");
}
