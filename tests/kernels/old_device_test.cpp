// SPDX-License-Identifier: Apache-2.0
// What takes the place of precisions that an older GPU does not have.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/families/families.hpp"
#include "kernels/program/session.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using namespace payoff::kernels;
using Catch::Matchers::ContainsSubstring;

namespace {

Machine device_of(const char* capability) {
  Machine machine = describe_machine();
  machine.compute_capability = capability;
  return machine;
}

std::vector<Job> jobs_of(const char* family) {
  std::vector<std::string> unknown;
  return chosen_jobs(full_plan(), {family}, unknown);
}

}  // namespace

TEST_CASE("a GPU without bf16 and tf32 measures products in fp16 and fp32, and none twice") {
  // By the programming guide: Turing (7.5) multiplies fp16 and fp32, Ampere (8.0) bf16 and tf32.
  const std::vector<Job> asked = jobs_of("layers");
  const std::vector<Job> old = suited(asked, device_of("7.5"));
  REQUIRE(old.size() == asked.size());
  std::set<std::string> kernels;
  std::set<std::pair<std::string, Mode>> measured;
  for (std::size_t i = 0; i < old.size(); ++i) {
    const Point& point = old[i].benchmark.point;
    INFO(title_of(point));
    CHECK(measured.insert({title_of(point), old[i].mode}).second);
    if (!point.instead_of.empty()) {
      const Point& before = asked[i].benchmark.point;
      kernels.insert(point.kernel);
      CHECK(old[i].benchmark.least_capability <= 75);
      CHECK(point.traffic.read == before.traffic.read);
      CHECK(point.traffic.flops == before.traffic.flops);
      CHECK(point.parameters.at("bytes") == before.parameters.at("bytes"));
      CHECK(point.parameters.at("fp16") == (point.instead_of == "bf16" ? 1.0 : 0.0));
      CHECK(point.parameters.at("tf32") == 0.0);
    } else if (old[i].benchmark.least_capability > 75) {
      CHECK(point.kernel == "gemm");  // has a point in fp16 and one in fp32, or is fp8
    }
  }
  // Products in shapes of networks of today have no point in fp16 of their own.
  CHECK(kernels == std::set<std::string>{"attention", "autoencoder", "gemm", "lowrank_gemm"});
  for (const Job& job : suited(asked, device_of("8.0"))) {
    CHECK(job.benchmark.point.instead_of.empty());
  }
}

TEST_CASE("a sample says in whose place its precision is") {
  Benchmark newer;
  newer.point = {"attention", "layers", "library", "gaussian", "cold", {{"fp16", 0.0}}, {}, {}};
  newer.least_capability = 80;
  newer.make = []() -> Work { throw std::runtime_error("not on this device"); };
  Benchmark older = newer;
  older.point.parameters["fp16"] = 1.0;
  older.point.instead_of = "bf16";
  older.least_capability = 0;
  older.make = [] { return Work{[](Stream) {}, {}, {}}; };
  newer.instead = std::make_shared<const Benchmark>(older);
  const Budget budget{{3, 3, 0.02, 0_s, 1_ms}, 100_s};
  const Outcome outcome = measure_all(
      {{newer, Mode::stream}}, device_of("7.5"), budget, [] { return 0_s; },
      [](std::string_view) {});
  CHECK(outcome.failed.empty());
  REQUIRE(outcome.points.size() == 1);
  SamplesFile file;
  file.points = outcome.points;
  CHECK_THAT(text_of(file), ContainsSubstring("\"instead_of\": \"bf16\""));
  file.points.front().point.instead_of.clear();
  CHECK_THAT(text_of(file), !ContainsSubstring("instead_of"));
}

TEST_CASE("products beside other kernels are in a precision that the GPU has") {
  std::size_t products = 0;
  for (const Neighbours& each : neighbour_benchmarks(full_plan())) {
    for (const Neighbour& member : each) {
      const Benchmark& old = suited(member.benchmark, device_of("7.5"));
      CHECK(old.least_capability <= 75);
      products += old.point.instead_of == "bf16" ? 1UL : 0UL;
    }
  }
  CHECK(products > 10);
}
