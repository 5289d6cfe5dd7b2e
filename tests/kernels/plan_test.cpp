// SPDX-License-Identifier: Apache-2.0
// What the plans of payoff-kernels measure, in which order, and whether their time is enough.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "kernels/families/families.hpp"
#include "kernels/program/session.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using namespace payoff::kernels;

TEST_CASE("every point of a plan has time to end by its noise or its entropy") {
  for (const bool full : {false, true}) {
    const Plan plan = full ? full_plan() : quick_plan();
    std::vector<std::string> unknown;
    const std::vector<Job> jobs = chosen_jobs(plan, {}, unknown);
    const Budget budget = budget_of_points(budget_of(full), chosen_neighbours(plan, {}).size());
    const Seconds share = share_of_point(budget, 0_s, jobs.size());
    CHECK(share > budget.rule.shortest);
    // A quiet kernel, and one of 5 % noise, of 100 us; with the sweep and the host 400 us a sample.
    for (const double noise : {0.001, 0.05}) {
      const auto take = [noise, i = std::uint64_t{0}]() mutable {
        const double deviation = static_cast<double>(normal_value({7, 0}, i++));
        return Sample{100_us * (1.0 + noise * deviation), 1.0, 400_us};
      };
      const Measurement found = measure(
          take, [](Seconds) {}, within(budget.rule, share), 0.5_us);
      CHECK((found.stop == Stop::noise || found.stop == Stop::entropy));
    }
  }
}

TEST_CASE("a shorter time of a point shortens the time before it may end, and never lengthens") {
  const StopRule whole = full_rule();
  CHECK(within(whole, 1_s).longest == whole.longest);
  CHECK(within(whole, 1_s).shortest == whole.shortest);
  const StopRule half = within(whole, 100_ms);
  CHECK(half.longest == 100_ms);
  CHECK_THAT(half.shortest / half.longest, Catch::Matchers::WithinRel(0.3, 1e-12));
}

TEST_CASE("a long plan has all sizes of the usual variant, for a knee, and a line of any other") {
  // Laws have a knee from eight sizes on (calibrate/kernel_form) and a line from three.
  std::map<std::string, std::set<double>> sizes;
  for (const Benchmark& each : all_benchmarks(full_plan())) {
    const auto elements = each.point.parameters.find("elements");
    if (elements != each.point.parameters.end() && each.point.input == "gaussian" &&
        each.point.parameters.count("rows") == 0) {
      Parameters others = each.point.parameters;
      others.erase("elements");
      sizes[each.point.kernel + each.point.implementation + text_of(others)].insert(
          elements->second);
    }
  }
  std::size_t whole = 0;
  for (const auto& [law, seen] : sizes) {
    INFO(law);
    CHECK(seen.size() >= 3);
    whole += seen.size() >= 8 ? 1UL : 0UL;
  }
  CHECK(whole > 50);
  for (const char* law : {"reduce_groupfused bits=8 group=128 stochastic=0 workers=8",
                          "reduce_groupframework_ops bits=4 group=128 stochastic=0 workers=8",
                          "scatter_addfused ratio=0.01 workers=8", "topk_radixfused ratio=0.01",
                          "majorityfused workers=8"}) {
    INFO(law);
    CHECK(sizes[law].size() == 9);
  }
}

TEST_CASE("a long plan multiplies in the shapes of the networks that the profiles have") {
  std::set<std::array<double, 3>> shapes;
  for (const Benchmark& each : all_benchmarks(full_plan())) {
    const Parameters& sides = each.point.parameters;
    if (each.point.kernel == "gemm" && sides.at("bytes") == 2.0 && sides.at("fp16") == 0.0) {
      shapes.insert({sides.at("m"), sides.at("n"), sides.at("k")});
    }
  }
  const auto number = [](const std::string& model, const std::string& key) {
    std::ifstream file(std::filesystem::path(PAYOFF_SOURCE_DIR) / "profiles/model" /
                       (model + ".json"));
    return nlohmann::json::parse(file).at(key).get<double>();
  };
  const double tokens = 4096.0;
  const auto has_both_ways = [&](double wide, double rows, double hidden) {
    INFO(wide << " x " << rows << " x " << hidden);
    CHECK(shapes.contains({wide, rows, hidden}));
    CHECK(shapes.contains({hidden, rows, wide}));
  };
  has_both_ways(number("llama-3-8b", "intermediate_size"), tokens,
                number("llama-3-8b", "hidden_size"));
  has_both_ways(number("llama-2-70b", "intermediate_size") / 8.0, tokens,
                number("llama-2-70b", "hidden_size"));
  has_both_ways(number("mixtral-8x7b", "intermediate_size"),
                tokens * number("mixtral-8x7b", "num_experts_per_tok") /
                    number("mixtral-8x7b", "num_local_experts"),
                number("mixtral-8x7b", "hidden_size"));
  has_both_ways(number("deepseek-v3", "moe_intermediate_size"),
                tokens * number("deepseek-v3", "num_experts_per_tok") /
                    number("deepseek-v3", "n_routed_experts"),
                number("deepseek-v3", "hidden_size"));
  const double latent =
      number("deepseek-v3", "kv_lora_rank") + number("deepseek-v3", "qk_rope_head_dim");
  CHECK(shapes.contains({latent, tokens, number("deepseek-v3", "hidden_size")}));
}

TEST_CASE("what every prediction takes is measured first, chains of operators last") {
  std::vector<std::string> families;
  for (const Benchmark& each : all_benchmarks(full_plan())) {
    if (families.empty() || families.back() != each.point.family) {
      families.push_back(each.point.family);
    }
  }
  const auto place = [&](const std::string& name) {
    return std::find(families.begin(), families.end(), name) - families.begin();
  };
  for (const char* first : {"memory", "layers", "transfers", "collectives"}) {
    CHECK(place(first) < place("casts"));
  }
  CHECK(all_benchmarks(full_plan()).back().point.implementation == "framework_ops");
}

TEST_CASE(
    "of a long plan graphs are left out where a launch moves so much that it hides the next") {
  std::vector<std::string> unknown;
  const auto graphs = [&](double elements) {
    std::size_t count = 0;
    for (const Job& job : chosen_jobs(full_plan(), {"sign_ef"}, unknown)) {
      const bool counts =
          job.mode == Mode::graph && job.benchmark.point.parameters.at("elements") == elements;
      count += counts ? 1UL : 0UL;
    }
    return count;
  };
  CHECK(graphs(4096.0) == 2);  // fused and by operators
  CHECK(graphs(268435456.0) == 0);
}

TEST_CASE("steps of PowerSGD and their products are measured in batches, each with its bytes") {
  for (const char* kernel : {"power_sgd", "power_sgd_cholesky", "lowrank_gemm"}) {
    // By all but the batch: what one moves, and what a batch does.
    std::map<std::string, std::map<double, payoff::Bytes>> moved;
    for (const Benchmark& each : all_benchmarks(full_plan())) {
      if (each.point.kernel == kernel) {
        Parameters others = each.point.parameters;
        const double batch = others.at("batch");
        others.erase("batch");
        const Traffic& traffic = each.point.traffic;
        moved[each.point.implementation + text_of(others)][batch] = traffic.read + traffic.written;
      }
    }
    std::size_t batched = 0;
    for (const auto& [size, by_batch] : moved) {
      INFO(kernel << " " << size);
      REQUIRE(by_batch.contains(1.0));
      batched += by_batch.size() == 3 ? 1UL : 0UL;
      for (const auto& [batch, bytes] : by_batch) {
        CHECK_THAT(bytes / by_batch.at(1.0), Catch::Matchers::WithinRel(batch, 1e-12));
        CHECK((batch == 1.0 || batch == 8.0 || batch == 48.0));
      }
    }
    CHECK(batched >= 4);  // of each rank
  }
}
