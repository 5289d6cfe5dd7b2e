// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "profiles/read_method.hpp"
#include "tests/catch.hpp"
#include "tests/profiles/plan_outcome.hpp"
#include "tests/profiles/profile_folder.hpp"

using namespace payoff;
using test::Outcome;
using test::ProfileFolder;
using test::ProfileReading;
using test::read;
using test::shipped;

namespace {

double parameter(const std::string& text, const std::string& name) {
  const Outcome outcome = read(text);
  INFO(text << "\n" << outcome.errors);
  REQUIRE(outcome.plan);
  REQUIRE(outcome.plan->plan.method);
  return outcome.plan->plan.method->parameters.at(name);
}

}  // namespace

TEST_CASE("a plan is a method, or a method with parameters") {
  CHECK(parameter("powersgd", "rank") == 4);
  CHECK(parameter("powersgd:rank=16", "rank") == 16);
  CHECK(parameter("powersgd:rank=1024,min_compression_rate=0.5", "min_compression_rate") == 0.5);
  CHECK(parameter("topk:index_bytes=4,ratio=0.1", "index_bytes") == 4);
  const Outcome outcome = read("powersgd:rank=8");
  CHECK(outcome.plan->plan.label == "powersgd:rank=8");
  CHECK(outcome.plan->plan.placement == Placement::compute_stream);
  CHECK(outcome.plan->plan.overlap);
  CHECK(outcome.plan->plan.activations.empty());
  CHECK_FALSE(outcome.plan->facts.empty());
}

TEST_CASE("a ratio and its percentage are the same") {
  CHECK(parameter("topk:ratio=1 %", "ratio") == parameter("topk:ratio=0.01", "ratio"));
  CHECK(parameter("topk:ratio=1%", "ratio") == 0.01);
}

TEST_CASE("a plan says where it runs and whether it overlaps") {
  const Outcome outcome = read("powersgd:rank=4,placement=side_stream,overlap=false");
  REQUIRE(outcome.plan);
  CHECK(outcome.plan->plan.placement == Placement::side_stream);
  CHECK_FALSE(outcome.plan->plan.overlap);
  CHECK(read("fp16:placement=after_backward").plan->plan.placement == Placement::after_backward);
  CHECK_FALSE(read("oktopk:traffic=tp_activations").plan);  // made for gradients
}

// DeepSpeed's 1-bit Adam sends in the optimizer's step; a hook's messages go bucket by bucket.
TEST_CASE("what the optimizer sends is placed after backward, unless the plan says otherwise") {
  const auto placement_of = [](const std::string& text) {
    const Outcome outcome = read(text);
    INFO(outcome.errors);
    REQUIRE(outcome.plan);
    return outcome.plan->plan.placement;
  };
  CHECK(placement_of("onebitadam") == Placement::after_backward);
  CHECK(placement_of("local_sgd:steps=4") == Placement::after_backward);
  CHECK(placement_of("topk:ratio=0.01") == Placement::compute_stream);
  CHECK(placement_of("onebitadam:placement=side_stream") == Placement::side_stream);
  // Of several methods of gradients the one that waits longest decides, for they share a stream.
  CHECK(placement_of("topk:buckets=0 + onebitadam:buckets=1") == Placement::after_backward);
  CHECK(placement_of("onebitadam:buckets=1 + topk:buckets=0") == Placement::after_backward);
  // Said once, it has to be what the other has anyway.
  CHECK(placement_of("topk:buckets=0 + signsgd:buckets=1,placement=compute_stream") ==
        Placement::compute_stream);
  CHECK(placement_of("topk:buckets=0 + onebitadam:buckets=1,placement=compute_stream") ==
        Placement::compute_stream);
  const Outcome two = read("onebitadam:buckets=1 + topk:buckets=0,placement=side_stream");
  CHECK_FALSE(two.plan);
  CHECK(two.errors.find("another `placement`") != std::string::npos);
}

TEST_CASE("blanks around the parts of a plan mean nothing") {
  CHECK(parameter(" powersgd : rank = 8 , overlap = false ", "rank") == 8);
}

TEST_CASE("none is the uncompressed baseline") {
  const Outcome outcome = read("none");
  REQUIRE(outcome.plan);
  CHECK_FALSE(outcome.plan->plan.method);
  CHECK(outcome.plan->plan.label == "none");
  CHECK(read("none:rank=4").errors == "argument 1:1:1 `none` has no parameters\n");
}

TEST_CASE("an unknown method is answered with the nearest one") {
  CHECK(read("power_sgd:rank=4").errors ==
        "argument 1:1:1 no compression `power_sgd` | did you mean `powersgd`? | `payoff profiles "
        "list compression` shows them all\n");
}

TEST_CASE("an unknown parameter is answered with the nearest one, at its place") {
  CHECK(read("powersgd:rnak=4").errors ==
        "argument 1:1:10 powersgd has no parameter `rnak` | did you mean `rank`? | it has: "
        "min_compression_rate, rank, placement, overlap, traffic, directions, layers, "
        "buckets, among, smallest, copy_in_node\n");
  CHECK(read("powersgd:rank=4,plaement=side_stream").errors ==
        "argument 1:1:17 powersgd has no parameter `plaement` | did you mean `placement`? | it "
        "has: min_compression_rate, rank, placement, overlap, traffic, directions, layers, "
        "buckets, among, smallest, copy_in_node\n");
}

TEST_CASE("values of parameters are checked against their ranges") {
  CHECK_THAT(read("powersgd:rank=0").errors,
             Catch::Matchers::StartsWith("argument 1:1:15 `rank` of powersgd is too small"));
  CHECK_THAT(read("powersgd:rank=65537").errors,
             Catch::Matchers::StartsWith("argument 1:1:15 `rank` of powersgd is too large"));
  CHECK_THAT(read("powersgd:rank=4.5").errors,
             Catch::Matchers::StartsWith("argument 1:1:15 `rank` of powersgd is not a whole"));
  CHECK_THAT(read("topk:ratio=2").errors,
             Catch::Matchers::StartsWith("argument 1:1:12 `ratio` of topk is too large"));
  CHECK_THAT(read("topk:ratio=150 %").errors,
             Catch::Matchers::StartsWith("argument 1:1:12 `ratio` of topk is too large"));
  CHECK_THAT(read("topk:ratio=nan").errors,
             Catch::Matchers::StartsWith("argument 1:1:12 `ratio` of topk"));
}

// MCBench packs 8, 4 and 2 bits into bytes, and nothing else.
TEST_CASE("a parameter of which only some values exist says which") {
  CHECK(read("activation_quantization:bits=3").errors ==
        "argument 1:1:30 `bits` of activation_quantization has no value `3` | one of: 2, 4, 8\n");
  CHECK_THAT(
      read("activation_quantization:bits=9").errors,
      Catch::Matchers::StartsWith("argument 1:1:30 `bits` of activation_quantization is too"));
  CHECK(read("activation_quantization:bits=4,traffic=tp_activations").errors.empty());
}

TEST_CASE("all mistakes of a plan are found at once") {
  CHECK(read("topk:ratio,ratio=,index_bytes=4,index_bytes=8,overlap=no,placement=side").errors ==
        "argument 1:1:6 `ratio` has no value | write it as `ratio=VALUE`\n"
        "argument 1:1:12 `ratio` is given twice\n"
        "argument 1:1:33 `index_bytes` is given twice\n"
        "argument 1:1:55 `overlap` has the unknown value `no` | one of: true, false\n"
        "argument 1:1:68 `placement` has the unknown value `side` | did you mean `side_stream`? | "
        "one of: compute_stream, side_stream, after_backward, low_priority_stream, "
        "high_priority_stream\n");
  CHECK_THAT(read("topk:").errors,
             Catch::Matchers::StartsWith("argument 1:1:6 topk has no parameter ``"));
}

TEST_CASE("a plan written in a file is read with and without quotes, and wrong at its place") {
  const std::string text = "compress: [\"topk:ratio=2\", 'topk:ratio=1 %', topk:ratio=3 %]\n";
  ProfileReading reading(shipped());
  const auto document = load_yaml_text("e.yaml", text, reading.sources, reading.diagnostics);
  REQUIRE(document);
  const auto& items = document->root.find("compress")->value.items;
  REQUIRE(items.size() == 3);
  CHECK_FALSE(read_plan(items[0].span, reading.context()));
  CHECK_THAT(reading.errors(), Catch::Matchers::StartsWith("e.yaml:1:24 `ratio` of topk"));
  const auto quoted = read_plan(items[1].span, reading.context());
  REQUIRE(quoted);
  CHECK(quoted->plan.label == "topk:ratio=1 %");
  const auto plain = read_plan(items[2].span, reading.context());
  REQUIRE(plain);
  CHECK(plain->plan.method->parameters.at("ratio") == 0.03);
}

TEST_CASE("a plan names a method of one's own by its path, relative to the file that names it") {
  const ProfileFolder folder;
  std::string method = folder.read("compression/topk.yaml");
  method.replace(method.find("method: topk"), 12, "method: mine");
  folder.write("mine.yaml", method);
  const std::string text = "compress: [mine.yaml:ratio=0.5]\n";
  ProfileReading reading(folder.library());
  const auto document = load_yaml_text((folder.path() / "e.yaml").string(), text, reading.sources,
                                       reading.diagnostics);
  REQUIRE(document);
  const auto plan =
      read_plan(document->root.find("compress")->value.items[0].span, reading.context());
  CHECK(reading.errors().empty());
  REQUIRE(plan);
  CHECK(plan->plan.method->name == "mine");
  CHECK(plan->plan.method->parameters.at("ratio") == 0.5);
  CHECK(read("missing.yaml:ratio=0.5")
            .errors.starts_with("argument 1:1:1 cannot read `missing.yaml`"));
}

TEST_CASE("parameters that make a formula negative are refused with the plan") {
  const ProfileFolder folder;
  folder.write("mine.yaml",
               "method: less\ndescription: less than nothing\nimplementation: fused\n"
               "granularity: bucket\nsums_in_collective: true\n"
               "parameters: {less: {default: 0, min: 0, max: 9}}\nrounds:\n"
               "- {encode: {}, collective: all_reduce, message: \"v * n * (1 - less)\"}\n"
               "wire: {as_published: \"v * n * (1 - less)\", as_implemented: \"0\", used: "
               "as_published}\n");
  ProfileReading reading(folder.library());
  const std::string text = (folder.path() / "mine.yaml").string() + ":less=2";
  const std::size_t source = reading.sources.add_argument(1, text);
  CHECK_FALSE(read_plan({source, 0, text.size()}, reading.context()));
  CHECK_THAT(reading.errors(), Catch::Matchers::Contains("cannot be priced with these parameters"));
}

TEST_CASE("a plan of gossip names its graph") {
  const auto graph = [](const std::string& text) {
    const Outcome outcome = read(text);
    INFO(text << "\n" << outcome.errors);
    REQUIRE(outcome.plan);
    return outcome.plan->plan.method->graph;
  };
  CHECK_FALSE(graph("gossip"));
  CHECK(graph("gossip:graph=ring")->shape == ExchangeShape::ring);
  CHECK(graph("gossip_u8:graph=torus")->shape == ExchangeShape::torus);
  const auto random = graph("gossip:graph=random,neighbours=4,graph_seed=9");
  CHECK(random == ExchangeGraph{ExchangeShape::random, 4, 9, {}, {}});
  // A triangle of which one side goes one way.
  const auto own = graph("gossip:graph=0-1/1-2/2>0");
  CHECK(own->shape == ExchangeShape::own);
  CHECK(own->own == Neighbours{{1}, {0, 2}, {0, 1}});
}

TEST_CASE("mistakes in a graph are told at the edge") {
  CHECK_THAT(read("gossip:graph=rign").errors,
             Catch::Matchers::ContainsSubstring(
                 "`graph` has the unknown value `rign` | did you mean `ring`?"));
  const std::string edges = read("gossip:graph=0-1/2-2/1-0/x-3/4").errors;
  CHECK_THAT(edges,
             Catch::Matchers::ContainsSubstring("1:18 `graph`: `2-2` joins node 2 to itself"));
  CHECK_THAT(edges, Catch::Matchers::ContainsSubstring(
                        "1:22 `graph`: `1-0` is there twice: nodes 1 and 0"));
  CHECK_THAT(edges, Catch::Matchers::ContainsSubstring(
                        "1:26 `graph`: `x-3` is no edge between two nodes"));
  CHECK_THAT(edges, Catch::Matchers::ContainsSubstring("1:30 `graph`: `4` is no edge"));
  CHECK_THAT(read("gossip:graph=ring,neighbours=2").errors,
             Catch::Matchers::ContainsSubstring("`neighbours` follow from the graph"));
  CHECK_THAT(read("gossip:graph=ring,graph_seed=2").errors,
             Catch::Matchers::ContainsSubstring("`graph_seed` is of `graph=random`"));
  CHECK_THAT(read("gossip:graph_seed=2").errors,
             Catch::Matchers::ContainsSubstring("and there is none"));
  CHECK_THAT(read("topk:graph=ring").errors,
             Catch::Matchers::ContainsSubstring("`topk` has no neighbours: all send to all"));
  CHECK_THAT(read("gossip:graph=nowhere.yaml").errors,
             Catch::Matchers::ContainsSubstring("nowhere.yaml"));
}
