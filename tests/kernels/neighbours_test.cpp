// SPDX-License-Identifier: Apache-2.0
// Kernels beside each other on the emulated grid: what is chosen, what a message moves, what is
// kept. Times mean nothing here.
#include <algorithm>
#include <set>

#include "kernels/families/families.hpp"
#include "kernels/program/session.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using namespace payoff::kernels;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;

namespace {

std::size_t with_roles(const std::vector<Neighbours>& all, const std::set<Role>& roles) {
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [&](const Neighbours& each) {
        std::set<Role> own;
        for (const Neighbour& member : each) {
          own.insert(member.role);
        }
        return own == roles;
      }));
}

}  // namespace

TEST_CASE("a message is queued before what runs beside it, as a framework's collectives are") {
  const Work work;
  Neighbour neighbour;
  for (const Role role : {Role::compute, Role::codec, Role::message, Role::copies}) {
    neighbour.role = role;
    const QueuedWork made = queued(neighbour, work, 7);
    CHECK(made.comes_first == (role == Role::message));
    CHECK(made.runs_a_part == 7);
  }
}

TEST_CASE("every kind of pair, and three at once, are among what is measured") {
  for (const Plan& plan : {quick_plan(), full_plan(), emulated_plan()}) {
    const std::vector<Neighbours> all = neighbour_benchmarks(plan);
    CHECK(with_roles(all, {Role::compute, Role::codec}) >= 3);
    CHECK(with_roles(all, {Role::compute, Role::message}) >= 1);
    CHECK(with_roles(all, {Role::compute, Role::copies}) >= 1);
    CHECK(with_roles(all, {Role::codec, Role::message}) >= 3);
    CHECK(with_roles(all, {Role::codec, Role::copies}) >= 3);
    CHECK(with_roles(all, {Role::compute, Role::codec, Role::message}) >= 3);
    CHECK(with_roles(all, {Role::compute, Role::codec, Role::copies}) >= 1);
    std::set<std::string> titles;
    for (const Neighbours& each : all) {
      INFO(title_of(each));
      CHECK(titles.insert(title_of(each)).second);
      std::set<Role> roles;
      for (const Neighbour& member : each) {
        CHECK(roles.insert(member.role).second);
      }
    }
  }
}

TEST_CASE("a codec of two sizes and a kernel that goes value by value are beside others") {
  std::set<double> sizes;
  std::set<std::string> computing;
  for (const Neighbours& each : neighbour_benchmarks(full_plan())) {
    for (const Neighbour& member : each) {
      const Point& point = member.benchmark.point;
      if (member.role == Role::codec && point.kernel == "quantize_group") {
        sizes.insert(point.parameters.at("elements"));
      }
      if (member.role == Role::compute) {
        computing.insert(point.kernel);
      }
    }
  }
  CHECK(sizes == std::set<double>{16777216.0, 67108864.0});
  CHECK(computing == std::set<std::string>{"attention", "gemm", "layer_norm", "swiglu"});
}

// Whether pairs add up is asked of codecs that read and write, compute and draw numbers.
TEST_CASE("three at once have codecs of three kinds, whatever else is measured") {
  for (const bool full : {false, true}) {
    std::set<std::string> beside_message;
    for (const Neighbours& each : neighbour_benchmarks(full ? full_plan() : quick_plan())) {
      if (each.size() == 3 && each[2].role == Role::message) {
        beside_message.insert(each[1].benchmark.point.kernel);
        CHECK(each[1].benchmark.point.parameters.at("elements") == 67108864.0);
      }
    }
    CHECK(beside_message == std::set<std::string>{"fp8_blocks", "quantize_group", "sign_ef"});
  }
}

TEST_CASE("a message moves what it is given, in every step and block") {
  const std::vector<Benchmark> all = message_benchmarks(emulated_plan());
  REQUIRE(all.size() == 1);
  const Work work = all.front().make();
  work.run(Stream{});
  CHECK_THAT(work.mismatch(), Equals(""));
}

TEST_CASE("what was measured beside each other is in the file, with what each takes alone") {
  std::vector<Neighbours> chosen = chosen_neighbours(emulated_plan(), {"interference"});
  CHECK(chosen_neighbours(emulated_plan(), {"casts"}).empty());
  // One of layers, which need no library; a triple.
  std::erase_if(chosen, [](const Neighbours& each) {
    return each.front().benchmark.point.kernel != "layer_norm" || each.size() < 3;
  });
  REQUIRE(!chosen.empty());
  chosen.resize(1);
  Outcome outcome;
  const Machine machine = describe_machine();
  measure_neighbours(
      chosen, machine, budget_of(false), [] { return 0_s; }, [](std::string_view) {},
      instruments_of(machine, outcome), outcome);
  CHECK(outcome.failed.empty());
  REQUIRE(outcome.neighbours.size() == 1);
  CHECK(outcome.neighbours.front().members.size() == 3);
  SamplesFile file;
  file.neighbours = outcome.neighbours;
  const std::string text = text_of(file);
  CHECK_THAT(text, ContainsSubstring("\"interference\"") && ContainsSubstring("\"alone_us\"") &&
                       ContainsSubstring("\"role\": \"message\"") &&
                       ContainsSubstring("\"units_held\": 1"));
}

TEST_CASE("beside each other nothing is begun that the time does not reach for") {
  const std::vector<Neighbours> chosen = chosen_neighbours(emulated_plan(), {});
  Outcome outcome;
  const Machine machine = describe_machine();
  measure_neighbours(
      chosen, machine, budget_of(false), [] { return 109.9_s; }, [](std::string_view) {},
      instruments_of(machine, outcome), outcome);
  CHECK(outcome.neighbours.empty());
  CHECK(outcome.left_out.size() == chosen.size());
  const Budget whole = budget_of(true);
  CHECK(budget_of_points(whole, 0).longest == whole.longest);
  CHECK(budget_of_points(whole, 10).longest == whole.longest - 10.0 * longest_of_neighbours);
  CHECK(budget_of_points(whole, 100'000).longest > 0.5 * whole.longest);
}
