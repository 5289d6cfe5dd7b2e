// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/topology.hpp"
#include "tests/catch.hpp"
#include "tests/cli/collective_words.hpp"

// payoff collective on some GPUs of a topology: --on-gpus, or the first ones.

using namespace payoff;
using Catch::Matchers::WithinRel;
using nlohmann::json;
using payoff::test::example;
using payoff::test::ScratchFolder;
using payoff::test::steps_of;

namespace {

// Of every three GPUs or more of a DGX-1V the links of each GPU to the others, sorted: parts that
// are alike up to the order of their GPUs have the same. One part of each, as --on-gpus takes it.
std::vector<std::string> kinds_of_parts() {
  const std::vector<int> links = dgx1_volta_links();
  std::set<std::vector<std::vector<int>>> known;
  std::vector<std::string> parts;
  for (unsigned mask = 0; mask < 256; ++mask) {
    std::vector<std::size_t> gpus;
    for (std::size_t gpu = 0; gpu < 8; ++gpu) {
      if ((mask >> gpu & 1U) != 0) {
        gpus.push_back(gpu);
      }
    }
    std::vector<std::vector<int>> kind;
    std::string text;
    for (const std::size_t a : gpus) {
      std::vector<int> of_gpu;
      for (const std::size_t b : gpus) {
        of_gpu.push_back(links[a * 8 + b]);
      }
      std::sort(of_gpu.begin(), of_gpu.end());
      kind.push_back(of_gpu);
      text += (text.empty() ? "" : ",") + std::to_string(a);
    }
    std::sort(kind.begin(), kind.end());
    if (gpus.size() >= 3 && known.insert(kind).second) {
      parts.push_back(text);
    }
  }
  return parts;
}

}  // namespace

TEST_CASE("on every part of a DGX-1V rings take what they are priced at") {
  const std::vector<std::string> parts = kinds_of_parts();
  std::printf("%zu parts of a DGX-1V, by the links of their GPUs\n", parts.size());
  for (const std::string& part : parts) {
    const auto ranks = std::count(part.begin(), part.end(), ',') + 1;
    const json row =
        steps_of("all_reduce", {"--cluster", "dgx-1v", "--ranks", std::to_string(ranks),
                                "--topology", example("dgx-1v.yaml"), "--on-gpus", part});
    INFO(part << ": " << row.dump());
    CHECK_THAT(row["steps"]["time_seconds"].get<double>(),
               WithinRel(row["time_seconds"].get<double>(), 1e-6));
  }
}

TEST_CASE("servers with 3 and 5 GPUs of a job have a price of packed trees, and take it") {
  const ScratchFolder folder;
  const std::string text = test::read_text(example("dgx-1v.yaml"));
  folder.write("two.yaml", text + "servers: 2\nnetwork: {kind: switch}\n");
  const auto on = [&](const std::string& gpus) {
    return steps_of("all_reduce", {"--cluster", "dgx-1v", "--nodes", "2", "--gpus-per-node", "4",
                                   "--program", "packed_trees", "--topology",
                                   folder.path("two.yaml"), "--on-gpus", gpus})["steps"];
  };
  const json uneven = on("0..2,8..12");
  const json even = on("0..3,8..11");
  for (const json& steps : {uneven, even}) {
    CHECK_THAT(steps["time_seconds"].get<double>(),
               WithinRel(steps["price_seconds"].get<double>(), 0.01));
  }
  // Two of five shares leave the smaller server by one GPU, twice of three NICs' half each.
  CHECK(uneven["price_seconds"].get<double>() > 1.3 * even["price_seconds"].get<double>());
}

TEST_CASE("a collective has the GPUs of a topology that it is given, and the links between them") {
  const auto bare = [](const std::string& gpus, const std::string& count) {
    const json row = steps_of("all_reduce", {"--cluster", "dgx-1v", "--ranks", count, "--topology",
                                             example("dgx-1v.yaml"), "--on-gpus", gpus});
    return row["steps"]["alpha_beta_seconds"].get<double>();
  };
  // A ring of n passes 2 (n - 1) / n of its part of the buffer over each of its links, of 25 GB/s.
  const double bytes = 256 * 1048576.0;
  const double four = bytes * (2 * 3.0 / 4) / 25e9;
  // 0-1-5-4 is one circle, where 0-1 and 4-5 are single links: a ring in each direction.
  CHECK_THAT(bare("0,1,5,4", "4"), WithinRel(four / 2, 0.01));
  CHECK_THAT(bare("0,1,4,5", "4"), WithinRel(four / 2, 0.01));
  // The first four are all linked, in two circles that share no link.
  CHECK_THAT(bare("0..3", "4"), WithinRel(four / 4, 0.01));
  // No link joins 1 and 4: one ring, whose way from 1 to 4 is over a third GPU.
  CHECK_THAT(bare("0,1,4", "3"), WithinRel(bytes * (2 * 2.0 / 3) / 25e9, 0.01));
}

TEST_CASE("a group of fewer GPUs than a topology has gets the first ones of each server") {
  const auto on = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"--cluster", "dgx-h100", "--nodes", "2", "--algo", "ring",
                               "--topology", example("rail-pod.yaml")});
    return steps_of("all_reduce", more)["steps"];
  };
  CHECK(on({}) == on({"--on-gpus", "0..15"}));
  CHECK(on({}) == on({"--on-gpus", "8..15,248..255"}));  // below the same leaves
  CHECK(on({"--gpus-per-node", "4"}) == on({"--gpus-per-node", "4", "--on-gpus", "0..3,8..11"}));
  // Servers 0 and 32 are below different leaves, whose uplinks nobody else uses.
  CHECK(on({"--on-gpus", "0..7,256..263"})["time_seconds"] == on({})["time_seconds"]);
}
