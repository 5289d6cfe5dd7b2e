// SPDX-License-Identifier: Apache-2.0
#include "profiles/override.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include "profiles/section.hpp"
#include "tests/catch.hpp"
#include "tests/profiles/reading.hpp"

using namespace payoff;
using test::Reading;

namespace {

bool set(Reading& reading, const std::string& setting) {
  return apply_override(reading.document->root, 3, setting, reading.sources, reading.diagnostics);
}

// A folder of files that goes away with the test.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("payoff_override_test_" + std::to_string(counter()++))) {
    std::filesystem::create_directories(path_ / "sub");
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }

 private:
  static int& counter() {
    static int count = static_cast<int>(
        std::filesystem::file_time_type::clock::now().time_since_epoch().count() % 1'000'000);
    return count;
  }

  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("an override replaces a value and nothing else") {
  Reading reading("cluster:\n  nodes: 4\n  inter: {bandwidth: 10 Gb/s, latency: 5 us}\n");
  REQUIRE(set(reading, "cluster.inter.bandwidth=200 Gb/s"));
  const Section cluster = reading.root().required("cluster").section();
  const Section inter = cluster.required("inter").section();
  CHECK(inter.required("bandwidth").quantity<Bandwidth>() == 200_Gbps);
  CHECK(inter.required("latency").quantity<Seconds>() == 5_us);
  CHECK(cluster.required("nodes").integer() == 4);
  CHECK(reading.errors().empty());
}

TEST_CASE("an override makes the sections that are missing") {
  Reading reading("");
  REQUIRE(set(reading, "cluster.inter.bandwidth=200 Gb/s"));
  REQUIRE(set(reading, "cluster.\"p3.8xlarge\".nodes=2"));
  const Section cluster = reading.root().required("cluster").section();
  CHECK(cluster.required("inter").section().required("bandwidth").quantity<Bandwidth>() ==
        200_Gbps);
  CHECK(cluster.required("p3.8xlarge").section().required("nodes").integer() == 2);
}

TEST_CASE("an override reaches and extends lists") {
  Reading reading("compress:\n  - {method: topk, ratio: 1 %}\n");
  REQUIRE(set(reading, "compress.0.ratio=10 %"));
  REQUIRE(set(reading, "compress.1.method=fp8"));
  const std::vector<Value> plans = reading.root().required("compress").list();
  REQUIRE(plans.size() == 2);
  CHECK(plans[0].section().required("ratio").ratio() == 0.1);
  CHECK(plans[1].section().required("method").text() == "fp8");
  CHECK_FALSE(set(reading, "compress.3.method=fp8"));
  CHECK_FALSE(set(reading, "compress.first=fp8"));
  CHECK(reading.lines() ==
        "argument 3:1:16 no item `3` in a list of 2 | a number from 0 to 2 | items count from 0; 2 "
        "appends one\n"
        "argument 3:1:16 no item `first` in a list of 2 | a number from 0 to 2 | items count from "
        "0; 2 appends one\n");
}

TEST_CASE("a value in brackets, braces or quotes is YAML and any other is taken as it stands") {
  Reading reading("a: 1\n");
  REQUIRE(set(reading, "compress=[none, {method: topk, ratio: 1 %}]"));
  REQUIRE(set(reading, "note=powersgd: rank=4 # no comment"));
  REQUIRE(set(reading, "quoted=\"x y\""));
  const Section root = reading.root();
  CHECK(root.required("compress").list().size() == 2);
  CHECK(root.required("note").text() == "powersgd: rank=4 # no comment");
  CHECK(root.required("quoted").text() == "x y");
}

TEST_CASE("setting a key below a name keeps the name as the base") {
  Reading reading("cluster: dgx-h100\n");
  REQUIRE(set(reading, "cluster.nodes=4"));
  const Section cluster = reading.root().required("cluster").section();
  CHECK(cluster.required("base").text() == "dgx-h100");
  CHECK(cluster.required("nodes").integer() == 4);
  CHECK(reading.errors().empty());
}

TEST_CASE("errors of an overridden value point into the argument") {
  Reading reading("cluster:\n  inter:\n    bandwidth: 10 Gb/s\n");
  REQUIRE(set(reading, "cluster.inter.bandwidth=400"));
  const Section inter = reading.root().required("cluster").section().required("inter").section();
  (void)inter.required("bandwidth").quantity<Bandwidth>();
  reading.reader->finish();
  CHECK(render_text(reading.diagnostics, reading.sources) ==
        "error: `cluster.inter.bandwidth` has no unit\n"
        " --> argument 3: --set cluster.inter.bandwidth=400\n"
        "  |                                            ^^^ a bare number is ambiguous\n"
        "  = help: for example `--set cluster.inter.bandwidth='400 Gb/s'`\n"
        "\n"
        "1 error; nothing was run\n");
}

TEST_CASE("a misspelt key of an override is found by the same checks") {
  Reading reading("cluster:\n  inter: {latency: 5 us}\n");
  REQUIRE(set(reading, "cluster.inter.bandwith=400 Gb/s"));
  const Section inter = reading.root().required("cluster").section().required("inter").section();
  (void)inter.required("bandwidth").quantity<Bandwidth>();
  (void)inter.required("latency").quantity<Seconds>();
  CHECK(reading.errors() ==
        "argument 3:1:21 unknown key `bandwith` in `cluster.inter` | did you mean `bandwidth`? | "
        "keys of `cluster.inter`: bandwidth, latency\n");
}

TEST_CASE("an override that cannot be read says why") {
  Reading reading("a: 1\n");
  CHECK_FALSE(set(reading, "a"));
  CHECK_FALSE(set(reading, "=5"));
  CHECK_FALSE(set(reading, "a..b=5"));
  CHECK_FALSE(set(reading, "a=[1, 2"));
  CHECK_FALSE(set(reading, "a=\xff"));
  const std::string example = " | for example `--set cluster.inter.bandwidth='200 Gb/s'`\n";
  CHECK(reading.lines() ==
        "argument 3:1:7 `--set` needs a key and a value | no `=` in it" + example +
            "argument 3:1:7 `--set` needs a key and a value | no key before `=`" + example +
            "argument 3:1:7 `a..b` is not a path of keys | an empty part or an open quote | for "
            "example `cluster.inter.bandwidth` or `compress.0.rank`\n"
            "argument 3:1:14 not valid YAML: end of sequence flow not found\n"
            "argument 3:1:9 the text is not UTF-8\n");
}

TEST_CASE("an option that stands for a key carries its own place") {
  Reading reading("layout: {dp: 8}\n");
  const std::size_t source = reading.sources.add_argument(2, "--dp 3x");
  REQUIRE(set_value(reading.document->root, "layout.dp",
                    scalar_node({source, 5, 2}, reading.sources), {source, 0, 4},
                    reading.diagnostics));
  (void)reading.root().required("layout").section().required("dp").integer();
  CHECK(reading.errors() ==
        "argument 2:1:6 `layout.dp` is not a whole number | decimal digits only\n");
}

TEST_CASE("a base file is read first and its maps are merged") {
  const Folder folder;
  (void)folder.write("base.yaml", "a: 1\nsection: {x: 1, y: 2}\nlist: [1, 2, 3]\n");
  const std::string path =
      folder.write("sub/top.yaml", "base: ../base.yaml\nsection: {y: 3}\nlist: [4]\n");
  SourceMap sources;
  Diagnostics diagnostics;
  const auto document = load_with_base(path, sources, diagnostics);
  REQUIRE(document);
  CHECK(diagnostics.empty());
  Reader reader(document->root, sources, diagnostics);
  const Section root = reader.root();
  CHECK(root.required("a").integer() == 1);
  const Section section = root.required("section").section();
  CHECK(section.required("x").integer() == 1);
  CHECK(section.required("y").integer() == 3);
  CHECK(root.required("list").list().size() == 1);
  reader.finish();  // `base` itself is no key of the document
  CHECK(diagnostics.empty());
  // Each value knows the file that it came from.
  CHECK(sources.place(*root.required("a").span()).ends_with("base.yaml:1:4"));
  CHECK(sources.place(*section.required("y").span()).ends_with("top.yaml:2:14"));
}

TEST_CASE("a circle of base files and a missing one are errors at the name") {
  const Folder folder;
  const std::string first = folder.write("first.yaml", "base: second.yaml\n");
  (void)folder.write("second.yaml", "x: 1\nbase: ./sub/../first.yaml\n");
  SourceMap sources;
  Diagnostics diagnostics;
  (void)load_with_base(first, sources, diagnostics);
  REQUIRE(diagnostics.error_count() == 1);
  CHECK(diagnostics.sorted()[0].message == "`base` goes round in a circle");
  CHECK(sources.place(*diagnostics.sorted()[0].span).ends_with("second.yaml:2:7"));

  Diagnostics others;
  (void)load_with_base(folder.write("third.yaml", "base: none.yaml\n"), sources, others);
  REQUIRE(others.error_count() == 1);
  CHECK(others.sorted()[0].message.ends_with("none.yaml`: No such file or directory"));
  CHECK(sources.place(*others.sorted()[0].span).ends_with("third.yaml:1:7"));

  Diagnostics lists;
  (void)load_with_base(folder.write("fourth.yaml", "base: [a, b]\n"), sources, lists);
  REQUIRE(lists.error_count() == 1);
  CHECK(lists.sorted()[0].message == "`base` is not the name of a file");
}
