// SPDX-License-Identifier: Apache-2.0
#include "profiles/diagnostics.hpp"

#include <string>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"

using namespace payoff;

namespace {

// One error about the first `needle` in a text, rendered.
std::string rendered(const std::string& text, const std::string& needle,
                     const RenderOptions& options = {}) {
  SourceMap sources;
  Diagnostics diagnostics;
  const std::size_t file = sources.add_file("f.yaml", text);
  diagnostics.error(Span{file, text.find(needle), needle.size()}, "bad", "here");
  return render_text(diagnostics, sources, options);
}

}  // namespace

TEST_CASE("an error shows its line with a caret and its help") {
  SourceMap sources;
  Diagnostics diagnostics;
  const std::string text =
      "a: 1\nb: 2\nc: 3\nd: 4\ncluster:\n  intra:\n"
      "    bandwith: 450 GB/s      # misspelt key\n"
      "  inter:\n    latency: 5 us\n    bandwidth: 400\n";
  const std::size_t file = sources.add_file("cluster.yaml", text);
  diagnostics.error(Span{file, text.find("400\n"), 3}, "`cluster.inter.bandwidth` has no unit",
                    "a bare number is ambiguous", "for example `bandwidth: 400 Gb/s`");
  diagnostics.error(Span{file, text.find("bandwith"), 8},
                    "unknown key `bandwith` in `cluster.intra`", "did you mean `bandwidth`?",
                    "keys of `cluster.intra`: bandwidth, latency");
  CHECK(render_text(diagnostics, sources) ==
        "error: unknown key `bandwith` in `cluster.intra`\n"
        " --> cluster.yaml:7:5\n"
        "  |\n"
        "7 |     bandwith: 450 GB/s      # misspelt key\n"
        "  |     ^^^^^^^^ did you mean `bandwidth`?\n"
        "  = help: keys of `cluster.intra`: bandwidth, latency\n"
        "\n"
        "error: `cluster.inter.bandwidth` has no unit\n"
        " --> cluster.yaml:10:16\n"
        "   |\n"
        "10 |     bandwidth: 400\n"
        "   |                ^^^ a bare number is ambiguous\n"
        "   = help: for example `bandwidth: 400 Gb/s`\n"
        "\n"
        "2 errors; nothing was run\n");
}

TEST_CASE("an error in an argument is shown under the argument") {
  SourceMap sources;
  Diagnostics diagnostics;
  const std::string text = "--set cluster.inter.bandwidth=400";
  const std::size_t argument = sources.add_argument(3, text);
  diagnostics.error(Span{argument, text.find("400"), 3}, "`cluster.inter.bandwidth` has no unit",
                    "a bare number is ambiguous");
  CHECK(render_text(diagnostics, sources) ==
        "error: `cluster.inter.bandwidth` has no unit\n"
        " --> argument 3: --set cluster.inter.bandwidth=400\n"
        "  |                                            ^^^ a bare number is ambiguous\n"
        "\n"
        "1 error; nothing was run\n");
}

TEST_CASE("an error without a place has no arrow and comes last") {
  SourceMap sources;
  Diagnostics diagnostics;
  diagnostics.add({Severity::error,
                   "no experiment was named",
                   std::nullopt,
                   {},
                   "try `payoff --help`",
                   {"nothing was read"}});
  const std::size_t file = sources.add_file("f.yaml", "a: 1\n");
  diagnostics.warning(Span{file, 0, 1}, "unused");
  CHECK(render_text(diagnostics, sources) ==
        "warning: unused\n"
        " --> f.yaml:1:1\n"
        "  |\n"
        "1 | a: 1\n"
        "  | ^\n"
        "\n"
        "error: no experiment was named\n"
        "  = note: nothing was read\n"
        "  = help: try `payoff --help`\n"
        "\n"
        "1 error, 1 warning; nothing was run\n");
}

TEST_CASE("warnings alone stop nothing") {
  SourceMap sources;
  Diagnostics diagnostics;
  diagnostics.warning(std::nullopt, "old profile");
  CHECK_FALSE(diagnostics.has_errors());
  CHECK(render_text(diagnostics, sources) == "warning: old profile\n\n");
}

TEST_CASE("columns count characters and carets stand under them") {
  // Two bytes each for é and µ: byte column 11, character column 9.
  const std::string text = rendered("é: µ is bad", "bad");
  CHECK(text.find("f.yaml:1:9\n") != std::string::npos);
  CHECK(text.find("1 | é: µ is bad\n  |         ^^^ here\n") != std::string::npos);
  // Wide characters take two columns of the terminal, combining ones none.
  CHECK(rendered("漢字 bad", "bad").find("  |      ^^^ here\n") != std::string::npos);
  CHECK(rendered("e\u0301 bad", "bad").find("  |   ^^^ here\n") != std::string::npos);
}

TEST_CASE("tabs are widened and control characters made harmless") {
  const std::string text = rendered("\tx\x1b[31m bad", "bad");
  CHECK(text.find("1 |     x?[31m bad\n  |            ^^^ here\n") != std::string::npos);
  CHECK(text.find("f.yaml:1:9\n") != std::string::npos);
  CHECK(rendered("\xff\xfe bad", "bad").find("1 | ?? bad\n  |    ^^^ here\n") != std::string::npos);
}

TEST_CASE("a long line is cut to the terminal around the caret") {
  const std::string text = "key: " + std::string(300, 'x') + " bad " + std::string(300, 'y');
  const std::string shown = rendered(text, "bad", {.width = 80});
  std::size_t start = 0;
  bool has_caret = false;
  std::string before;
  while (start < shown.size()) {
    const std::size_t end = shown.find('\n', start);
    const std::string line = shown.substr(start, end - start);
    CHECK(line.size() <= 80);
    if (line.find("^^^") != std::string::npos) {
      has_caret = true;
      CHECK(before.substr(line.find("^^^"), 3) == "bad");
      CHECK(before.starts_with("1 | ..."));
      CHECK(before.ends_with("..."));
    }
    before = line;
    start = end + 1;
  }
  CHECK(has_caret);
}

TEST_CASE("a span beyond the text or over several lines stays in one line") {
  SourceMap sources;
  const std::size_t file = sources.add_file("f.yaml", "ab\r\ncd\n");
  const Location beyond = sources.locate({file, 99, 5});
  CHECK(beyond.line == 3);
  CHECK(beyond.column == 1);
  const Location over = sources.locate({file, 1, 5});
  CHECK(over.line_text == "ab");
  CHECK(over.length == 1);
  CHECK(sources.place({file, 4, 1}) == "f.yaml:2:1");
}

TEST_CASE("the same error is said once") {
  SourceMap sources;
  Diagnostics diagnostics;
  const std::size_t file = sources.add_file("f.yaml", "a: 1\n");
  diagnostics.error(Span{file, 0, 1}, "bad");
  diagnostics.error(Span{file, 0, 1}, "bad");
  diagnostics.error(Span{file, 3, 1}, "bad");
  CHECK(diagnostics.error_count() == 2);
}

TEST_CASE("errors beyond a thousand are counted but not kept") {
  SourceMap sources;
  Diagnostics diagnostics;
  const std::size_t file = sources.add_file("f.yaml", std::string(1500, '\n'));
  for (std::size_t i = 0; i < 1500; ++i) {
    diagnostics.error(Span{file, i, 1}, "bad");
  }
  CHECK(diagnostics.sorted().size() == 1000);
  const std::string text = render_text(diagnostics, sources);
  CHECK(text.find("... and 500 more\n\n1500 errors; nothing was run\n") != std::string::npos);
}

TEST_CASE("colour is added only when asked for") {
  CHECK(rendered("a: bad", "bad").find('\x1b') == std::string::npos);
  CHECK(rendered("a: bad", "bad", {.color = true}).find("\x1b[1;31merror\x1b[0m") == 0);
}

TEST_CASE("JSON carries the same errors with places in characters") {
  SourceMap sources;
  Diagnostics diagnostics;
  const std::size_t file = sources.add_file("f.yaml", "é: bad\n");
  const std::size_t argument = sources.add_argument(2, "--set a=\xff");
  diagnostics.add({Severity::error, "bad value", Span{file, 4, 3}, "here", "write good", {"once"}});
  diagnostics.error(Span{argument, 8, 1}, "not UTF-8");
  diagnostics.warning(std::nullopt, "old");
  const auto json = nlohmann::json::parse(render_json(diagnostics, sources));
  CHECK(json["schema"] == 1);
  REQUIRE(json["errors"].size() == 2);
  CHECK(json["errors"][0] == nlohmann::json{{"severity", "error"},
                                            {"message", "bad value"},
                                            {"file", "f.yaml"},
                                            {"line", 1},
                                            {"column", 4},
                                            {"length", 3},
                                            {"label", "here"},
                                            {"help", "write good"},
                                            {"notes", {"once"}}});
  CHECK(json["errors"][1]["argument"] == 2);
  CHECK(json["errors"][1]["column"] == 9);
  CHECK(json["warnings"].size() == 1);
}

TEST_CASE("what the user wrote is quoted without tricks") {
  CHECK(backquoted("tp") == "`tp`");
  CHECK(backquoted("a\x1b[0m\nb") == "`a?[0m?b`");
  CHECK(backquoted("µs") == "`µs`");
  CHECK(backquoted(std::string(500, 'x')) == "`" + std::string(60, 'x') + "...`");
}

TEST_CASE("errors are told behind however many warnings") {
  SourceMap sources;
  const std::size_t file = sources.add_file("f.yaml", std::string(3000, 'x'));
  Diagnostics diagnostics;
  for (std::size_t i = 0; i < 2000; ++i) {
    diagnostics.warning(Span{file, i, 1}, "doubtful");
  }
  diagnostics.error(Span{file, 2500, 1}, "wrong");
  CHECK(diagnostics.count(Severity::warning) == 2000);
  CHECK(diagnostics.sorted().size() == 1001);
  CHECK(diagnostics.sorted().back().message == "wrong");
}
