// SPDX-License-Identifier: Apache-2.0
#include "study/row_prior.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#include "study/row_catalogue.hpp"
#include "study/row_experiment.hpp"
#include "study/shape_law.hpp"
#include "study/validation_cases.hpp"
#include "tests/catch.hpp"
#include "tests/study/rows.hpp"

using namespace payoff;
using Catch::Matchers::StartsWith;
using test::catalogue;
using test::shipped_row;
using test::varies;

namespace {

const std::filesystem::path root = PAYOFF_SOURCE_DIR;  // NOLINT: tests may allocate

}  // namespace

// Brown et al. 2020, table 2.1: layers and d_model of the eight sizes.
TEST_CASE("the usual shape of a count of parameters is that of GPT-3's models") {
  struct Size {
    double parameters{};
    int layers{};
    int hidden{};
  };
  for (const Size& size : {Size{125e6, 12, 768}, Size{350e6, 24, 1024}, Size{760e6, 24, 1536},
                           Size{1.3e9, 24, 2048}, Size{2.7e9, 32, 2560}, Size{6.7e9, 32, 4096},
                           Size{13e9, 40, 5120}, Size{175e9, 96, 12288}}) {
    INFO(size.parameters);
    const UsualShape shape = usual_shape(size.parameters, 1.0);
    CHECK(shape.layers == size.layers);
    CHECK(shape.hidden == size.hidden);
    CHECK(shape.hidden % shape.heads == 0);
  }
}

TEST_CASE("a shape of another depth has as many parameters") {
  for (const double depth : {0.67, 1.0, 1.5}) {
    const UsualShape shape = usual_shape(49e9, depth);
    const double hidden = shape.hidden;
    const double count = 12.0 * shape.layers * hidden * hidden + 50257 * hidden;
    CHECK(std::abs(count / 49e9 - 1) < 0.02);  // whole heads
  }
}

// 1,024 tokens a GPU on 384 of them, of a model that is known by its size.
TEST_CASE("a row that counts tokens and names a size becomes a job of sequences") {
  const TrainingRow row = shipped_row("zeropp", "zeropp-18B-400g-1024tok-zpp");
  CHECK_FALSE(row_experiment(row, catalogue()).experiment);
  const RowPrior prior = row_prior(row, catalogue());
  REQUIRE(prior.supported());
  CHECK(prior.assumptions.size() == 2);  // its shape and the length of its sequences
  CHECK(prior.likely.model.seq == 1024);
  CHECK(prior.likely.layout.micro_batch == 1);
  CHECK(prior.likely.layout.global_batch == 384);
  CHECK_FALSE(prior.likely.layout.batch_unit);
  CHECK(varies(prior, [](const TrainingRow& r) { return r.model.layers; }));
  CHECK(varies(prior, [](const TrainingRow& r) { return r.model.seq; }));
  CHECK(row_experiment(prior.likely, catalogue()).experiment);
}

TEST_CASE("a row that states what matters is left as it is") {
  const RowPrior prior =
      row_prior(shipped_row("korthikanti_2022", "korth_t5_175B_selective"), catalogue());
  CHECK(prior.assumptions.empty());
  CHECK(prior.others.empty());
}

TEST_CASE("a row with more than two major fields open is refused with all its reasons") {
  TrainingRow row = shipped_row("zeropp", "zeropp-18B-400g-1024tok-zpp");
  row.cluster.transport.reset();
  row.cluster.nics_per_node.reset();
  row.cluster.nic_bandwidth.reset();
  CHECK_FALSE(row_prior(row, catalogue()).supported());
  const auto cases = compression_cases(
      {row}, {}, catalogue(), read_method_catalogue(Library(root / "profiles")), {.draws = 8});
  REQUIRE(cases.size() == 1);
  CHECK_FALSE(cases[0].predicted);
  for (const char* reason : {"layers not stated", "sequence length not stated",
                             "network between nodes not stated", "batch counted in tokens"}) {
    CHECK(std::count(cases[0].reasons.begin(), cases[0].reasons.end(), reason) == 1);
  }
}

TEST_CASE("what was filled in is an assumption of the case and widens its interval") {
  const TrainingRow open = shipped_row("fms_fsdp", "fms_70b_h100");  // does not say which network
  TrainingRow stated = open;
  stated.cluster.transport = row_prior(open, catalogue()).likely.cluster.transport;
  const auto cases = step_cases({open, stated}, {}, catalogue(), {.draws = 64});
  REQUIRE(cases.size() == 2);
  CHECK(cases[0].predicted.value() == cases[1].predicted.value());
  CHECK(cases[0].high / cases[0].low > 1.05 * cases[1].high / cases[1].low);
  CHECK(cases[0].assumptions.size() == cases[1].assumptions.size() + 1);
  CHECK_THAT(cases[0].assumptions.back(), StartsWith("InfiniBand between nodes"));
}

// torchtitan and Megatron-LM overlap the messages of sharded sequences, one piece a rank.
TEST_CASE("overlapped tensor parallelism of a row is that of its layout") {
  const RowExperiment async = row_experiment(
      row_prior(shipped_row("llama3_torchtitan", "tt_70b_n256_asyncTP_bf16"), catalogue()).likely,
      catalogue());
  REQUIRE(async.experiment);
  CHECK(async.experiment->layout.tp_overlap == 8);
  CHECK(async.experiment->layout.sequence_parallel);
  const RowExperiment vanilla = row_experiment(
      row_prior(shipped_row("llama3_torchtitan", "tt_70b_n256_vanillaTP_bf16"), catalogue()).likely,
      catalogue());
  REQUIRE(vanilla.experiment);
  CHECK(vanilla.experiment->layout.tp_overlap == 1);
  CHECK(vanilla.experiment->layout.sequence_parallel);
}

// Touvron et al. 2023 and Grattafiori et al. 2024: contexts of 4,096 and 8,192 tokens.
TEST_CASE("sequences of a Llama may be as long as those of its later models") {
  TrainingRow row;
  row.model.family = "llama";
  row.model.layers = 32;
  row.model.hidden = 4096;
  row.model.heads = 32;
  const RowPrior prior = row_prior(row, catalogue());
  CHECK(prior.likely.model.seq == 2048);
  for (const int tokens : {4096, 8192}) {
    CHECK(std::any_of(prior.others.begin(), prior.others.end(),
                      [&](const RowAlternative& other) { return other.row.model.seq == tokens; }));
  }
}

TEST_CASE("the number of micro-batches is a major field unless compressed weights are sharded") {
  TrainingRow row = shipped_row("korthikanti_2022", "korth_t5_175B_selective");
  row.layout.pp = 1;
  row.layout.dp = 8;
  row.layout.micro_batch = 2;
  row.layout.global_batch.reset();
  row.layout.grad_accum.reset();
  row.layout.num_micro_batches.reset();
  const RowPrior major = row_prior(row, catalogue());
  CHECK(major.assumptions.size() == 1);
  CHECK(major.likely.layout.global_batch == 16);
  CHECK(major.others.size() == 2);
  row.layout.zero = "3";
  row.compression.method = "zeropp";
  const RowPrior minor = row_prior(row, catalogue());
  CHECK(minor.assumptions.empty());
  CHECK(minor.minor.size() == 1);
  CHECK(minor.filled_in());
}

TEST_CASE("counts that no machine has are left open") {
  TrainingRow row = shipped_row("korthikanti_2022", "korth_t5_175B_selective");
  row.layout.pp = 1;
  row.layout.dp = 1 << 20;
  row.layout.micro_batch = 1 << 20;
  row.layout.global_batch.reset();
  row.layout.grad_accum.reset();
  row.layout.num_micro_batches.reset();
  CHECK_FALSE(row_prior(row, catalogue()).likely.layout.global_batch);
  CHECK(usual_shape(1e300, 1.0).hidden > 0);
  CHECK(usual_shape(std::nan(""), std::nan("")).hidden > 0);
  row.cluster.gpu_variant = " TB/s";
  CHECK_FALSE(row_experiment(row, catalogue()).experiment);
  row.cluster.gpu_variant = "0 TB/s";
  for (const std::string& assumption : row_experiment(row, catalogue()).assumptions) {
    CHECK_FALSE(assumption.starts_with("memory of"));
  }
}

// No system profile says how many cards an EFA host of eight A100 has.
TEST_CASE("an alternative that cannot be expressed is named where it is assumed") {
  TrainingRow row = shipped_row("korthikanti_2022", "korth_t5_175B_selective");
  row.cluster.transport.reset();
  row.cluster.nics_per_node.reset();
  row.cluster.nic_bandwidth.reset();
  const auto cases = step_cases({row}, {}, catalogue(), {.draws = 8});
  REQUIRE(cases.size() == 1);
  REQUIRE(cases[0].predicted);
  CHECK(cases[0].assumptions.back() ==
        "InfiniBand between nodes, or EFA (without EFA: NICs not stated)");
}

// Nothing trains in a thousandth of the printed step.
TEST_CASE("what was measured refuses a row as it is published, and no row that was filled in") {
  TrainingRow row = shipped_row("korthikanti_2022", "korth_t5_175B_selective");
  row.measured.step = 1e-3 * *row.measured.step;
  CHECK_FALSE(row_experiment(row, catalogue()).experiment);
  TrainingRow open = row;
  open.cluster.transport.reset();
  const auto cases = step_cases({row, open}, {}, catalogue(), {.draws = 8});
  REQUIRE(cases.size() == 2);
  CHECK_FALSE(cases[0].predicted);
  CHECK(cases[1].predicted);
}

TEST_CASE("transformers without a stated precision train in 16 bits") {
  TrainingRow row = shipped_row("korthikanti_2022", "korth_t5_175B_selective");
  row.precision.reset();
  CHECK(row_prior(row, catalogue()).likely.precision == "bf16");
  row.cluster.gpu = "v100-sxm2-32";
  const RowPrior older = row_prior(row, catalogue());
  CHECK(older.likely.precision == "fp16");
  CHECK(varies(older, [](const TrainingRow& each) { return each.precision; }));
}

TEST_CASE("where neither a shape nor a profile says more, a name's count of parameters counts") {
  TrainingRow row = shipped_row("korthikanti_2022", "korth_t5_175B_selective");
  row.model = {};
  row.model.family = "gpt";
  row.model.name = "somebody's 7B";
  row.model.seq = 2048;
  const RowPrior prior = row_prior(row, catalogue());
  CHECK(prior.likely.model.parameters == 7e9);
  CHECK(prior.likely.model.layers == 32);
}
