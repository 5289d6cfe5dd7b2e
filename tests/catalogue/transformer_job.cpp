// SPDX-License-Identifier: Apache-2.0
#include "tests/catalogue/transformer_job.hpp"

#include "tests/study/experiments.hpp"

namespace payoff::test {

Experiment bert_large_job(int tp, int pp, int micro_batches) {
  TransformerShape shape;
  shape.name = "BERT-Large";
  shape.family = TransformerFamily::bert;
  shape.layers = 24;
  shape.hidden = 1024;
  shape.heads = shape.kv_heads = 16;
  shape.head_size = 64;
  shape.feed_forward = 4096;
  shape.vocabulary = 30522;
  shape.positions = 512;
  shape.token_types = 2;
  shape.sequence = 512;
  shape.causal = false;
  shape.pooler = true;
  Experiment job = small_job({.nodes = 1});
  job.cluster.gpus_per_node = tp * pp;
  job.name = "fine-tuning";
  job.model = shape;
  job.layout = {};
  job.layout.tp = tp;
  job.layout.pp = pp;
  job.layout.micro_batch = 32;
  job.layout.micro_batches = micro_batches;
  job.training.precision = Precision::fp16;
  job.training.gradient = Precision::fp16;
  job.cluster.gpu.memory = 1000_GB;
  return job;
}

}  // namespace payoff::test
