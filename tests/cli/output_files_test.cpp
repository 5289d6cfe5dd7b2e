// SPDX-License-Identifier: Apache-2.0
#include "cli/output_files.hpp"

#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "cli/output_place.hpp"
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

TEST_CASE("standard output and error are known under every name of the file that they go to") {
  const int stream = GENERATE(STDOUT_FILENO, STDERR_FILENO);
  const test::ScratchFolder folder;
  folder.write("table.txt", "");
  folder.write("other.txt", "");
  std::filesystem::create_symlink("table.txt", folder.path("link"));
  std::fflush(stdout);
  std::fflush(stderr);
  const int kept = ::dup(stream);
  const int file = ::open(folder.path("table.txt").c_str(), O_WRONLY);
  REQUIRE(kept >= 0);
  REQUIRE(file >= 0);
  std::vector<bool> found;
  ::dup2(file, stream);
  for (const std::string& name :
       {"/dev/fd/" + std::to_string(stream), folder.path("table.txt"), folder.path("link"),
        folder.path("other.txt"), folder.path("missing")}) {
    found.push_back(is_standard_stream(name));
  }
  const int null = ::open("/dev/null", O_WRONLY);
  ::dup2(null, stream);
  found.push_back(is_standard_stream("/dev/null"));
  ::dup2(kept, stream);
  ::close(null);
  ::close(file);
  ::close(kept);
  CHECK(found == std::vector<bool>{true, true, true, false, false, false});
}

TEST_CASE("a result goes to the file that a symbolic link leads to, and the link stays") {
  const test::ScratchFolder folder;
  std::filesystem::create_directory(folder.path("far"));
  folder.write("far/a.json", "old");
  // By the folder of the link, by the root, through another link, to what is not there yet.
  std::filesystem::create_symlink("far/a.json", folder.path("relative"));
  std::filesystem::create_symlink(folder.path("far/b.json"), folder.path("absolute"));
  std::filesystem::create_symlink("relative", folder.path("second"));
  for (const auto& [link, file] : {std::pair{"relative", "far/a.json"},
                                   {"absolute", "far/b.json"},
                                   {"second", "far/a.json"}}) {
    INFO(link);
    OutputFiles files;
    files.add(folder.path(link), link);
    files.commit();
    CHECK(std::filesystem::is_symlink(folder.path(link)));
    CHECK(read_text(folder.path(file)) == link);
  }
  std::filesystem::create_symlink("circle", folder.path("circle"));
  OutputFiles circle;
  circle.add(folder.path("circle"), "x");
  CHECK_THROWS_AS(circle.commit(), std::runtime_error);
  CHECK(std::filesystem::is_symlink(folder.path("circle")));
}
