// SPDX-License-Identifier: Apache-2.0
#include "tests/study/experiments.hpp"

#include <stdexcept>
#include <utility>

namespace payoff::test {
namespace {

LinkLaw round_law() {
  LinkLaw law;
  law.launch = 10_us;
  law.step_ll = 3_us;
  law.step_ll128 = 4_us;
  law.step_simple = 8_us;
  law.share_ll = 1.0;
  law.share_ll128 = 1.0;
  law.share_simple = 0.9;
  law.relative_sd_small = 0.3;
  law.relative_sd_middle = 0.15;
  law.relative_sd_large = 0.15;  // gradients are longer than 4 MiB
  return law;
}

Gpu round_gpu() {
  Gpu gpu{.name = "round", .architecture = Architecture::volta, .compute_units = 100};
  gpu.memory = 32_GB;
  gpu.memory_bandwidth = 1_TBps;
  gpu.l2 = 6_MiB;
  gpu.peak[Precision::fp32] = 15_TFLOPps;
  gpu.peak[Precision::fp16] = 100_TFLOPps;
  gpu.law.gemm_efficiency.values = {0.8, 0.8, 0.7, 0.7, 0.7};
  gpu.law.convolution_efficiency = 1.0;
  gpu.law.attention_efficiency = 1.0;
  gpu.law.memory_efficiency = 0.8;
  gpu.law.launch = 5_us;
  gpu.law.relative_sd = 0.05;
  return gpu;
}

Cluster round_cluster(const JobShape& shape) {
  Cluster cluster;
  cluster.name = "round";
  cluster.gpu = round_gpu();
  cluster.fabric = {.name = "switch",
                    .kind = FabricKind::switched,
                    .generation = LinkGeneration::nvlink2,
                    .per_gpu = 150_GBps,
                    .pair = 150_GBps,
                    .max_gpus = 4,
                    .law = round_law()};
  cluster.network = {
      .name = "net", .kind = NetworkKind::tcp, .tuner_latency = 50_us, .law = round_law()};
  cluster.gpus_per_node = 4;
  cluster.nics_per_node = 1;
  cluster.nic = shape.nic;
  cluster.nodes = shape.nodes;
  return cluster;
}

// 2,048 x 2,048 products with their biases: 4.2 M parameters and 8 MFLOP a layer and sample.
Workload equal_layers(int count) {
  Workload workload;
  workload.name = "equal layers";
  for (int i = 0; i < count; ++i) {
    Layer layer;
    layer.name = "layer " + std::to_string(i);
    Operator product;
    product.kind = OperatorKind::gemm;
    product.rows_per_sample = 64;
    product.columns = 2048;
    product.depth = 2048;
    layer.forward.push_back(product);
    layer.parameters = {{2048, 2048, true}, {2048, 1, false}};
    layer.activation_per_sample = 64 * 2048 * 4_B;
    layer.selective_activation_per_sample = layer.activation_per_sample;
    layer.boundary_per_sample = layer.activation_per_sample;
    workload.layers.push_back(layer);
  }
  return workload;
}

Expression formula(const std::string& text, const std::map<std::string, double>& parameters) {
  auto result = Expression::parse(text, formula_names(parameters));
  if (!result.errors.empty()) {
    throw std::runtime_error(result.errors.front().message);
  }
  return std::move(result.expression);
}

CodecLaw round_codec() {
  CodecLaw law;
  law.resident_efficiency = 1.0;
  law.memory_efficiency = 0.8;
  law.random_efficiency = 0.2;
  law.gemm_efficiency = 0.5;
  law.relative_sd = 0.2;
  return law;
}

CompressionPlan one_round(const std::string& name, const std::map<std::string, double>& parameters,
                          Collective collective, const std::string& message) {
  Method method;
  method.name = name;
  method.granularity = Granularity::bucket;
  method.parameters = parameters;
  PassFormula pass;
  pass.bytes = formula("passes * 2 * v * n", parameters);
  pass.kernels = formula("if(passes > 0, 1 / T, 0)", parameters);
  method.rounds.push_back({pass, collective, formula(message, parameters)});
  method.decode = pass;
  method.law = round_codec();
  CompressionPlan plan;
  plan.label = name;
  plan.method = std::move(method);
  return plan;
}

}  // namespace

Experiment small_job(const JobShape& shape) {
  Experiment experiment;
  experiment.name = "small";
  experiment.cluster = round_cluster(shape);
  experiment.software.name = "none";
  experiment.software.host_per_step = 1_ms;
  experiment.software.relative_sd = 0.03;
  experiment.model = equal_layers(shape.layers);
  experiment.layout.dp = experiment.cluster.gpus();
  experiment.layout.micro_batch = 16;
  experiment.training.precision = Precision::fp32;
  experiment.training.gradient = shape.gradient;
  experiment.training.optimizer_bytes_per_parameter = 4_B;
  experiment.training.optimizer_traffic_per_parameter = 20_B;
  experiment.plans.emplace_back().label = "none";
  return experiment;
}

CompressionPlan shrink(double ratio, double passes) {
  return one_round("shrink", {{"passes", passes}, {"ratio", ratio}}, Collective::all_reduce,
                   "n * v / ratio");
}

CompressionPlan shrink_among(int most_workers, double ratio, double passes) {
  const std::map<std::string, double> parameters{
      {"passes", passes}, {"ratio", ratio}, {"most", static_cast<double>(most_workers)}};
  CompressionPlan plan =
      one_round("shrink among few", parameters, Collective::all_reduce, "n * v / ratio");
  plan.method->granularity = Granularity::tensor;
  plan.method->worth = formula("if(W > most, 0, 1)", parameters);
  return plan;
}

CompressionPlan sparse(double kept, double passes) {
  return one_round("sparse", {{"passes", passes}, {"kept", kept}}, Collective::all_gather,
                   "ceil(n * kept) * (v + 4)");
}

CompressionPlan two_rounds(double ratio, double passes) {
  CompressionPlan plan = shrink(ratio, passes);
  plan.label = "two rounds";
  plan.method->name = plan.label;
  plan.method->rounds.push_back(plan.method->rounds.front());
  return plan;
}

// 32 blocks, 4,096 columns, 32 heads of 128.
Experiment transformer_job() {
  Experiment job = small_job();
  TransformerShape shape;
  shape.name = "gpt";
  shape.layers = 32;
  shape.hidden = 4096;
  shape.heads = 32;
  shape.kv_heads = 32;
  shape.head_size = 128;
  shape.feed_forward = 4 * 4096;
  shape.vocabulary = 50257;
  shape.positions = 2048;
  shape.sequence = 2048;
  shape.tied_embeddings = true;
  job.model = shape;
  return job;
}

Experiment with_plans(Experiment experiment, std::vector<CompressionPlan> plans) {
  for (CompressionPlan& plan : plans) {
    experiment.plans.push_back(std::move(plan));
  }
  return experiment;
}

Experiment all_faster(Experiment experiment, double factor) {
  Cluster& cluster = experiment.cluster;
  for (FlopRate& peak : cluster.gpu.peak.values) {
    peak *= factor;
  }
  cluster.gpu.memory_bandwidth *= factor;
  cluster.gpu.law.launch /= factor;
  cluster.fabric.per_gpu *= factor;
  cluster.fabric.pair *= factor;
  cluster.nic *= factor;
  for (LinkLaw* law : {&cluster.fabric.law, &cluster.network.law}) {
    law->launch /= factor;
    law->step_ll /= factor;
    law->step_ll128 /= factor;
    law->step_simple /= factor;
    law->step_nvls /= factor;
  }
  experiment.software.host_per_step /= factor;
  experiment.software.host_per_kernel /= factor;
  for (CompressionPlan& plan : experiment.plans) {
    if (plan.method) {
      plan.method->law.dispatch /= factor;
      plan.method->law.host_sync /= factor;
    }
  }
  return experiment;
}

}  // namespace payoff::test
