// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

// Pictures of the results of a sweep hold what its lines hold, and nothing is computed anew.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using nlohmann::json;
using test::Captured;
using test::ScratchFolder;

namespace {

// GPT-2 on nodes of four V100s: nodes and bandwidth, none and two strategies.
std::vector<std::string> sweep_to(const std::string& file, std::vector<std::string> more = {}) {
  std::vector<std::string> words{"sweep",
                                 "--model",
                                 "gpt2",
                                 "--cluster",
                                 "p3-8xlarge",
                                 "--micro-batch",
                                 "4",
                                 "--precision",
                                 "fp16",
                                 "--over",
                                 "nodes=2,4,8",
                                 "--over",
                                 "bandwidth=1 Gb/s..100 Gb/s:x10",
                                 "--over",
                                 "compress=none,powersgd:rank=4,signsgd",
                                 "-o",
                                 file};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string swept(const ScratchFolder& folder, std::vector<std::string> more = {}) {
  const Captured run = test::payoff(sweep_to(folder.path("runs.jsonl"), std::move(more)));
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  return folder.path("runs.jsonl");
}

Captured plot(const std::string& file, const std::vector<std::string>& more) {
  std::vector<std::string> words{"plot", file};
  words.insert(words.end(), more.begin(), more.end());
  return test::payoff(words);
}

std::vector<json> lines_of(const std::string& file) {
  std::vector<json> lines;
  std::istringstream stream(test::read_text(file));
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(json::parse(line));
  }
  return lines;
}

std::vector<std::vector<std::string>> cells_of(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream stream(csv);
  for (std::string line; std::getline(stream, line);) {
    std::vector<std::string>& row = rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) {
      row.push_back(cell);
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("curves of results hold the numbers of their lines, column by column") {
  const ScratchFolder folder;
  const std::string file = swept(folder);
  const Captured run = plot(
      file, {"--x", "nodes", "--y", "step_time", "--where", "bandwidth=10 Gb/s", "--csv", "-"});
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  const auto rows = cells_of(run.out);
  REQUIRE(rows.size() == 1 + 3 * 3);
  CHECK(rows[0] == std::vector<std::string>{"strategy", "nodes", "step_seconds"});
  std::map<std::pair<std::string, int>, double> wanted;
  for (const json& line : lines_of(file)) {
    if (line.contains("job") && line["bandwidth_bytes_per_second"] == 1.25e9) {
      wanted[{line["strategy"], line["nodes"]}] = line["step_seconds"];
    }
  }
  REQUIRE(wanted.size() == 9);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    CHECK(std::stod(rows[i][2]) == wanted.at({rows[i][0], std::stoi(rows[i][1])}));
  }
}

TEST_CASE("columns go by the names that a sweep and its axes know them by") {
  const ScratchFolder folder;
  const std::string file = swept(folder);
  const auto csv = [&](const std::string& x, const std::string& y) {
    const Captured run = plot(file, {"--x", x, "--y", y, "--by", "compress,nodes", "--csv", "-"});
    INFO(run.err);
    REQUIRE(run.code == ExitCode::success);
    return run.out;
  };
  const std::string exact = csv("bandwidth_bytes_per_second", "step_seconds");
  CHECK(csv("bandwidth", "step_time") == exact);
  CHECK(csv("cluster.inter.bandwidth", "step") == exact);
}

TEST_CASE("efficiency is samples a GPU against the uncompressed job on the fewest GPUs") {
  const ScratchFolder folder;
  const std::string file = swept(folder);
  const Captured run =
      plot(file, {"--y", "efficiency", "--where", "bandwidth=1 Gb/s", "--csv", "-"});
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  std::map<std::pair<std::string, int>, double> rates;  // of a GPU
  for (const json& line : lines_of(file)) {
    if (line.contains("job") && line["bandwidth_bytes_per_second"] == 1.25e8) {
      rates[{line["strategy"], line["gpus"]}] =
          line["samples_per_second"].get<double>() / line["gpus"].get<double>();
    }
  }
  const auto rows = cells_of(run.out);
  REQUIRE(rows.size() == 10);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    CHECK_THAT(
        std::stod(rows[i][2]),
        WithinRel(rates.at({rows[i][0], std::stoi(rows[i][1])}) / rates.at({"none", 8}), 1e-12));
  }
}

TEST_CASE("a map of results has every cell, and its line where the speedup passes one") {
  const ScratchFolder folder;
  const std::string file = swept(folder);
  const Captured run =
      plot(file, {"--x", "nodes", "--y", "bandwidth", "--plan", "signsgd", "--csv", "-"});
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  const auto rows = cells_of(run.out);
  CHECK(rows[0] == std::vector<std::string>{"strategy", "kind", "nodes",
                                            "bandwidth_bytes_per_second", "speedup", "fits"});
  std::map<double, std::map<double, double>> speedups;  // by nodes and bandwidth
  for (const auto& row : rows) {
    if (row.size() > 1 && row[1] == "grid") {
      speedups[std::stod(row[2])][std::stod(row[3])] = std::stod(row[4]);
    }
  }
  REQUIRE(speedups.size() == 3);
  int crossings = 0;
  for (const auto& row : rows) {
    if (row.size() < 4 || row[1] != "even_with_uncompressed" ||
        !speedups.contains(std::stod(row[2]))) {
      continue;
    }
    // On a column of the grid: straight in the logarithms between two cells, by hand.
    const std::map<double, double>& column = speedups.at(std::stod(row[2]));
    const double at = std::stod(row[3]);
    const auto above = column.upper_bound(at);
    const auto below = std::prev(above);
    const double share = std::log(at / below->first) / std::log(above->first / below->first);
    CHECK_THAT(std::log(below->second) * (1 - share) + std::log(above->second) * share + 1.0,
               WithinRel(1.0, 1e-9));
    ++crossings;
  }
  CHECK(crossings > 0);
}

TEST_CASE("shards are drawn like the sweep they are of, and one alone with a warning") {
  const ScratchFolder folder;
  const std::string file = swept(folder);
  std::vector<std::string> words{"plot"};
  for (const char* shard : {"0/2", "1/2"}) {
    const Captured run = test::payoff(sweep_to(folder.path("part.jsonl"), {"--shard", shard}));
    REQUIRE(run.code == ExitCode::success);
    words.push_back(folder.path("part." + std::string(shard, 1) + "-of-2.jsonl"));
  }
  const std::vector<std::string> how{"--y",   "step_time", "--by", "strategy,bandwidth",
                                     "--csv", "-"};
  words.insert(words.end(), how.begin(), how.end());
  const Captured both = test::payoff(words);
  INFO(both.err);
  CHECK(both.code == ExitCode::success);
  CHECK(both.out == plot(file, how).out);
  const Captured one = plot(folder.path("part.0-of-2.jsonl"), how);
  CHECK(one.code == ExitCode::success);
  CHECK_THAT(one.err, ContainsSubstring("15 of 27 results are drawn"));
}

TEST_CASE("what cannot be drawn of results is said where it is asked for") {
  const ScratchFolder folder;
  const std::string file = swept(folder);
  const auto refused = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = more;
    words.insert(words.end(), {"-o", folder.path("x.png")});
    const Captured run = plot(file, words);
    CHECK(run.code == ExitCode::bad_input);
    CHECK(folder.files() == std::vector<std::string>{"runs.jsonl"});
    return run.err;
  };
  const std::string misspelt = refused({"--x", "nods", "--y", "spedup"});
  CHECK_THAT(misspelt, ContainsSubstring("did you mean `nodes`?"));
  CHECK_THAT(misspelt, ContainsSubstring("did you mean `speedup`?"));
  CHECK_THAT(refused({"--x", "nodes"}), ContainsSubstring("differ in `bandwidth`: 1 Gb/s and"));
  CHECK_THAT(refused({"--x", "strategy"}), ContainsSubstring("`strategy` has no numbers"));
  CHECK_THAT(refused({"--where", "nodes=3"}), ContainsSubstring("values: 2, 4, 8"));
  CHECK_THAT(refused({"--where", "bandwidth=10"}), ContainsSubstring("has no unit"));
  CHECK_THAT(refused({"--y", "bandwidth", "--plan", "signsdg"}),
             ContainsSubstring("did you mean `signsgd`?"));
  CHECK_THAT(refused({"--y", "bandwidth", "--by", "strategy"}),
             ContainsSubstring("a map has no curves"));
  CHECK(json::parse(refused({"--x", "nodes", "--y", "reason", "--error-format",
                             "json"}))["errors"][0]["text"] == "reason");
  CHECK_THAT(refused({"--nodes", "4"}), ContainsSubstring("`--nodes` does not go with results"));
  CHECK_THAT(refused({"--quantity", "step_time"}), ContainsSubstring("`--y COLUMN`"));
}

TEST_CASE("results whose strategies are no words, or that lack the column of an axis, are none") {
  const ScratchFolder folder;
  const std::string header =
      R"({"kind":"sweep","jobs":1,"strategies":["none","fp16"],"shard":{"index":0,"of":1},)"
      R"("axes":[{"key":"cluster.nodes","values":["2"]}],"experiment":{"name":"x","yaml":""}})";
  for (const char* line :
       {R"({"job":0,"nodes":2,"gpus":8,"strategy":0,"status":"fits","speedup":1.5})",
        R"({"job":0,"nodes":2,"gpus":8,"strategy":"fp16","status":1,"speedup":1.5})",
        R"({"job":0,"job":0,"job":0,"job":0})"}) {
    INFO(line);
    folder.write("odd.jsonl", header + "\n" + line + "\n");
    const Captured run = plot(folder.path("odd.jsonl"), {"--csv", "-"});
    CHECK(run.code == ExitCode::bad_input);
    CHECK_THAT(run.err, ContainsSubstring("odd.jsonl:2: is no result of `payoff sweep`"));
  }
}

TEST_CASE("results of two questions, or an experiment among them, make no picture") {
  const ScratchFolder folder;
  const std::string file = swept(folder);
  REQUIRE(
      test::payoff(sweep_to(folder.path("other.jsonl"), {"--set", "layout.micro_batch=8"})).code ==
      ExitCode::bad_input);  // --micro-batch says it too
  std::vector<std::string> other = sweep_to(folder.path("other.jsonl"));
  other[6] = "8";
  REQUIRE(test::payoff(other).code == ExitCode::success);
  const Captured mixed = test::payoff({"plot", file, folder.path("other.jsonl"), "--csv", "-"});
  CHECK(mixed.code == ExitCode::bad_input);
  CHECK_THAT(mixed.err, ContainsSubstring("asks another question than"));
  folder.write("job.yaml", test::small_job);
  const Captured both = test::payoff({"plot", file, folder.path("job.yaml"), "--csv", "-"});
  CHECK(both.code == ExitCode::bad_input);
  CHECK_THAT(both.err, ContainsSubstring("is no result of `payoff sweep`"));
  folder.write("none.jsonl", "{\"kind\": \"predict\"}\n");
  CHECK(plot(folder.path("none.jsonl"), {"--csv", "-"}).code == ExitCode::bad_input);
  const Captured by = test::payoff(
      {"plot", folder.path("job.yaml"), "--by", "strategy", "--csv", "-", "--where", "nodes=2"});
  CHECK(by.code == ExitCode::bad_input);
  CHECK_THAT(by.err, ContainsSubstring("only results of `payoff sweep` have columns"));
}

TEST_CASE("a sweep that was stopped is drawn as far as it came") {
  const ScratchFolder folder;
  const std::string file = swept(folder);
  std::string text = test::read_text(file);
  text.resize(text.size() - 20);  // within the last line
  folder.write("cut.jsonl", text);
  const Captured run =
      plot(folder.path("cut.jsonl"), {"--x", "nodes", "--y", "bandwidth", "--terminal"});
  INFO(run.err);
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.err, ContainsSubstring("26 of 27 results are drawn"));
  CHECK_THAT(run.out, ContainsSubstring("gpt2 on p3-8xlarge"));
}

TEST_CASE("a result that stands twice is a mistake, on a map and on a curve") {
  const ScratchFolder folder;
  const std::string text = test::read_text(swept(folder));
  const std::size_t first = text.find('\n') + 1;
  // 3 node counts x 3 bandwidths x 3 strategies: lines 2 to 28, and again from 29 on.
  folder.write("twice.jsonl", text + text.substr(first));
  for (const std::vector<std::string>& asked :
       {std::vector<std::string>{"--y", "bandwidth"}, {"--where", "bandwidth=1 Gb/s"}}) {
    std::vector<std::string> words{"--x", "nodes", "--csv", "-"};
    words.insert(words.end(), asked.begin(), asked.end());
    const Captured run = plot(folder.path("twice.jsonl"), words);
    INFO(run.err);
    CHECK(run.code == ExitCode::bad_input);
    CHECK(run.out.empty());
    CHECK_THAT(run.err, ContainsSubstring("are results of the same job"));
  }
}

TEST_CASE("the same results are the same picture") {
  const ScratchFolder folder;
  const std::string file = swept(folder);
  for (const char* name : {"a.gp", "b.gp"}) {
    REQUIRE(plot(file, {"--where", "bandwidth=1 Gb/s", "-o", folder.path(name)}).code ==
            ExitCode::success);
  }
  std::string a = test::read_text(folder.path("a.gp"));
  std::string b = test::read_text(folder.path("b.gp"));
  const auto without_output = [](std::string text) {
    const std::size_t at = text.find("set output");
    return text.erase(at, text.find('\n', at) - at);
  };
  CHECK(without_output(a) == without_output(b));
  CHECK_THAT(a, ContainsSubstring("All with bandwidth 1 Gb/s."));
}

TEST_CASE("where results break even is said by those around it, and no value between is drawn") {
  const ScratchFolder folder;
  const std::string file = swept(folder);
  const std::vector<std::string> how{"--x", "bandwidth", "--where", "nodes=4"};
  std::vector<std::string> words = how;
  words.insert(words.end(), {"-o", folder.path("c.gp"), "--csv", folder.path("c.csv")});
  REQUIRE(plot(file, words).code == ExitCode::success);
  const std::string script = test::read_text(folder.path("c.gp"));
  std::map<std::string, std::map<double, double>> speedups;
  for (const json& line : lines_of(file)) {
    if (line.contains("job") && line["nodes"] == 4) {
      speedups[line["strategy"]][line["bandwidth_bytes_per_second"]] = line["speedup"];
    }
  }
  const std::map<double, double>& of = speedups.at("signsgd");  // at 1, 10, 100 Gb/s
  REQUIRE(of.at(1.25e9) > 1.0);
  REQUIRE(of.at(1.25e10) <= 1.0);
  CHECK_THAT(script,
             ContainsSubstring("signsgd · even between 10 Gb/s and 100 Gb/s") &&
                 ContainsSubstring("Wide line: begins or ceases to pay somewhere between") &&
                 ContainsSubstring("$between") && !ContainsSubstring("$marks"));
  CHECK(cells_of(test::read_text(folder.path("c.csv"))).size() == 1 + 2 * 3);
}

TEST_CASE("results with verdicts have the remedy's curve and a ribbon") {
  const ScratchFolder folder;
  const std::string file = swept(folder, {"--verdicts"});
  REQUIRE(plot(file, {"--where", "bandwidth=1 Gb/s", "-o", folder.path("v.gp")}).code ==
          ExitCode::success);
  const std::string script = test::read_text(folder.path("v.gp"));
  CHECK_THAT(script, ContainsSubstring("# best remedy\n$rival0 << EOD\n8 "));
  CHECK_THAT(script, ContainsSubstring("$band0 << EOD\n8 "));
}

TEST_CASE("curves by strategy and bandwidth all look different") {
  const ScratchFolder folder;
  const std::string file = folder.path("many.jsonl");
  std::vector<std::string> words{"sweep",
                                 "--model",
                                 "gpt2",
                                 "--cluster",
                                 "p3-8xlarge",
                                 "--micro-batch",
                                 "4",
                                 "--precision",
                                 "fp16",
                                 "--over",
                                 "nodes=2,4",
                                 "--over",
                                 "bandwidth=1 Gb/s..64 Gb/s:x2",
                                 "--over",
                                 "compress=fp8_block,powersgd:rank=4",
                                 "-o",
                                 file};
  REQUIRE(test::payoff(words).code == ExitCode::success);
  const Captured run =
      plot(file, {"--x", "nodes", "--by", "strategy,bandwidth", "-o", folder.path("by.gp")});
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  std::istringstream script(test::read_text(folder.path("by.gp")));
  std::set<std::string> looks;
  int curves = 0;
  for (std::string line; std::getline(script, line);) {
    const std::size_t at = line.find("using 1:2 with lines lc rgb");
    if (line.find("$curve") != std::string::npos && at != std::string::npos) {
      ++curves;
      looks.insert(line.substr(at, line.find(" lw ") - at));
    }
  }
  CHECK(curves == 2 * 7);
  CHECK(looks.size() == 2 * 7);
}
