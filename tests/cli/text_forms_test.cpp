// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "cli/sha256.hpp"
#include "cli/yaml_writer.hpp"
#include "profiles/document.hpp"
#include "tests/catch.hpp"

using namespace payoff;

TEST_CASE("SHA-256 gives the digests of FIPS 180-4's examples") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

namespace {

bool equal(const Node& a, const Node& b) {
  if (a.kind != b.kind || a.text != b.text || a.items.size() != b.items.size() ||
      a.entries.size() != b.entries.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!equal(a.items[i], b.items[i])) {
      return false;
    }
  }
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    if (a.entries[i].key != b.entries[i].key || !equal(a.entries[i].value, b.entries[i].value)) {
      return false;
    }
  }
  return true;
}

Node parsed(const std::string& text) {
  SourceMap sources;
  Diagnostics diagnostics;
  const auto document = load_yaml_text("test.yaml", text, sources, diagnostics);
  INFO(text << render_text(diagnostics, sources));
  REQUIRE(document);
  REQUIRE(!diagnostics.has_errors());
  return document->root;
}

}  // namespace

TEST_CASE("a document that is written reads back as the same tree") {
  const std::string text = GENERATE(
      as<std::string>{}, "experiment: a\ncluster:\n  profile: p3-8xlarge\n  nodes: 8\n",
      "compress:\n- powersgd:rank=4\n- {method: topk, ratio: 1 %}\n-\n  - nested\n  - list\n",
      "text: \"a: b # c\"\nempty: \"\"\nnothing:\nlist: []\nmap: {}\nno: no\n",
      "\"key: odd\": 'it''s'\nquote: '\"'\ndash: -5\nslash: \"a\\\\b\\tc\"\n",
      "items:\n- a: 1\n  b:\n    c: 2\n    d:\n    - e\n    - f: 3\n");
  const Node once = parsed(text);
  CHECK(equal(once, parsed(written_yaml(once))));
  CHECK(written_yaml(parsed(written_yaml(once))) == written_yaml(once));
}
