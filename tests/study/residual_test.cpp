// SPDX-License-Identifier: Apache-2.0
#include "study/residual.hpp"

#include <string>

#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

ValidationCase slow_step(std::vector<std::pair<std::string, double>> terms) {
  ValidationCase result;
  result.kind = CaseKind::step;
  result.unit = "s";
  result.predicted = 10;
  result.measured = 13;
  result.terms = std::move(terms);
  result.subject = {"h100-sxm", "nvswitch4", "infiniband", "megatron-2023", "topk", "", "", 16, 2};
  return result;
}

}  // namespace

TEST_CASE("a suspect term names the law that prices it, and the measurement of that law") {
  const Residual kernels = residual_of(slow_step({{"backward", 8}, {"exposed dp", 2}}));
  CHECK(kernels.suspect.value().term == "backward");
  CHECK_THAT(kernels.primitive,
             ContainsSubstring("h100-sxm") && ContainsSubstring("megatron-2023"));
  CHECK_THAT(kernels.measurement, ContainsSubstring("payoff-kernels --only layers,memory"));
  const Residual messages = residual_of(slow_step({{"backward", 2}, {"exposed dp", 8}}));
  CHECK_THAT(messages.primitive, ContainsSubstring("law of infiniband"));
  CHECK_THAT(messages.measurement,
             ContainsSubstring("all_reduce_perf") && ContainsSubstring("16 GPUs of 2 nodes"));
  const Residual codec = residual_of(slow_step({{"encode", 8}, {"forward", 2}}));
  CHECK_THAT(codec.primitive, ContainsSubstring("encode of topk"));
}

TEST_CASE("every term of a waterfall has a measurement that would settle it") {
  for (const char* term : {"forward", "recompute", "backward", "interference", "encode", "decode",
                           "bucket copies", "exposed tp", "exposed cp", "exposed ep", "exposed pp",
                           "exposed dp", "bubble", "optimizer", "host"}) {
    INFO(term);
    const Residual residual = residual_of(slow_step({{term, 10}}));
    CHECK(residual.suspect.has_value());
    CHECK_FALSE(residual.primitive.empty());
    CHECK_FALSE(residual.measurement.empty());
  }
}

TEST_CASE("the part of a collective that is suspect says which sizes to measure") {
  ValidationCase table = slow_step({{"latency", 1}, {"filling the pipeline", 1}, {"wire", 8}});
  table.kind = CaseKind::collective;
  table.subject = {"a100-sxm-80", "nvswitch3", "", "", "", "ring, simple", "all_gather_perf", 8, 1};
  const Residual wire = residual_of(table);
  CHECK_THAT(wire.primitive, ContainsSubstring("wire of ring, simple by the law of nvswitch3"));
  CHECK_THAT(wire.measurement, ContainsSubstring("all_gather_perf -b 512M -e 8G"));
  table.terms = {{"latency", 8}, {"wire", 2}};
  CHECK_THAT(residual_of(table).measurement, ContainsSubstring("-b 8 -e 64K"));
  table.terms = {{"launches", 10}};
  CHECK_THAT(residual_of(table).measurement, ContainsSubstring("a process for every GPU"));
}

TEST_CASE("where no term alone can be wrong, that is said") {
  ValidationCase slow = slow_step({{"backward", 5}, {"exposed dp", 5}});
  slow.measured = 1;
  const Residual residual = residual_of(slow);
  CHECK_FALSE(residual.suspect.has_value());
  CHECK(residual.primitive == "no term alone");
}

TEST_CASE("the suspect is the term that has to change least to give what was measured") {
  ValidationCase slow = slow_step({{"backward", 6}, {"exposed dp", 3}, {"optimizer", 1}});
  Suspect suspect = suspect_of(slow).value();
  CHECK(suspect.term == "backward");  // 6 s to 9 s
  CHECK_THAT(suspect.factor, WithinRel(1.5, 1e-9));
  CHECK_THAT(suspect.share, WithinRel(0.6, 1e-9));
  // A speedup of 2 predicted for a step of 10 s where 2.5 was measured: the messages took 2 s less
  // (20 / 8), or backward 10 / 3 s less in both runs (16.67 / 6.67).
  ValidationCase ratio = slow;
  ratio.unit = "1";
  ratio.predicted = 2;
  ratio.measured = 2.5;
  suspect = suspect_of(ratio).value();
  CHECK(suspect.term == "backward");
  CHECK_THAT(suspect.factor, WithinRel((6 - 10.0 / 3) / 6, 1e-9));
  ratio.terms = {{"backward", 3}, {"exposed dp", 7}};
  suspect = suspect_of(ratio).value();
  CHECK(suspect.term == "exposed dp");  // backward would have to be less than nothing
  CHECK_THAT(suspect.factor, WithinRel(5.0 / 7, 1e-9));
  slow.measured = 0.5;  // less than all others together, whichever is at fault
  CHECK_FALSE(suspect_of(slow));
}
