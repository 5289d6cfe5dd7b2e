// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/catalogue/methods.hpp"
#include "tests/catch.hpp"

// The methods of the field, by the names that notes on it give them, and where each is found: the
// table of profiles/compression/README.md.

using namespace payoff;
using Catch::Matchers::StartsWith;

namespace {

const std::vector<std::string> of_the_field{
    "cast16",      "topk",       "mstopk",     "topk_chunk",
    "randomk",     "threshold",  "dct",        "dgc",
    "scalecom",    "sidco",      "gaussiank",  "oktopk",
    "gtopk",       "sparcml",    "omnireduce", "zen",
    "dragonn",     "sparq",      "signsgd",    "efsignsgd",
    "onebitadam",  "terngrad",   "qsgd",       "natural",
    "intsgd",      "globalqsgd", "thc",        "switchml",
    "cgx",         "lgreco",     "u8",         "qwz",
    "hpz",         "qgz",        "sdp4bit",    "loco",
    "fsdp_fp8ag",  "fp8_tensor", "fp8_block",  "mxfp8",
    "mxfp4",       "nvfp4",      "powersgd",   "powersgd_batch",
    "acpsgd",      "gradiveq",   "atomo",      "optcc_cb",
    "optcc_fe",    "optcc_sc",   "sketchml",   "fetchsgd",
    "srht",        "ae",         "act_topk",   "act_quant",
    "aqsgd",       "tahquant",   "flashcomm",  "fp8ar",
    "quickreduce", "equarx",     "moe_fp8",    "accordion",
    "gravac",      "cocktail",   "diloco",     "sdiloco",
    "elias",       "lossless"};

// Keys of a run, which stand among the names of methods.
const std::set<std::string> keys{"run", "local_steps", "trigger_probability"};

std::string section() {
  std::ifstream file(PAYOFF_SOURCE_DIR "/profiles/compression/README.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return text.substr(text.find("## Methods of the field"));
}

// What stands in backquotes, up to the parameters of a plan's part.
std::set<std::string> methods_in(const std::string& text) {
  std::set<std::string> names;
  const std::regex quoted("`([^`]+)`");
  const std::regex name("(^|\\+ )([a-z0-9_]+)(:|$| )");
  for (std::sregex_iterator q(text.begin(), text.end(), quoted), end; q != end; ++q) {
    const std::string plan = (*q)[1];
    for (std::sregex_iterator part(plan.begin(), plan.end(), name); part != end; ++part) {
      names.insert((*part)[2]);
    }
  }
  for (const std::string& key : keys) {
    names.erase(key);
  }
  return names;
}

std::map<std::string, std::string> table() {
  std::map<std::string, std::string> rows;
  const std::string text = section();
  const std::regex row("\\n\\| ([a-z0-9_]+) \\| ([^\\n]+) \\|");
  for (std::sregex_iterator found(text.begin(), text.end(), row), end; found != end; ++found) {
    if ((*found)[1] != "method") {
      CHECK(rows.emplace((*found)[1], (*found)[2]).second);
    }
  }
  return rows;
}

}  // namespace

TEST_CASE(
    "each of the field's 70 methods is a profile, a plan of profiles, or told why it is not") {
  CHECK(of_the_field.size() == 70);
  const std::map<std::string, std::string> rows = table();
  CHECK(rows.size() == of_the_field.size());
  for (const std::string& id : of_the_field) {
    INFO(id);
    REQUIRE(rows.count(id) == 1);
    const std::set<std::string> methods = methods_in(rows.at(id));
    if (methods.empty()) {
      CHECK_THAT(rows.at(id), StartsWith("cannot be said, because "));
    }
    for (const std::string& method : methods) {
      INFO(method);
      CHECK(test::catalogue().count(method) == 1);
    }
  }
}

TEST_CASE("every profile is found beside a method of the field, or named as none of them") {
  const std::set<std::string> named = methods_in(section());
  for (const auto& [name, profile] : test::catalogue()) {
    INFO(name);
    CHECK(named.count(name) == 1);
  }
}
