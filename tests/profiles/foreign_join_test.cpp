// SPDX-License-Identifier: Apache-2.0
// Files of other programs that become one samples file.
#include <string>

#include "tests/catch.hpp"
#include "tests/profiles/foreign_texts.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using payoff::test::csv;
using payoff::test::google;
using payoff::test::nvbench;
using payoff::test::replaced;
using payoff::test::some_gpu;
using Import = payoff::test::ForeignImport;

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
