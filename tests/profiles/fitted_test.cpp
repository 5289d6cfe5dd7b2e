// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>

#include "model/group_paths.hpp"
#include "profiles/read_fitted.hpp"
#include "tests/catch.hpp"
#include "tests/profiles/profile_folder.hpp"

using namespace payoff;
using test::ProfileFolder;
using test::ProfileReading;
using test::shipped;

namespace {

const Fact& fact_at(const Facts& facts, const std::string& path) {
  const auto found =
      std::find_if(facts.begin(), facts.end(), [&](const Fact& fact) { return fact.path == path; });
  INFO(path);
  REQUIRE(found != facts.end());
  return *found;
}

const std::string codecs =
    "citations:\n"
    "  timings: {kind: published, date: 2026-11-21, text: \"table 5\"}\n"
    "  guess: {kind: assumed, text: \"as a copy\"}\n"
    "implementation:\n"
    "  fused:\n"
    "    measured_on: [b200-sxm]\n"
    "    dispatch: {value: 0 us, from: guess}\n"
    "    host_sync: {value: 10 us, from: guess}\n"
    "    resident_efficiency: {value: 0.9, sd: 3 %, range: \"1 MB to 30 MB\", from: timings}\n"
    "    memory_efficiency: {value: 70 %, from: timings}\n"
    "    random_efficiency: {value: 0.3, from: guess}\n"
    "    gemm_efficiency: {value: 0.25, from: guess}\n"
    "    streams: {smallest: 10 MB, largest: 2 GB}\n"
    "    relative_sd: {value: 0.2, from: timings}\n"
    "fits: {fused: {rows: 29}}\n";

struct Outcome {
  CodecLaw law;
  Facts facts;
  std::string errors;
};

Outcome read(const std::string& text, Implementation implementation = Implementation::fused) {
  const ProfileFolder folder;
  folder.write("fitted/codecs.yaml", text);
  ProfileReading reading(folder.library());
  Outcome outcome;
  outcome.law = read_codec_law(implementation, reading.context(), outcome.facts);
  outcome.errors = reading.errors();
  return outcome;
}

std::string changed(const std::string& before, const std::string& after) {
  std::string text = codecs;
  const std::size_t at = text.find(before);
  REQUIRE(at != std::string::npos);
  return text.replace(at, before.size(), after);
}

}  // namespace

TEST_CASE("a law is read with the provenance of each of its numbers") {
  const Outcome outcome = read(codecs);
  CHECK(outcome.errors.empty());
  CHECK(outcome.law.host_sync == 10_us);
  CHECK(outcome.law.memory_efficiency == 0.7);
  CHECK(outcome.law.streams == FitRange<Bytes>{10_MB, 2_GB});
  CHECK(outcome.facts.size() == 7);
  const Fact& fitted = fact_at(outcome.facts, "law.resident_efficiency");
  CHECK(fitted.kind == Provenance::published);
  CHECK(fitted.citation == "table 5");
  CHECK(fitted.relative_sd == 0.03);
  CHECK(fitted.range == "1 MB to 30 MB");
  CHECK(fact_at(outcome.facts, "law.dispatch").kind == Provenance::assumed);
}

TEST_CASE("a law must be whole, and nothing else") {
  CHECK(read(changed("    relative_sd: {value: 0.2, from: timings}\n", "")).errors ==
        "codecs.yaml:5:3 missing key `relative_sd` in `law` | `relative_sd` is required here\n");
  CHECK_THAT(read(changed("    gemm_efficiency", "    gem_efficiency")).errors,
             Catch::Matchers::Contains("did you mean `gemm_efficiency`?"));
  CHECK_THAT(read(changed("value: 10 us", "value: 10")).errors,
             Catch::Matchers::Contains("`law.host_sync` has no unit"));
  CHECK_THAT(read(changed("{value: 0.2, from: timings}", "0.2")).errors,
             Catch::Matchers::Contains("does not say where it comes from"));
}

TEST_CASE("hardware without a law is an error, not a zero") {
  CHECK_THAT(read(codecs, Implementation::library).errors,
             Catch::Matchers::StartsWith("codecs.yaml:1:1 no law of implementation `library` | "
                                         "`payoff calibrate fit` writes it"));
  CHECK_THAT(read("implementation: fused\n").errors,
             Catch::Matchers::Contains("no law of implementation `fused`"));
}

TEST_CASE("mistakes in the laws of other hardware do not concern this one") {
  CHECK(read(codecs + "gpu: {t4: {nonsense: 1}}\n").errors.empty());
}

TEST_CASE("a borrowed law is an assumption, and says of what") {
  ProfileReading reading(shipped());
  const auto whole = read_fabric("nvlink-mesh-v2", std::nullopt, reading.context());
  const auto half = read_fabric("nvlink-mesh-v2-half", std::nullopt, reading.context());
  REQUIRE(whole);
  REQUIRE(half);
  CHECK(half->value.law.launch == whole->value.law.launch);
  const Fact& launch = fact_at(half->facts, "law.launch");
  CHECK(launch.kind == Provenance::assumed);
  CHECK(launch.citation == "as nvlink-mesh-v2: " + fact_at(whole->facts, "law.launch").citation);
}

TEST_CASE("a fit reads hardware without laws") {
  const ProfileFolder folder;
  std::filesystem::remove_all(folder.path() / "fitted");
  ProfileReading reading(folder.library());
  ReadContext context = reading.context();
  context.with_laws = false;
  CHECK(read_cluster("dgx-h100", std::nullopt, context));
  CHECK(reading.errors().empty());
}

TEST_CASE("a GPU needs an efficiency for each precision that it has") {
  const ProfileFolder folder;
  const std::string law =
      "citations: {guess: {kind: assumed, text: made up}}\ngpu:\n  t4:\n    from: guess\n"
      "    gemm_efficiency: {fp32: 0.9, fp16: 0.6}\n    convolution_efficiency: 0.8\n"
      "    attention_efficiency: 0.7\n    depth_half: 64\n    memory_efficiency: 0.8\n"
      "    launch: 5 us\n    relative_sd: 10 %\n";
  folder.write("fitted/compute.yaml", law);
  {
    ProfileReading reading(folder.library());
    const auto gpu = read_gpu("t4", std::nullopt, reading.context());
    CHECK(reading.errors().empty());
    REQUIRE(gpu);
    CHECK(gpu->value.law.gemm_efficiency[Precision::fp16] == 0.6);
    CHECK(gpu->value.law.gemm_efficiency[Precision::fp8] == 0.0);
  }
  folder.replace("gpu/t4.yaml", "  fp16: {", "  fp8: {value: 1 TFLOP/s, from: t4a}\n  fp16: {");
  ProfileReading reading(folder.library());
  CHECK_FALSE(read_gpu("t4", std::nullopt, reading.context()));
  CHECK(reading.errors() ==
        "compute.yaml:5:5 missing key `fp8` in `law.gemm_efficiency` | `fp8` is required here\n");
}

// The constant in model/group_paths.cpp is that of the fit, which a group's paths must not depend
// on.
TEST_CASE("a card gets of a NIC what the fit of PCIe 4 says two cards get of each other") {
  ProfileReading reading(shipped());
  const auto pcie = read_fabric("pcie4", std::nullopt, reading.context());
  REQUIRE(pcie);
  Cluster cluster;
  cluster.gpu.architecture = Architecture::ampere;
  cluster.gpu.card = true;
  cluster.network.kind = NetworkKind::rdma;
  cluster.network.gpudirect = true;
  cluster.nics_per_node = 1;
  cluster.nic = 400_Gbps;  // more than the slot
  const double share = paths_of(cluster, {2, 1, 1}).domain / pcie->value.per_gpu;
  const Fact& fitted = fact_at(pcie->facts, "law.share_simple");
  CHECK(std::abs(share / pcie->value.law.share_simple - 1) <= fitted.relative_sd.value());
}
