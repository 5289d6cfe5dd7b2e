// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "profiles/read_method.hpp"
#include "tests/catch.hpp"
#include "tests/profiles/plan_outcome.hpp"
#include "tests/profiles/profile_folder.hpp"

// What a plan compresses: buckets of gradients, activations, weights, and several of them.

using namespace payoff;
using test::Outcome;
using test::ProfileReading;
using test::read;
using test::shipped;

TEST_CASE("a plan says which buckets of gradients it compresses") {
  const Outcome outcome = read("topk:ratio=0.01,buckets=9-/0-2/4/5");
  REQUIRE(outcome.plan);
  const BucketSet& buckets = outcome.plan->plan.buckets;
  CHECK(buckets.ranges == std::vector<BlockRange>{{0, 2}, {4, 5}, {9}});
  for (const auto& [bucket, held] : std::vector<std::pair<std::size_t, bool>>{
           {0, true}, {2, true}, {3, false}, {5, true}, {6, false}, {9, true}, {1000, true}}) {
    CHECK(buckets.holds(bucket) == held);
  }
  CHECK(buckets_text(buckets) == "0-2/4-5/9-");
  CHECK(read("topk").plan->plan.buckets.is_all());
}

TEST_CASE("a plan may have a method for each of several sets of buckets") {
  const Outcome outcome = read("topk:buckets=0-3 + fp16:buckets=6- + qsgd:bits=8,buckets=4");
  REQUIRE(outcome.plan);
  const CompressionPlan& plan = outcome.plan->plan;
  CHECK(plan.method->name == "topk");
  REQUIRE(plan.others.size() == 2);
  CHECK(plan.others[0].method.name == "fp16");
  CHECK(plan.gradient_methods().size() == 3);
  CHECK(plan.methods() == plan.gradient_methods());
  CHECK(plan.buckets_of(2).ranges == std::vector<BlockRange>{{4, 4}});
}

TEST_CASE("sets of buckets that are none, overlap or run elsewhere are refused") {
  for (const char* text :
       {"topk:buckets=3-1", "topk:buckets=", "topk:buckets=1//2", "topk:buckets=1/1",
        "topk:buckets=0-/3", "topk:buckets=-1", "topk:buckets=a", "topk:buckets=0,buckets=1",
        "autoencoder:dim=50,traffic=tp_activations,buckets=1"}) {
    INFO(text);
    CHECK_FALSE(read(text).plan);
  }
  CHECK_THAT(read("topk:buckets=0-3 + fp16:buckets=3-").errors,
             Catch::Matchers::Contains("a second time"));
  CHECK_THAT(read("topk:buckets=0-3 + fp16").errors, Catch::Matchers::Contains("a second time"));
  CHECK_THAT(read("topk:buckets=0 + fp16:buckets=1,placement=side_stream").errors,
             Catch::Matchers::Contains("another `placement`"));
}

TEST_CASE("a plan says which activations it compresses, which way and in which layers") {
  const Outcome outcome = read("autoencoder:dim=100,traffic=tp_activations,layers=12-23");
  REQUIRE(outcome.plan);
  CHECK_FALSE(outcome.plan->plan.method);
  REQUIRE(outcome.plan->plan.activations.size() == 1);
  const ActivationCompression& of = outcome.plan->plan.activations.front();
  CHECK(of.method.parameters.at("dim") == 100);
  CHECK(of.traffic == Traffic::tp_activations);
  CHECK(of.blocks == BlockRange{12, 23});
  // As MCBench does it: sums forward only, sends both ways.
  CHECK(of.forward);
  CHECK_FALSE(of.backward);
  const auto activations = [](const char* text) { return read(text).plan->plan.activations.at(0); };
  CHECK(activations("autoencoder:traffic=pp_activations").backward);
  CHECK_FALSE(activations("activation_quantization:traffic=pp_activations").backward);
  CHECK(activations("activation_quantization:traffic=pp_activations,directions=both").backward);
  CHECK(activations("autoencoder:traffic=tp_activations,layers=12-").blocks == BlockRange{12});
  CHECK(activations("autoencoder:traffic=tp_activations,layers=7").blocks == BlockRange{7, 7});
  CHECK(activations("autoencoder:traffic=tp_activations").blocks == BlockRange{});
}

TEST_CASE("a plan compresses several kinds of traffic, by one method or by several") {
  const Outcome one = read("autoencoder:traffic=tp_activations+pp_activations");
  REQUIRE(one.plan);
  REQUIRE(one.plan->plan.activations.size() == 2);
  CHECK(one.plan->plan.activations[1].traffic == Traffic::pp_activations);
  CHECK(one.plan->plan.activations[1].backward);
  const std::string text = "powersgd:rank=8 + autoencoder:dim=50,traffic=tp_activations";
  const Outcome several = read(text);
  INFO(several.errors);
  REQUIRE(several.plan);
  CHECK(several.plan->plan.label == text);
  REQUIRE(several.plan->plan.method);
  CHECK(several.plan->plan.method->parameters.at("rank") == 8);
  CHECK(several.plan->plan.activations.at(0).method.name == "autoencoder");
  CHECK(read("powersgd + topk").errors ==
        "argument 1:1:12 compresses dp_gradients a second time | one method for each kind of "
        "traffic, or `buckets=` of its own for each\n");
  CHECK(read("powersgd + none").errors == "argument 1:1:12 `none` is a plan of its own\n");
}

TEST_CASE("a list in a file is one plan of several methods") {
  const std::string text =
      "compress:\n- [powersgd, {autoencoder: {dim: 50, traffic: tp_activations}}]\n";
  ProfileReading reading(shipped());
  const auto document = load_yaml_text("e.yaml", text, reading.sources, reading.diagnostics);
  REQUIRE(document);
  Reader reader(document->root, reading.sources, reading.diagnostics);
  const auto items = reader.root().required("compress").list();
  const auto plan = read_plan(items.at(0), reading.context());
  INFO(reading.errors());
  REQUIRE(plan);
  CHECK(plan->plan.label == "powersgd + autoencoder:dim=50,traffic=tp_activations");
  CHECK(plan->plan.method);
  CHECK(plan->plan.activations.size() == 1);
}

TEST_CASE("options that mean nothing for what is compressed are mistakes") {
  CHECK(read("autoencoder").errors ==
        "argument 1:1:1 `autoencoder` does not compress dp_gradients | it compresses: "
        "tp_activations, pp_activations; write `traffic=` and which\n");
  CHECK(read("powersgd:layers=3").errors ==
        "argument 1:1:17 `layers` is of activations, and only gradients of data parallelism are "
        "compressed | add `traffic=`: tp_activations, pp_activations, ep_dispatch, ep_combine or "
        "embeddings\n");
  CHECK(read("autoencoder:traffic=tp_activations,overlap=false").errors ==
        "argument 1:1:44 `overlap` is of gradients of data parallelism: activations are waited "
        "for | leave it out\n");
  CHECK(read("autoencoder:traffic=tp_activations,layers=9-3").errors ==
        "argument 1:1:43 `layers` is no range of blocks: `9-3` | write `layers=12-23`, "
        "`layers=12-` or `layers=12`\n");
  CHECK(read("autoencoder:traffic=tp_activations+pp").errors ==
        "argument 1:1:36 `traffic` has the unknown value `pp` | one of: dp_gradients, "
        "dp_weights, tp_activations, pp_activations, ep_dispatch, ep_combine, embeddings\n");
}

TEST_CASE("gradients are compressed between nodes alone where a plan says so") {
  const auto between = read("topk:ratio=0.01,among=nodes");
  CHECK(between.errors.empty());
  REQUIRE(between.plan);
  const Method& method = between.plan->plan.method.value();
  CHECK(method.name == "topk");
  CHECK(method.among_nodes);
  CHECK(method.rounds.front().among == Among::node);
  CHECK(read("topk:among=all").plan->plan.method.value().rounds.front().among == Among::all);
  CHECK(read("topk:among=node").errors ==
        "argument 1:1:12 `among` has the unknown value `node` | did you mean `nodes`? | one of: "
        "all, nodes\n");
  CHECK(read("qgz:among=nodes").errors ==
        "argument 1:1:11 `qgz` says itself which of its rounds are in a node | leave `among` "
        "out\n");
  CHECK_THAT(read("activation_topk:traffic=tp_activations,among=nodes").errors,
             Catch::Matchers::ContainsSubstring("`among` is of gradients of data parallelism"));
}

TEST_CASE("a plan compresses gradients from a size on, and weights with a copy in every node") {
  const auto from = read("topk:smallest=64 KiB,among=nodes");
  CHECK(from.errors.empty());
  REQUIRE(from.plan);
  CHECK(from.plan->plan.method.value().smallest == 64_KiB);
  CHECK(from.plan->plan.method.value().among_nodes);
  CHECK(read("topk:smallest=64").errors ==
        "argument 1:1:15 `smallest` has no unit | a bare number is ambiguous | write "
        "`smallest=64 KiB`\n");
  CHECK_THAT(read("topk:smallest=0 B").errors, Catch::Matchers::Contains("`smallest` "));
  const auto weights = read("qwz:traffic=dp_weights,copy_in_node=true");
  REQUIRE(weights.plan);
  CHECK(weights.plan->plan.weights.value().copy_in_node);
  CHECK_FALSE(read("qwz:traffic=dp_weights").plan->plan.weights.value().copy_in_node);
  CHECK(read("topk:copy_in_node=true").errors ==
        "argument 1:1:19 `copy_in_node` is of weights that are gathered, and none are compressed | "
        "add `traffic=dp_weights`\n");
}
