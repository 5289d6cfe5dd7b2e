// SPDX-License-Identifier: Apache-2.0
#include "study/validation_cases.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "study/row_catalogue.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::filesystem::path root = PAYOFF_SOURCE_DIR;  // NOLINT: tests may allocate

TrainingRow grace_row(const std::string& method) {
  TrainingRow row;
  row.id = "row";
  row.source = "grace";
  row.compression.method = method;
  row.compression.traffic = {"dp"};
  return row;
}

}  // namespace

TEST_CASE("a published compression is a profile with the row's own parameter, or a reason") {
  const MethodCatalogue methods = read_method_catalogue(Library(root / "profiles"));
  TrainingRow row = grace_row("topk");
  CHECK_THAT(row_plan(row, methods).reasons.at(0), ContainsSubstring("ratio not stated"));
  row.compression.keep_ratio = 0.25;
  row.compression.error_feedback = false;
  const RowPlan plan = row_plan(row, methods);
  REQUIRE(plan.plan);
  CHECK(plan.plan->method->parameters.at("ratio") == 0.25);
  CHECK(plan.plan->label == "topk_sort:ratio=0.25,error_feedback=0");
  row.compression.where = "cpu";
  CHECK_THAT(row_plan(row, methods).reasons.at(0), ContainsSubstring("CPU"));
  CHECK_FALSE(row_plan(grace_row("inceptionn"), methods).plan);
  row = grace_row("threshold");  // what passes it depends on the data
  row.compression.threshold = 0.01;
  row.compression.error_feedback = false;
  CHECK_THAT(row_plan(row, methods).reasons.at(0), ContainsSubstring("density not stated"));
}

TEST_CASE(
    "a source that nobody read has the usual profiles of its method, and others in the interval") {
  const MethodCatalogue methods = read_method_catalogue(Library(root / "profiles"));
  TrainingRow row = grace_row("topk");
  row.source = "somebody";
  row.compression.keep_ratio = 0.001;
  const RowPlan open = row_plan(row, methods);
  REQUIRE(open.plan);
  CHECK(open.plan->label == "topk:ratio=0.001");
  REQUIRE(open.others.size() == 1);  // operators of a framework, or kernels
  CHECK(open.others.front().method.value().name == "topk_fused");
  CHECK(open.others.front().method.value().parameters.at("ratio") == 0.001);
  row.compression.implementation = "fused";
  CHECK(row_plan(row, methods).plan.value().method.value().name == "topk_fused");
  CHECK(row_plan(row, methods).others.empty());

  row = grace_row("powersgd");  // its rank is open
  row.source = "somebody";
  const RowPlan ranks = row_plan(row, methods);
  REQUIRE(ranks.plan);
  CHECK(ranks.plan->method->parameters.at("rank") == 4);
  CHECK(ranks.others.size() == 2);
  CHECK_FALSE(ranks.assumptions.empty());
  row.compression.rank = 2;
  CHECK(row_plan(row, methods).plan.value().label == "powersgd:rank=2");
  CHECK(row_plan(row, methods).others.empty());
  row.compression.traffic = {"dp", "tp"};
  CHECK_THAT(row_plan(row, methods).reasons.at(0), ContainsSubstring("compresses tp"));

  row = grace_row("threshold");  // what passes it depends on the data
  row.source = "somebody";
  CHECK_THAT(row_plan(row, methods).reasons.at(0), ContainsSubstring("density not stated"));
  row.compression.keep_ratio = 0.02;
  CHECK(row_plan(row, methods).plan.value().method.value().parameters.at("density") == 0.02);

  row = grace_row("lgreco");  // on top of another compressor
  row.source = "somebody";
  CHECK_FALSE(row_plan(row, methods).plan);
  row.compression.rank = 8;
  CHECK(row_plan(row, methods).plan.value().method.value().name == "powersgd");

  row = grace_row("1-bit Adam");
  row.source = "somebody";
  CHECK(row_plan(row, methods).plan.value().placement == Placement::after_backward);
  row.compression.library = "BytePS";
  CHECK_THAT(row_plan(row, methods).reasons.at(0), ContainsSubstring("BytePS"));
  row = grace_row("homeopathy");
  row.source = "somebody";
  CHECK(row_plan(row, methods).reasons == std::vector<std::string>{"no profile of homeopathy"});
}

// Bian et al. 2024: BERT-Large, micro-batches of 32 sequences of 512; 5 % of an activation are
// 838,861 of 32 x 512 x 1024 values. Sums are compressed forward, sends both ways.
TEST_CASE("activations of a row are compressed where it says, in all blocks or in half of them") {
  const MethodCatalogue methods = read_method_catalogue(Library(root / "profiles"));
  TrainingRow row = grace_row("topk");
  row.source = "somebody";
  row.compression.traffic = {"tp", "pp"};
  row.compression.keep_ratio = 0.05;
  row.layout.micro_batch = 32;
  row.model.seq = 512;
  row.model.hidden = 1024;
  row.model.layers = 24;
  const RowPlan plan = row_plan(row, methods);
  REQUIRE(plan.plan);
  REQUIRE(plan.plan->activations.size() == 2);
  const ActivationCompression& sums = plan.plan->activations[0];
  CHECK(sums.traffic == Traffic::tp_activations);
  CHECK(sums.method.parameters.at("k") == 838861);
  CHECK((sums.forward && !sums.backward));
  CHECK(plan.plan->activations[1].backward);
  CHECK(sums.blocks.holds(0));
  CHECK_FALSE(plan.others.at(0).activations[0].blocks.holds(11));
  CHECK(plan.others.at(0).activations[0].blocks.holds(12));
  row.compression.method = "tahquant";
  CHECK_THAT(row_plan(row, methods).reasons.at(0), ContainsSubstring("tahquant for tp"));
  row.compression.method = "powersgd";
  row.compression.rank = 8;
  CHECK(row_plan(row, methods).plan.value().activations[0].method.parameters.at("rank") == 8);
  row.compression.method = "dgc";
  CHECK_THAT(row_plan(row, methods).reasons.at(0), ContainsSubstring("dgc for activations"));
}

TEST_CASE("ZeRO++ of a row is the parts that it names, in the bits that profiles have") {
  const MethodCatalogue methods = read_method_catalogue(Library(root / "profiles"));
  TrainingRow row;
  row.source = "zeropp";
  row.compression.method = "zeropp";
  row.compression.parts = {"qwz", "hpz", "qgz"};
  row.compression.weight_bits = 8;
  row.compression.grad_bits = 4;
  row.compression.traffic = {"zero-weights", "zero-grads"};
  const RowPlan all = row_plan(row, methods);
  REQUIRE(all.plan);
  CHECK(all.plan->method.value().name == "qgz");
  CHECK(all.plan->method.value().parameters.at("bits") == 4);
  CHECK(all.plan->weights.value().method.name == "qwz");
  CHECK(all.plan->weights.value().copy_in_node);
  row.compression.parts = {"qgz"};
  CHECK_FALSE(row_plan(row, methods).plan.value().weights);
  row.compression.parts = {"qwz"};
  CHECK_FALSE(row_plan(row, methods).plan.value().method);
  CHECK_FALSE(row_plan(row, methods).plan.value().weights.value().copy_in_node);
  row.compression.grad_bits.reset();  // of gradients that travel as they are
  CHECK(row_plan(row, methods).plan.value().label == "qwz");
  row.compression.grad_bits = 4;
  row.compression.parts = {"hpz"};
  CHECK_THAT(row_plan(row, methods).reasons.at(0), ContainsSubstring("inside the node"));
  row.compression.parts = {};
  row.compression.weight_bits = 6;
  CHECK_THAT(row_plan(row, methods).reasons.at(0), ContainsSubstring("weights in 6 bits"));
}

// Jia et al. 2024: 8 bits inside the node and 4 between nodes, in groups of 128; weights of 2,048.
TEST_CASE("SDP4Bit with other bits or groups than its profile has is refused") {
  const MethodCatalogue methods = read_method_catalogue(Library(root / "profiles"));
  TrainingRow row;
  row.source = "sdp4bit";
  row.compression.method = "sdp4bit";
  row.compression.traffic = {"zero-weights", "zero-grads"};
  TrainingCompression& stated = row.compression;
  stated.grad_bits_intra = 8;
  stated.grad_bits_inter = 4;
  stated.grad_group = 128;
  stated.weight_group = 2048;
  stated.weight_bits = 4;
  CHECK(row_plan(row, methods).plan);
  stated.grad_bits_intra = 4;
  stated.grad_bits_inter = 8;
  stated.grad_group = 64;
  stated.weight_group = 512;
  CHECK(row_plan(row, methods).reasons ==
        std::vector<std::string>{"gradients in groups of 64", "gradients in 4 bits inside the node",
                                 "gradients in 8 bits between nodes", "weights in groups of 512"});
  MethodCatalogue without = methods;
  without.erase("sdp4bit_weights");
  CHECK_FALSE(row_plan(row, without).plan);
}

TEST_CASE("every published step is predicted or refused with a reason") {
  const RowCatalogue catalogue = read_row_catalogue(Library(root / "profiles"), true);
  Findings findings;
  const Split split = read_split(root / "tests/validation/split.csv", findings);
  // One source of each half; the whole is `payoff validate`.
  std::vector<TrainingRow> rows;
  for (const char* file : {"dle_cnn.yaml", "megatron_sc21.yaml", "hkbu_ddl.yaml"}) {
    const TrainingImport import = read_training_rows(root / "tests/validation/training" / file);
    rows.insert(rows.end(), import.rows.begin(), import.rows.end());
  }
  const auto cases = step_cases(rows, split, catalogue, {.draws = 8});
  REQUIRE_FALSE(cases.empty());
  std::set<Half> halves;
  int predicted = 0;
  for (const ValidationCase& c : cases) {
    INFO(c.id);
    CHECK(c.predicted.has_value() == c.reasons.empty());
    CHECK((c.measured.has_value() || !c.reasons.empty()));  // or it is counted with its reason
    if (c.predicted) {
      ++predicted;
      CHECK(*c.predicted > 0);
      CHECK(c.low <= c.high);
    }
    halves.insert(c.half);
  }
  CHECK(predicted > 0);
  CHECK(halves.count(Half::fit) + halves.count(Half::judge) == 2);
  // One thread or two: the same cases in the same order.
  const auto again = step_cases(rows, split, catalogue, {.draws = 8, .threads = 1});
  REQUIRE(again.size() == cases.size());
  CHECK(std::equal(cases.begin(), cases.end(), again.begin(), [](const auto& a, const auto& b) {
    return a.id == b.id && a.predicted == b.predicted && a.low == b.low;
  }));
}
