// SPDX-License-Identifier: Apache-2.0
#include "profiles/section.hpp"

#include <array>
#include <string>
#include <utility>

#include "model/units.hpp"
#include "tests/catch.hpp"
#include "tests/profiles/reading.hpp"

using namespace payoff;
using test::Reading;

namespace {

enum class Precision { fp32, fp16, bf16 };
constexpr std::array precisions = {
    std::pair{std::string_view("fp32"), Precision::fp32},
    std::pair{std::string_view("fp16"), Precision::fp16},
    std::pair{std::string_view("bf16"), Precision::bf16},
};

struct Link {
  Bandwidth bandwidth{};
  Seconds latency{};
};

Link read_link(const Section& section) {
  return {section.required("bandwidth").quantity<Bandwidth>(),
          section.required("latency").quantity<Seconds>()};
}

}  // namespace

TEST_CASE("values are read by key and type") {
  Reading reading(
      "name: p3\nnodes: 4\noverlap: true\nratio: 1 %\nscale: 2.5\nbandwidth: 10 Gb/s\n"
      "precision: bf16\nsizes: [8 B, 1 KiB]\ninter: {bandwidth: 400 Gb/s, latency: 5 us}\n");
  const Section root = reading.root();
  CHECK(root.required("name").text() == "p3");
  CHECK(root.required("nodes").integer<int>() == 4);
  CHECK(root.required("overlap").boolean());
  CHECK(root.required("ratio").ratio() == 0.01);
  CHECK(root.required("scale").number() == 2.5);
  CHECK(root.required("bandwidth").quantity<Bandwidth>() == 10_Gbps);
  CHECK(root.required("precision").choice(precisions) == Precision::bf16);
  const std::vector<Value> sizes = root.required("sizes").list();
  REQUIRE(sizes.size() == 2);
  CHECK(sizes[1].quantity<Bytes>() == 1_KiB);
  CHECK(sizes[1].path() == "sizes.1");
  CHECK(read_link(root.required("inter").section()).latency == 5_us);
  CHECK(reading.errors().empty());
}

TEST_CASE("what is optional and absent reads as its fallback") {
  Reading reading("a: 1\n");
  const Section root = reading.root();
  CHECK(root.optional("a").integer() == 1);
  CHECK(root.optional("nodes").integer<int>({.fallback = 3}) == 3);
  CHECK(root.optional("latency").quantity<Seconds>({.fallback = 5_us}) == 5_us);
  CHECK(root.optional("precision").choice(precisions, Precision::fp16) == Precision::fp16);
  CHECK(root.optional("name").text("none") == "none");
  CHECK(root.optional("list").list().empty());
  CHECK_FALSE(root.optional("section").section());
  CHECK_FALSE(root.optional("name"));
  CHECK(reading.errors().empty());
}

TEST_CASE("all errors of a document are found in one run") {
  Reading reading(
      "cluster:\n"
      "  intra:\n"
      "    bandwith: 450 GB/s\n"
      "    latency: 2 us\n"
      "  inter:\n"
      "    bandwidth: 400\n"
      "    latency: 5 GB\n"
      "precision: fp61\n"
      "nodes: three\n"
      "zebra: 1\n");
  const Section root = reading.root();
  const Section cluster = root.required("cluster").section();
  (void)read_link(cluster.required("intra").section());
  (void)read_link(cluster.required("inter").section());
  (void)root.required("precision").choice(precisions);
  (void)root.required("nodes").integer<int>({.min = 1});
  (void)root.required("seed").integer();
  CHECK(reading.errors() ==
        "1:1 missing key `seed` | `seed` is required here\n"
        "3:5 unknown key `bandwith` in `cluster.intra` | did you mean `bandwidth`? | keys of "
        "`cluster.intra`: bandwidth, latency\n"
        "6:16 `cluster.inter.bandwidth` has no unit | a bare number is ambiguous | for example "
        "`bandwidth: 400 Gb/s`\n"
        "7:16 `cluster.inter.latency` is a size, not a time | units of a time: s, ms, us, ns, ps, "
        "min, h\n"
        "8:12 `precision` has the unknown value `fp61` | did you mean `fp16`? | one of: fp32, "
        "fp16, bf16\n"
        "9:8 `nodes` is not a whole number | decimal digits only\n"
        "10:1 unknown key `zebra` | known keys: cluster, precision, nodes, seed\n");
}

TEST_CASE("a misspelt section is one error and its contents are none") {
  Reading reading("clutser:\n  nodes: 4\n");
  const Section cluster = reading.root().required("cluster").section();
  CHECK_FALSE(cluster);
  CHECK(cluster.required("nodes").integer() == 0);
  CHECK(cluster.required("gpu").section().required("memory").quantity<Bytes>() == 0_B);
  CHECK(reading.errors() ==
        "1:1 unknown key `clutser` | did you mean `cluster`? | known keys: cluster\n");
}

TEST_CASE("a missing key points at its section") {
  Reading reading("a: 1\nlayout:\n  tp: 2\n");
  const Section root = reading.root();
  (void)root.required("a").text();
  const Section layout = root.required("layout").section();
  (void)layout.required("tp").integer();
  (void)layout.required("dp").integer();
  CHECK(reading.errors() == "2:1 missing key `dp` in `layout` | `dp` is required here\n");
}

TEST_CASE("names from other programs are answered with ours") {
  Reading reading("tensor_model_parallel_size: 8\n");
  const Section root = reading.root();
  (void)root.required("tp").integer();
  root.known_elsewhere_as("tensor_model_parallel_size", "tp");
  CHECK(reading.errors() ==
        "1:1 unknown key `tensor_model_parallel_size` | did you mean `tp`? | known keys: tp\n");
}

TEST_CASE("a value of the wrong kind is told what it is") {
  Reading reading("a: [1]\nb: {c: 1}\nd: 3\ne:\nf: yes\ng: ~\n");
  const Section root = reading.root();
  (void)root.required("a").integer();
  (void)root.required("b").quantity<Bytes>();
  (void)root.required("d").section();
  (void)root.required("e").text();
  (void)root.required("f").boolean();
  (void)root.required("g").list();
  CHECK(reading.errors() ==
        "1:4 `a` is not a whole number | this is a list\n"
        "2:4 `b` is not a quantity with a unit | this is a mapping\n"
        "3:4 `d` is not a section | this is `3`\n"
        "4:1 `e` has no value | nothing after the colon | write a text\n"
        "5:4 `f` is not `true` or `false` | this is `yes`\n"
        "6:1 `g` has no value | nothing after the colon | write a list\n");
}

TEST_CASE("the caret stands under the guilty part of a value") {
  Reading reading("a: 400  Gbps\nb: \"400 Gbps\"\nc: \"4\\x30 Gbps\"\nd: [1 GB, 2]\n");
  const Section root = reading.root();
  for (const char* key : {"a", "b", "c"}) {
    (void)root.required(key).quantity<Bandwidth>();
  }
  for (const Value& size : root.required("d").list()) {
    (void)size.quantity<Bytes>();
  }
  reading.reader->finish();
  const std::vector<Diagnostic> found = reading.diagnostics.sorted();
  REQUIRE(found.size() == 4);
  const auto guilty = [&](std::size_t i) {
    return std::string(reading.sources.text(*found[i].span));
  };
  CHECK(guilty(0) == "Gbps");
  CHECK(guilty(1) == "Gbps");
  CHECK(guilty(2) == "\"4\\x30 Gbps\"");  // an escape moves what follows it: the whole value
  CHECK(guilty(3) == "2");
  CHECK(found[3].message == "`d.1` has no unit");
  CHECK(found[3].help == "for example `2 MiB`");
}

TEST_CASE("a range of a type bounds the range asked for") {
  Reading reading("a: 3000000000\nb: 0\nc: 9\n");
  const Section root = reading.root();
  CHECK(root.required("a").integer<int>() == 0);
  CHECK(root.required("b").integer<int>({.fallback = 1, .min = 1, .max = 8}) == 1);
  CHECK(root.required("c").integer<int>({.fallback = 1, .min = 1, .max = 8}) == 1);
  CHECK(reading.errors() ==
        "1:4 `a` is too large | must be at most 2147483647\n"
        "2:4 `b` is too small | must be at least 1\n"
        "3:4 `c` is too large | must be at most 8\n");
}

TEST_CASE("a map of names is read entry by entry") {
  Reading reading("gpus:\n  v100: 16 GB\n  a100: 40 GB\n");
  std::string names;
  for (const auto& [name, value] : reading.root().required("gpus").section().entries()) {
    names += name + "=" + exact_text(value.quantity<Bytes>()) + ";";
  }
  CHECK(names == "v100=16 GB;a100=40 GB;");
  CHECK(reading.errors().empty());
}

TEST_CASE("a section read in two places knows the keys of both") {
  Reading reading("gpu: {memory: 16 GB, peak: 1 TFLOP/s, pink: 1}\n");
  const Section root = reading.root();
  (void)root.required("gpu").section().required("memory").quantity<Bytes>();
  (void)root.required("gpu").section().required("peak").quantity<FlopRate>();
  CHECK(reading.errors() == "1:39 unknown key `pink` in `gpu` | keys of `gpu`: memory, peak\n");
}

TEST_CASE("errors of the caller carry the place of the value") {
  Reading reading("layout: {tp: 3}\n");
  const Section layout = reading.root().required("layout").section();
  const Value tp = layout.required("tp");
  tp.error("does not divide 8", "8 GPUs a node", "take 1, 2, 4 or 8");
  layout.error("does not fit");
  CHECK(reading.errors() ==
        "1:1 `layout` does not fit\n"
        "1:14 `layout.tp` does not divide 8 | 8 GPUs a node | take 1, 2, 4 or 8\n");
}

TEST_CASE("a document that is not a mapping is one error") {
  Reading empty("");
  CHECK_FALSE(empty.root());
  CHECK(empty.errors() == "1:1 the document is empty | write it as `key: value` lines\n");
  Reading list("- a\n- b\n");
  CHECK_FALSE(list.root().required("x"));
  CHECK(list.errors() ==
        "1:1 the document is not a mapping | this is a list | write it as `key: value` lines\n");
}

TEST_CASE("a part of a larger document is read under its own path") {
  Reading reading("memory: 16\n");
  Reader reader(reading.document->root, reading.sources, reading.diagnostics, "cluster.gpu");
  (void)reader.root().required("memory").quantity<Bytes>();
  (void)reader.root().required("peak");
  reader.finish();
  CHECK(reading.lines() ==
        "1:1 missing key `peak` in `cluster.gpu` | `peak` is required here\n"
        "1:9 `cluster.gpu.memory` has no unit | a bare number is ambiguous | for example `memory: "
        "16 MiB`\n");
}
