// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using test::Captured;
using test::ScratchFolder;
using test::small_experiment;

namespace {

Captured plot(const std::vector<std::string>& more) {
  std::vector<std::string> words{"plot"};
  for (const std::string& word : small_experiment()) {
    words.push_back(word);
  }
  words.insert(words.end(), more.begin(), more.end());
  return test::payoff(words);
}

// The rows of a table, by the names of its columns. To be called in a test: it requires success.
std::vector<std::map<std::string, std::string>> table_of(const Captured& run) {
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  const auto cells = [](const std::string& line) {
    std::vector<std::string> result;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) {
      result.push_back(cell);
    }
    return result;
  };
  std::istringstream stream(run.out);
  std::string line;
  std::getline(stream, line);
  const std::vector<std::string> names = cells(line);
  std::vector<std::map<std::string, std::string>> rows;
  while (std::getline(stream, line)) {
    const std::vector<std::string> values = cells(line);
    std::map<std::string, std::string>& row = rows.emplace_back();
    for (std::size_t i = 0; i < values.size(); ++i) {
      row[names[i]] = values[i];
    }
  }
  return rows;
}

std::vector<std::map<std::string, std::string>> rows_of(std::vector<std::string> more) {
  more.insert(more.end(), {"--csv", "-"});
  return table_of(plot(more));
}

double at(const std::vector<std::map<std::string, std::string>>& rows, const std::string& strategy,
          const std::string& column, const std::string& where, const std::string& value) {
  for (const auto& row : rows) {
    if (row.at("strategy") == strategy && row.at(where) == value) {
      return std::stod(row.at(column));
    }
  }
  FAIL("no such row");
  return 0;
}

const std::vector<std::vector<std::string>>& all_pictures() {
  static const std::vector<std::vector<std::string>> pictures = {
      {"--to", "32"},
      {"--to", "32", "--quantity", "step_time"},
      {"--to", "32", "--quantity", "efficiency"},
      {"--x", "bandwidth", "--quantity", "exposed"},
      {"--x", "model", "--from", "1e8", "--to", "1e9"},
      {"--to", "32", "--y", "bandwidth"},
      {"--waterfall"},
      {"--roofline"},
      {"--tornado"}};
  return pictures;
}

}  // namespace

TEST_CASE("the same picture is the same bytes, in every format", "[once]") {
  const ScratchFolder folder;
  for (const std::vector<std::string>& options : all_pictures()) {
    for (const char* kind : {".svg", ".png", ".pdf", ".gp"}) {
      const std::string file = folder.path(std::string("a") + kind);
      std::vector<std::string> words = options;
      words.insert(words.end(), {"-o", file});
      const Captured first = plot(words);
      INFO(options.back() << kind << first.err);
      REQUIRE(first.code == ExitCode::success);
      const std::string bytes = test::read_text(file);
      REQUIRE(bytes.size() > 500);
      CHECK_THAT(bytes, !ContainsSubstring("GNUPLOT") && !ContainsSubstring("(D:2"));
      REQUIRE(plot(words).code == ExitCode::success);
      CHECK(test::read_text(file) == bytes);
    }
  }
}

TEST_CASE("every picture is drawn with characters too") {
  for (std::vector<std::string> words : all_pictures()) {
    words.emplace_back("--terminal");
    const Captured run = plot(words);
    INFO(words.front() << run.err);
    CHECK(run.code == ExitCode::success);
    CHECK(run.out.size() > 200);
  }
}

TEST_CASE("points of curves are what predict says of the job there") {
  const auto json = test::predicted();
  const auto& plans = json.at("plans");
  const double given = plans.at(0).at("step_seconds");
  const double step = plans.at(1).at("step_seconds");
  const auto exposed = [](const nlohmann::json& plan) {
    double sum = 0;
    for (const char* term : {"tp", "cp", "ep", "pp", "dp"}) {
      sum += plan.at("waterfall").at("exposed_" + std::string(term) + "_seconds").get<double>();
    }
    return sum;
  };
  const auto times = rows_of({"--to", "32", "--quantity", "step_time"});
  CHECK(at(times, "uncompressed", "step_seconds", "gpus", "8") == given);
  CHECK(at(times, "powersgd:rank=4", "step_seconds", "gpus", "8") == step);
  const auto hidden_not = rows_of({"--to", "32", "--quantity", "exposed"});
  const std::string column = "exposed_communication_seconds";
  CHECK_THAT(at(hidden_not, "uncompressed", column, "gpus", "8"),
             WithinRel(exposed(plans.at(0)), 1e-12));
  CHECK_THAT(at(hidden_not, "powersgd:rank=4", column, "gpus", "8"),
             WithinRel(exposed(plans.at(1)), 1e-12));
  const auto efficiencies = rows_of({"--to", "32", "--quantity", "efficiency"});
  const double fewest = at(times, "uncompressed", "step_seconds", "gpus", "4");
  CHECK(at(efficiencies, "uncompressed", "efficiency_ratio", "gpus", "4") == 1.0);
  CHECK_THAT(at(efficiencies, "powersgd:rank=4", "efficiency_ratio", "gpus", "8"),
             WithinRel(fewest / step, 1e-12));
}

TEST_CASE("the parts of a bar add up to the step, and speak of all of it") {
  const auto json = test::predicted();
  for (const auto& row : rows_of({"--waterfall"})) {
    double sum = 0;
    for (const auto& [name, value] : row) {
      sum += name == "strategy" || name == "step_seconds" ? 0.0 : std::stod(value);
    }
    CHECK_THAT(sum, WithinRel(std::stod(row.at("step_seconds")), 1e-12));
    if (row.at("strategy") == "powersgd:rank=4") {
      CHECK_THAT(sum, WithinRel(json.at("plans").at(1).at("step_seconds").get<double>(), 1e-9));
    }
  }
}

TEST_CASE("a map has the speedups of the curves, and both lines where they cross") {
  const auto map =
      rows_of({"--to", "32", "--y", "bandwidth", "--y-from", "10 Gb/s", "--y-to", "100 Gb/s"});
  const auto curve = rows_of({"--to", "32"});
  int compared = 0;
  for (const auto& row : map) {
    if (row.at("kind") == "grid" && row.at("bandwidth_gigabits_per_second") == "10") {
      CHECK_THAT(std::stod(row.at("speedup")),
                 WithinRel(at(curve, "powersgd:rank=4", "speedup", "gpus", row.at("gpus")), 1e-12));
      ++compared;
    }
  }
  CHECK(compared >= 4);
}

TEST_CASE("what a plot cannot show is told at its option") {
  const auto refused = [](std::vector<std::string> words, const std::string& why) {
    words.insert(words.end(), {"--terminal"});
    const Captured run = plot(words);
    INFO(run.err);
    CHECK(run.code == ExitCode::bad_input);
    CHECK(run.out.empty());
    CHECK_THAT(run.err, ContainsSubstring(why));
  };
  refused({"--waterfall", "--roofline"}, "two pictures are asked for");
  refused({"--y", "gpus"}, "both axes are the same");
  refused({"--y", "bandwith"}, "did you mean `bandwidth`?");
  refused({"--y", "bandwidth", "--plan", "powersgd:rank=5"}, "did you mean `powersgd:rank=4`?");
  refused({"--plan", "powersgd:rank=4"}, "add --y");
  refused({"--x", "bandwidth", "--quantity", "efficiency"}, "efficiency is that of adding GPUs");
  refused({"--waterfall", "--quantity", "exposed"}, "this picture has no other quantity");
  refused({"--quantity", "speed"}, "is not a quantity");
  refused({"--x", "model", "--from", "2e9", "--to", "1e9"}, "the range of parameters is empty");
  refused({"--x", "model", "--from", "1e3"}, "1e3");
  refused({"--y", "bandwidth", "--from", "8", "--to", "8"}, "a map needs two jobs");
  refused({"--y-from", "1 Gb/s"}, "only a map (--y AXIS) has a second axis");
  refused({"--waterfall", "--y-to", "1 Gb/s"}, "only a map (--y AXIS) has a second axis");
  for (const char* picture : {"--waterfall", "--roofline", "--tornado"}) {
    refused({picture, "--x", "bandwidth"}, "only curves and maps have axes to choose");
    refused({picture, "--from", "8"}, "only curves and maps have axes to choose");
    refused({picture, "--to", "8"}, "only curves and maps have axes to choose");
    refused({picture, "--against", "remedy"}, "only curves of speedups are against a rival");
  }
  refused({"--y", "bandwidth", "--against", "remedy"}, "only curves of speedups");
  refused({"--quantity", "exposed", "--against", "remedy"}, "only curves of speedups");
}

TEST_CASE("a remedy that helps more GPUs only is the rival there") {
  // Within a node no remedy helps; between nodes one does.
  const auto job = [](const char* command, const std::string& nodes, const std::string& dp) {
    return std::vector<std::string>{command,      "--model",       "resnet-50", "--cluster",
                                    "p3-8xlarge", "--nodes",       nodes,       "--dp",
                                    dp,           "--micro-batch", "64",        "--precision",
                                    "fp32",       "--compress",    "fp16"};
  };
  const auto over_remedy = [&](const std::string& nodes, const std::string& dp) {
    const auto json = test::json_of(job("predict", nodes, dp));
    return json.at("plans").at(1).at("against_remedy").at("speedup").get<double>();
  };
  const ScratchFolder folder;
  std::vector<std::string> words = job("plot", "1", "4");
  words.insert(words.end(), {"--against", "remedy", "--to", "64", "--csv", "-"});
  const auto rows = table_of(test::payoff(words));
  CHECK_THAT(at(rows, "fp16", "speedup", "gpus", "64"), WithinRel(over_remedy("16", "64"), 1e-9));
  CHECK_THAT(at(rows, "fp16", "speedup", "gpus", "4"), WithinRel(over_remedy("1", "4"), 1e-9));
  CHECK(at(rows, "uncompressed", "speedup", "gpus", "64") < 1.0);
  words.back() = folder.path("a.csv");
  words.insert(words.end(), {"-o", folder.path("a.gp")});
  REQUIRE(test::payoff(words).code == ExitCode::success);
  CHECK_THAT(test::read_text(folder.path("a.gp")),
             ContainsSubstring("none for the job as given") && !ContainsSubstring("No uncompr"));
}

TEST_CASE("a break-even between sparse numbers of GPUs has the value that is predicted there") {
  const auto job = [](const char* command, std::vector<std::string> more) {
    std::vector<std::string> words{command,
                                   "--model",
                                   "dlrm-criteo",
                                   "--cluster",
                                   "p3dn-24xlarge",
                                   "--micro-batch",
                                   "2048",
                                   "--precision",
                                   "fp32",
                                   "--compress",
                                   "dct_neurons:traffic=embeddings + dct_threshold"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const std::string strategy = "dct_neurons:traffic=embeddings + dct_threshold";
  int marked = 0;
  std::map<int, bool> counts;
  const auto rows = table_of(test::payoff(job("plot", {"--nodes", "4", "--csv", "-"})));
  for (const auto& row : rows) {
    if (row.at("strategy") == strategy) {
      const bool is_first = counts.emplace(std::stoi(row.at("gpus")), false).second;
      CHECK(is_first);
    }
  }
  for (const auto& row : rows) {
    if (row.at("break_even") != "true") {
      continue;
    }
    const int gpus = std::stoi(row.at("gpus"));
    const auto json = test::json_of(job("predict", {"--nodes", std::to_string(gpus / 8)}));
    const double speedup = json.at("plans").at(0).at("step_seconds").get<double>() /
                           json.at("plans").at(1).at("step_seconds").get<double>();
    CHECK_THAT(std::stod(row.at("speedup")), WithinRel(speedup, 1e-9));
    CHECK((counts.contains(gpus - 8) || counts.contains(gpus + 8)));  // which does not pay
    marked += gpus > 512 ? 1 : 0;  // where not every number is a point
  }
  CHECK(marked > 0);
}

TEST_CASE("curves over the bandwidth of NICs that no gradient passes are refused") {
  // Each of two stages of a pipeline has a node of its own.
  const Captured run = test::payoff(
      {"plot", "--model",    "gpt2", "--cluster", "p3-8xlarge",    "--nodes",   "2",
       "--dp", "4",          "--pp", "2",         "--micro-batch", "1",         "--micro-batches",
       "4",    "--compress", "fp16", "--x",       "bandwidth",     "--terminal"});
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring("no gradients pass a NIC"));
}

TEST_CASE("a table of layers has no axis of sizes, one replica nothing to send") {
  const Captured table =
      test::payoff({"plot", "--model", "resnet-50", "--cluster", "p3-8xlarge", "--nodes", "2",
                    "--micro-batch", "64", "--compress", "fp16", "--x", "model", "--terminal"});
  CHECK(table.code == ExitCode::bad_input);
  CHECK_THAT(table.err, ContainsSubstring("a table of layers has one size"));
  const Captured alone = test::payoff({"plot", "--model", "gpt2", "--gpu", "v100-sxm2-16",
                                       "--micro-batch", "1", "--roofline", "--terminal"});
  CHECK(alone.code == ExitCode::bad_input);
}

TEST_CASE("a caption speaks of circles where there are some, and only there") {
  const ScratchFolder folder;
  int with = 0;
  int without = 0;
  for (std::vector<std::string> words : all_pictures()) {
    words.insert(words.end(), {"-o", folder.path("x.gp")});
    const Captured run = plot(words);
    INFO(run.err);
    REQUIRE(run.code == ExitCode::success);
    const std::string script = test::read_text(folder.path("x.gp"));
    const bool marked = script.find("$marks") != std::string::npos;
    CHECK(marked == (script.find("Circle:") != std::string::npos));
    ++(marked ? with : without);
  }
  CHECK(with > 0);
  CHECK(without > 0);
}

TEST_CASE("one strategy that is impossible ends no other, and the legend says what ends") {
  const ScratchFolder folder;
  const std::string experiment = PAYOFF_SOURCE_DIR "/examples/14-dlrm-dct/experiment.yaml";
  const auto rows = table_of(
      test::payoff({"plot", experiment, "--to", "4096", "--csv", "-", "-o", folder.path("a.gp")}));
  // As predict has it on 416 nodes with this strategy alone.
  const auto json = test::json_of({"predict", experiment, "--set", "cluster.nodes=416",
                                   "--compress", "fp16:traffic=embeddings"});
  const double speedup = json.at("plans").at(0).at("step_seconds").get<double>() /
                         json.at("plans").at(1).at("step_seconds").get<double>();
  CHECK_THAT(at(rows, "fp16:traffic=embeddings", "speedup", "gpus", "3328"),
             WithinRel(speedup, 1e-9));
  for (const auto& row : rows) {
    const bool is_dct = row.at("strategy").find("dct_neurons") != std::string::npos;
    CHECK(std::stoi(row.at("gpus")) <= (is_dct ? 1656 : 3328));
    CHECK((row.at("gpus") != "1656" || row.at("break_even") == "false"));
  }
  const std::string script = test::read_text(folder.path("a.gp"));
  CHECK_THAT(script, ContainsSubstring("always pays (possible up to 3328)") &&
                         ContainsSubstring("always pays (possible up to 1656)") &&
                         ContainsSubstring("Not possible on more than 1656 GPUs: dct") &&
                         ContainsSubstring("The axis ends before 4096: no such job has more than "
                                           "3328 GPUs: dp 3336 ranks cannot"));
  CHECK_THAT(script, !ContainsSubstring("pays up to 1656"));
  const Captured map =
      test::payoff({"plot", experiment, "--y", "bandwidth", "--plan", "fp16:traffic=embeddings",
                    "--from", "2048", "--to", "4096", "-o", folder.path("map.gp")});
  INFO(map.err);
  REQUIRE(map.code == ExitCode::success);
  CHECK_THAT(test::read_text(folder.path("map.gp")),
             ContainsSubstring("The axis ends before 4096: no such job has more than 3328 GPUs"));
}

TEST_CASE("places of a map where a strategy cannot be say why, in lines that fit the page") {
  const ScratchFolder folder;
  const std::string experiment = PAYOFF_SOURCE_DIR "/examples/14-dlrm-dct/experiment.yaml";
  const auto map = [&](const std::string& from, const std::string& to) {
    return test::payoff({"plot", experiment, "--y", "bandwidth", "--plan",
                         "dct_neurons:traffic=embeddings", "--from", from, "--to", to, "--terminal",
                         "-o", folder.path("map.gp")});
  };
  // What check() says of it beyond 1,656 GPUs, where the job itself goes on to 3,328.
  const std::string why = "no dct_neurons:traffic=embeddings in these jobs: the activations of";
  const Captured some = map("1600", "2048");
  INFO(some.err);
  CHECK_THAT(some.out, ContainsSubstring("blank: " + why));
  const std::string script = test::read_text(folder.path("map.gp"));
  CHECK_THAT(script, ContainsSubstring("Grey: no dct\\_neurons:traffic=embeddings in these jobs") &&
                         !ContainsSubstring("no such job,"));
  // A caption is a text of its own between the title's.
  const std::size_t title = script.find("set title");
  for (std::size_t at = title; at < script.find("set xlabel");) {
    const std::size_t next = script.find("\"\\n\"", at + 1);
    CHECK(std::min(next, script.find("set xlabel")) - at < 140);
    at = next;
  }
  const Captured none = map("2000", "3000");
  CHECK(none.code == ExitCode::bad_input);
  CHECK_THAT(none.err, ContainsSubstring("nothing is on the map: " + why));
}

TEST_CASE("an axis without a possible job is refused with what the job cannot have there") {
  const std::string experiment = PAYOFF_SOURCE_DIR "/examples/14-dlrm-dct/experiment.yaml";
  for (const std::vector<std::string>& axes :
       {std::vector<std::string>{}, std::vector<std::string>{"--y", "bandwidth"}}) {
    std::vector<std::string> words{"plot", experiment, "--from",    "4000",
                                   "--to", "8000",     "--terminal"};
    words.insert(words.end(), axes.begin(), axes.end());
    const Captured run = test::payoff(words);
    CHECK(run.code == ExitCode::bad_input);
    CHECK_THAT(run.err, ContainsSubstring("no such job has 4000 to 8000 GPUs") &&
                            ContainsSubstring("dp 4000 ranks cannot"));
  }
}

TEST_CASE("the legend has the threshold of what pays, and says what lies beyond the axis") {
  const ScratchFolder folder;
  const auto script = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"-o", folder.path("a.gp")});
    const Captured run = plot(more);
    INFO(run.err);
    REQUIRE(run.code == ExitCode::success);
    return test::read_text(folder.path("a.gp"));
  };
  CHECK_THAT(script({"--to", "32"}), ContainsSubstring("what is over 1 % faster pays"));
  const std::string sizes = script({"--x", "model", "--from", "1e8", "--to", "1e9"});
  CHECK_THAT(sizes,
             ContainsSubstring("what is over 1 % faster pays") &&
                 (ContainsSubstring(" · never pays") || ContainsSubstring(" · always pays") ||
                  ContainsSubstring(" billion parameters")));
}

TEST_CASE("a table of numbers is no input of a picture") {
  const Captured run = test::payoff({"plot", "runs.csv", "--terminal"});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("draws the .jsonl that `-o` wrote"));
}
