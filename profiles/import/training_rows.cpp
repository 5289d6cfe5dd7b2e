// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/training_rows.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "profiles/import/training_checks.hpp"
#include "profiles/import/training_completion.hpp"
#include "profiles/import/yaml_fields.hpp"

namespace payoff {

namespace {

using import_detail::Fields;
using import_detail::YamlSource;

template <typename Q>
std::optional<Q> quantity(const Fields& fields, const char* key, Q unit) {
  const std::optional<double> value = fields.number(key);
  return value ? std::optional<Q>(*value * unit) : std::nullopt;
}

TrainingCluster read_cluster(const Fields& fields) {
  TrainingCluster cluster;
  cluster.gpu = fields.text("gpu");
  cluster.gpu_variant = fields.text("gpu_variant");
  cluster.intra = fields.text("intra");
  cluster.transport = fields.text("transport");
  cluster.intra_path = fields.text("intra_path");
  cluster.gpus_per_node = fields.integer("gpus_per_node");
  cluster.nodes = fields.integer("nodes");
  cluster.gpus = fields.integer("gpus");
  cluster.nics_per_node = fields.integer("nics_per_node");
  cluster.nic_bandwidth = quantity(fields, "nic_gbps", 1_Gbps);
  return cluster;
}

TrainingModel read_model(const Fields& fields) {
  TrainingModel model;
  model.family = fields.text("family");
  model.name = fields.text("name");
  model.variant = fields.text("variant");
  model.dataset = fields.text("dataset");
  model.input = fields.text("input");
  model.layers = fields.integer("layers");
  model.hidden = fields.integer("hidden");
  model.heads = fields.integer("heads");
  model.kv_heads = fields.integer("kv_heads");
  model.ffn = fields.integer("ffn");
  model.seq = fields.integer("seq");
  model.vocab = fields.integer("vocab");
  model.experts = fields.integer("experts");
  model.top_k = fields.integer("topk");
  model.expert_ffn = fields.integer("moe_ffn");
  model.shared_ffn = fields.integer("shared_ffn");
  model.memory = fields.integer("mem_len");
  model.parameters = fields.number("params");
  model.tied = fields.flag("tied");
  model.tensors = fields.integer("tensors");
  model.gradient = quantity(fields, "grad_bytes", 1_B);
  return model;
}

TrainingLayout read_layout(const Fields& fields) {
  TrainingLayout layout;
  layout.tp = fields.integer("tp");
  layout.pp = fields.integer("pp");
  layout.dp = fields.integer("dp");
  layout.cp = fields.integer("cp");
  layout.ep = fields.integer("ep");
  layout.vp = fields.integer("vp");
  layout.sequence_parallel = fields.flag("sp");
  layout.zero = fields.text("zero");
  layout.zero_group = fields.integer("zero_group");
  layout.recompute = fields.text("recompute");
  layout.recompute_detail = fields.text("recompute_detail");
  layout.mode = fields.text("mode");
  layout.schedule = fields.text("schedule");
  layout.dp_collective = fields.text("dp_collective");
  layout.grad_reduce = fields.text("grad_reduce");
  layout.mp_mode = fields.text("mp_mode");
  layout.micro_batch = fields.integer("micro_batch");
  layout.grad_accum = fields.integer("grad_accum");
  layout.num_micro_batches = fields.integer("num_micro_batches");
  layout.global_batch = fields.integer("global_batch");
  layout.batch_unit = fields.text("batch_unit");
  layout.overlap_dp = fields.flag("overlap_dp");
  layout.overlap_tp = fields.flag("overlap_tp");
  layout.overlap_pp = fields.flag("overlap_pp");
  layout.async_tp = fields.flag("async_tp");
  layout.embedding_model_parallel = fields.flag("embedding_model_parallel");
  layout.bucket = quantity(fields, "bucket_mb", 1_MiB);
  return layout;
}

TrainingCompression read_compression(const Fields& fields) {
  TrainingCompression compression;
  compression.method = fields.text("method").value_or("none");
  compression.keep_ratio = fields.number("ratio");
  compression.threshold = fields.number("threshold");
  compression.rank = fields.integer("rank");
  compression.levels = fields.integer("levels");
  compression.quantiles = fields.integer("quantiles");
  compression.bits = fields.integer("bits");
  compression.weight_bits = fields.integer("weight_bits");
  compression.weight_group = fields.integer("weight_group");
  compression.grad_bits = fields.integer("grad_bits");
  compression.grad_bits_inter = fields.integer("grad_bits_inter");
  compression.grad_bits_intra = fields.integer("grad_bits_intra");
  compression.grad_group = fields.integer("grad_group");
  compression.variant = fields.text("variant");
  compression.collective = fields.text("collective");
  compression.where = fields.text("where");
  compression.system = fields.text("system");
  compression.library = fields.text("library");
  compression.implementation = fields.text("implementation");
  compression.stage = fields.text("stage");
  compression.error_feedback = fields.flag("error_feedback");
  compression.per_tensor_choice = fields.flag("per_tensor_choice");
  compression.parts = fields.texts("parts");
  compression.traffic = fields.texts("traffic");
  return compression;
}

// A total over the GPUs of the run from whichever of two names is present.
std::optional<Rate> total_rate(const Fields& fields, const char* total, const char* per_gpu,
                               std::optional<int> gpus) {
  if (const std::optional<double> value = fields.number(total)) {
    return *value / 1_s;
  }
  const std::optional<double> value = fields.number(per_gpu);
  return value && gpus ? std::optional<Rate>(*value * *gpus / 1_s) : std::nullopt;
}

TrainingMeasurement read_measurement(const Fields& fields, const TrainingRow& row,
                                     bool step_is_derived) {
  TrainingMeasurement measured;
  measured.step = quantity(fields, "step_s", 1_s);
  measured.samples = total_rate(fields, "samples_per_s", "samples_per_s_per_gpu", row.cluster.gpus);
  if (!measured.samples) {
    measured.samples = quantity(fields, "images_per_s", 1.0 / 1_s);
  }
  measured.tokens = total_rate(fields, "tokens_per_s", "tokens_per_s_per_gpu", row.cluster.gpus);
  measured.flops_per_gpu = quantity(fields, "tflops_per_gpu", 1_TFLOPps);
  for (const char* name : {"epoch_s", "time_s", "time_to_train_s"}) {
    if (!measured.total) {
      measured.total = quantity(fields, name, 1_s);
    }
  }
  measured.speedup_vs_baseline = fields.number("speedup_vs_baseline");
  if (measured.step) {
    measured.step_origin = step_is_derived ? StepOrigin::derived : StepOrigin::measured;
  }
  return measured;
}

// `citation` is what the file says of all its rows.
TrainingRow read_row(Fields& fields, const YamlSource& source, const std::string& citation) {
  TrainingRow row;
  row.id = fields.required_text("id");
  fields.set_entry(row.id);
  row.source = std::filesystem::path(source.file).stem().string();
  row.file = source.file;
  row.line = fields.line();
  row.column = fields.column();
  row.citation = fields.text("source_ref").value_or(citation);
  row.trust = fields.text("trust").value_or("");
  row.cluster = read_cluster(fields.child("cluster"));
  row.model = read_model(fields.child("model"));
  row.layout = read_layout(fields.child("layout"));
  row.compression = read_compression(fields.child("compression"));
  row.precision = fields.text("precision");
  row.software = fields.text("software");
  row.task = fields.text("task");
  row.release = fields.text("release");
  row.baseline_id = fields.text("baseline_id");
  row.conditions = fields.texts("conditions");
  row.missing = fields.texts("missing");
  const std::vector<std::string> derived = fields.texts("derived");
  const bool step_is_derived = std::ranges::find(derived, "step_s") != derived.end();
  row.measured = read_measurement(fields.child("measured"), row, step_is_derived);
  return row;
}

struct RowsRead {
  TrainingImport result;
  std::set<std::string> ids;
};

void read_entry(const YAML::Node& node, const YamlSource& source, const std::string& citation,
                RowsRead& reading) {
  Findings& findings = reading.result.findings;
  const std::size_t before = findings.size();
  Fields fields(node, source, "");
  TrainingRow row = read_row(fields, source, citation);
  if (row.citation.find_first_not_of(" \t\r\n") == std::string::npos) {
    fields.report("source_ref is missing, and meta names no source");
  }
  if (!row.id.empty() && !reading.ids.insert(row.id).second) {
    fields.report("this id occurs twice");
  }
  for (const std::string& problem : import_detail::contradictions(row)) {
    fields.report(problem);
  }
  if (findings.size() != before) {
    return;
  }
  for (const std::string& doubt : import_detail::doubts(row)) {
    fields.report(doubt, Effect::noted);
  }
  import_detail::complete(row);
  import_detail::derive_step(row);
  reading.result.rows.push_back(std::move(row));
}

bool read_document(const std::string& yaml, const std::string& file, RowsRead& reading) {
  const YamlSource source{file, reading.result.findings};
  const std::optional<YAML::Node> document = import_detail::parse_document(yaml, source);
  if (!document) {
    return true;
  }
  if (!document->IsMap() || !(*document)["rows"].IsDefined()) {
    return false;
  }
  const Fields fields(*document, source, "");
  const Fields meta = fields.child("meta");
  std::string citation = meta.text("source_ref").value_or("");
  if (citation.empty()) {
    citation = meta.text("source").value_or("");
  }
  for (const YAML::Node& row : fields.list("rows")) {
    read_entry(row, source, citation, reading);
  }
  return true;
}

TrainingImport finish(RowsRead reading) {
  import_detail::check_baselines(reading.ids, reading.result);
  return std::move(reading.result);
}

}  // namespace

bool TrainingRow::misses(const std::string& field) const {
  return std::ranges::find(missing, field) != missing.end();
}

TrainingImport parse_training_rows(const std::string& yaml, const std::string& file) {
  RowsRead reading;
  if (!read_document(yaml, file, reading)) {
    reading.result.findings.push_back(import_detail::no_list(file, "rows"));
  }
  return finish(std::move(reading));
}

TrainingImport read_training_rows(const std::filesystem::path& path) {
  RowsRead reading;
  import_detail::read_yaml_files(
      path, "rows",
      [&](const std::string& text, const std::string& file) {
        return read_document(text, file, reading);
      },
      reading.result.skipped, reading.result.findings);
  return finish(std::move(reading));
}

}  // namespace payoff
