// SPDX-License-Identifier: Apache-2.0
#include "cli/output_files.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using payoff::test::read_text;

TEST_CASE("files appear only when they are committed, and all of them") {
  const test::ScratchFolder folder;
  OutputFiles files;
  files.add(folder.path("a.json"), "{}\n");
  files.add(folder.path("b.csv"), "x\n");
  CHECK(folder.files().empty());
  files.commit();
  CHECK(folder.files() == std::vector<std::string>{"a.json", "b.csv"});
  CHECK(read_text(folder.path("a.json")) == "{}\n");
}

TEST_CASE("a file that cannot be written leaves the others as they were") {
  const test::ScratchFolder folder;
  folder.write("a.json", "old");
  {
    OutputFiles files;
    files.add(folder.path("a.json"), "new");
    files.add(folder.path("missing/b.csv"), "x\n");
    CHECK_THROWS_AS(files.commit(), std::runtime_error);
  }
  CHECK(folder.files() == std::vector<std::string>{"a.json"});
  CHECK(read_text(folder.path("a.json")) == "old");
}

TEST_CASE("what is not a regular file is written in place") {
  OutputFiles files;
  files.add("/dev/null", "x\n");
  CHECK_NOTHROW(files.commit());
}
