// SPDX-License-Identifier: Apache-2.0
// From samples of an invented GPU, whose laws are known, to a profile.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/exit_code.hpp"
#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Invented {
  double speed = 1.0;      // of everything
  double drift = 0.0;      // of the copies between the points
  std::string extra = {};  // points more
  std::string device = "Invented GPU";
  int first = 13;  // sizes: powers of two
};

// Ten samples around `us`, within two per cent: no random numbers, but no two alike.
std::string samples_around(double us, int seed) {
  std::string text;
  for (int i = 0; i < 10; ++i) {
    const double wave = std::sin(12.9898 * (seed * 10 + i + 1)) * 43758.5453;
    const double factor = 0.98 + 0.04 * (wave - std::floor(wave));
    text += fmt::format("{}{:.6g}", text.empty() ? "" : ", ", us * factor);
  }
  return "[" + text + "]";
}

std::string point(const std::string& kernel, double elements, double bytes, double us, int seed,
                  const std::string& more = {}) {
  return fmt::format(
      "{{\"kernel\": \"{}\", \"family\": \"memory\", \"implementation\": \"fused\", \"input\": "
      "\"gaussian\", \"state\": \"cold\", \"mode\": \"stream\", \"parameters\": {{\"elements\": "
      "{}{}}}, \"read_bytes\": {}, \"written_bytes\": {}, \"flops\": 0, \"launches\": 1, "
      "\"host_syncs\": 0, \"samples_us\": {}, \"discarded\": 0, \"stop\": \"count\"}}",
      kernel, elements, more, bytes / 2, bytes / 2, samples_around(us, seed));
}

// A copy at 3 us + S / (5 TB/s) to 50 MB and S / (3 TB/s) beyond; a cast at 2 us + S / (2 TB/s).
std::string samples_of(const Invented& gpu = {}) {
  std::string points;
  for (int exponent = gpu.first; exponent <= 28; ++exponent) {
    const double elements = std::ldexp(1.0, exponent);
    const double copied = 8.0 * elements;
    const double copy = 3.0 + std::min(copied, 50e6) / 5e6 + std::max(0.0, copied - 50e6) / 3e6;
    points += points.empty() ? "" : ",\n";
    points += point("copy", elements, copied, copy / gpu.speed, exponent) + ",\n";
    const double cast = 6.0 * elements;
    points += point("cast_bf16", elements, cast, (2.0 + cast / 2e6) / gpu.speed, 50 + exponent);
  }
  return fmt::format(
      "{{\"format\": \"payoff-samples\", \"version\": 1, \"provenance\": \"synthetic\",\n"
      "\"date\": \"2026-11-22T03:00:00Z\", \"seed\": 1,\n"
      "\"program\": {{\"name\": \"invented\", \"version\": \"1\"}},\n"
      "\"device\": {{\"name\": \"{}\", \"multiprocessors\": 100, \"l2_bytes\": 50000000, "
      "\"memory_bytes\": 80000000000}},\n\"anchors\": [{{\"after_points\": 0, \"copy_gb_per_s\": "
      "3000}}, {{\"after_points\": 9, \"copy_gb_per_s\": {}}}],\n\"points\": [\n{}{}]}}\n",
      gpu.device, 3000.0 * (1.0 + gpu.drift), points, gpu.extra);
}

// The same by a program that compared its events with the driver's records.
std::string timed_by(std::pair<double, double> events_and_records) {
  std::string text = samples_of();
  text.insert(
      text.find("\"anchors\""),
      fmt::format("\"timer_check\": {{\"kernel\": \"copy\", \"runs\": 21, \"moved_bytes\": 1e9, "
                  "\"events_us\": {}, \"records_us\": {}}},\n",
                  events_and_records.first, events_and_records.second));
  return text;
}

}  // namespace

TEST_CASE("a fit writes the profile of a GPU, with what it rests on") {
  const test::ScratchFolder folder;
  folder.write("samples.json", samples_of());
  const test::Captured run = test::payoff(
      {"calibrate", "fit", folder.path("samples.json"), "-o", folder.path("invented.yaml")});
  INFO(run.err);
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.err, ContainsSubstring("these times are drawn, not measured"));
  CHECK_THAT(run.out, ContainsSubstring("two_bandwidths") && ContainsSubstring("affine") &&
                          ContainsSubstring("2 laws of 32 points"));
  const std::string profile = test::read_text(folder.path("invented.yaml"));
  CHECK_THAT(profile, ContainsSubstring("kernels_of: invented\n") &&
                          ContainsSubstring("kind: assumed") && ContainsSubstring("NOT MEASURED") &&
                          ContainsSubstring("form: two_bandwidths") &&
                          ContainsSubstring("quartiles: ["));
  // Nothing is left beside it, and a second run gives the same bytes.
  CHECK(folder.files() == std::vector<std::string>{"invented.yaml", "samples.json"});
  const test::Captured again = test::payoff(
      {"calibrate", "fit", folder.path("samples.json"), "-o", folder.path("invented.yaml")});
  CHECK(again.code == ExitCode::success);
  CHECK(test::read_text(folder.path("invented.yaml")) == profile);
}

TEST_CASE("what is shown has a mark for every residual") {
  const test::ScratchFolder folder;
  folder.write("samples.json", samples_of());
  const test::Captured run = test::payoff({"calibrate", "show", folder.path("samples.json")});
  CHECK(run.code == ExitCode::success);
  CHECK(std::count(run.out.begin(), run.out.end(), '*') == 32);
  CHECK(folder.files() == std::vector<std::string>{"samples.json"});
}

TEST_CASE("laws are judged by samples that they have not seen") {
  const test::ScratchFolder folder;
  folder.write("first.json", samples_of());
  folder.write("same.json", samples_of({1.02, 0.0, "", "Invented GPU", 12}));
  folder.write("slower.json", samples_of({0.7}));
  const test::Captured same =
      test::payoff({"calibrate", "check", folder.path("first.json"), folder.path("same.json")});
  CHECK(same.code == ExitCode::success);
  // The smallest size of each kernel was not among those that were fitted.
  CHECK_THAT(same.out, ContainsSubstring("2 beyond the fitted range"));
  const test::Captured slower =
      test::payoff({"calibrate", "check", folder.path("first.json"), folder.path("slower.json")});
  CHECK(slower.code == ExitCode::check_failed);
}

TEST_CASE("two profiles are compared value by value") {
  const test::ScratchFolder folder;
  folder.write("first.json", samples_of());
  folder.write("slower.json", samples_of({0.5}));
  for (const char* name : {"first", "slower"}) {
    const std::string stem = folder.path(name);
    REQUIRE(test::payoff({"calibrate", "fit", stem + ".json", "-o", stem + ".yaml"}).code ==
            ExitCode::success);
  }
  const std::string first = folder.path("first.yaml");
  CHECK_THAT(test::payoff({"calibrate", "diff", first, first}).out, ContainsSubstring("equal"));
  const test::Captured run = test::payoff({"calibrate", "diff", first, folder.path("slower.yaml")});
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("constants") && ContainsSubstring("-50."));
}

TEST_CASE("event times that the driver's records confirm are said nothing of, others are") {
  const test::ScratchFolder folder;
  const auto shown = [&](double events_us) {
    folder.write("samples.json", timed_by({events_us, 100.0}));
    const test::Captured run = test::payoff({"calibrate", "show", folder.path("samples.json")});
    CHECK(run.code == ExitCode::success);
    return run.err;
  };
  CHECK_THAT(shown(102.0), !ContainsSubstring("driver's records"));
  CHECK_THAT(shown(108.0),
             ContainsSubstring("a copy takes 8 % longer than by the driver's records"));
}

TEST_CASE("a file that cannot be trusted gives no profile") {
  const test::ScratchFolder folder;
  const auto refused = [&](const std::string& samples, const std::string& reason) {
    folder.write("samples.json", samples);
    const test::Captured run = test::payoff(
        {"calibrate", "fit", folder.path("samples.json"), "-o", folder.path("profile.yaml")});
    CHECK(run.code == ExitCode::bad_input);
    CHECK_THAT(run.err, ContainsSubstring(reason));
    CHECK(folder.files() == std::vector<std::string>{"samples.json"});
  };
  refused(samples_of({1.0, 0.3}), "copies of one run differ by 30 %");
  refused(timed_by({120.0, 100.0}), "a copy takes 20 % longer");
  refused(timed_by({0.0, 100.0}), "`events_us`");
  refused(samples_of({1.0, 0.0, "," + point("copy", 8192.0, 65536.0, 3.0, 1)}), "is there twice");
  refused(samples_of({1.0, 0.0, "," + point("copy", 1.0, 8.0, -3.0, 1)}), "cannot be -");
  refused(samples_of().substr(0, 2000), "this is not valid JSON");
  refused("{}", "missing key `format`");
}

// Of 10 us and 30 us in turns the best constant by relative errors is 12 us, 45 % RMS off; no form
// of the size comes near.
TEST_CASE("a law that misses its own points is warned of, with the worst of them") {
  const test::ScratchFolder folder;
  std::string extra;
  for (int exponent = 13; exponent <= 18; ++exponent) {
    extra += "," + point("jumpy", std::ldexp(1.0, exponent), std::ldexp(8.0, exponent),
                         exponent % 2 == 0 ? 10.0 : 30.0, exponent);
  }
  folder.write("samples.json", samples_of({1.0, 0.0, extra}));
  for (const std::vector<std::string>& action : std::vector<std::vector<std::string>>{
           {"show"}, {"fit", "-o", folder.path("profile.yaml")}}) {
    std::vector<std::string> words{"calibrate", action.front(), folder.path("samples.json")};
    words.insert(words.end(), action.begin() + 1, action.end());
    const test::Captured run = test::payoff(words);
    INFO(run.err);
    CHECK(run.code == ExitCode::success);
    CHECK_THAT(run.err, ContainsSubstring("jumpy (fused), cold, stream, gaussian: its law (") &&
                            ContainsSubstring("misses its points by") &&
                            ContainsSubstring("worst: jumpy (fused), cold, stream, gaussian, "
                                              "elements="));
    CHECK_THAT(run.err, !ContainsSubstring("copy (fused), cold, stream, gaussian: its law"));
  }
}

TEST_CASE("samples of a GPU that was not held back, or kept a lower clock, are warned of") {
  const test::ScratchFolder folder;
  const std::string usual = samples_of();
  const auto warnings = [&](const std::string& keys) {
    std::string samples = usual;
    const std::string before = R"("discarded")";
    samples.insert(samples.find(before), keys);
    folder.write("samples.json", samples);
    const test::Captured run = test::payoff({"calibrate", "show", folder.path("samples.json")});
    CHECK(run.code == ExitCode::success);
    return run.err;
  };
  CHECK_THAT(warnings(""), !ContainsSubstring("held") && !ContainsSubstring("clock"));
  CHECK_THAT(warnings(R"("timed_out": 3, "gated": false, )"),
             ContainsSubstring("1 point was measured without holding the GPU back"));
  CHECK_THAT(warnings(R"("clock_reference": 0.8, )"),
             ContainsSubstring("a steady clock of 80 % of its highest"));
}

TEST_CASE("files that are no samples are refused by every action, whichever of them they are") {
  const test::ScratchFolder folder;
  folder.write("good.json", samples_of());
  folder.write("empty.json", "");
  folder.write("binary.json", std::string("\x00\x01\xff\xfe[{", 6));
  folder.write("profile.json", "gpu: h100\ndescription: x\n");
  folder.write("other.json", "{\"context\": {}, \"benchmarks\": []}");
  std::filesystem::create_directories(folder.path("folder.json"));
  const auto run = [&](std::vector<std::string> words, ExitCode code, const std::string& reason) {
    words.insert(words.begin(), "calibrate");
    const test::Captured captured = test::payoff(words);
    INFO(words[1] << ": " << captured.err);
    CHECK(captured.code == code);
    CHECK_THAT(captured.err, ContainsSubstring(reason));
    CHECK(captured.out.empty());
  };
  for (const char* wrong : {"empty", "binary", "profile", "other"}) {
    const std::string file = folder.path(std::string(wrong) + ".json");
    const std::string place = std::string(wrong) + ".json:1:1";
    run({"show", file}, ExitCode::bad_input, place);
    run({"fit", file, "-o", folder.path("out.yaml")}, ExitCode::bad_input, place);
    run({"check", folder.path("good.json"), file}, ExitCode::bad_input, place);
    run({"check", file, folder.path("good.json")}, ExitCode::bad_input, place);
    run({"import", file, "-o", folder.path("out.json")}, ExitCode::bad_input,
        std::string(wrong) + ".json:");
  }
  for (const char* absent : {"absent", "folder"}) {
    const std::string file = folder.path(std::string(absent) + ".json");
    run({"show", file}, ExitCode::failure, absent);
    run({"check", folder.path("good.json"), file}, ExitCode::failure, absent);
    // What is wrong with the others is told all the same.
    run({"show", file, folder.path("empty.json")}, ExitCode::bad_input, "empty.json:1:1");
    run({"show", file, folder.path("empty.json")}, ExitCode::bad_input, absent);
    run({"import", file, "-o", folder.path("out.json")}, ExitCode::failure, absent);
    run({"import", file, folder.path("empty.json"), "-o", folder.path("out.json")},
        ExitCode::bad_input, "empty.json:1:1");
  }
  run({"fit", folder.path("folder.json"), "-o", folder.path("out.yaml")}, ExitCode::failure,
      "is a folder");
}

TEST_CASE("files, actions and places that are missing are named") {
  const test::ScratchFolder folder;
  folder.write("samples.json", samples_of());
  const std::string samples = folder.path("samples.json");
  CHECK_THAT(test::payoff({"calibrate", "fit", samples}).err,
             ContainsSubstring("nothing says where the profile goes"));
  CHECK_THAT(test::payoff({"calibrate", "fit", samples, "-o", samples}).err,
             ContainsSubstring("input of this run"));
  CHECK_THAT(test::payoff({"calibrate", "check", samples}).err, ContainsSubstring("not 1 files"));
  CHECK_THAT(test::payoff({"calibrate", "shew", samples}).err, ContainsSubstring("did you mean"));
  CHECK_THAT(test::payoff({"calibrate", "run"}).err,
             ContainsSubstring("nothing says where the samples go"));
}

TEST_CASE("a run says why there are no samples") {
  const auto run = [](const std::string& program) {
    return test::payoff({"calibrate", "run", "-o", "samples.json", "--program", program});
  };
  CHECK(run("/bin/false").code == ExitCode::failure);
  CHECK_THAT(run("/nowhere/payoff-kernels").err, ContainsSubstring("is not there"));
  CHECK_THAT(run("/bin/false").err, ContainsSubstring("exit status 1"));
}

TEST_CASE("a fit without samples, or with options of other actions, writes no law") {
  const test::ScratchFolder folder;
  const std::string profile = folder.path("x.yaml");
  const test::Captured laws =
      test::payoff({"calibrate", "fit", "-o", profile, "--out", folder.path("")});
  CHECK(laws.code == ExitCode::bad_input);
  CHECK_THAT(laws.err, ContainsSubstring("`fit LAW` has no use for `-o`") &&
                           ContainsSubstring("name the samples to fit"));
  const test::Captured samples = test::payoff(
      {"calibrate", "fit", folder.path("a.json"), "-o", profile, "--check", "--only", "copy"});
  CHECK(samples.code == ExitCode::bad_input);
  CHECK_THAT(samples.err, ContainsSubstring("`fit SAMPLES` has no use for `--check`") &&
                              ContainsSubstring("`fit SAMPLES` has no use for `--only`"));
  CHECK(folder.files().empty());
}

TEST_CASE("a dry run of measuring needs no file to write, and goes with nothing else") {
  const test::Captured run = test::payoff({"calibrate", "run", "--dry-run", "--program", "true"});
  INFO(run.err);
  CHECK(run.code == ExitCode::success);
  CHECK(run.out.empty());  // what is told is told by the program
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"calibrate", "fit", "network", "--dry-run"},
                                             {"calibrate", "show", "x.yaml", "--dry-run"}}) {
    const test::Captured other = test::payoff(words);
    CHECK(other.code == ExitCode::bad_input);
    CHECK_THAT(other.err, ContainsSubstring("` has no use for `--dry-run`"));
  }
}
