// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

// Why two steps differ.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using nlohmann::json;
using payoff::test::Captured;
using payoff::test::ScratchFolder;

namespace {

const std::string with_plans = std::string(test::small_job) + "compress: [signsgd, fp16]\n";

// By another command, as the sum of its terms.
double step_of(const std::string& file, const std::string& plan = "none") {
  double step = 0;
  const json explained = test::json_of({"explain", file, "--plan", plan});
  for (const json& term : explained["terms"]) {
    step += term["time_seconds"].get<double>();
  }
  return step;
}

// Step and terms: what the causes say is what the ends say.
void check_adds_up(const json& diff) {
  double step = diff["a"]["step_seconds"].get<double>();
  json terms = diff["a"]["waterfall"];
  for (const json& cause : diff["causes"]) {
    step += cause["contribution_seconds"].get<double>();
    for (const auto& [term, change] : cause["waterfall"].items()) {
      terms[term] = terms[term].get<double>() + change.get<double>();
    }
  }
  CHECK_THAT(step, WithinRel(diff["b"]["step_seconds"].get<double>(), 1e-12));
  for (const auto& [term, time] : diff["b"]["waterfall"].items()) {
    INFO(term);
    CHECK_THAT(terms[term].get<double>(), WithinAbs(time.get<double>(), 1e-12));
  }
}

json cause_at(const json& diff, const std::string& path) {
  for (const json& cause : diff["causes"]) {
    for (const json& key : cause["keys"]) {
      if (key["path"] == path) {
        return cause;
      }
    }
  }
  return nullptr;
}

}  // namespace

TEST_CASE("what a job states around its steps is a cause, and a term, of a difference") {
  const ScratchFolder folder;
  folder.write("job.yaml", test::small_job);
  const std::string file = folder.path("job.yaml");
  const std::string slow_input = "training.data_time=10s";
  const json diff = test::json_of({"diff", file, "--with", slow_input});
  check_adds_up(diff);
  const json predicted = test::json_of({"predict", file, "--set", slow_input});
  CHECK_THAT(diff["b"]["step_seconds"].get<double>(),
             WithinRel(predicted["plans"][0]["step_seconds"].get<double>(), 1e-12));
  CHECK(diff["b"]["waterfall"]["data_stall_seconds"].get<double>() > 0);
}

TEST_CASE("causes are the keys that differ, with places, and add up to the predictions") {
  const ScratchFolder folder;
  const std::string a = folder.path("a.yaml");
  const std::string b = folder.path("b.yaml");
  folder.write("a.yaml", test::small_job);
  folder.write("b.yaml",
               "experiment: other name\n"
               "cluster: {profile: p3-8xlarge, nodes: 2, inter: {bandwidth: 25 Gb/s}}\n"
               "model: {profile: resnet-50}\n"
               "layout: {micro_batch: 32}\n"
               "training: {precision: fp32, bucket: 25 MiB}\n");
  const json diff = test::json_of({"diff", a, b});
  CHECK_THAT(diff["a"]["step_seconds"].get<double>(), WithinRel(step_of(a), 1e-12));
  CHECK_THAT(diff["b"]["step_seconds"].get<double>(), WithinRel(step_of(b), 1e-12));
  check_adds_up(diff);
  CHECK(diff["causes"].size() == 3);
  CHECK(diff["rule"] == "shapley");
  CHECK(diff["predictions"] == 8);
  const json faster = cause_at(diff, "cluster.inter.bandwidth");
  CHECK(faster["keys"][0]["a"].is_null());
  CHECK(faster["keys"][0]["b"]["value"] == "25 Gb/s");
  CHECK(faster["keys"][0]["b"]["line"] == 2);
  CHECK(faster["contribution_seconds"].get<double>() < 0);
  CHECK(faster["waterfall"]["forward_seconds"].get<double>() == 0);
  // What was written is the default: it costs nothing.
  CHECK(cause_at(diff, "training.bucket")["contribution_seconds"].get<double>() == 0);
}

TEST_CASE("turned around a difference is its negative, cause by cause") {
  const ScratchFolder folder;
  folder.write("a.yaml", test::small_job);
  folder.write("b.yaml",
               "cluster: {profile: p3-8xlarge, nodes: 2, inter: {bandwidth: 25 Gb/s}}\n"
               "model: {profile: resnet-50}\n"
               "layout: {micro_batch: 32}\n"
               "training: {precision: fp32, overlap: false}\n");
  const json there = test::json_of({"diff", folder.path("a.yaml"), folder.path("b.yaml")});
  const json back = test::json_of({"diff", folder.path("b.yaml"), folder.path("a.yaml")});
  for (const char* key : {"cluster.inter.bandwidth", "layout.micro_batch", "training.overlap"}) {
    INFO(key);
    CHECK_THAT(cause_at(there, key)["contribution_seconds"].get<double>(),
               WithinAbs(-cause_at(back, key)["contribution_seconds"].get<double>(), 1e-12));
  }
}

TEST_CASE("nodes and ranks that can only change together are one cause") {
  const ScratchFolder folder;
  folder.write("a.yaml", std::string(test::small_job) + "compress: [signsgd]\n");
  const json diff =
      test::json_of({"diff", folder.path("a.yaml"), "--with", "cluster.nodes=4", "--with",
                     "layout={dp: 16, micro_batch: 64}", "--with", "training.overlap=false"});
  check_adds_up(diff);
  // A takes all GPUs of its nodes; B says how many, which has to be right.
  const json joint = cause_at(diff, "cluster.nodes");
  CHECK(joint["keys"].size() == 2);
  CHECK(cause_at(diff, "training.overlap")["keys"].size() == 1);
}

TEST_CASE("of one experiment it is the strategy that makes the difference") {
  const ScratchFolder folder;
  const std::string a = folder.path("a.yaml");
  folder.write("a.yaml", with_plans);
  const json first = test::json_of({"diff", a});
  CHECK_THAT(first["b"]["step_seconds"].get<double>(), WithinRel(step_of(a, "signsgd"), 1e-12));
  check_adds_up(first);
  REQUIRE(first["causes"].size() == 1);
  CHECK(first["causes"][0]["keys"][0]["path"] == "compress");
  const json two = test::json_of({"diff", a, "--plan", "signsgd", "--against", "fp16"});
  check_adds_up(two);
  CHECK_THAT(two["a"]["step_seconds"].get<double>(),
             WithinRel(first["b"]["step_seconds"].get<double>(), 1e-12));
  const Captured same = test::payoff({"diff", a, "--plan", "fp16", "--against", "fp16"});
  CHECK_THAT(same.out, ContainsSubstring("Nothing that a step depends on differs."));
}

TEST_CASE("what predict wrote is read as it stands, whether the job states stalls or not") {
  const ScratchFolder folder;
  folder.write("a.yaml", with_plans);
  const std::string a = folder.path("a.yaml");
  const std::string plain = folder.path("plain.json");
  const std::string stalled = folder.path("stalled.json");
  folder.write("plain.json", test::json_of({"predict", a}).dump());
  // Loading that nothing hides.
  folder.write("stalled.json", test::json_of({"predict", a, "--set", "training.data_time=20 ms",
                                              "--set", "training.data_prefetch=false"})
                                   .dump());
  for (const std::string& file : {a, plain}) {
    const json equal = test::json_of({"diff", plain, file, "--plan", "signsgd"});
    CHECK(equal["difference_seconds"].get<double>() == 0);
    CHECK_THAT(equal["a"]["step_seconds"].get<double>(), WithinRel(step_of(a, "signsgd"), 1e-12));
    const json diff = test::json_of({"diff", file, stalled, "--plan", "signsgd"});
    check_adds_up(diff);
    CHECK_THAT(diff["difference_seconds"].get<double>(), WithinRel(0.020, 1e-9));
  }
}

TEST_CASE("a kept result says nothing of its job with other settings") {
  const ScratchFolder folder;
  folder.write("a.yaml", with_plans);
  const std::string a = folder.path("a.yaml");
  const std::string kept = folder.path("kept.json");
  folder.write("kept.json", test::json_of({"predict", a}).dump());
  const std::string setting = "training.overlap=false";
  const json of_file = test::json_of({"diff", a, "--with", setting});
  const json of_result = test::json_of({"diff", kept, "--with", setting});
  CHECK(of_file["difference_seconds"].get<double>() > 0);
  CHECK_THAT(of_result["difference_seconds"].get<double>(),
             WithinRel(of_file["difference_seconds"].get<double>(), 1e-9));
  check_adds_up(of_result);
}

TEST_CASE("a kept result that says something else than this program says so in its own row") {
  const ScratchFolder folder;
  const std::string a = folder.path("a.yaml");
  const std::string kept = folder.path("kept.json");
  folder.write("a.yaml", with_plans);
  // The keys of a result of predict that are read.
  const json now = test::json_of({"diff", a});
  json result{{"kind", "predict"},
              {"experiment", {{"yaml", with_plans}}},
              {"profiles", now["profiles"]},
              {"plans", {{{"label", "none"}, {"waterfall", now["a"]["waterfall"]}}}}};
  folder.write("kept.json", result.dump());
  const json equal = test::json_of({"diff", kept, a});
  CHECK(equal["difference_seconds"].get<double>() == 0);
  json& host = result["plans"][0]["waterfall"]["host_seconds"];
  host = host.get<double>() + 0.25;
  for (json& profile : result["profiles"]) {
    profile["sha256"] = std::string(64, '0');
  }
  folder.write("kept.json", result.dump());
  const json diff = test::json_of({"diff", kept, a, "--with", "training.overlap=false"});
  check_adds_up(diff);
  REQUIRE(diff["causes"].size() == 2);
  CHECK(diff["causes"][0]["kind"] == "made anew: A");
  CHECK_THAT(diff["causes"][0]["contribution_seconds"].get<double>(), WithinRel(-0.25, 1e-9));
  const json notes = diff["notes"];
  CHECK(std::any_of(notes.begin(), notes.end(), [](const json& note) {
    return note.get<std::string>().find("profiles with other bytes") != std::string::npos;
  }));
}

TEST_CASE("a measurement differs by parts of the machine and by what nothing explains") {
  const ScratchFolder folder;
  const std::string a = folder.path("a.yaml");
  folder.write("a.yaml", with_plans);
  const double step = step_of(a);
  const json diff =
      test::json_of({"diff", a, "--observed", "step=" + std::to_string(1.1 * step) + "s"});
  check_adds_up(diff);
  CHECK_THAT(diff["a"]["step_seconds"].get<double>(), WithinRel(step, 1e-9));
  CHECK(diff["causes"].back()["kind"] == "not explained");
  CHECK(diff["causes"][0]["machine"] == "compute");
  CHECK(diff["causes"][0]["sigmas"].get<double>() > 0);
}

TEST_CASE("what cannot be compared is said, all of it at once") {
  const ScratchFolder folder;
  const std::string a = folder.path("a.yaml");
  folder.write("a.yaml", with_plans);
  folder.write("other.json", "{\"kind\": \"explain\"}");
  const auto error = [](std::vector<std::string> words) {
    const Captured run = test::payoff(std::move(words));
    CHECK(run.code == ExitCode::bad_input);
    CHECK(run.out.empty());
    return run.err;
  };
  CHECK_THAT(error({"diff", a, "--against", "signSGD", "--plan", "fp61"}),
             ContainsSubstring("did you mean `signsgd`") && ContainsSubstring("`fp61`"));
  CHECK_THAT(error({"diff", folder.path("other.json"), a}),
             ContainsSubstring("this is no result of `payoff predict --json`"));
  CHECK_THAT(error({"diff", a, "--with", "layout.tpp=2"}), ContainsSubstring("`tpp`"));
  CHECK_THAT(error({"diff", a, a, "--plan", "fp16", "--observed", "exposed=3ms"}),
             ContainsSubstring("`--plan` does not go with --observed") &&
                 ContainsSubstring("is the B of one experiment") &&
                 ContainsSubstring("names no step time"));
  CHECK_THAT(error({"diff", a, "--observed", "step=1s,dp=5"}),
             ContainsSubstring("does not fill nodes of 4 GPUs evenly"));
  // Whatever the third one is: no file is asked for.
  CHECK_THAT(error({"diff", "no/a.yaml", "no/b.yaml", "no/c.yaml"}),
             ContainsSubstring("does not take `no/c.yaml`"));
}

TEST_CASE("a picture of causes leads from one step to the other") {
  const ScratchFolder folder;
  folder.write("job.yaml", test::small_job);
  const Captured run =
      test::payoff({"diff", folder.path("job.yaml"), "--with", "cluster.nodes=4", "--with",
                    "layout.micro_batch=32", "-o", folder.path("d.gp"), "--json"});
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  const std::string script = test::read_text(folder.path("d.gp"));
  CHECK_THAT(script, ContainsSubstring("cluster.nodes: 2, then 4"));
  // Every bar begins where the one above it ended, and the last ends where B begins.
  std::vector<std::pair<double, double>> bars;
  const std::string word = "set object rectangle from ";
  for (std::size_t at = script.find(word); at != std::string::npos;
       at = script.find(word, at + 1)) {
    const double from = std::stod(script.substr(at + word.size()));
    const double to = std::stod(script.substr(script.find(" to ", at) + 4));
    bars.emplace_back(from, to);
  }
  REQUIRE(bars.size() >= 4);
  CHECK(bars.front().first == 0.0);
  CHECK(bars.back().first == 0.0);
  for (std::size_t i = 1; i + 1 < bars.size(); ++i) {
    CHECK(bars[i].first == bars[i - 1].second);
  }
  CHECK_THAT(bars[bars.size() - 2].second, WithinRel(bars.back().second, 1e-5));
  const Captured other =
      test::payoff({"diff", folder.path("job.yaml"), "-o", folder.path("d.txt")});
  CHECK(other.code == ExitCode::bad_input);
  CHECK_THAT(other.err, ContainsSubstring("ends in none of .png"));
}

TEST_CASE(
    "of two files to compare one that cannot be read does not hide what is wrong with the other") {
  const ScratchFolder folder;
  folder.write("bad.yaml", std::string(test::small_job) + "layuot: {}\n");
  const Captured both =
      test::payoff({"diff", "no/such/file.yaml", folder.path("bad.yaml"), "-o", "picture.doc"});
  CHECK(both.code == ExitCode::bad_input);
  CHECK_THAT(both.err, ContainsSubstring("cannot read `no/such/file.yaml`") &&
                           ContainsSubstring("`layuot`") &&
                           ContainsSubstring(".png .svg .pdf .gp"));
  folder.write("good.yaml", test::small_job);
  const Captured alone = test::payoff({"diff", folder.path("good.yaml"), "no/such/file.json"});
  CHECK(alone.code == ExitCode::failure);
  CHECK_THAT(alone.err, ContainsSubstring("cannot read `no/such/file.json`"));
}
