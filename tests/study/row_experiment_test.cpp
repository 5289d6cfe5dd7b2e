// SPDX-License-Identifier: Apache-2.0
#include "study/row_experiment.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "calibrate/compute_priors.hpp"
#include "profiles/import/training_rows.hpp"
#include "study/row_catalogue.hpp"
#include "tests/catch.hpp"
#include "tests/study/rows.hpp"

using namespace payoff;
using test::catalogue;
using test::rows_of;

namespace {

const std::filesystem::path source_folder = PAYOFF_SOURCE_DIR;

}  // namespace

TEST_CASE("every published row becomes an experiment or says why not") {
  const TrainingImport import = read_training_rows(source_folder / "tests/validation/training");
  std::size_t expressed = 0;
  for (const TrainingRow& candidate : import.rows) {
    const RowExperiment mapped = row_experiment(candidate, catalogue());
    INFO(candidate.id);
    CHECK(mapped.experiment.has_value() == mapped.reasons.empty());
    expressed += mapped.experiment ? 1U : 0U;
    if (mapped.experiment) {
      const Experiment& e = *mapped.experiment;
      CHECK(e.layout.ranks() == candidate.cluster.gpus);
      CHECK(e.layout.global_batch() == candidate.layout.global_batch);
    }
  }
  CHECK(expressed > 700);
}

// Korthikanti et al. 2022, table 3 and 5.
TEST_CASE("the 175B run of Korthikanti et al. is read as it is printed") {
  const RowExperiment mapped =
      row_experiment(test::shipped_row("korthikanti_2022", "korth_t5_175B_selective"), catalogue());
  REQUIRE(mapped.experiment);
  const ParallelLayout& layout = mapped.experiment->layout;
  CHECK(layout.tp == 8);
  CHECK(layout.pp == 8);
  CHECK(layout.virtual_stages == 3);
  CHECK(layout.sequence_parallel);
  CHECK(layout.recompute == Recompute::selective);
  CHECK(layout.micro_batches == 64);
  CHECK(mapped.stack == "megatron-2022");
  CHECK(mapped.experiment->cluster.nodes == 8);
  CHECK(mapped.assumptions.size() == 1);  // the feed-forward of 4 hidden
}

TEST_CASE("a row of impossible degrees says so, however many ranks they come to") {
  TrainingRow row = test::shipped_row("korthikanti_2022", "korth_t5_175B_selective");
  for (const int degree : {0, 1 << 16}) {  // 2^32 ranks of a replica: none in 32 bits
    row.layout.tp = row.layout.pp = degree;
    const RowExperiment mapped = row_experiment(row, catalogue());
    CHECK_FALSE(mapped.experiment);
    CHECK(std::find(mapped.reasons.begin(), mapped.reasons.end(), "no such number of ranks") !=
          mapped.reasons.end());
  }
  row.layout.tp = row.layout.pp = 8;
  row.cluster.nodes = 0;
  CHECK_FALSE(row_experiment(row, catalogue()).experiment);
  row.cluster.nodes = 8;
  row.model.kv_heads = 0;
  CHECK_FALSE(row_experiment(row, catalogue()).experiment);
}

TEST_CASE("what a row does not state is listed as an assumption") {
  const RowExperiment mapped =
      row_experiment(test::shipped_row("megatron_h100", "mlm_h100_weak_70B"), catalogue());
  REQUIRE(mapped.experiment);
  const auto assumed = [&](const std::string& text) {
    return std::any_of(mapped.assumptions.begin(), mapped.assumptions.end(),
                       [&](const std::string& a) { return a.find(text) != std::string::npos; });
  };
  CHECK(assumed("micro-batch"));
  CHECK(assumed("recomputation"));
  CHECK(assumed("interleaved"));
}

// 65,536 sequences on 8 GPUs in 64 micro-batches are 128 each; the source prints 126.
TEST_CASE("a micro-batch that the batch and the accumulation contradict by a little is theirs") {
  const TrainingRow printed =
      test::shipped_row("dle_bert", "dle_bert_2022_PyT_A100-80GB_s128_n8_tf32_2");
  REQUIRE(printed.layout.micro_batch == 126);
  const RowExperiment mapped = row_experiment(printed, catalogue());
  REQUIRE(mapped.experiment);
  CHECK(mapped.experiment->layout.micro_batch == 128);
  CHECK(mapped.experiment->layout.micro_batches == 64);
  CHECK(std::ranges::any_of(mapped.assumptions, [](const std::string& text) {
    return text.starts_with("micro-batch of 128");
  }));
  TrainingRow other = printed;
  other.layout.micro_batch = 100;  // no slip of the pen
  CHECK_FALSE(row_experiment(other, catalogue()).experiment);
}

TEST_CASE("all reasons of a row are reported at once") {
  const auto rows = rows_of("zeropp");
  const RowExperiment mapped = row_experiment(rows.front(), catalogue());
  CHECK_FALSE(mapped.experiment);
  CHECK(mapped.reasons.size() >= 4);  // zero 3, layers, sequence, step time, ...
}

// Within rows of equal hidden size, tp, dp and micro-batch and without a pipeline, times of
// vtrain_single are a n L + b n + c L + d, with n micro-batches and L layers, to a few parts in
// 1e5. Five rows determine the four numbers and leave one over; measured steps scatter a hundred
// times more.
TEST_CASE("the single-node times of vTrain are computed, not measured") {
  std::map<std::array<int, 4>, std::vector<std::array<double, 3>>> classes;
  for (const TrainingRow& r : rows_of("vtrain_single")) {
    if (*r.layout.pp == 1 && *r.layout.tp <= 2 && *r.layout.dp == 2 && *r.model.hidden == 1024) {
      const int n = *r.layout.global_batch / *r.layout.dp / *r.layout.micro_batch;
      classes[{*r.model.hidden, *r.layout.tp, *r.layout.dp, *r.layout.micro_batch}].push_back(
          {static_cast<double>(n), static_cast<double>(*r.model.layers), r.measured.step->si});
    }
  }
  // Second differences over n at equal L vanish where three counts of one class are there.
  std::size_t compared = 0;
  for (auto& [key, points] : classes) {
    std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) {
      return std::pair(a[1], a[0]) < std::pair(b[1], b[0]);
    });
    for (std::size_t i = 2; i < points.size(); ++i) {
      const auto& [a, b, c] = std::tie(points[i - 2], points[i - 1], points[i]);
      if (a[1] == c[1]) {
        const double straight = a[2] + (c[2] - a[2]) * (b[0] - a[0]) / (c[0] - a[0]);
        CHECK(std::abs(b[2] / straight - 1) < 1e-4);
        ++compared;
      }
    }
  }
  CHECK(compared >= 5);
  CHECK_FALSE(row_experiment(rows_of("vtrain_single").front(), catalogue()).experiment);
}

TEST_CASE("Horovod without NCCL gathers on the hosts, after backward") {
  const std::string run = "grace-throughput-resnet50-randomk_mem_ratio0.01-";
  for (TrainingRow with : {test::shipped_row("grace", run + "mpi-w8-10g-allreduce"),
                           test::shipped_row("grace", run + "nccl-w8-10g-allreduce")}) {
    with.layout.micro_batch = 64;
    with.layout.global_batch = 512;
    const RowExperiment mapped = row_experiment(with, catalogue());
    REQUIRE(mapped.experiment);
    const bool hosts = with.software == "Horovod MPI";
    CHECK(mapped.experiment->cluster.network.name == (hosts ? "tcp-mpi" : "tcp"));
    CHECK(mapped.experiment->training.overlap != hosts);
  }
}

// MooreThreads/SimuMax, configs/models/deepseekv2.json at a613115: 160 experts of 1,536, 6 a token,
// shared ones of 3,072, the first block dense with 12,288; low ranks 1,536 and 512.
TEST_CASE("a cut mixture has the published widths and its own depth") {
  const TrainingRow printed =
      test::shipped_row("simumax_b200", "simumax-deepseekv2_tp1_ep4_pp2_dp4_l4_mbc8_cef");
  const RowExperiment mapped = row_experiment(printed, catalogue());
  REQUIRE(mapped.experiment);
  const auto& shape = std::get<TransformerShape>(mapped.experiment->model);
  CHECK(shape.layers == 4);
  CHECK(shape.sequence == 4096);
  CHECK(shape.experts.count == 160);
  CHECK(shape.experts.per_token == 6);
  CHECK(shape.experts.width == 1536);
  CHECK(shape.experts.shared_width == 3072);
  CHECK(shape.experts.dense_blocks == 1);
  CHECK(shape.feed_forward == 12288);
  CHECK(shape.latent.query_rank == 1536);
  CHECK(shape.latent.key_rank == 512);
  CHECK(mapped.experiment->layout.ep == 4);
  CHECK(mapped.experiment->layout.micro_batches == 8);
  CHECK(std::ranges::any_of(mapped.assumptions, [](const std::string& text) {
    return text == "all experts get as many tokens";
  }));
}

TEST_CASE("a mixture of other widths than the published ones is not taken for it") {
  TrainingRow other =
      test::shipped_row("simumax_b200", "simumax-deepseekv2_tp1_ep8_pp1_dp8_l4_mbc4_cef");
  other.model.expert_ffn = 2048;
  CHECK(row_experiment(other, catalogue()).reasons ==
        std::vector<std::string>{"other widths than those of DeepSeek-V2"});
  other.model.name = "DeepSeek-V9";
  CHECK(row_experiment(other, catalogue()).reasons ==
        std::vector<std::string>{"no profile of the mixture DeepSeek-V9"});
}

TEST_CASE("pre-training of BERT in 2022 ran on a stack of its own, its fine-tuning did not") {
  CHECK(row_experiment(test::shipped_row("dle_bert", "dle_bert_2022_PyT_V100-32GB_s128_n1_amp"),
                       catalogue())
            .stack == "ngc-pytorch-2022");
  CHECK(row_experiment(test::shipped_row("dle_bert", "dle_bert_2022_PyT_A100-80GB_s384_n1_amp_ft"),
                       catalogue())
            .stack == "ngc-pytorch-2020");
}

TEST_CASE("software that no rule knows is that of its generation, with a wide spread") {
  TrainingRow other = test::shipped_row("nanotron", "nanotron-80p0B-4n");
  other.source = "someone_else";
  const auto stack_of = [&](const char* words, const char* precision, const char* gpu) {
    other.software = words;
    other.precision = precision;
    other.cluster.gpu = gpu;
    return row_experiment(other, catalogue()).stack;
  };
  CHECK(stack_of("LitGPT 0.5", "bf16", "h100-sxm") == "pytorch-2");
  CHECK(stack_of("PyTorch 2.3 FSDP", "bf16", "a100-sxm-80") == "pytorch-2");
  CHECK(stack_of("PyTorch", "fp32", "v100-sxm2-16") == "pytorch-ddp-2021");
  CHECK(stack_of("Megatron-Core 0.11", "fp8", "h100-sxm") == "nemo-2024");
  CHECK(stack_of("Megatron-LM", "fp16", "a100-sxm-80") == "megatron-2022");
  CHECK(stack_of("Megatron-LM", "fp16", "v100-sxm2-32") == "megatron-2020");
  CHECK(stack_of("LiBai", "fp16", "a100-sxm-40") == "framework-2020");
  CHECK(stack_of("megatron-core", "bf16", "gb200") == "nemo-2024");
  CHECK(stack_of("DeepSpeed", "fp16", "v100-sxm2-32") == "deepspeed-2020");
  CHECK(stack_of("DeepSpeed", "bf16", "h100-sxm") == "pytorch-2");
  CHECK(stack_of("JAX (MaxText)", "fp8", "h100-sxm") == "pytorch-2");
  CHECK(stack_of("torchtitan", "bf16", "h200-sxm") == "torchtitan-2025");
  CHECK(stack_of("LitGPT 0.5", "bf16", "h100-sxm") == "pytorch-2");
  const RowExperiment mapped = row_experiment(other, catalogue());
  REQUIRE(mapped.experiment);
  CHECK(mapped.experiment->software.relative_sd >= 0.15);
  CHECK(std::ranges::count(mapped.assumptions, "software as pytorch-2") == 1);
}

// What vTrain's runs fused, and in which version, nobody wrote down; the other papers are
// Megatron's authors' own.
TEST_CASE("a stack whose version its source does not state is a guess, and as wide as one") {
  for (const TrainingRow& row : rows_of("vtrain_multi")) {
    const RowExperiment mapped = row_experiment(row, catalogue());
    INFO(row.id);
    REQUIRE(mapped.experiment);
    CHECK(std::ranges::count(mapped.assumptions, "software as megatron-2022") == 1);
    CHECK(mapped.experiment->software.relative_sd >= unknown_stack_sd);
  }
  for (const TrainingRow& row : rows_of("megatron_sc21")) {
    CHECK(std::ranges::count(row_experiment(row, catalogue()).assumptions,
                             "software as megatron-2022") == 0);
  }
}

// 26 tables of 128 columns; MLPs of 2,368,897 weights and biases (facebookresearch/dlrm,
// bench/run_and_time.sh), which alone are replicated.
TEST_CASE("a row of DLRM is a recommender whose tables are divided over its ranks") {
  const TrainingRow row = test::shipped_row("dle_other", "dle_dlrm_V100-32GB_n8_fp32_large");
  const RowExperiment mapped = row_experiment(row, catalogue());
  REQUIRE(mapped.experiment);
  CHECK(mapped.stack == "ngc-dlrm-2021");
  const Workload* table = table_of(mapped.experiment->model);
  REQUIRE(table != nullptr);
  REQUIRE(table->recommender);
  CHECK(table->recommender->tables.rows.size() == 26);
  CHECK(mapped.experiment->layout.dp == 8);
  CHECK(mapped.experiment->layout.micro_batch == 8192);
  // Plain SGD keeps nothing beside a weight.
  CHECK(mapped.experiment->training.optimizer_bytes_per_parameter == 0_B);

  const TrainingRow submitted =
      test::shipped_row("mlperf_nvidia", "mlperf_v2.1_dlrm_dgxh100_preview");
  CHECK(std::ranges::count(row_experiment(submitted, catalogue()).reasons,
                           "no software profile of HugeCTR") == 1);
  TrainingRow crossed = row;
  crossed.model.name = "DLRM-DCNv2 (Criteo multi-hot)";
  CHECK_FALSE(row_experiment(crossed, catalogue()).experiment);
}

TEST_CASE("a vision transformer has as many tokens as its images have patches, and one more") {
  TrainingRow image = test::shipped_row("nanotron", "nanotron-80p0B-4n");
  image.model = TrainingModel{};
  image.model.family = "vit";
  image.model.name = "ViT-L/16";
  image.model.layers = 24;
  image.model.hidden = 1024;
  image.model.heads = 16;
  image.layout = TrainingLayout{};
  image.layout.dp = image.cluster.gpus;
  image.layout.micro_batch = 64;
  image.layout.global_batch = 64 * *image.cluster.gpus;
  const auto shape_of = [&] {
    const RowExperiment mapped = row_experiment(image, catalogue(), PeakCheck::none);
    REQUIRE(mapped.experiment);
    return std::get<TransformerShape>(mapped.experiment->model);
  };
  CHECK(shape_of().sequence == 14 * 14 + 1);
  // 303.3 M parameters without the classifier (Dosovitskiy et al. 2021, table 1: 307 M).
  CHECK(std::abs(static_cast<double>(parameter_count(shape_of())) / 307e6 - 1) < 0.02);
  image.model.name = "ViT-L/14";
  CHECK(shape_of().sequence == 16 * 16 + 1);
}

// Mixtral-8x22B (Mistral AI 2024): 56 blocks of 6144, 48 heads and 8 of keys, 2 of 8 experts of
// 16384 columns; 141 G parameters, 39 G of them active.
TEST_CASE("a mixture without a profile is built from what the row states") {
  TrainingRow mixture = test::shipped_row("nanotron", "nanotron-80p0B-4n");
  mixture.model = TrainingModel{};
  mixture.model.family = "moe";
  mixture.model.name = "Mixtral-8x22B";
  mixture.layout = TrainingLayout{};
  mixture.layout.dp = mixture.cluster.gpus;
  mixture.layout.micro_batch = 1;
  mixture.layout.global_batch = mixture.cluster.gpus;
  mixture.model.layers = 56;
  mixture.model.hidden = 6144;
  mixture.model.heads = 48;
  mixture.model.kv_heads = 8;
  mixture.model.seq = 4096;
  mixture.model.vocab = 32768;
  mixture.model.experts = 8;
  mixture.model.top_k = 2;
  mixture.model.ffn = 16384;
  const RowExperiment mapped = row_experiment(mixture, catalogue(), PeakCheck::none);
  INFO((mapped.reasons.empty() ? std::string() : mapped.reasons.front()));
  REQUIRE(mapped.experiment);
  const auto& shape = std::get<TransformerShape>(mapped.experiment->model);
  CHECK(std::abs(static_cast<double>(parameter_count(shape)) / 141e9 - 1) < 0.01);
  CHECK(std::abs(static_cast<double>(active_parameter_count(shape)) / 39e9 - 1) < 0.01);
}

// Merging is what the paper adds to layer by layer: its step is no longer than with the usual
// buckets, nor than with all gradients in one message.
TEST_CASE("MG-WFBP's merged gradients are no slower than any bucket that a user would try") {
  for (const char* network : {"10gbe", "100gbib", "100gtcp"}) {
    TrainingRow merged =
        test::shipped_row("hkbu_ddl", std::string("hkbu-bert-large-") + network + "-mg-wfbp-16");
    merged.cluster.gpu = "v100-pcie";
    const RowExperiment mapped = row_experiment(merged, catalogue());
    REQUIRE(mapped.experiment);
    const auto step = [&](Bytes bucket) {
      Experiment experiment = *mapped.experiment;
      if (bucket > Bytes{}) {
        experiment.training.bucket = bucket;
        experiment.training.first_bucket = bucket;
      }
      return PreparedExperiment(experiment).predict(experiment.plans.front()).step;
    };
    CHECK(step(Bytes{}) < step(Bytes{1e3}));  // layer by layer
    CHECK(step(Bytes{}) <= step(Bytes{4e9}));
    // Between two powers of two it may be a little better.
    CHECK(step(Bytes{}) < 1.01 * step(Bytes{25.0 * 1048576}));
  }
}

TEST_CASE("words that a field may not have refuse the row, they do not stand for nothing") {
  TrainingRow other = test::shipped_row("korthikanti_2022", "korth_t5_175B_selective");
  const auto reason = [&] { return row_experiment(other, catalogue()).reasons; };
  REQUIRE(reason().empty());
  other.layout.recompute = "sometimes";
  CHECK(reason() == std::vector<std::string>{"recomputation sometimes"});
  other.layout.recompute = "full";
  other.layout.zero = "stage 3";
  CHECK(reason() == std::vector<std::string>{"sharding stage 3"});
  other.layout.zero.reset();
  other.layout.schedule = "breadth-first";
  CHECK(reason() == std::vector<std::string>{"schedule breadth-first"});
}

TEST_CASE("schedules of pipelines that rows name are those of layouts") {
  TrainingRow other = test::shipped_row("korthikanti_2022", "korth_t5_175B_selective");
  other.layout.vp.reset();
  const auto layout = [&](const char* schedule) {
    other.layout.schedule = schedule;
    const RowExperiment mapped = row_experiment(other, catalogue());
    REQUIRE(mapped.experiment);
    return mapped.experiment->layout;
  };
  CHECK(layout("gpipe").schedule == PipelineSchedule::gpipe);
  CHECK(layout("zb-h1").schedule == PipelineSchedule::zb_h1);
  CHECK(layout("zb-v").virtual_stages == 2);
  CHECK(layout("1f1b").virtual_stages == 1);
  CHECK(layout("1f1b-interleaved").virtual_stages == 6);  // twelve layers a stage, two a chunk
}
