// SPDX-License-Identifier: Apache-2.0
#include "profiles/document.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include "profiles/positions.hpp"
#include "tests/catch.hpp"
#include "tests/profiles/reading.hpp"

using namespace payoff;
using test::Reading;

namespace {

std::string errors_in(std::string text) { return Reading(std::move(text)).lines(); }

}  // namespace

TEST_CASE("values stay the texts that were written") {
  const Reading reading("a: no\nb: 017\nc: 1e3\nd: \"x y\"\ne: 'it''s'\nf: ~\ng:\n");
  REQUIRE(reading.document);
  const Node& root = reading.document->root;
  CHECK(root.find("a")->value.text == "no");
  CHECK(root.find("b")->value.text == "017");
  CHECK(root.find("c")->value.text == "1e3");
  CHECK(root.find("d")->value.text == "x y");
  CHECK(root.find("e")->value.text == "it's");
  CHECK(root.find("f")->value.kind == Node::Kind::null);
  CHECK(root.find("g")->value.kind == Node::Kind::null);
  CHECK(root.find("h") == nullptr);
}

TEST_CASE("every node knows the text that it came from") {
  const std::string text =
      "a: µ é  # c\nb: {k: \"q\\\"r\", z: [1, 'x']}\nlong: plain text\n  goes on\nlist:\n  - o: 1\n"
      "  -\n  - last\n";
  const Reading reading(text);
  REQUIRE(reading.document);
  const Node& root = reading.document->root;
  const auto source_text = [&](Span span) { return std::string(reading.sources.text(span)); };
  CHECK(source_text(root.find("a")->value.span) == "µ é");
  const Node& flow = root.find("b")->value;
  CHECK(source_text(flow.span) == "{");
  CHECK(source_text(flow.find("k")->value.span) == "\"q\\\"r\"");
  CHECK(source_text(flow.find("z")->key_span) == "z");
  CHECK(source_text(flow.find("z")->value.items[1].span) == "'x'");
  CHECK(source_text(root.find("long")->value.span) == "plain text");
  const Node& list = root.find("list")->value;
  REQUIRE(list.items.size() == 3);
  CHECK(source_text(list.items[0].span) == "o");
  CHECK(source_text(list.items[1].span) == "-");
  CHECK(source_text(list.items[2].span) == "last");
}

TEST_CASE("a duplicate key names the line of the first") {
  CHECK(errors_in("a:\n  b: 1\n  c: 2\n  b: 3\n") ==
        "4:3 key `b` is given twice | the second time | the first is at f.yaml:2:3\n");
}

TEST_CASE("what goes beyond plain YAML is refused with a way out") {
  CHECK(errors_in("a: &x 1\nb: *x\n") ==
        "1:4 anchors and aliases are not supported | write the value again, or share a file with "
        "`base: other.yaml`\n"
        "2:4 anchors and aliases are not supported | write the value again, or share a file with "
        "`base: other.yaml`\n");
  CHECK(errors_in("<<: {a: 1}\nb: 2\n") ==
        "1:1 merge keys are not supported | share a file with `base: other.yaml`\n");
  CHECK(errors_in("a: !!int 3\n") ==
        "1:4 tags are not supported | write the value without a tag: its type follows from its "
        "key\n");
  CHECK(errors_in("a: 1\n---\nb: 2\n") ==
        "2:1 a second document starts here | one file holds one document\n");
  CHECK(errors_in("[a, b]: 1\n") == "1:1 a key is not a text | this is a list\n");
  CHECK(errors_in("a: 1\n: 2\n") == "2:1 a key is not a text | this is nothing\n");
}

TEST_CASE("text that is not YAML is reported where the parser stopped") {
  CHECK(errors_in("a: 1\nb: [1,\nc: 3\n") ==
        "4:1 not valid YAML: end of sequence flow not found\n");
  CHECK(errors_in("a: 1\n\tb: 3\n") ==
        "2:1 not valid YAML: illegal tab when looking for indentation | indent with spaces\n");
  CHECK(errors_in("a: b: c\n") ==
        "1:5 not valid YAML: illegal map value | check the indentation, and put quotes around a "
        "value that holds `: `\n");
  // yaml-cpp itself takes the rest of the file for the value.
  CHECK(errors_in("a: 1\nb: \"open\nc: 2\n") == "2:4 a quote is never closed | opened here\n");
}

TEST_CASE("bytes that would move positions or hide text are refused") {
  CHECK(errors_in("a: caf\xe9\n") ==
        "1:7 the text is not UTF-8 | this byte does not belong to a character\n");
  CHECK(errors_in("a: \xed\xa0\x80\n") ==
        "1:4 the text is not UTF-8 | this byte does not belong to a character\n");
  // yaml-cpp ends the file at byte 4 without a word.
  CHECK(errors_in("a: 1\n\x04"
                  "b: 2\n") == "2:1 the text holds a control character | not allowed in YAML\n");
  CHECK(errors_in(std::string("a: \0b\n", 6)) ==
        "1:4 the text holds a control character | not allowed in YAML\n");
}

TEST_CASE("a byte order mark is no part of the first key") {
  const Reading reading(
      "\xef\xbb\xbf"
      "a: 1\n");
  REQUIRE(reading.document);
  CHECK(reading.document->root.find("a") != nullptr);
  CHECK(reading.document->root.find("a")->key_span.offset == 0);
}

TEST_CASE("nesting is limited and its limit is tight") {
  const auto nested = [](std::size_t levels) {
    return "a: " + std::string(levels, '[') + std::string(levels, ']') + "\n";
  };
  // The mapping around is one of the 64 levels.
  CHECK(errors_in(nested(63)).empty());
  CHECK(errors_in(nested(64)) == "1:67 nested too deeply | more than 64 levels\n");
  CHECK(errors_in(std::string(100'000, '[')).find("nested too deeply") != std::string::npos);
}

TEST_CASE("a file above one MiB is refused before it is parsed") {
  const std::size_t limit = std::size_t{1} << 20;
  const std::string line = "# " + std::string(77, 'x') + "\n";
  std::string text = "a: 1\n";
  while (text.size() + line.size() <= limit) {
    text += line;
  }
  text += std::string(limit - text.size(), '\n');
  CHECK(errors_in(text).empty());
  CHECK(errors_in(text + "\n") == "1:1 the file is larger than 1 MiB | 1048577 bytes\n");
}

TEST_CASE("a file that is not there is an exception with its name") {
  SourceMap sources;
  Diagnostics diagnostics;
  CHECK_THROWS_WITH((void)load_yaml_file("no/such/file.yaml", sources, diagnostics),
                    "cannot read `no/such/file.yaml`: No such file or directory");
  CHECK_THROWS((void)load_yaml_file(PAYOFF_SOURCE_DIR, sources, diagnostics));
}

TEST_CASE("a path splits into the keys that it was joined from") {
  for (const std::vector<std::string>& keys : {std::vector<std::string>{"a", "b", "0"},
                                               {"p3.8xlarge", "nodes"},
                                               {"say \"x\"", "\\"},
                                               {""}}) {
    std::string path;
    for (const std::string& key : keys) {
      path = join_path(path, key);
    }
    CAPTURE(path);
    const auto parts = split_path(path);
    REQUIRE(parts);
    REQUIRE(parts->size() == keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      CHECK((*parts)[i].key == keys[i]);
    }
  }
  for (const char* path : {"", ".", "a.", ".a", "a..b", "\"a"}) {
    CAPTURE(path);
    CHECK_FALSE(split_path(path));
  }
}

TEST_CASE("a problem of the model finds the place of its field") {
  const Reading reading("layout:\n  tp: 2\n  dp: 7\ncompress:\n  - method: topk\n    ratio: 3\n");
  REQUIRE(reading.document);
  const PositionMap positions(reading.document->root);
  const auto place = [&](const char* path) {
    return reading.sources.place(positions.find(path).value());
  };
  CHECK(place("layout.tp") == "f.yaml:2:7");
  CHECK(place("layout") == "f.yaml:1:1");
  CHECK(place("compress.0.ratio") == "f.yaml:6:12");
  CHECK(place("compress[0].ratio") == "f.yaml:6:12");
  CHECK(place("compress[0]") == "f.yaml:5:5");
  // A field that was not written is looked for in its section, and in the end in the file.
  CHECK(place("layout.pp") == "f.yaml:1:1");
  CHECK(place("compress[0].rank") == "f.yaml:5:5");
  CHECK(place("software") == "f.yaml:1:1");

  Diagnostics diagnostics;
  report({{"layout.dp", "7 GPUs cannot be split", "take 8"}}, positions, diagnostics);
  REQUIRE(diagnostics.error_count() == 1);
  CHECK(diagnostics.sorted()[0].message == "`layout.dp`: 7 GPUs cannot be split");
  CHECK(reading.sources.place(*diagnostics.sorted()[0].span) == "f.yaml:3:7");
}

TEST_CASE("a document mounted under a path keeps what is there") {
  const Reading outer("cluster:\n  nodes: 4\n");
  PositionMap positions(outer.document->root);
  Reading inner("nodes: 1\ngpu: v100\n");
  Node profile = inner.document->root;
  profile.find("gpu")->value.span.offset = 0;
  positions.add("cluster", profile);
  CHECK(positions.find("cluster.nodes")->offset == 18);
  CHECK(positions.find("cluster.gpu")->offset == 0);
}

TEST_CASE("every YAML file of the shipped profiles is read without complaint") {
  SourceMap sources;
  Diagnostics diagnostics;
  std::size_t files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(PAYOFF_SOURCE_DIR "/profiles")) {
    if (entry.path().extension() == ".yaml") {
      ++files;
      (void)load_yaml_file(entry.path().string(), sources, diagnostics);
    }
  }
  CHECK(files > 50);
  INFO(render_text(diagnostics, sources));
  CHECK(diagnostics.empty());
}
