// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "profiles/read_method.hpp"
#include "tests/catch.hpp"
#include "tests/profiles/profile_folder.hpp"

using namespace payoff;
using test::ProfileFolder;
using test::ProfileReading;
using test::shipped;

namespace {

// A method of a user's own, without sources.
const std::string own_method =
    "method: thirds\n"
    "description: every third value\n"
    "implementation: fused\n"
    "granularity: bucket\n"
    "parameters:\n"
    "  share: {default: 3, min: 1, max: 10, integer: true}\n"
    "  scale: {default: 0.5, min: 0, max: 1}\n"
    "where:\n"
    "  kept: \"ceil(n / share)\"\n"
    "rounds:\n"
    "- encode: {bytes: \"v * n + v * kept\", kernels: \"1\"}\n"
    "  collective: all_reduce\n"
    "  message: \"v * kept\"\n"
    "wire: {as_published: \"v * kept\", as_implemented: \"v * kept + 8\", used: as_published}\n"
    "sums_in_collective: true\n";

std::string changed(const std::string& before, const std::string& after) {
  std::string text = own_method;
  const std::size_t at = text.find(before);
  INFO(before);
  REQUIRE(at != std::string::npos);
  return text.replace(at, before.size(), after);
}

std::string errors_of(const std::string& text) {
  const ProfileFolder folder;
  folder.write("mine.yaml", text);
  ProfileReading reading(folder.library());
  const auto method =
      read_method((folder.path() / "mine.yaml").string(), std::nullopt, reading.context());
  CHECK(method.has_value() != reading.diagnostics.has_errors());
  return reading.errors();
}

}  // namespace

TEST_CASE("every shipped method reads without a diagnostic and says where it comes from") {
  const auto names = shipped().names(ProfileKind::compression);
  CHECK(names.size() >= 18);
  for (const std::string& name : names) {
    INFO(name);
    ProfileReading reading(shipped());
    const auto method = read_method(name, std::nullopt, reading.context());
    CHECK(reading.errors().empty());
    REQUIRE(method);
    CHECK(method->value.name == name);
    CHECK_FALSE(method->value.rounds.empty());
    CHECK(method->value.law.memory_efficiency > 0.0);
    std::size_t sources = 0;
    std::size_t law = 0;
    for (const Fact& fact : method->facts) {
      CHECK_FALSE(fact.citation.empty());
      sources += fact.path == "formulas" ? 1U : 0U;
      law += fact.path.starts_with("law.") ? 1U : 0U;
    }
    CHECK(sources >= 1);
    CHECK(law == 7);
  }
}

TEST_CASE("a cited source keeps its kind") {
  const ProfileFolder folder;
  folder.replace("compression/fp16.yaml", "hooks:\n    kind: published",
                 "hooks:\n    kind: assumed");
  ProfileReading reading(folder.library());
  const auto method = read_method("fp16", std::nullopt, reading.context());
  REQUIRE(method);
  const auto formulas = std::find_if(method->facts.begin(), method->facts.end(),
                                     [](const Fact& fact) { return fact.path == "formulas"; });
  REQUIRE(formulas != method->facts.end());
  CHECK(formulas->kind == Provenance::assumed);
  folder.replace("compression/fp16.yaml", "sources: [hooks,", "sources: [hook,");
  ProfileReading changed(folder.library());
  CHECK_FALSE(read_method("fp16", std::nullopt, changed.context()));
  CHECK_THAT(changed.errors(),
             Catch::Matchers::Contains("names the unknown source `hook` | did you mean `hooks`?"));
}

TEST_CASE("one run sees one version of a file") {
  const ProfileFolder folder;
  ProfileReading reading(folder.library());
  REQUIRE(read_method("fp16", std::nullopt, reading.context()));
  folder.replace("compression/fp16.yaml", "sources: [hooks,", "sources: [hook,");
  CHECK(read_method("fp16", std::nullopt, reading.context()));
  CHECK(reading.errors().empty());
}

TEST_CASE("a method of one's own is read from its path and needs no sources") {
  const ProfileFolder folder;
  folder.write("mine.yaml", own_method);
  ProfileReading reading(folder.library());
  const auto method =
      read_method((folder.path() / "mine.yaml").string(), std::nullopt, reading.context());
  CHECK(reading.errors().empty());
  REQUIRE(method);
  CHECK(method->value.name == "thirds");
  CHECK(method->value.parameters.at("share") == 3);
  CHECK(method->facts[0].kind == Provenance::assumed);
  const ParameterTensor tensor{30, 1, false};
  const CallCost cost = compress(method->value, {&tensor, 1}, 4_B, 8, 4);
  REQUIRE(cost.rounds.size() == 1);
  CHECK(cost.rounds[0].message == 40_B);
}

TEST_CASE("a framework that looks for the end of a copy now and then delays every wait") {
  const auto host_sync = [](const std::string& text) {
    const ProfileFolder folder;
    folder.write("mine.yaml", text);
    ProfileReading reading(folder.library());
    const auto method =
        read_method((folder.path() / "mine.yaml").string(), std::nullopt, reading.context());
    REQUIRE(method);
    return method->value.law.host_sync / 1_us;
  };
  CHECK_THAT(host_sync(own_method + "sync_delay: 60 us\n") - host_sync(own_method),
             Catch::Matchers::WithinRel(60.0, 1e-9));
  CHECK_THAT(errors_of(own_method + "sync_delay: -1 us\n"),
             Catch::Matchers::Contains("`sync_delay`"));
}

TEST_CASE("a shipped method must have sources") {
  const ProfileFolder folder;
  folder.write("compression/thirds.yaml", own_method);
  ProfileReading reading(folder.library());
  CHECK_FALSE(read_method("thirds", std::nullopt, reading.context()));
  CHECK_THAT(reading.errors(), Catch::Matchers::Contains("missing key `sources`"));
}

TEST_CASE("a mistake in a formula has its caret inside the formula, and a suggestion") {
  CHECK(errors_of(changed("\"v * n + v * kept\"", "\"v * n + v * kpet\"")) ==
        "mine.yaml:11:32 `rounds.0.encode.bytes` is no formula: unknown name 'kpet' | did you mean "
        "`kept`?\n");
  CHECK(errors_of(changed("\"ceil(n / share)\"", "\"cell(n / share)\"")) ==
        "mine.yaml:9:10 `where.kept` is no formula: unknown function 'cell' | did you mean "
        "`ceil`?\n");
  CHECK(errors_of(changed("\"v * kept\"\nwire", "\"v * (kept + 1\"\nwire")) ==
        "mine.yaml:13:26 `rounds.0.message` is no formula: a ')' is missing\n");
  CHECK(errors_of(changed("message: \"v * kept\"", "message: v * shrae")) ==
        "mine.yaml:13:16 `rounds.0.message` is no formula: unknown name 'shrae' | did you mean "
        "`share`?\n");
  CHECK(errors_of(changed("message: \"v * kept\"", "message: \"\"")) ==
        "mine.yaml:13:12 `rounds.0.message` is an empty formula | leave it out, or write 0\n");
}

TEST_CASE("a bound that is refused or missing is above and below nothing") {
  CHECK(errors_of(changed("min: 0, max: 1", "min: 0.1, max: lots")) ==
        "mine.yaml:7:40 `parameters.scale.max` is not a number | must start with a number\n");
  CHECK(errors_of(changed("min: 1, max: 10", "min: 1")) ==
        "mine.yaml:6:3 missing key `max` in `parameters.share` | `max` is required here\n");
}

TEST_CASE("all mistakes of a method are found in one run") {
  std::string text = changed("granularity: bucket", "granularity: buckets");
  text.replace(text.find("kernels"), 7, "kernel");
  text.replace(text.find("all_reduce"), 10, "all_redcue");
  text.replace(text.find("default: 3"), 10, "default: 30");
  const std::string errors = errors_of(text);
  CHECK_THAT(errors, Catch::Matchers::Contains("did you mean `bucket`?"));
  CHECK_THAT(errors, Catch::Matchers::Contains("did you mean `kernels`?"));
  CHECK_THAT(errors, Catch::Matchers::Contains("did you mean `all_reduce`?"));
  CHECK_THAT(errors, Catch::Matchers::Contains("`parameters.share.default` is not between `min` "
                                               "and `max`"));
}

TEST_CASE("what the rounds send must be what the file says that they send") {
  CHECK_THAT(errors_of(changed("used: as_published", "used: as_implemented")),
             Catch::Matchers::Contains("`wire.used` is not what the rounds send"));
}

TEST_CASE("formulas that cannot be priced are refused where they stand") {
  CHECK(errors_of(changed("kernels: \"1\"", "kernels: \"1 - n\"")) ==
        "mine.yaml:11:48 `rounds[0].encode.kernels`: negative for a tensor of 2 x 768\n");
  CHECK(errors_of(changed("kernels: \"1\"", "kernels: \"1e12\"")) ==
        "mine.yaml:11:48 `rounds[0].encode.kernels`: more than 1e9 for a tensor of 1 x 1\n");
  CHECK(errors_of(changed("\"v * n + v * kept\"", "\"n ^ 3\"")) ==
        "mine.yaml:11:19 `rounds[0].encode.bytes`: more than 1e18 bytes for a tensor of 50257 x "
        "1600\n");
  CHECK_THAT(errors_of(own_method.substr(0, own_method.find("rounds:")) +
                       "rounds: []\nwire: {as_published: \"0\", as_implemented: \"0\", used: "
                       "as_published}\n"),
             Catch::Matchers::Contains("a method sends at least one message"));
}

TEST_CASE("names that formulas already use are taken") {
  CHECK_THAT(errors_of(changed("  scale:", "  columns:")),
             Catch::Matchers::Contains("`parameters.columns` has a name that is taken"));
  CHECK_THAT(errors_of(changed("  scale:", "  overlap:")),
             Catch::Matchers::Contains("`parameters.overlap` has a name that is taken"));
  CHECK_THAT(errors_of(changed("  scale:", "  a-b:")),
             Catch::Matchers::Contains("`parameters.a-b` is not a name for formulas"));
  CHECK_THAT(errors_of(changed("where:\n", "where:\n  share: \"2\"\n")),
             Catch::Matchers::Contains("a parameter is called the same"));
}

TEST_CASE("a method has at most as many parameters as formulas can hold") {
  std::string many = "parameters:\n";
  for (std::size_t i = 0; i <= formula_parameter_limit; ++i) {
    many += "  p" + std::to_string(i) + ": {default: 1, min: 0, max: 2}\n";
  }
  CHECK_THAT(errors_of(changed("parameters:\n", many)),
             Catch::Matchers::Contains("more than " + std::to_string(formula_parameter_limit)));
}

TEST_CASE("mistakes about the host are told at once") {
  const std::string rounds = "- encode: {bytes: \"v * n + v * kept\", kernels: \"1\"}\n";
  CHECK(errors_of(changed(rounds, "- encode: {runs_on: hots, copied: \"v * n\"}\n")) ==
        "mine.yaml:11:21 `rounds.0.encode.runs_on` has the unknown value `hots` | did you mean "
        "`host`? | one of: gpu, host\n"
        "mine.yaml:11:35 `rounds.0.encode.copied` is for passes on the host | say `runs_on: host`, "
        "or leave it out\n");
  const std::string cores = "what cores read and write, random or not, is what they take";
  CHECK(errors_of(changed(rounds, "- encode: {runs_on: host, flops: n, host_syncs: 1}\n") +
                  "host: {call: 5, core: 6 GB/s, irregular: 0 GB/s, threads: 0}\n") ==
        "mine.yaml:11:34 `rounds.0.encode.flops` is not counted on the host | " + cores + "\n" +
            "mine.yaml:11:49 `rounds.0.encode.host_syncs` is not counted on the host | " + cores +
            "\n"
            "mine.yaml:16:1 missing key `relative_sd` in `host` | `relative_sd` is required here\n"
            "mine.yaml:16:14 `host.call` has no unit | a bare number is ambiguous | for example "
            "`call: 5 us`\n"
            "mine.yaml:16:42 `host.irregular` is zero | must be above zero\n"
            "mine.yaml:16:59 `host.threads` is too small | must be at least 1\n");
  CHECK(errors_of(changed(rounds, "- encode: {runs_on: host}\n")) ==
        "mine.yaml:10:1 `rounds`: has a pass on the host, and nothing says how fast cores are | "
        "give `host`\n"
        "mine.yaml:11:3 `rounds[0].encode`: runs on the host, from where only rounds among `nodes` "
        "send | set among: nodes; GPUs of a node share what is in its host's memory\n");
}
