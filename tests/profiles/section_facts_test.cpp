// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "profiles/override.hpp"
#include "profiles/section.hpp"
#include "tests/catch.hpp"
#include "tests/profiles/reading.hpp"

using namespace payoff;
using test::Reading;

namespace {

const std::string citations =
    "citations:\n"
    "  ds: {kind: datasheet, text: \"A100 data sheet, page 2\", date: 2026-11-21, url: \"x.com\"}\n"
    "  guess: {kind: assumed, text: as its predecessor}\n";

}  // namespace

TEST_CASE("a sourced number leaves a fact with its citation") {
  Reading reading(citations + "memory: {value: 80 GB, from: ds, sd: 2 %, range: \"one GPU\"}\n");
  CHECK(reading.root().required("memory").sourced().quantity<Bytes>() == 80_GB);
  CHECK(reading.errors().empty());
  REQUIRE(reading.reader->facts().size() == 1);
  const Fact& fact = reading.reader->facts()[0];
  CHECK(fact.path == "memory");
  CHECK(fact.value_text == "80 GB");
  CHECK(fact.kind == Provenance::datasheet);
  CHECK(fact.citation == "A100 data sheet, page 2");
  CHECK(fact.date == "2026-11-21");
  CHECK(fact.url == "x.com");
  CHECK(fact.relative_sd == 0.02);
  CHECK(fact.range == "one GPU");
}

TEST_CASE("a number without a source is an error only where a source is due") {
  Reading reading(citations + "memory: 80 GB\nl2: 40 MB\n");
  const Section root = reading.root();
  CHECK(root.required("memory").quantity<Bytes>() == 80_GB);
  CHECK(root.required("l2").sourced().quantity<Bytes>() == 40_MB);
  CHECK(reading.errors() ==
        "5:5 `l2` does not say where it comes from | a number without a source | write `{value: 40 "
        "MB, from: SOURCE}`, with SOURCE in `citations`\n");
  CHECK(reading.reader->facts().empty());
}

TEST_CASE("a plain reading accepts and keeps a source that is given") {
  Reading reading(citations + "memory: {value: 80 GB, from: guess}\n");
  CHECK(reading.root().required("memory").quantity<Bytes>() == 80_GB);
  CHECK(reading.errors().empty());
  REQUIRE(reading.reader->facts().size() == 1);
  CHECK(reading.reader->facts()[0].kind == Provenance::assumed);
}

TEST_CASE("a source of a section holds for the values below it unless they have their own") {
  Reading reading(citations +
                  "peak:\n  from: ds\n  fp32: 19.5 TFLOP/s\n  deep: {fp16: 312 TFLOP/s}\n"
                  "  fp8: {value: 624 TFLOP/s, from: guess}\n");
  const Section peak = reading.root().required("peak").section();
  (void)peak.required("fp32").sourced().quantity<FlopRate>();
  (void)peak.required("deep").section().required("fp16").sourced().quantity<FlopRate>();
  (void)peak.required("fp8").sourced().quantity<FlopRate>();
  CHECK(reading.errors().empty());
  const Facts& facts = reading.reader->facts();
  REQUIRE(facts.size() == 3);
  CHECK(facts[0].kind == Provenance::datasheet);
  CHECK(facts[1].kind == Provenance::datasheet);
  CHECK(facts[1].path == "peak.deep.fp16");
  CHECK(facts[2].kind == Provenance::assumed);
}

TEST_CASE("an unknown source is answered with the nearest one") {
  Reading reading(citations + "memory: {value: 80 GB, from: gues}\n");
  CHECK(reading.root().required("memory").sourced().quantity<Bytes>() == 80_GB);
  CHECK(reading.errors() ==
        "4:30 `memory` names the unknown source `gues` | did you mean `guess`? | add it to "
        "`citations` at the top of the file\n");
}

TEST_CASE("errors inside a sourced value point at the number") {
  Reading reading(citations + "memory: {value: 80, from: ds, form: x}\n");
  CHECK(reading.root().required("memory").sourced().quantity<Bytes>() == 0_B);
  CHECK(reading.errors() ==
        "4:17 `memory` has no unit | a bare number is ambiguous | for example `memory: 80 MiB`\n"
        "4:31 unknown key `form` in `memory` | did you mean `from`? | keys of `memory`: value, "
        "from, sd, range\n");
}

TEST_CASE("a citation says its kind and when it was read") {
  Reading reading(
      "citations:\n  a: {kind: datasheat, text: x, date: 2026}\n  b: {kind: published, text: x}\n"
      "  c: {kind: measured, text: x, date: 21.11.2026}\n  d: in words only\n  e: {kind: assumed}\n"
      "v: {value: 1, from: d}\n");
  (void)reading.root().required("v").sourced().number();
  CHECK(reading.errors() ==
        "2:13 `citations.a.kind` has the unknown value `datasheat` | did you mean `datasheet`? | "
        "one of: measured, published, datasheet, assumed\n"
        "3:3 missing key `date` in `citations.b` | `date` is required here\n"
        "4:38 `citations.c.date` is not a date | write the year first | for example `date: "
        "2026-11-21`\n"
        "6:3 missing key `text` in `citations.e` | `text` is required here\n"
        "7:21 the source `d` of `v` has no kind | write it as `d: {kind: ..., text: ...}`\n");
}

TEST_CASE("a list of numbers has one source") {
  Reading reading(citations + "rates: {value: [10 Gb/s, 25 Gb/s], from: ds}\n");
  const std::vector<Value> rates = reading.root().required("rates").sourced().list();
  REQUIRE(rates.size() == 2);
  CHECK(rates[1].quantity<Bandwidth>() == 25_Gbps);
  CHECK(reading.errors().empty());
  REQUIRE(reading.reader->facts().size() == 1);
  CHECK(reading.reader->facts()[0].value_text == "[10 Gb/s, 25 Gb/s]");
}

TEST_CASE("a source in a file of the user's own is believed where it is given") {
  Reading reading(citations + "memory: {value: 80 GB, from: ds}\nl2: 40 MB\n");
  reading.sources.mark_users_own(reading.document->source);
  const Section root = reading.root();
  (void)root.required("memory").sourced().quantity<Bytes>();
  (void)root.required("l2").sourced().quantity<Bytes>();
  CHECK(reading.errors().empty());
  REQUIRE(reading.reader->facts().size() == 2);
  CHECK(reading.reader->facts()[0].kind == Provenance::datasheet);
  CHECK(reading.reader->facts()[1].kind == Provenance::assumed);
}

TEST_CASE("a number set by the user is assumed and needs no citation") {
  Reading reading(citations + "memory: {value: 80 GB, from: ds}\nl2: 40 MB\n");
  REQUIRE(apply_override(reading.document->root, 4, "memory=40 GB", reading.sources,
                         reading.diagnostics));
  reading.sources.mark_users_own(reading.document->source);
  const Section root = reading.root();
  CHECK(root.required("memory").sourced().quantity<Bytes>() == 40_GB);
  (void)root.required("l2").sourced().quantity<Bytes>();
  CHECK(reading.errors().empty());
  REQUIRE(reading.reader->facts().size() == 2);
  CHECK(reading.reader->facts()[0].kind == Provenance::assumed);
  CHECK(reading.reader->facts()[0].citation == "given in argument 4");
  CHECK(reading.reader->facts()[1].citation == "given in f.yaml:5:5");
}
