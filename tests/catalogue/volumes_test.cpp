// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <vector>

#include "tests/catalogue/methods.hpp"
#include "tests/catch.hpp"
#include "tests/model/architectures.hpp"

// Bytes that GRACE's own runs logged for one step of one worker (sands-lab/grace-data at 41915bb,
// GRACE_data_release.pickle, project imagenet-classification, mode data-volume, 8 workers, mean
// over the run): ResNet-50 with 1001 classes, 25,559,081 parameters in 161 tensors.

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

struct Logged {
  const char* run;
  const char* method;
  std::map<std::string, double> parameters;
  double bytes;
};

const std::vector<Logged> fixed{
    {"topk_ratio=0.5", "topk_sort", {{"ratio", 0.5}}, 102236320},
    {"topk_ratio=0.25", "topk_sort", {{"ratio", 0.25}}, 51118160},
    {"topk_ratio=0.1", "topk_sort", {{"ratio", 0.1}}, 20446616},
    {"topk_ratio=0.01", "topk_sort", {{"ratio", 0.01}}, 2044264},
    {"topk_ratio=0.01", "topk", {{"ratio", 0.01}, {"index_bytes", 4}}, 2044264},
    {"randomk_ratio=0.5", "randomk_uniform", {{"ratio", 0.5}}, 51118160},
    {"randomk_ratio=0.01", "randomk_uniform", {{"ratio", 0.01}}, 1022132},
    {"randomk_ratio=0.1", "randomk", {{"ratio", 0.1}}, 10223308},
    {"natural", "natural", {}, 25559081},
    {"8bit", "u8_dynamic", {}, 25559725},
    {"onebit_mem", "onebit", {}, 25560369},
    {"signum", "signsgd_bytes", {{"momentum", 1}}, 25559081},
    {"signsgd", "signsgd_bytes", {}, 25559081},
    {"efsignsgd_mem", "efsignsgd", {}, 25559725},
    {"qsgd_q=256", "qsgd_framework", {{"levels", 256}}, 51118806},
    {"qsgd_q=128", "qsgd_framework", {{"levels", 128}}, 51118806},
    {"qsgd_q=64", "qsgd_framework", {{"levels", 64}}, 25559725},
    {"terngrad", "terngrad", {}, 25559725},
    {"sketch_q=256", "sketch", {{"quantiles", 256}}, 51283026},
    {"sketch_q=128", "sketch", {{"quantiles", 128}}, 25641513},
    {"sketch_q=64", "sketch", {{"quantiles", 64}}, 25600297}};

// How many values pass their thresholds depends on the data: they aim at the ratio.
const std::vector<Logged> aimed{{"adaq_mem_ratio=0.5", "adaq", {{"ratio", 0.5}}, 51100562.8},
                                {"adaq_mem_ratio=0.25", "adaq", {{"ratio", 0.25}}, 25586087.2},
                                {"adaq_mem_ratio=0.1", "adaq", {{"ratio", 0.1}}, 10251284.0},
                                {"adaq_mem_ratio=0.01", "adaq", {{"ratio", 0.01}}, 1053961.2},
                                {"dgc_mem_ratio=0.5", "dgc", {{"ratio", 0.5}}, 102044359.2},
                                {"dgc_mem_ratio=0.25", "dgc", {{"ratio", 0.25}}, 51001213.6},
                                {"dgc_mem_ratio=0.1", "dgc", {{"ratio", 0.1}}, 20406533.6},
                                {"dgc_mem_ratio=0.01", "dgc", {{"ratio", 0.01}}, 2060054.4}};

// Of values and positions: the logs leave out the gather of sizes, the second round.
double bytes_of(const Logged& logged, const architectures::Tensors& tensors) {
  return test::sent(test::method(logged.method, logged.parameters), tensors, 4_B, {8, 1}, 0) / 1_B;
}

}  // namespace

TEST_CASE("methods of GRACE send to the byte what its runs logged") {
  const auto tensors = architectures::bottleneck_resnet({3, 4, 6, 3}, 7, 1001);
  REQUIRE(tensors.size() == 161);
  for (const Logged& logged : fixed) {
    INFO(logged.run << " by " << logged.method);
    double bytes = 0;
    if (std::string(logged.method).starts_with("topk") || std::string(logged.method) == "topk") {
      // torch.topk sends values and positions in two messages, TensorFlow's in one.
      bytes =
          test::sent(test::method(logged.method, logged.parameters), tensors, 4_B, {8, 1}) / 1_B;
    } else {
      bytes = bytes_of(logged, tensors);
    }
    CHECK(bytes == logged.bytes);
  }
}

TEST_CASE("methods with thresholds send what GRACE's runs logged, within 3 %") {
  const auto tensors = architectures::bottleneck_resnet({3, 4, 6, 3}, 7, 1001);
  for (const Logged& logged : aimed) {
    INFO(logged.run);
    CHECK_THAT(bytes_of(logged, tensors), WithinRel(logged.bytes, 0.03));
  }
}
