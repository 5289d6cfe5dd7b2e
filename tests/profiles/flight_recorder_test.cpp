// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/flight_recorder.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;

// Dumps in the form of FlightRecorder::dump_json in pytorch/pytorch,
// torch/csrc/distributed/c10d/FlightRecorderDetail.hpp.

namespace {

std::string group(const std::string& name, const std::string& ranks) {
  return fmt::format(R"("{0}": {{"name": "{0}", "desc": "of a test", "ranks": "{1}"}})", name,
                     ranks);
}

std::string entry(int record, const std::string& name, const std::string& of,
                  const std::string& inputs, const std::string& outputs,
                  const std::string& type = "BFloat16") {
  return fmt::format(
      R"({{"record_id": {0}, "pg_id": 1, "process_group": ["{2}", "of a test"],
"collective_seq_id": 1, "profiling_name": "nccl:{1}", "input_sizes": {3}, "input_dtypes": ["{5}"],
"output_sizes": {4}, "output_dtypes": ["{5}"], "state": "completed", "is_p2p": false}})",
      record, name, of, inputs, outputs, type);
}

std::string dump(const std::string& groups, const std::string& entries) {
  return fmt::format(R"({{"version": "2.4", "pg_config": {{{}}}, "entries": [{}]}})", groups,
                     entries);
}

struct Read {
  NcclDebugLog log;
  std::string errors;
};

Read read(const std::vector<std::string>& dumps) {
  SourceMap sources;
  Diagnostics diagnostics;
  FlightRecorderReader reader(sources, diagnostics);
  for (std::size_t i = 0; i < dumps.size(); ++i) {
    reader.read(dumps[i], fmt::format("rank{}.json", i));
  }
  Read result{reader.finish(), {}};
  result.errors = render_text(diagnostics, sources, {});
  return result;
}

// Four ranks, two of them in a tensor group each.
const std::string all = group("0", "[0, 1, 2, 3]");

}  // namespace

TEST_CASE("the size of a recorded call is that of the buffer that nccl-tests counts") {
  const auto size_of = [](const std::string& name, const std::string& in, const std::string& out) {
    const Read found = read({dump(all, entry(0, name, "0", in, out))});
    INFO(found.errors);
    REQUIRE(found.log.messages.size() == 1);
    return found.log.messages.front().size;
  };
  CHECK(size_of("all_reduce", "[[10, 20]]", "[[10, 20]]") == 400_B);
  CHECK(size_of("_all_gather_base", "[[50]]", "[[200]]") == 400_B);
  CHECK(size_of("_reduce_scatter_base", "[[200]]", "[[50]]") == 400_B);
  CHECK(size_of("all_gather", "[[50]]", "[[50], [50], [50], [50]]") == 400_B);
  CHECK(size_of("all_to_all", "[[4, 50]]", "[[4, 50]]") == 400_B);
  CHECK(size_of("send 0->1", "[[200]]", "[[200]]") == 400_B);
  CHECK(size_of("broadcast", "[[]]", "[[]]") == 2_B);  // of one number
}

TEST_CASE("recorded groups are told by their ranks, and calls by the mean of the ranks in them") {
  const std::string calls = entry(0, "all_reduce", "0", "[[8]]", "[[8]]") + "," +
                            entry(1, "all_gather", "1", "[[8]]", "[[16]]", "Float") + "," +
                            entry(2, "all_gather", "1", "[[8]]", "[[16]]", "Float");
  const Read found = read({dump(all + "," + group("1", "[0, 1]"), calls),
                           dump(all + "," + group("1", "[0, 1]"), calls),
                           dump(all + "," + group("1", "[3, 2]"), "")});
  INFO(found.errors);
  CHECK(found.log.ranks == 4);
  CHECK(found.log.calls == 6);
  REQUIRE(found.log.groups.size() == 2);
  CHECK(found.log.groups[0].communicators == 3);
  CHECK(found.log.groups[0].example == std::vector{0, 1, 2, 3});
  CHECK(found.log.groups[1].ranks == 2);
  CHECK(found.log.groups[1].groups == 2);  // one name, other ranks
  CHECK(found.log.groups[1].stride == 1);
  CHECK(found.log.groups[1].nodes == 0);
  const auto gathered =
      std::find_if(found.log.messages.begin(), found.log.messages.end(),
                   [](const auto& each) { return each.collective == Collective::all_gather; });
  REQUIRE(gathered != found.log.messages.end());
  CHECK(gathered->groups == 1);
  CHECK(gathered->type == "float32");
  CHECK(gathered->calls == 4);
  CHECK_THAT(gathered->calls_a_rank, Catch::Matchers::WithinRel(4.0 / 3, 1e-12));
}

TEST_CASE("what a recorder notes beside calls is no message, and what it lost is told") {
  const Read found =
      read({dump(all, entry(70, "coalesced", "0", "[[8]]", "[[8]]") + "," +
                          entry(71, "all_reduce_barrier", "0", "[[1]]", "[[1]]") + "," +
                          entry(72, "gather", "0", "[[8]]", "[[8]]") + "," +
                          entry(73, "allreduce_coalesced", "0", "[[8], [2]]", "[[8], [2]]"))});
  CHECK(found.errors.empty());
  CHECK(found.log.calls == 1);
  CHECK(found.log.messages.front().size == 20_B);
  REQUIRE(found.log.findings.size() == 2);
  CHECK_THAT(found.log.findings[0].message, ContainsSubstring("lost 70"));
  CHECK_THAT(found.log.findings[1].message, ContainsSubstring("1 calls of gather"));
}

TEST_CASE("everything that is wrong with recorded calls is told at its place, together") {
  const Read found =
      read({dump(group("0", "[0, one]") + "," + group("1", "[]") + "," + group("2", "[0, 1]"),
                 entry(0, "all_reduce", "7", "[[8]]", "[[8]]") + "," +
                     entry(1, "all_reduce", "2", "[[8]]", "[[8]]", "Quad") + "," +
                     entry(2, "all_reduce", "2", "[[-8]]", "[[8]]"))});
  for (const char* said : {"`one`", "the group has no rank", "`pg_config` does not have", "`Quad`",
                           "cannot be -8", "rank0.json:1:", "5 errors"}) {
    CHECK_THAT(found.errors, ContainsSubstring(said));
  }
  CHECK_THAT(read({"{\"pg_config\": ["}).errors, ContainsSubstring("rank0.json:1:"));
}

TEST_CASE("a pickled dump is refused with what makes JSON of it") {
  const Read found = read({std::string("\x80\x02}q", 4)});
  CHECK_THAT(found.errors, ContainsSubstring("is a pickle") && ContainsSubstring("json.dump"));
}
