// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

// A sweep that prepares what its jobs share writes what one that reads each of them writes.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using payoff::test::Captured;
using payoff::test::ScratchFolder;

namespace {

struct Axis {
  std::string key;
  std::vector<std::string> values;
};

// Of every kind: numbers that jobs are changed in, and keys that are read. Some values no job can
// have, and some combinations.
const std::vector<Axis> axes{
    {"nodes", {"1", "2", "3", "4", "8", "64"}},
    {"bandwidth", {"1 Gb/s", "25 Gb/s", "100 Gb/s", "3.2 Tb/s"}},
    {"cluster.intra.bandwidth", {"12 GB/s", "150 GB/s", "900 GB/s"}},
    {"cluster.nics_per_node", {"1", "2", "4", "8"}},
    {"cluster.gpus_per_node", {"2", "4"}},
    {"layout.dp", {"2", "4", "8"}},
    {"tp", {"1", "2", "4", "5"}},
    {"pp", {"1", "2", "4"}},
    {"layout.micro_batch", {"1", "2", "3", "16"}},
    {"micro-batches", {"1", "2", "8"}},
    {"layout.global_batch", {"32", "64", "96"}},
    {"training.bucket", {"1 MiB", "7 MB", "25 MiB", "1 GB"}},
    {"first-bucket", {"64 KiB", "2 MiB"}},
    {"layout.zero", {"0", "1", "2", "3"}},
    {"layout.recompute", {"none", "selective", "full"}},
    {"gradient", {"fp16", "fp32"}},
    {"training.overlap", {"true", "false"}},
    {"cluster", {"p3-8xlarge", "dgx-a100", "dgx-h100"}},
    {"software", {"pytorch-ddp-2021", "megatron-2022"}},
};

const std::vector<std::string> jobs{
    "cluster: {profile: p3-8xlarge, nodes: 2}\n"
    "model: {profile: gpt2, sequence: 1024}\n"
    "layout: {micro_batch: 4}\n"
    "training: {precision: fp16}\n"
    "compress: [powersgd:rank=4, topk:ratio=0.01, fp8_block]\n",
    "cluster: {profile: dgx-a100, nodes: 4}\n"
    "model: {profile: resnet-50}\n"
    "layout: {micro_batch: 64}\n"
    "training: {precision: fp32, optimizer: sgd-momentum}\n"
    "software: pytorch-ddp-2021\n"
    "compress: [qsgd:bits=4, {method: powersgd:rank=8, placement: side_stream}]\n",
    "cluster: {profile: dgx-h100, nodes: 8}\n"
    "model: {profile: gpt2, sequence: 512}\n"
    "layout: {tp: 2, pp: 2, micro_batches: 8, schedule: 1f1b}\n"
    "training: {precision: bf16, optimizer_in_backward: false}\n"
    "software: megatron-2022\n"
    "compress: [fp16, signsgd]\n",
    "cluster: {profile: dgx-h100, nodes: 4}\n"
    "model: {profile: gpt2, sequence: 512}\n"
    "layout: {zero: 3, micro_batches: 2}\n"
    "training: {precision: bf16, host_jitter: 2 ms}\n"
    "compress: [fp8_block]\n",
};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t end) { return random_() % end; }
  template <typename T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i) {
      std::swap(list[i - 1], list[below(i)]);
    }
  }

 private:
  std::mt19937_64 random_;
};

// The number of nodes, so that there is a job among many, and up to two other axes, in any order.
std::vector<std::string> random_axes(Draw& draw, bool equally_long) {
  std::vector<Axis> chosen = axes;
  std::swap(chosen[1 + draw.below(chosen.size() - 1)], chosen[1]);
  std::swap(chosen[2 + draw.below(chosen.size() - 2)], chosen[2]);
  chosen.resize(1 + draw.below(3));
  draw.shuffle(chosen);
  const std::size_t length = 1 + draw.below(3);
  std::vector<std::string> words;
  for (Axis& axis : chosen) {
    draw.shuffle(axis.values);
    const std::size_t own = axis.key == "nodes" ? 4 : 1 + draw.below(3);
    axis.values.resize(std::min(axis.values.size(), equally_long ? length : own));
    std::string text = axis.key + "=";
    for (const std::string& value : axis.values) {
      text += (text.back() == '=' ? "" : ",") + value;
    }
    words.insert(words.end(), {"--over", text});
  }
  return words;
}

// Whether both ways say the same; one that no job answers is refused by both.
bool both_ways_agree(std::vector<std::string> words, std::string& text) {
  const Captured shared = test::payoff(words);
  words.emplace_back("--no-share");
  const Captured one_by_one = test::payoff(words);
  text = one_by_one.out;
  return shared.out == one_by_one.out && shared.code == one_by_one.code;
}

}  // namespace

TEST_CASE("jobs that share their preparation write the bytes of jobs that are read one by one",
          "[once]") {
  const ScratchFolder folder;
  constexpr std::uint64_t sweeps = 48;
  std::size_t answered = 0;
  std::size_t impossible = 0;
  for (std::uint64_t seed = 1; seed <= sweeps; ++seed) {
    Draw draw(seed);
    folder.write("job.yaml", jobs[draw.below(jobs.size())]);
    const std::size_t way = draw.below(4);
    std::vector<std::string> words = random_axes(draw, way == 1);
    words.insert(words.begin(), {"sweep", folder.path("job.yaml")});
    const std::vector<std::vector<std::string>> ways{
        {}, {"--zip"}, {"--sample", "5"}, {"--latin", "4"}};
    words.insert(words.end(), ways[way].begin(), ways[way].end());
    INFO(seed);
    std::string text;
    CHECK(both_ways_agree(words, text));
    answered += text.empty() ? 0U : 1U;
    impossible += text.find("impossible") != std::string::npos ? 1U : 0U;
  }
  // Not of refusals alone.
  CHECK(answered > sweeps / 3);
  CHECK(impossible > sweeps / 16);
}

TEST_CASE("a sweep of numbers goes on where it was stopped, in shards and on any threads") {
  const ScratchFolder folder;
  folder.write("job.yaml", jobs.front());
  const std::vector<std::string> words{
      "sweep",  folder.path("job.yaml"),        "--over", "nodes=1..16:x2",
      "--over", "bandwidth=1 Gb/s..64 Gb/s:x2", "--over", "training.bucket=1 MiB..64 MiB:x4"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    return test::payoff(all);
  };
  REQUIRE(with({"-o", folder.path("whole.jsonl"), "--no-share"}).code == ExitCode::success);
  const std::string whole = test::read_text(folder.path("whole.jsonl"));
  for (const std::size_t cut : {std::size_t{0}, whole.size() / 3, whole.size() - 1}) {
    folder.write("part.jsonl", whole.substr(0, cut));
    REQUIRE(with({"-o", folder.path("part.jsonl"), "--resume", "--threads", "3"}).code ==
            ExitCode::success);
    CHECK(test::read_text(folder.path("part.jsonl")) == whole);
  }
  for (const std::string shard : {"0/3", "1/3", "2/3"}) {
    REQUIRE(with({"-o", folder.path("shard.jsonl"), "--shard", shard}).code == ExitCode::success);
  }
  const std::string joined = folder.path("joined.jsonl");
  REQUIRE(
      test::payoff({"merge", folder.path("shard.0-of-3.jsonl"), folder.path("shard.1-of-3.jsonl"),
                    folder.path("shard.2-of-3.jsonl"), "-o", joined})
          .code == ExitCode::success);
  CHECK(test::read_text(joined) == whole);
}

TEST_CASE("a sweep over names and numbers together says the same both ways") {
  const ScratchFolder folder;
  folder.write("job.yaml", jobs[2]);
  std::string text;
  CHECK(both_ways_agree(
      {"sweep", folder.path("job.yaml"), "--over", "nodes=4,8", "--over", "experiment=a,b"}, text));
  CHECK_THAT(text, ContainsSubstring("\"experiment\":\"b\""));
}
