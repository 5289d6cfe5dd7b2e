// SPDX-License-Identifier: Apache-2.0
#include "profiles/suggest.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

using namespace payoff;

namespace {
const std::vector<std::string> commands = {"predict",  "collective", "check",
                                           "profiles", "explain",    "plot"};
const std::vector<std::string> keys = {"bandwidth", "latency", "tp", "dp", "pp", "nics_per_node"};
}  // namespace

TEST_CASE("a misspelt word is answered with the nearest known one") {
  CHECK(closest("predcit", commands) == "predict");  // two neighbours swapped
  CHECK(closest("colective", commands) == "collective");
  CHECK(closest("profile", commands) == "profiles");
  CHECK(closest("bandwith", keys) == "bandwidth");
  CHECK(closest("Bandwidth", keys) == "bandwidth");
  CHECK(closest("nics-per-node", keys) == "nics_per_node");
  CHECK(closest("TP", keys) == "tp");
}

TEST_CASE("the beginning of a name may stand for it, also with a wrong letter") {
  const std::vector<std::string> names{"analytical", "agarwal2022", "encode", "exposed_dp"};
  CHECK(closest("agarwal", names) == "agarwal2022");
  CHECK(closest("expsed", names) == "exposed_dp");
  CHECK(closest("exposed", names) == "exposed_dp");
  CHECK(closest("expxxd", names).empty());
}

TEST_CASE("a word that resembles nothing gets no suggestion") {
  CHECK(closest("banana", commands).empty());
  CHECK(closest("", commands).empty());
  CHECK(closest("predict", std::vector<std::string>{}).empty());
  CHECK(closest(std::string(100'000, 'p'), commands).empty());
  // One letter of two is half the word: xp is no more tp than dp.
  CHECK(closest("xp", keys).empty());
}

TEST_CASE("of equally near words the first wins") {
  CHECK(closest("cat", std::vector<std::string>{"bat", "hat"}) == "bat");
  CHECK(closest("cat", std::vector<std::string>{"hat", "bat"}) == "hat");
}

TEST_CASE("a suggestion is a question") {
  CHECK(did_you_mean("tp") == "did you mean `tp`?");
  CHECK(did_you_mean("").empty());
}
