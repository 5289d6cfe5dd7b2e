// SPDX-License-Identifier: Apache-2.0
// Every benchmark of payoff-kernels, run once on the emulated grid: the outputs are the host
// reference's, for fused kernels and for the chains of operators that do the same.
#include "kernels/families/families.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "kernels/emulation/grid.hpp"
#include "kernels/program/machine.hpp"
#include "kernels/program/outputs.hpp"
#include "tests/catch.hpp"

using namespace payoff::kernels;

namespace {

using Family = std::vector<Benchmark> (*)(const Plan&);

// Every kind of input, at fewer lengths than on a GPU: a fiber a thread is slow.
Plan emulated_check_plan() {
  Plan plan = check_plan();
  plan.shapes = {{777, InputKind::gaussian, 3},
                 {1, InputKind::laplace, 3},
                 {4099, InputKind::student_t3, 4},
                 {259, InputKind::constant, 3},
                 {513, InputKind::denormal, 3}};
  return plan;
}

void check_family(Family family) {
  std::size_t compared = 0;
  for (const Benchmark& benchmark : family(emulated_check_plan())) {
    // Of libraries, the host stands in for products only.
    if (!benchmark.needs.empty() && benchmark.needs != "cublas") {
      continue;
    }
    const Work work = benchmark.make();
    const std::size_t before = emulation::launches();
    work.run(Stream{});
    INFO(title_of(benchmark.point));
    if (benchmark.point.implementation == "framework_ops") {
      CHECK(emulation::launches() - before ==
            static_cast<std::size_t>(benchmark.point.traffic.launches));
    }
    if (work.mismatch) {
      CHECK_THAT(work.mismatch(), Catch::Matchers::Equals(""));
      ++compared;
    }
  }
  CHECK(compared > 0);
}

}  // namespace

TEST_CASE("benchmarks of the memory move what they say") { check_family(memory_benchmarks); }
TEST_CASE("copies between host and device arrive whole") { check_family(transfer_benchmarks); }
TEST_CASE("a copy to the host has the checksum of one to the device, also beyond what is summed") {
  Plan plan;
  plan.shapes = {{most_in_checksum + 1}};
  std::map<std::string, std::uint64_t> checksums;
  for (const Benchmark& benchmark : transfer_benchmarks(plan)) {
    if (benchmark.needs.empty()) {
      const Work work = benchmark.make();
      work.run(Stream{});
      checksums[benchmark.point.kernel] = work.checksum();
    }
  }
  REQUIRE(checksums.size() == 2);
  CHECK(checksums.at("device_to_host") == checksums.at("host_to_device"));
}
TEST_CASE("benchmarks of casts give the reference's bytes") { check_family(cast_benchmarks); }
TEST_CASE("natural compression and its decoding give the reference's bytes") {
  check_family(natural_benchmarks);
}
TEST_CASE("benchmarks of block formats give the reference's bytes") {
  check_family(block_benchmarks);
}
TEST_CASE("block formats decode to the reference's values") {
  check_family(block_decoding_benchmarks);
}
TEST_CASE("benchmarks of signs give the reference's bytes") { check_family(sign_benchmarks); }
TEST_CASE("benchmarks of grouped quantisation give the reference's bytes") {
  check_family(group_benchmarks);
}
TEST_CASE("chains of grouped quantisation give the reference's bytes") {
  check_family(group_operator_benchmarks);
}
TEST_CASE("benchmarks of selection give the reference's entries") {
  check_family(selection_benchmarks);
}
TEST_CASE("chains of selection give the reference's entries") {
  check_family(selection_operator_benchmarks);
}
TEST_CASE("thresholds that are looked for are the reference's, and keep its entries") {
  check_family(threshold_benchmarks);
}
TEST_CASE("chains that look for thresholds find the reference's, and keep its entries") {
  check_family(threshold_operator_benchmarks);
}
TEST_CASE("benchmarks of sparse sums are within their bounds") { check_family(sparse_benchmarks); }
TEST_CASE("benchmarks of sketches are within their bounds") { check_family(sketch_benchmarks); }
TEST_CASE("benchmarks of transforms give the reference's bytes") {
  check_family(transform_benchmarks);
}
TEST_CASE("benchmarks of orthogonalisation are within their bounds") {
  check_family(low_rank_benchmarks);
}
// Each of its kernels runs in a case of its own.
TEST_CASE("steps of PowerSGD give what the reference receives and keeps, within their bound",
          "[once]") {
  check_family(power_sgd_benchmarks);
}
TEST_CASE("products of a library are within the rounding of their sums") {
  check_family(product_benchmarks);
}
TEST_CASE("benchmarks of normalisation and softmax are within their bounds") {
  check_family(layer_benchmarks);
}

TEST_CASE("what goes value by value is within its bound, fused and as operators") {
  check_family(element_wise_benchmarks);
}

TEST_CASE("no two benchmarks of a plan are the same point") {
  for (const Plan& plan : {quick_plan(), full_plan(), check_plan()}) {
    std::set<std::string> titles;
    for (const Benchmark& benchmark : all_benchmarks(plan)) {
      INFO(title_of(benchmark.point));
      CHECK(titles.insert(title_of(benchmark.point)).second);
    }
  }
}

TEST_CASE("every fused codec is measured as a chain of operators too") {
  // One operator in a framework as well; what a framework has in no other way.
  const std::set<std::string> single{"cast_bf16", "cast_fp16", "uncast_bf16"};
  const std::set<std::string> codecs{"casts",  "blocks",    "signs",     "groups",
                                     "sparse", "selection", "transforms"};
  for (const Plan& plan : {full_plan(), check_plan()}) {
    std::set<std::string> fused;
    std::set<std::string> chains;
    for (const Benchmark& each : all_benchmarks(plan)) {
      const Point& point = each.point;
      if (codecs.contains(point.family) && !single.contains(point.kernel)) {
        // Both roundings of the middle of a quantised reduction, at every number of bits.
        std::string name = point.kernel;
        if (name == "reduce_group") {
          name += text_of({{"bits", point.parameters.at("bits")},
                           {"stochastic", point.parameters.at("stochastic")}});
        }
        if (point.implementation == "fused") {
          fused.insert(name);
        } else if (point.implementation == "framework_ops") {
          chains.insert(name);
        }
      }
    }
    CHECK(fused == chains);
    CHECK(chains.contains("quantize_group_bf16"));
    CHECK(chains.contains("reduce_group bits=8 stochastic=1"));
  }
}

TEST_CASE("operators move more than the fused kernels that do the same") {
  std::map<std::string, payoff::Bytes> fused;
  const auto key = [](const Point& point) { return point.kernel + text_of(point.parameters); };
  const auto benchmarks = all_benchmarks(full_plan());
  for (const Benchmark& benchmark : benchmarks) {
    const bool is_step = benchmark.point.kernel == "power_sgd";  // its products are a library's
    if (benchmark.point.implementation == (is_step ? "library" : "fused")) {
      fused[key(benchmark.point)] = benchmark.point.traffic.read + benchmark.point.traffic.written;
    }
  }
  std::size_t compared = 0;
  for (const Benchmark& benchmark : benchmarks) {
    const Point& point = benchmark.point;
    if (point.implementation == "framework_ops" && point.family != "sparse") {
      INFO(title_of(point));
      const auto found = fused.find(key(point));
      REQUIRE(found != fused.end());
      CHECK(point.traffic.read + point.traffic.written > found->second);
      ++compared;
    }
  }
  CHECK(compared > 100);
}

TEST_CASE("chains of signs and powers of two move what each of their operators does") {
  Plan plan;
  plan.shapes = {{4096}};  // two tiles of sums, and their sum: two levels
  plan.workers = {3};
  const auto traffic_of = [](const std::vector<Benchmark>& family, const std::string& kernel) {
    const auto found = std::find_if(family.begin(), family.end(), [&](const Benchmark& each) {
      return each.point.kernel == kernel && each.point.implementation == "framework_ops";
    });
    REQUIRE(found != family.end());
    return found->point.traffic;
  };
  // Bytes a value: 4 of a float, 1 of a code or a flag, and of a bit:
  constexpr double bit = 1.0 / 8.0;
  const auto bytes = [](double each) { return payoff::Bytes{4096.0 * each}; };

  // The numbers, which read nothing; the code of value and number.
  const Traffic natural = traffic_of(natural_benchmarks(plan), "natural");
  CHECK(natural.read == bytes(8.0));
  CHECK(natural.written == bytes(4.0 + 1.0));
  CHECK(natural.launches == 2);

  // Corrected gradient, magnitudes, their sum, flags, bits, signs, what they leave. The mean is a
  // launch more.
  const std::vector<Benchmark> signs = sign_benchmarks(plan);
  const Traffic feedback = traffic_of(signs, "sign_ef");
  CHECK(feedback.read == bytes(8.0 + 4.0 + 4.0 + 4.0 + 1.0 + bit + 8.0));
  CHECK(feedback.written == bytes(4.0 + 4.0 + 1.0 + bit + 4.0 + 4.0));
  CHECK(feedback.launches == 1 + 1 + 2 + 1 + 1 + 1 + 1 + 1);

  // A sum that starts at zero, to which the signs of three workers are added; flags, bits.
  const Traffic votes = traffic_of(signs, "majority");
  CHECK(votes.read == bytes(3.0 * (bit + 8.0) + 4.0 + 1.0));
  CHECK(votes.written == bytes(4.0 + 3.0 * (4.0 + 4.0) + 1.0 + bit));
  CHECK(votes.launches == 1 + 3 * 2 + 1 + 1);
}
