// SPDX-License-Identifier: Apache-2.0
#include "study/row_method.hpp"

#include <filesystem>
#include <string>

#include "profiles/library.hpp"
#include "study/row_compression.hpp"
#include "tests/catch.hpp"

using namespace payoff;

namespace {

MethodProfiles profiles_of(const std::string& method) {
  TrainingRow row;
  row.compression.method = method;
  return usual_profiles(row);
}

}  // namespace

// Seide et al. (Interspeech 2014) quantize every gradient as it comes; 1-bit Adam, LAMB and 0/1
// Adam send the optimizer's momentum, which is there when all gradients are.
TEST_CASE("1-bit SGD compresses beside the backward pass, 1-bit optimizers after it") {
  const MethodCatalogue methods =
      read_method_catalogue(Library(std::filesystem::path(PAYOFF_SOURCE_DIR) / "profiles"));
  for (const char* method : {"onebit", "1bit", "1-bit SGD", "1BitSGD"}) {
    INFO(method);
    CHECK(profiles_of(method).operators == "onebit");
    CHECK_FALSE(methods.at(profiles_of(method).operators).after_backward);
  }
  for (const char* method : {"1-bit Adam", "onebit_adam", "1-bit LAMB", "OneBitLamb", "0/1 Adam"}) {
    INFO(method);
    REQUIRE_FALSE(profiles_of(method).operators.empty());
    CHECK(methods.at(profiles_of(method).operators).after_backward);
  }
}

TEST_CASE("a quantizer that CGX ran is CGX's, and one that nobody named is a chain of operators") {
  TrainingRow row;
  row.compression.method = "qsgd";
  CHECK(usual_profiles(row).operators == "qsgd_framework");
  row.compression.library = "CGX";
  CHECK(usual_profiles(row).operators.empty());
  CHECK(usual_profiles(row).kernels == "cgx");
}

TEST_CASE("L-GreCo sends what the compressor sends that a row says it chose parameters of") {
  TrainingRow row;
  row.compression.method = "L-GreCo";
  CHECK(usual_profiles(row).operators.empty());
  CHECK(usual_profiles(row).kernels.empty());
  row.compression.keep_ratio = 0.01;
  CHECK(usual_profiles(row).operators == "topk");
  row.compression.bits = 4;
  CHECK(usual_profiles(row).kernels == "cgx");
  row.compression.rank = 4;
  CHECK(usual_profiles(row).operators == "powersgd");
}
