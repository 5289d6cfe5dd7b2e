// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <random>
#include <string>

#include "profiles/override.hpp"
#include "profiles/positions.hpp"
#include "profiles/section.hpp"
#include "tests/catch.hpp"
#include "tests/profiles/damage.hpp"

// Whatever is written in a document, reading it ends, throws nothing, and every error has a place
// inside its source. The documents are a good one with random damage, from a fixed seed.

using namespace payoff;
using test::damaged;

namespace {

const std::string good =
    "# an experiment\n"
    "citations:\n"
    "  ds: {kind: datasheet, text: \"page 2\", date: 2026-11-21}\n"
    "name: \"it's µ\"\n"
    "cluster:\n"
    "  nodes: {value: 4, from: ds, sd: 1 %}\n"
    "  inter:\n"
    "    bandwidth: 400 Gb/s\n"
    "    latency: 5 us\n"
    "compress:\n"
    "  - method: topk\n"
    "    ratio: 1 %\n"
    "  - {method: powersgd, rank: 4}\n"
    "text: |\n"
    "  some words\n"
    "  more words\n"
    "overlap: true\n";

constexpr std::array methods = {std::pair{std::string_view("topk"), 1},
                                std::pair{std::string_view("powersgd"), 2}};

void read_everything(const Node& node, SourceMap& sources, Diagnostics& diagnostics) {
  Reader reader(node, sources, diagnostics);
  const Section root = reader.root();
  (void)root.required("name").text();
  const Section cluster = root.required("cluster").section();
  (void)cluster.required("nodes").sourced().integer<int>({.min = 1});
  const Section inter = cluster.required("inter").section();
  (void)inter.required("bandwidth").quantity<Bandwidth>({.sign = Sign::positive});
  (void)inter.required("latency").quantity<Seconds>();
  for (const Value& item : root.required("compress").list()) {
    const Section plan = item.section();
    (void)plan.required("method").choice(methods);
    (void)plan.optional("ratio").ratio();
    (void)plan.optional("rank").integer();
  }
  (void)root.required("overlap").boolean();
  (void)root.optional("text").text();
  reader.finish();
}

struct Outcome {
  std::size_t errors = 0;
  std::string text;
};

Outcome outcome_of(const std::string& text) {
  SourceMap sources;
  Diagnostics diagnostics;
  std::optional<Document> document = load_yaml_text("f.yaml", text, sources, diagnostics);
  if (document) {
    PositionMap positions(document->root);
    CHECK(positions.find("cluster.inter.bandwidth"));
    apply_override(document->root, 2, "cluster.inter.latency=7 us", sources, diagnostics);
    read_everything(document->root, sources, diagnostics);
  } else {
    CHECK(diagnostics.has_errors());
  }
  for (const Diagnostic& diagnostic : diagnostics.sorted()) {
    REQUIRE(diagnostic.span);
    const Source& source = sources[diagnostic.span->source];
    CHECK(diagnostic.span->offset + diagnostic.span->length <= source.text.size() + 1);
    CHECK_FALSE(diagnostic.message.empty());
  }
  (void)render_json(diagnostics, sources);
  return {diagnostics.error_count(), render_text(diagnostics, sources)};
}

}  // namespace

TEST_CASE("the undamaged document has no errors") { CHECK(outcome_of(good).text.empty()); }

TEST_CASE("a damaged document never breaks the reader") {
  std::mt19937_64 random(20261121);
  std::size_t with_errors = 0;
  for (int i = 0; i < 4'000; ++i) {
    const std::string text = damaged(good, random);
    CAPTURE(text);
    const Outcome outcome = outcome_of(text);
    with_errors += outcome.errors > 0 ? 1 : 0;
  }
  // Damage that leaves a valid document exists (comments, spaces), but it is rare.
  CHECK(with_errors > 3'000);
}

TEST_CASE("reading the same document twice gives the same words") {
  std::mt19937_64 random(3);
  for (int i = 0; i < 200; ++i) {
    const std::string text = damaged(good, random);
    CHECK(outcome_of(text).text == outcome_of(text).text);
  }
}

TEST_CASE("random settings never break the override") {
  std::mt19937_64 random(5);
  const std::string alphabet = "abc.0=\"[]{}\\ ,:'#";
  for (int i = 0; i < 4'000; ++i) {
    std::string setting;
    for (std::uint64_t n = random() % 14; n > 0; --n) {
      setting += alphabet[random() % alphabet.size()];
    }
    CAPTURE(setting);
    SourceMap sources;
    Diagnostics diagnostics;
    auto document = load_yaml_text("f.yaml", good, sources, diagnostics);
    REQUIRE(document);
    const bool applied = apply_override(document->root, 1, setting, sources, diagnostics);
    CHECK(applied != diagnostics.has_errors());
    read_everything(document->root, sources, diagnostics);
    (void)render_text(diagnostics, sources);
  }
}
