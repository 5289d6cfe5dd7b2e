// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/units.hpp"
#include "profiles/import/finding.hpp"

// Measured training runs in the published schema (a YAML file with `meta:` and `rows:`; see
// tests/validation/README.md). A field that the source does not state has no value. Rows that
// contradict themselves (GPUs against layout, step against throughput) or name no source are left
// out with a finding; a row without a measured step is kept, because ratios may still be known.

namespace payoff {

using Rate = Quantity<-1, 0, 0>;  // samples or tokens a second

struct TrainingCluster {
  std::optional<std::string> gpu, gpu_variant, intra, transport;
  std::optional<std::string> intra_path;  // p2p, host-memory
  std::optional<int> gpus_per_node;       // installed
  std::optional<int> nodes;
  std::optional<int> gpus;  // used by the run
  std::optional<int> nics_per_node;
  std::optional<Bandwidth> nic_bandwidth;  // of one NIC, one direction
};

struct TrainingModel {
  std::optional<std::string> family, name, variant, dataset;
  std::optional<std::string> input;  // "224x224"
  std::optional<int> layers, hidden, heads, kv_heads, ffn, seq, vocab;
  std::optional<int> experts, top_k, expert_ffn, shared_ffn;
  std::optional<int> memory;         // mem_len: tokens of past segments that attention reads
  std::optional<double> parameters;  // count
  std::optional<bool> tied;
  std::optional<int> tensors;
  std::optional<Bytes> gradient;  // uncompressed, per step, as reported
};

struct TrainingLayout {
  std::optional<int> tp, pp, dp, cp, ep, vp;
  std::optional<bool> sequence_parallel;
  std::optional<std::string> zero;  // "0" to "3", "hybrid"
  std::optional<int> zero_group;
  std::optional<std::string> recompute, recompute_detail, schedule, dp_collective, grad_reduce;
  std::optional<std::string> mp_mode;
  std::optional<std::string> mode;  // how a large classifier is spread over ranks, in words
  std::optional<int> micro_batch, grad_accum, num_micro_batches, global_batch;
  std::optional<std::string> batch_unit;  // absent: sequences, images or samples
  std::optional<bool> overlap_dp, overlap_tp, overlap_pp, async_tp, embedding_model_parallel;
  std::optional<Bytes> bucket;  // bucket_mb, read as MiB
};

struct TrainingCompression {
  std::string method = "none";
  std::optional<double> keep_ratio, threshold;
  std::optional<int> rank, levels, quantiles, bits;
  std::optional<int> weight_bits, weight_group, grad_bits, grad_bits_inter, grad_bits_intra,
      grad_group;
  std::optional<std::string> variant, collective, where, system, library, implementation, stage;
  std::optional<bool> error_feedback, per_tensor_choice;
  std::vector<std::string> parts, traffic;
};

// How the step time of a row was obtained: printed, computed by the collection from printed
// figures, or computed here as global batch / throughput.
enum class StepOrigin { none, measured, derived, from_throughput };

struct TrainingMeasurement {
  std::optional<Seconds> step;
  StepOrigin step_origin{StepOrigin::none};
  std::optional<Rate> samples, tokens;  // totals over the GPUs of the run
  std::optional<FlopRate> flops_per_gpu;
  std::optional<Seconds> total;               // epoch or run: epoch_s, time_s, time_to_train_s
  std::optional<double> speedup_vs_baseline;  // above 1: compression pays
};

struct TrainingRow {
  std::string id;
  std::string source;  // stem of the file: the unit of the split and of summaries
  std::string file;
  int line{};
  int column{};
  std::string citation;
  std::string trust;  // high, medium, low
  TrainingCluster cluster;
  TrainingModel model;
  TrainingLayout layout;
  TrainingCompression compression;
  TrainingMeasurement measured;
  std::optional<std::string> precision, software, task, release;
  std::optional<std::string> baseline_id;
  std::vector<std::string> conditions;  // "packed-input", "one-layer", "date=2022-02-25", ...
  std::vector<std::string> missing;     // needed and not stated

  [[nodiscard]] bool compressed() const { return compression.method != "none"; }
  [[nodiscard]] bool misses(const std::string& field) const;
};

struct TrainingImport {
  std::vector<TrainingRow> rows;
  std::vector<std::string> skipped;  // files of a folder without `rows:`
  Findings findings;
};

// A file, or every .yaml and .yml of a folder. A baseline is looked for in everything that was
// read.
[[nodiscard]] TrainingImport read_training_rows(const std::filesystem::path& path);
[[nodiscard]] TrainingImport parse_training_rows(const std::string& yaml, const std::string& file);

}  // namespace payoff
