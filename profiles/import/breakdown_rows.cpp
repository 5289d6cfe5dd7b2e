// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/breakdown_rows.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace payoff::import_detail {
namespace {

constexpr int batch_of_a_worker = 128;
constexpr std::string_view breakdown = "timers of one reducer";  // what `release` says of such rows
constexpr std::string_view reducer_suffix = "Reducer";

std::string without_suffix(std::string name) {
  if (name.ends_with(reducer_suffix)) {
    name.resize(name.size() - reducer_suffix.size());
  }
  return name;
}

// "None" and "NoneAll" send gradients as they are; "RankK" is PowerSGD.
std::string method_of(const std::string& reducer) {
  return reducer.starts_with("None") ? "none" : reducer == "RankK" ? "powersgd" : reducer;
}

// Nodes with one GPU each, unless the folder is that of one machine.
bool is_one_machine(const std::string& run) {
  return run.find("/P3/") != std::string::npos && run.find("Multi Node") == std::string::npos;
}

// Folders of one run hold all reducers; where each has a folder of its own, with a date, the one
// above it.
std::string group_of(const TrainingRow& row) {
  const std::string run = row.id.substr(0, row.id.rfind("/" + row.model.name.value_or("") + "/"));
  const std::size_t slash = run.rfind('/');
  const bool dated = slash != std::string::npos && slash + 4 < run.size() &&
                     std::all_of(run.begin() + static_cast<std::ptrdiff_t>(slash) + 1,
                                 run.begin() + static_cast<std::ptrdiff_t>(slash) + 5,
                                 [](unsigned char c) { return std::isdigit(c) != 0; });
  return dated ? run.substr(0, slash) : run;
}

bool is_of_breakdown(const TrainingRow& row) { return row.release == breakdown; }

void set_machine(const std::string& run, int workers, TrainingRow& row) {
  TrainingCluster& cluster = row.cluster;
  cluster.gpu = "v100-sxm2-16";
  cluster.gpus = workers;
  const bool one = is_one_machine(run);
  cluster.nodes = one ? 1 : workers;
  cluster.gpus_per_node = one ? workers : 1;
  cluster.intra = one && workers > 1 ? "nvlink-mesh-v2" : "none";
  cluster.transport = one || workers == 1 ? "none" : "tcp";
  if (!one && workers > 1) {
    cluster.nics_per_node = 1;
    cluster.nic_bandwidth = 10_Gbps;  // p3.2xlarge: "up to 10 Gb/s"
  }
  row.recalled = {"intra", "nic_gbps", "gpu_form_factor"};
}

void set_job(const Fields& fields, int workers, TrainingRow& row) {
  row.model.family = "cnn";
  row.model.name = fields.required_text("arch");
  row.model.dataset = "CIFAR-10";
  TrainingLayout& layout = row.layout;
  layout.tp = 1;
  layout.pp = 1;
  layout.dp = workers;
  layout.micro_batch = batch_of_a_worker;
  layout.global_batch = batch_of_a_worker * workers;
  layout.schedule = "bsp";
  layout.bucket = 1_GiB;  // one vector
  row.precision = "fp32";
  row.software = "PyTorch";
  row.release = breakdown;
}

}  // namespace

bool is_breakdown_row(const Fields& fields) {
  return !fields.text("id") && fields.text("reducer") && fields.text("arch") &&
         fields.text("iter_ms");
}

TrainingRow breakdown_row(Fields& fields, const Source& source, const std::string& citation) {
  TrainingRow row;
  const std::string run = fields.text("run").value_or("run");
  const std::string reducer = without_suffix(fields.required_text("reducer"));
  row.id = run + "/" + fields.required_text("arch") + "/" + reducer;
  for (const char* parameter : {"bits", "rank", "K"}) {
    if (const auto value = fields.text(parameter)) {
      row.id += std::string(",") + parameter + "=" + *value;
    }
  }
  fields.set_entry(row.id);
  row.source = std::filesystem::path(source.file).stem().string();
  row.file = source.file;
  row.line = fields.line();
  row.column = fields.column();
  row.citation = citation;
  const int workers = std::max(1, fields.required_integer("workers"));
  set_machine(run, workers, row);
  set_job(fields, workers, row);
  TrainingCompression& compression = row.compression;
  compression.method = method_of(reducer);
  compression.bits = fields.integer("bits");
  compression.rank = fields.integer("rank");
  compression.kept = fields.integer("K");
  compression.traffic = {"dp"};
  row.measured.step = *fields.number("iter_ms") * 1_ms;
  row.measured.step_origin = StepOrigin::measured;
  return row;
}

void set_breakdown_baselines(std::vector<TrainingRow>& rows) {
  const auto alike = [](const TrainingRow& a, const TrainingRow& b) {
    return a.file == b.file && group_of(a) == group_of(b) && a.model.name == b.model.name &&
           a.cluster.gpus == b.cluster.gpus;
  };
  for (TrainingRow& row : rows) {
    if (!row.compressed() || !is_of_breakdown(row)) {
      continue;
    }
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const TrainingRow& other) {
      return !other.compressed() && is_of_breakdown(other) && alike(row, other);
    });
    if (found != rows.end()) {
      row.baseline_id = found->id;
      row.measured.speedup_vs_baseline = *found->measured.step / *row.measured.step;
    }
  }
}

}  // namespace payoff::import_detail
