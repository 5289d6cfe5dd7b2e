// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "model/transformer.hpp"
#include "profiles/read_layer_times.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"

using namespace payoff;

namespace {

struct ReadTable {
  std::optional<LayerTimes> times;
  std::string errors;  // "line:column message" each
};

ReadTable read(const std::string& text) {
  SourceMap sources;
  Diagnostics diagnostics;
  const Workload model = transformer_workload(test::gpt(4, 64, 4, 32, 1000), 1, false, 2_B);
  const std::size_t source = sources.add_file("t.csv", text);
  ReadTable result;
  result.times = parse_layer_times({source, 0, text.size()}, model, sources, diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.sorted()) {
    const Location place = sources.locate(*diagnostic.span);
    result.errors += std::to_string(place.line) + ":" + std::to_string(place.column) + " " +
                     diagnostic.message + "\n";
  }
  return result;
}

}  // namespace

TEST_CASE("the header of a table of layer times says the unit of each time") {
  const ReadTable table =
      read("# by hand\nlayer,micro_batch,forward_ms,backward_us,tp\nblock, 2, 1.5, 3000, 4\n");
  CHECK(table.errors.empty());
  REQUIRE(table.times);
  CHECK(*table.times == LayerTimes{{"block", 2, 4, 1, 1, 1, 1.5_ms, 3000_us}});
}

TEST_CASE("a table of layer times that a spreadsheet wrote is read: byte order mark, CR LF") {
  const ReadTable table =
      read("\xEF\xBB\xBFlayer,micro_batch,forward_ms,backward_ms\r\nblock 2,1,1.5,3\r\n");
  CHECK(table.errors.empty());
  REQUIRE(table.times);
  CHECK(*table.times == LayerTimes{{"block 2", 1, 1, 1, 1, 1, 1.5_ms, 3_ms}});
  CHECK(read("\xEF\xBB\xBF").errors.ends_with(" the table is empty\n"));
}

TEST_CASE("every mistake in a table of layer times is told at its cell, and nothing is read") {
  const ReadTable table = read(
      "layer,micro_batch,forward_ms,backward_ms\n"
      "blok 2,1,1,2\n"
      "head,0,1,x\n"
      "block,1,0,2\n"
      "block 1,1,2\n"
      "block 3,1,1,2\n"
      "block 3,1,1,3\n");
  CHECK(table.errors ==
        "2:1 the model has no layer `blok 2`\n"
        "3:6 `micro_batch` is no count from 1 to 1048576\n"
        "3:10 `backward_ms` is not a number\n"
        "4:9 `forward_ms` cannot be 0\n"
        "5:1 3 cells under 4 names\n"
        "7:1 a second time of `block 3` at equal sizes\n");
  CHECK_FALSE(table.times);
}

TEST_CASE("columns of a table of layer times are known, there once, and have units") {
  CHECK(read("layer,forward,backward_ms,backward_us\nhead,1,1,1\n").errors ==
        "1:1 no column `micro_batch`\n"
        "1:1 no column `forward_ms`\n"
        "1:7 the column `forward` is not known\n"
        "1:27 the column `backward_us` is there twice\n");
  CHECK(read("").errors == "1:1 the table is empty\n");
  CHECK(read("layer,micro_batch,forward_ms,backward_ms\n").errors ==
        "1:1 the table has no layer\n");
}
