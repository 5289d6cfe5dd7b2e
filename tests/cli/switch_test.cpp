// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

// What it costs to change a running training.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using nlohmann::json;
using payoff::test::Captured;
using payoff::test::ScratchFolder;

TEST_CASE("the checkpoint of BLOOM-176B is as large as BigScience say") {
  // "only the bf16 weights are 329GB, the full checkpoint with optimizer states is 2.3TB"
  // (bigscience.notion.site, BigScience 176B Model): powers of 1024. Its layout: TP 4, PP 12, DP 8.
  const ScratchFolder folder;
  folder.write("bloom.yaml",
               "cluster: {profile: jean-zay, nodes: 48}\n"
               "model: {profile: bloom-176b}\n"
               "layout: {tp: 4, pp: 12, dp: 8, zero: 1, micro_batch: 2, micro_batches: 128}\n"
               "training: {precision: bf16}\n");
  const json answer = test::json_of({"switch", folder.path("bloom.yaml"), "--with", "layout.dp=4",
                                     "--with", "cluster.nodes=24", "--storage", "100 GB/s"});
  const double gib = 1024.0 * 1024 * 1024;
  const double parameters = answer["parameters"].get<double>();
  CHECK_THAT(parameters * answer["weight_bytes_per_parameter"].get<double>() / gib,
             WithinRel(329.0, 0.005));
  // 2.25 to 2.35 is written as 2.3; 14 bytes a parameter are 2.245.
  CHECK_THAT(answer["save"]["total_bytes"].get<double>() / gib / 1024, WithinRel(2.3, 0.025));
  // Universal Checkpointing's own example: half the replicas, so that shards are others.
  CHECK(answer["convert_write"]["total_bytes"].get<double>() == parameters * 12);
  // Half as many GPUs train half as many samples a step, more slowly: that is never won back.
  CHECK(answer["pays_back"]["steps"].is_null());
}

TEST_CASE("a switch says its mistakes at once and does nothing") {
  const ScratchFolder folder;
  const std::string a = folder.path("a.yaml");
  folder.write("a.yaml", test::small_job);
  folder.write("b.yaml",
               "cluster: {profile: p3-8xlarge, nodes: 2}\n"
               "model: {profile: resnet-101}\n"
               "layout: {micro_batch: 64}\n"
               "training: {precision: fp32, optimizer: sgd}\n");
  const Captured run = test::payoff({"switch", a, folder.path("b.yaml"), "--storage", "20 Gx/s",
                                     "--convert-nodes", "0", "--restart", "99999999 s"});
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring("`model` is another one than that of A, resnet-50") &&
                          ContainsSubstring("`training.optimizer` keeps another state") &&
                          ContainsSubstring("unknown unit `Gx/s`") &&
                          ContainsSubstring("--convert-nodes") &&
                          ContainsSubstring("a restart: 1 us to 720 h"));
  CHECK_THAT(test::payoff({"switch", a}).err, ContainsSubstring("needs --storage"));
}
