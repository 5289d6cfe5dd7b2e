// SPDX-License-Identifier: Apache-2.0
#include "study/validation_cases.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "study/row_catalogue.hpp"
#include "study/row_method.hpp"
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
  CHECK_THAT(row_plan(row, methods).reasons.at(0), ContainsSubstring("error_feedback not stated"));
  row.compression.keep_ratio = 0.25;
  row.compression.error_feedback = false;
  const RowPlan plan = row_plan(row, methods);
  REQUIRE(plan.plan);
  CHECK(plan.plan->method->parameters.at("ratio") == 0.25);
  CHECK(plan.plan->label == "topk_sort:ratio=0.25,error_feedback=0");
  row.compression.where = "cpu";  // hosts that send to each other
  CHECK_THAT(row_plan(row, methods).reasons.at(0),
             ContainsSubstring("no profile of topk on the CPU"));
  row = grace_row("inceptionn");  // keeps what the data needs: a usual number of bytes
  CHECK(row_plan(row, methods).plan.value().method.value().parameters.at("bytes_kept") == 1);
  CHECK(row_plan(row, methods).others.size() == 2);
}

TEST_CASE("a parameter that a row leaves open has the usual value, others widen the interval") {
  const MethodCatalogue methods = read_method_catalogue(Library(root / "profiles"));
  TrainingRow row = grace_row("threshold");  // what passes it depends on the data
  row.compression.error_feedback = false;
  CHECK_THAT(row_plan(row, methods).reasons.at(0), ContainsSubstring("density not stated"));
  row.compression.threshold = 0.01;
  const RowPlan guessed = row_plan(row, methods);
  REQUIRE(guessed.plan);
  CHECK(guessed.others.size() == 2);
  const auto density = [](const CompressionPlan& plan) {
    return plan.method.value().parameters.at("density");
  };
  const double likely = density(*guessed.plan);
  CHECK(density(guessed.others[0]) < likely);
  CHECK(density(guessed.others[1]) > likely);
  row.compression.threshold = 0.001;  // lets more pass
  CHECK(density(row_plan(row, methods).plan.value()) > likely);
  row.compression.keep_ratio = 0.02;  // a row that knows
  CHECK(density(row_plan(row, methods).plan.value()) == 0.02);
  CHECK(row_plan(row, methods).others.empty());

  row = grace_row("powersgd");  // its code has a rank of its own
  CHECK(row_plan(row, methods).plan.value().method.value().parameters.at("rank") == 1);
  CHECK(row_plan(row, methods).others.empty());
  row.compression.rank = 2;
  CHECK(row_plan(row, methods).plan.value().label == "powersgd_tensorflow:rank=2");
}

TEST_CASE(
    "systems that sum inside the node compress between nodes, by GPUs, hosts or for servers") {
  const MethodCatalogue methods = read_method_catalogue(Library(root / "profiles"));
  TrainingRow row = grace_row("randomk");
  row.source = "espresso_of_somebody";
  row.software = "BytePS 0.2.5 / PyTorch 1.8";
  row.compression.keep_ratio = 0.01;
  row.compression.system = "hitopkcomm";
  row.compression.where = "gpu";
  const RowPlan nodes = row_plan(row, methods);
  REQUIRE(nodes.plan);
  CHECK(nodes.plan->label == "randomk_indexed:ratio=0.01 among nodes");
  CHECK(nodes.plan->method.value().rounds.front().among == Among::node);
  // Against sums on servers: beside the workers, or apart.
  REQUIRE(nodes.baselines.size() == 2);
  CHECK(nodes.baselines[0].method.value().parameters.at("apart") == 0);
  CHECK(nodes.baselines[1].method.value().parameters.at("apart") == 1);

  row.compression.system = "byteps-compress";
  row.compression.where = "cpu";
  const RowPlan servers = row_plan(row, methods);
  REQUIRE(servers.plan);
  CHECK(servers.plan->method.value().name == "randomk_servers");
  CHECK(servers.others.back().method.value().parameters.at("apart") == 1);

  row.compression.system = "espresso";  // whatever of it is fastest
  row.compression.where = "gpu+cpu";
  row.compression.per_tensor_choice = true;
  const RowPlan chosen = row_plan(row, methods);
  REQUIRE(chosen.plan);
  REQUIRE(chosen.choices.size() == 1);
  CHECK(chosen.choices[0].method.value().name == "randomk_host");

  row.software = "Horovod";
  row.compression.per_tensor_choice = false;
  row.compression.system = "own";
  row.compression.where = "cpu";
  CHECK(row_plan(row, methods).plan.value().method.value().name == "randomk_host");
  CHECK(row_plan(row, methods).baselines.empty());

  row.compression = {};  // Bagua's best algorithm, whichever it was
  row.compression.method = "unknown";
  row.compression.library = "Bagua";
  CHECK(row_plan(row, methods).plan.value().method.value().name == "bytegrad among nodes");
  CHECK(row_plan(row, methods).others.at(0).method.value().name == "qadam among nodes");
}

TEST_CASE("names of methods are those of the tables however they are written") {
  const std::vector<std::pair<std::string, std::string>> spellings{
      {"Top-K", "topk"},
      {"PowerSGD rank 4", "powersgd"},
      {"EF-SignSGD", "efsignsgd"},
      {"1-bit LAMB (NCCL backend)", "1bitlamb"},
      {"0/1 Adam", "01adam"},
      {"ZeRO++", "zeropp"},
      {"Global-QSGD", "globalqsgd"},
      {"4-bit bucketed QSGD-like", "qsgd"},
      {"GlobalRandKMaxNormTwoScale", "globalrandkmaxnormtwoscale"},
      {"homeopathy", "homeopathy"}};
  for (const auto& [written, known] : spellings) {
    CHECK(canonical_method(written) == known);
  }
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

  row = grace_row("lgreco");  // on top of another compressor
  row.source = "somebody";
  CHECK_FALSE(row_plan(row, methods).plan);
  row.compression.rank = 8;
  CHECK(row_plan(row, methods).plan.value().method.value().name == "powersgd");

  row = grace_row("1-bit Adam");
  row.source = "somebody";
  CHECK(row_plan(row, methods).plan.value().placement == Placement::after_backward);
  row.compression.library = "BytePS";  // which has no cores for it: as GPUs would
  CHECK(row_plan(row, methods).plan.value().method.value().name == "onebitadam among nodes");
  row.compression.where = "cpu";
  CHECK_THAT(row_plan(row, methods).reasons.at(0), ContainsSubstring("on servers"));
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
