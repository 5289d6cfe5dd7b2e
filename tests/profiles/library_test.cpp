// SPDX-License-Identifier: Apache-2.0
#include "profiles/library.hpp"

#include <cstdlib>
#include <stdexcept>

#include "tests/catch.hpp"
#include "tests/profiles/profile_folder.hpp"

using namespace payoff;
using test::ProfileFolder;
using test::ProfileReading;
using test::shipped;

namespace {

namespace fs = std::filesystem;

// Sets $PAYOFF_PROFILES for a while.
class Environment {
 public:
  explicit Environment(const char* value) {
    const char* before = std::getenv(name_);
    before_ = before == nullptr ? "" : before;
    if (value == nullptr) {
      ::unsetenv(name_);
    } else {
      ::setenv(name_, value, 1);
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() {
    if (before_.empty()) {
      ::unsetenv(name_);
    } else {
      ::setenv(name_, before_.c_str(), 1);
    }
  }

 private:
  static constexpr const char* name_ = "PAYOFF_PROFILES";
  std::string before_;
};

}  // namespace

TEST_CASE("profiles are found beside a build folder and beside an installed program") {
  const Environment nothing(nullptr);
  const ProfileFolder folder;
  const fs::path root = folder.path() / "root";
  for (const char* program : {"build/payoff", "build/cli/payoff"}) {
    fs::create_directories(root / program);
    fs::create_directories(root / "profiles" / "gpu");
    fs::create_directories(root / "profiles" / "cluster");
    CHECK(Library::find(root / program).folder() == root / "profiles");
  }
  const fs::path prefix = folder.path() / "usr";
  fs::create_directories(prefix / "bin");
  fs::create_directories(prefix / "share/payoff/profiles/gpu");
  fs::create_directories(prefix / "share/payoff/profiles/cluster");
  CHECK(Library::find(prefix / "bin/payoff").folder() == prefix / "share/payoff/profiles");
}

TEST_CASE("PAYOFF_PROFILES beats the places beside the program") {
  const ProfileFolder folder;
  const Environment set(folder.path().c_str());
  CHECK(Library::find("/nowhere/payoff").folder() == folder.path());
}

TEST_CASE("without profiles the places that were looked at are named") {
  {
    const Environment nothing(nullptr);
    CHECK_THROWS_WITH(Library::find("/nowhere/bin/payoff"),
                      Catch::Matchers::Contains("/nowhere/profiles") &&
                          Catch::Matchers::Contains("/nowhere/share/payoff/profiles") &&
                          Catch::Matchers::Contains("PAYOFF_PROFILES"));
  }
  const Environment wrong("/nowhere");
  CHECK_THROWS_AS(Library::find("payoff"), std::runtime_error);
}

TEST_CASE("names are those of profile files, in order") {
  const ProfileFolder folder;
  folder.write("gpu/notes.txt", "");
  folder.write("gpu/000.yaml", "");
  fs::create_directories(folder.path() / "gpu" / "folder.yaml");
  const auto names = folder.library().names(ProfileKind::gpu);
  REQUIRE(names.size() == shipped().names(ProfileKind::gpu).size() + 1);
  CHECK(names.front() == "000");
  CHECK(std::is_sorted(names.begin(), names.end()));
  const auto models = folder.library().names(ProfileKind::model);
  CHECK(std::find(models.begin(), models.end(), "gpt2") != models.end());
  CHECK(std::find(models.begin(), models.end(), "resnet-50") != models.end());
  CHECK(std::find(models.begin(), models.end(), "sources") == models.end());
  CHECK_FALSE(folder.library().has(ProfileKind::model, "sources"));
}

TEST_CASE("a name cannot leave the folder of its kind") {
  CHECK_FALSE(shipped().has(ProfileKind::gpu, "../cluster/dgx-h100"));
  CHECK_FALSE(shipped().has(ProfileKind::gpu, ""));
  CHECK_FALSE(shipped().has(ProfileKind::gpu, ".."));
}

TEST_CASE(
    "a path is relative to the file that names it, on the command line to the working folder") {
  SourceMap sources;
  const std::size_t file = sources.add_file("/home/me/job/experiment.yaml", "gpu: mine.yaml\n");
  const std::size_t argument = sources.add_argument(1, "mine.yaml");
  CHECK(own_file("mine.yaml", Span{file, 5, 9}, sources) == "/home/me/job/mine.yaml");
  CHECK(own_file("/etc/mine.yaml", Span{file, 5, 9}, sources) == "/etc/mine.yaml");
  CHECK(own_file("mine.yaml", Span{argument, 0, 9}, sources) == "mine.yaml");
  CHECK(own_file("mine.yaml", std::nullopt, sources) == "mine.yaml");
}

TEST_CASE("a file that is read twice is one source, and wrong once") {
  const ProfileFolder folder;
  folder.write("mine.yaml", "gpu: [\n");
  ProfileReading reading(folder.library());
  const std::string file = (folder.path() / "mine.yaml").string();
  for (int i = 0; i < 2; ++i) {
    CHECK_FALSE(folder.library().load(ProfileKind::gpu, file, std::nullopt, reading.sources,
                                      reading.diagnostics));
  }
  CHECK(reading.sources.size() == 1);
  CHECK(reading.diagnostics.error_count() == 1);
}
