// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "profiles/read_experiment.hpp"
#include "tests/fuzz/answer_laws.hpp"
#include "tests/fuzz/target.hpp"

// The whole path of a prediction. The first byte chooses a job, and whether it is also assessed by
// draws; every further pair of bytes sets one key to a value from the edges of its range and from
// beyond. What the reader accepts has to be answered (answer_laws.hpp).

namespace payoff::fuzz {
namespace {

using Texts = std::vector<std::string_view>;

struct Key {
  std::string_view path;
  const Texts* values;
};

const Texts counts = {"1",  "2",  "3",    "4",       "7",          "8", "16",
                      "64", "96", "1024", "1048576", "2147483647", "0", "9223372036854775807"};
const Texts rates = {"1 b/s",    "1 kb/s", "1 Gb/s",   "100 Gb/s",  "400 Gb/s",
                     "3.2 Tb/s", "1 PB/s", "1e18 B/s", "1e300 B/s", "1e-300 B/s"};
const Texts times = {"0", "1 ns", "5 us", "1 ms", "1 s", "1e-300 s", "1e300 s"};
const Texts sizes = {"0", "1 B", "1 MiB", "25 MiB", "1 GiB", "1 PB", "1e300 B", "0.5 B"};
const Texts shares = {"0", "1e-9", "1 %", "50 %", "1", "1e-300"};
const Texts flags = {"true", "false"};
const Texts models = {"gpt2", "resnet-50", "bert-large", "mixtral-8x7b", "gpt3-175b", "vit-l-16"};
const Texts clusters = {"p3-8xlarge", "dgx-a100", "dgx-h100", "selene"};
const Texts stages = {"0", "1", "2", "3"};
const Texts schedules = {"1f1b", "gpipe", "zb-h1", "zb-h2", "zb-v", "dualpipe-v", "dualpipe"};
const Texts recomputes = {"none", "selective", "full"};
const Texts precisions = {"fp32", "tf32", "fp16", "bf16", "fp8"};
const Texts optimizers = {"adam", "sgd-momentum", "sgd"};
const Texts dp_sums = {"nccl", "sharp", "packed_trees"};
const Texts exchanges = {"ring", "all_to_all"};
const Texts plans = {
    "[]",
    "[\"powersgd:rank=4\"]",
    "[\"powersgd:rank=1048576\"]",
    "[\"topk:ratio=1e-9\"]",
    "[\"topk:ratio=1\", fp16, signsgd]",
    "[\"qsgd\", \"randomk:ratio=0.01\"]",
    "[\"powersgd:rank=2,overlap=true\"]",
    "[\"topk:ratio=0.01,placement=main\"]",
    "[[\"topk:ratio=0.01\", {activation_topk: {traffic: tp_activations, k: 100}}]]",
    "[{activation_topk: {traffic: pp_activations, k: 1}}]",
};

const std::array<Key, 39> keys = {{
    {"model.profile", &models},
    {"cluster.profile", &clusters},
    {"model.sequence", &counts},
    {"cluster.nodes", &counts},
    {"cluster.gpus_per_node", &counts},
    {"cluster.nics_per_node", &counts},
    {"cluster.inter.bandwidth", &rates},
    {"cluster.intra.bandwidth", &rates},
    {"cluster.jitter.sd", &shares},
    {"cluster.slow_gpus", &plans},
    {"layout.dp", &counts},
    {"layout.tp", &counts},
    {"layout.pp", &counts},
    {"layout.cp", &counts},
    {"layout.ep", &counts},
    {"layout.context_exchange", &exchanges},
    {"layout.schedule", &schedules},
    {"layout.virtual_stages", &counts},
    {"layout.dp_collective", &dp_sums},
    {"layout.zero", &stages},
    {"layout.shard", &counts},
    {"layout.sequence_parallel", &flags},
    {"layout.micro_batch", &counts},
    {"layout.micro_batches", &counts},
    {"layout.global_batch", &counts},
    {"layout.recompute", &recomputes},
    {"layout.expert_imbalance", &counts},
    {"training.precision", &precisions},
    {"training.gradient", &precisions},
    {"training.bucket", &sizes},
    {"training.first_bucket", &sizes},
    {"training.overlap", &flags},
    {"training.optimizer", &optimizers},
    {"training.memory_margin", &shares},
    {"training.data_time", &times},
    {"training.host_jitter.mean", &times},
    {"training.checkpoint.size", &sizes},
    {"compress", &plans},
    {"limits.global_batch", &counts},
}};

constexpr std::array<const char*, 4> jobs = {
    "cluster: {profile: p3-8xlarge, nodes: 2}\nmodel: {profile: resnet-50}\n"
    "layout: {micro_batch: 8}\ntraining: {precision: fp32}\ncompress: [\"powersgd:rank=4\"]\n",
    "cluster: {profile: dgx-a100, nodes: 2}\nmodel: {profile: gpt2}\n"
    "layout: {tp: 2, pp: 2, micro_batch: 1, micro_batches: 4}\ntraining: {precision: bf16}\n"
    "compress: [\"topk:ratio=0.01\"]\n",
    "cluster: {profile: dgx-h100, nodes: 2}\nmodel: {profile: mixtral-8x7b}\n"
    "layout: {dp: 8, pp: 2, ep: 4, zero: 1, micro_batch: 1, micro_batches: 2}\n"
    "training: {precision: bf16}\ncompress: [qsgd]\n",
    "cluster: {profile: dgx-h100, nodes: 2}\nmodel: {profile: gpt2}\n"
    "layout: {zero: 3, shard: 8, micro_batch: 1}\ntraining: {precision: bf16}\n",
};

std::vector<Setting> settings_of(std::string_view input) {
  constexpr std::size_t most = 24;
  std::vector<Setting> settings;
  for (std::size_t i = 1; i + 1 < input.size() && settings.size() < most; i += 2) {
    const Key& key = keys[static_cast<std::uint8_t>(input[i]) % keys.size()];
    const std::string_view value =
        (*key.values)[static_cast<std::uint8_t>(input[i + 1]) % key.values->size()];
    const std::string text = std::string(key.path) + "=";
    std::erase_if(settings, [&](const Setting& other) { return other.text.starts_with(text); });
    settings.push_back({static_cast<int>(i), text + std::string(value)});
  }
  return settings;
}

// For whoever looks at a broken law: the job as words.
void show(const std::string& job, const std::vector<Setting>& settings) {
  if (std::getenv("PAYOFF_FUZZ_SHOW") != nullptr) {
    std::fputs(job.c_str(), stderr);
    for (const Setting& setting : settings) {
      std::fprintf(stderr, "--set '%s'\n", setting.text.c_str());
    }
  }
}

}  // namespace

std::string answer_experiment(std::string_view input) {
  const std::uint8_t first = input.empty() ? 0 : static_cast<std::uint8_t>(input[0]);
  Reading reading;
  const std::string job = jobs[first % jobs.size()];
  const std::vector<Setting> settings = settings_of(input);
  show(job, settings);
  auto document = load_yaml_text("job.yaml", job, reading.sources(), reading.diagnostics());
  const auto read = read_experiment(std::move(*document), settings, reading.context());
  std::string told = reading.verdict(read.has_value());
  return read ? told + answers_of(*read, first >= 0xf0) : told;
}

}  // namespace payoff::fuzz
