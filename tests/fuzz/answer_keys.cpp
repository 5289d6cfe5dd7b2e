// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/answer_keys.hpp"

#include <array>

#include "tests/fuzz/target.hpp"

namespace payoff::fuzz {
namespace {

using Texts = std::vector<std::string>;

const Texts counts = {"1",  "2",  "3",    "4",       "7",          "8", "16",
                      "64", "96", "1024", "1048576", "2147483647", "0", "9223372036854775807"};
const Texts rates = {"1 b/s",    "1 kb/s", "1 Gb/s",   "100 Gb/s",  "400 Gb/s",
                     "3.2 Tb/s", "1 PB/s", "1e18 B/s", "1e300 B/s", "1e-300 B/s"};
const Texts times = {"0", "1 ns", "5 us", "1 ms", "1 s", "1e-300 s", "1e300 s"};
const Texts sizes = {"0", "1 B", "1 MiB", "25 MiB", "1 GiB", "1 PB", "1e300 B", "0.5 B"};
const Texts shares = {"0", "1e-9", "1 %", "50 %", "1", "1e-300"};
const Texts speeds = {"1", "0.5", "1000", "0.001", "0", "-1", "1e300"};
const Texts factors = {"1", "1.25", "0.01", "8", "1e6", "0.5", "0", "1e300", "-1"};
const Texts flags = {"true", "false"};
const Texts models = {"gpt2",      "resnet-50", "bert-large",  "mixtral-8x7b",
                      "gpt3-175b", "vit-l-16",  "deepseek-v2", "t5-large"};
const Texts clusters = {"p3-8xlarge", "dgx-a100", "dgx-h100", "selene"};
const Texts stages = {"0", "1", "2", "3"};
const Texts schedules = {"1f1b", "gpipe", "zb-h1", "zb-h2", "zb-v", "dualpipe-v", "dualpipe"};
const Texts recomputes = {"none", "selective", "full"};
const Texts precisions = {"fp32", "tf32", "fp16", "bf16", "fp8"};
const Texts optimizers = {"adam", "sgd-momentum", "sgd"};
const Texts dp_sums = {"nccl", "sharp", "packed_trees"};
const Texts exchanges = {"ring", "all_to_all"};
const Texts orders = {"tp-cp-dp-pp", "pp-dp-cp-tp", "dp", "tp-pp-dp", "cp-tp", "pp"};
const Texts distributions = {"exponential", "normal", "constant"};
const Texts slow_gpus = {"[]", "[{gpu: 0, slowdown: 1.3}]", "[{gpu: 1, slowdown: 1e6}]",
                         "[{gpu: 2147483647, slowdown: 2}]",
                         "[{gpu: 0, slowdown: 2}, {gpu: 3, slowdown: 1}]"};
// Of 12, 24, 32 and 16 blocks over two, four and eight parts; not of these; too many.
const Texts divisions = {"[5, 7]",
                         "[11, 1]",
                         "[1, 31]",
                         "[17, 15]",
                         "[13, 11]",
                         "[1, 4, 6, 1]",
                         "[2, 3, 3, 4]",
                         "[9, 9, 9, 5]",
                         "[1, 1, 1, 1, 1, 1, 1, 5]",
                         "[4, 4, 4, 4, 4, 4, 4, 4]",
                         "[12]",
                         "[3, 3]",
                         "[]",
                         "[0, 12]"};
const Texts plans = {
    "[]",
    "[\"powersgd:rank=4\"]",
    "[\"powersgd:rank=1048576\"]",
    "[\"topk:ratio=1e-9\"]",
    "[\"topk:ratio=1\", fp16, signsgd]",
    "[\"qsgd\", \"randomk:ratio=0.01\"]",
    "[\"powersgd:rank=2,overlap=true\"]",
    "[\"topk:ratio=0.01,placement=side_stream\"]",
    "[[\"topk:ratio=0.01\", {activation_topk: {traffic: tp_activations, k: 100}}]]",
    "[{activation_topk: {traffic: pp_activations, ratio: 0.01}}]",
};
// Of the weights that are gathered: once they are updated (zero 1 and 2), where they are needed and
// kept or let go again (zero 3); beside a codec of gradients.
const Texts weight_plans = {
    "[\"qwz:traffic=dp_weights\"]",
    "[\"qwz:traffic=dp_weights,copy_in_node=true\"]",
    "[\"hpz:copy_in_node=true\"]",
    "[\"hpz:traffic=dp_weights,copy_in_node=true\"]",
    "[\"fp8_weights:traffic=dp_weights\"]",
    "[\"sdp4bit_weights:traffic=dp_weights,group=16\"]",
    "[\"qgz+qwz:traffic=dp_weights\"]",
    "[[qgz, \"qwz:traffic=dp_weights,copy_in_node=true\"]]",
    "[[bf16, \"fp8_weights:traffic=dp_weights\"]]",
    "[[sdp4bit, \"sdp4bit_weights:traffic=dp_weights\"], \"qwz:traffic=dp_weights,group=8192\"]",
};
// The options that every method has.
const Texts option_plans = {
    "[\"powersgd:rank=4,smallest=64 KiB\"]",
    "[\"topk:ratio=0.01,smallest=1 B\"]",
    "[\"signsgd:smallest=1 PB\"]",
    "[\"topk:ratio=0.01,buckets=0\"]",
    "[[\"topk:ratio=0.01,buckets=0-1/3\", \"powersgd:rank=4,buckets=4-\"]]",
    "[\"qsgd:among=nodes\"]",
    "[\"topk:ratio=0.01,among=nodes,placement=after_backward\"]",
    "[\"dgc:placement=low_priority_stream\"]",
    "[\"efsignsgd_host\", \"efsignsgd_host:placement=side_stream\"]",
    "[\"onebit_servers:overlap=false\"]",
    "[\"gossip:graph=ring\"]",
    "[\"gossip:graph=torus\", \"gossip_u8:graph=exponential\"]",
    "[\"gossip:graph=random_regular,graph_seed=7\"]",
    "[\"activation_quantization:traffic=tp_activations+pp_activations,directions=both\"]",
    "[\"activation_quantization:traffic=tp_activations,layers=6-\"]",
    "[\"autoencoder:traffic=tp_activations,layers=3-7,directions=both\"]",
    "[\"flash_communication:traffic=tp_activations\"]",
    "[\"aqsgd:traffic=pp_activations\", \"tahquant:traffic=pp_activations,layers=0\"]",
    "[\"fp8_block:traffic=ep_dispatch\", \"fp8_block:traffic=ep_dispatch+ep_combine\"]",
    "[[\"fp8_block:traffic=ep_dispatch\", \"powersgd:rank=4\"]]",
};

// Every shipped method, and every one for another traffic than its first.
Texts catalogue(const std::string& traffic) {
  Texts texts;
  for (const std::string& name : shipped().names(ProfileKind::compression)) {
    texts.push_back("[\"" + name + (traffic.empty() ? "" : ":traffic=" + traffic) + "\"]");
  }
  return texts;
}

std::vector<AnswerKey> all_keys() {
  static const Texts as_they_are = catalogue("");
  static const Texts of_weights = catalogue("dp_weights");
  static const Texts of_tensor_groups = catalogue("tp_activations");
  static const Texts of_stages = catalogue("pp_activations");
  static const Texts of_tokens = catalogue("ep_dispatch+ep_combine");
  return {
      {"model.profile", models},
      {"cluster.profile", clusters},
      {"model.sequence", counts},
      {"cluster.nodes", counts},
      {"cluster.gpus_per_node", counts},
      {"cluster.nics_per_node", counts},
      {"cluster.inter.bandwidth", rates},
      {"cluster.intra.bandwidth", rates},
      {"cluster.jitter.sd", shares},
      {"cluster.slow_gpus", slow_gpus},
      {"layout.dp", counts},
      {"layout.tp", counts},
      {"layout.pp", counts},
      {"layout.cp", counts},
      {"layout.ep", counts},
      {"layout.context_exchange", exchanges},
      {"layout.schedule", schedules},
      {"layout.virtual_stages", counts},
      {"layout.dp_collective", dp_sums},
      {"layout.zero", stages},
      {"layout.shard", counts},
      {"layout.sequence_parallel", flags},
      {"layout.micro_batch", counts},
      {"layout.micro_batches", counts},
      {"layout.global_batch", counts},
      {"layout.recompute", recomputes},
      {"layout.expert_imbalance", factors},
      {"training.precision", precisions},
      {"training.gradient", precisions},
      {"training.bucket", sizes},
      {"training.first_bucket", sizes},
      {"training.overlap", flags},
      {"training.codec_speed", speeds},
      {"training.optimizer", optimizers},
      {"training.memory_margin", shares},
      {"training.data_time", times},
      {"training.host_jitter.mean", times},
      {"training.checkpoint.size", sizes},
      {"compress", plans},
      {"limits.global_batch", counts},
      {"layout.etp", counts},
      {"layout.expert_capacity", factors},
      {"layout.stage_layers", divisions},
      {"layout.tp_overlap", counts},
      {"layout.pair_overlap", flags},
      {"layout.reshard", flags},
      {"layout.order", orders},
      {"training.optimizer_in_backward", flags},
      {"training.data_prefetch", flags},
      {"training.host_jitter.distribution", distributions},
      {"cluster.inter.latency", times},
      {"model.decoder_sequence", counts},
      {"compress", weight_plans},
      {"compress", option_plans},
      {"compress", as_they_are},
      {"compress", of_weights},
      {"compress", of_tensor_groups},
      {"compress", of_stages},
      {"compress", of_tokens},
  };
}

constexpr std::array<std::string_view, 8> jobs = {
    "cluster: {profile: p3-8xlarge, nodes: 2}\nmodel: {profile: resnet-50}\n"
    "layout: {micro_batch: 8}\ntraining: {precision: fp32}\ncompress: [\"powersgd:rank=4\"]\n",
    "cluster: {profile: dgx-a100, nodes: 2}\nmodel: {profile: gpt2}\n"
    "layout: {tp: 2, pp: 2, micro_batch: 1, micro_batches: 4}\ntraining: {precision: bf16}\n"
    "compress: [\"topk:ratio=0.01\"]\n",
    "cluster: {profile: dgx-h100, nodes: 2}\nmodel: {profile: mixtral-8x7b}\n"
    "layout: {dp: 8, pp: 2, ep: 4, zero: 1, micro_batch: 1, micro_batches: 2}\n"
    "training: {precision: bf16, gradient: fp32}\ncompress: [bf16]\n",
    "cluster: {profile: dgx-h100, nodes: 2}\nmodel: {profile: gpt2}\n"
    "layout: {zero: 3, shard: 8, micro_batch: 1}\ntraining: {precision: bf16}\n",
    // Experts that are divided too, with a capacity.
    "cluster: {profile: dgx-h100, nodes: 4}\nmodel: {profile: mixtral-8x7b}\n"
    "layout: {dp: 8, tp: 2, pp: 2, ep: 4, etp: 2, sequence_parallel: true, expert_capacity: 1.25,\n"
    "  micro_batch: 1, micro_batches: 4}\ntraining: {precision: bf16}\n"
    "compress: [\"fp8_block:traffic=ep_dispatch\"]\n",
    // Products beside the messages of others, in stages that are no equals.
    "cluster: {profile: dgx-a100, nodes: 2}\nmodel: {profile: gpt2}\n"
    "layout: {dp: 2, tp: 4, pp: 2, tp_overlap: 4, sequence_parallel: true, stage_layers: [5, 7],\n"
    "  zero: 1, micro_batch: 1, micro_batches: 4}\ntraining: {precision: bf16}\n"
    "compress: [[bf16, \"qwz:traffic=dp_weights\"]]\n",
    // Weights that a pipeline keeps once they are gathered.
    "cluster: {profile: dgx-h100, nodes: 2}\nmodel: {profile: gpt2}\n"
    "layout: {dp: 4, pp: 4, zero: 3, reshard: false, micro_batch: 1, micro_batches: 8}\n"
    "training: {precision: bf16}\ncompress: [\"qwz:traffic=dp_weights\"]\n",
    // Two ends of a pipeline, whose passes run in pairs.
    "cluster: {profile: dgx-h100, nodes: 4}\nmodel: {profile: mixtral-8x7b}\n"
    "layout: {dp: 8, pp: 4, ep: 8, schedule: dualpipe, micro_batch: 1, micro_batches: 8}\n"
    "training: {precision: bf16}\ncompress: [\"fp8_block:traffic=ep_dispatch\"]\n",
};

}  // namespace

std::span<const AnswerKey> answer_keys() {
  static const std::vector<AnswerKey> keys = all_keys();
  return keys;
}

std::span<const std::string_view> answer_jobs() { return jobs; }

}  // namespace payoff::fuzz
