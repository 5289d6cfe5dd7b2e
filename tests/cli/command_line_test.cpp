// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include <string>
#include <vector>

#include "cli/session.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;

namespace {

ExitCode run_nothing(const Arguments&, Session&) { return ExitCode::success; }

const Command command{"predict",
                      "predicts",
                      "payoff predict a.yaml",
                      {"FILE", "an experiment", 1, 1},
                      {{"--nodes", "N", "nodes"},
                       {"--set", "KEY=VALUE", "changes a key", Takes::values},
                       {"--strict", "", "a flag", Takes::nothing},
                       json_option,
                       csv_option},
                      run_nothing};

struct Parsing {
  SourceMap sources;
  Diagnostics diagnostics;
  Arguments arguments;

  explicit Parsing(const std::vector<std::string>& words)
      : arguments(parse_arguments(command, words, 2, sources, diagnostics)) {}
  [[nodiscard]] std::string errors() const { return render_text(diagnostics, sources); }
};

}  // namespace

TEST_CASE("values keep their place on the command line") {
  const Parsing parsing({"--nodes", "8", "a.yaml", "--set", "x=1", "--set=y=2 GB", "--strict"});
  REQUIRE(parsing.errors().empty());
  CHECK(parsing.arguments.value("--nodes")->text == "8");
  CHECK(parsing.arguments.value("--nodes")->index == 3);
  REQUIRE(parsing.arguments.positionals().size() == 1);
  CHECK(parsing.arguments.positionals()[0].text == "a.yaml");
  CHECK(parsing.arguments.positionals()[0].index == 4);
  const auto settings = parsing.arguments.values("--set");
  REQUIRE(settings.size() == 2);
  CHECK(settings[0].text == "x=1");
  CHECK(settings[1].text == "y=2 GB");
  CHECK(settings[1].index == 7);
  CHECK(settings[1].span.offset == std::string("--set=").size());
  CHECK(parsing.arguments.has("--strict"));
  CHECK(parsing.arguments.has("--csv") == false);
}

TEST_CASE("a lone --json does not take the experiment for its file") {
  const Parsing lone({"--json", "a.yaml"});
  REQUIRE(lone.errors().empty());
  CHECK(lone.arguments.value("--json")->text.empty());
  CHECK(lone.arguments.positionals().size() == 1);

  const Parsing behind({"a.yaml", "--json", "out.json"});
  REQUIRE(behind.errors().empty());
  CHECK(behind.arguments.value("--json")->text == "out.json");
  CHECK(behind.arguments.positionals().size() == 1);

  const Parsing joined({"a.yaml", "--json=any.name"});
  CHECK(joined.arguments.value("--json")->text == "any.name");
}

TEST_CASE("a lone --json does not take an option for its file") {
  const Parsing parsing({"a.yaml", "--json", "--csv=b.json"});
  CHECK(parsing.errors().empty());
  REQUIRE(parsing.arguments.has("--json"));
  CHECK(parsing.arguments.value("--json")->text.empty());
  REQUIRE(parsing.arguments.has("--csv"));
  CHECK(parsing.arguments.value("--csv")->text == "b.json");
}

TEST_CASE("every unknown option is reported, with the nearest known one") {
  const Parsing parsing({"--nodse", "8", "--sets=x=1"});
  CHECK(parsing.diagnostics.error_count() >= 2);
  CHECK_THAT(parsing.errors(), ContainsSubstring("unknown option `--nodse`"));
  CHECK_THAT(parsing.errors(), ContainsSubstring("did you mean `--nodes`?"));
  CHECK_THAT(parsing.errors(), ContainsSubstring("unknown option `--sets`"));
  CHECK_THAT(parsing.errors(), ContainsSubstring("did you mean `--set`?"));
}

TEST_CASE("an option without its value is an error, at the end and in the middle") {
  CHECK_THAT(Parsing({"a.yaml", "--nodes"}).errors(), ContainsSubstring("`--nodes` needs a value"));
  CHECK_THAT(Parsing({"a.yaml", "--nodes", "--strict"}).errors(),
             ContainsSubstring("`--nodes` needs a value"));
  CHECK_THAT(Parsing({"a.yaml", "--nodes", "--csv=b.csv"}).errors(),
             ContainsSubstring("`--nodes` needs a value"));
  CHECK_THAT(Parsing({"a.yaml", "--nodes="}).errors(),
             ContainsSubstring("`--nodes` needs a value"));
}

TEST_CASE("an option that takes one value is not given twice") {
  CHECK_THAT(Parsing({"a.yaml", "--nodes", "8", "--nodes", "9"}).errors(),
             ContainsSubstring("`--nodes` is given twice"));
}

TEST_CASE("too few and too many arguments are errors") {
  CHECK_THAT(Parsing({}).errors(), ContainsSubstring("needs FILE"));
  CHECK_THAT(Parsing({"a.yaml", "b.yaml"}).errors(), ContainsSubstring("does not take `b.yaml`"));
}

TEST_CASE("what follows -- is no option") {
  const Parsing parsing({"--", "--nodes"});
  REQUIRE(parsing.errors().empty());
  CHECK(parsing.arguments.positionals()[0].text == "--nodes");
}

TEST_CASE("help lists every option and the example") {
  const std::string help = help_text(command);
  for (const char* text : {"--nodes", "--set", "--strict", "--json", "[FILE]", "--error-format",
                           "payoff predict a.yaml"}) {
    CHECK_THAT(help, ContainsSubstring(text));
  }
}
