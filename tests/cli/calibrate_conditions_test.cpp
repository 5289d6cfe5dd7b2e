// SPDX-License-Identifier: Apache-2.0
// Samples of another clock, of another device, with another GPU's data sheet: what may not be one
// law, and what is said of it.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/cli/calibrated_gpu.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;

namespace {

// The text with `key` in every point that holds `mark`, ahead of its times.
std::string marked(std::string text, const std::string& mark, const std::string& key) {
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
    at = text.find("\"samples_us\"", at);
    text.insert(at, key);
    at += key.size();
  }
  return text;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

// The laws that predictions read.
std::string laws_of(const std::string& profile) {
  const std::size_t begin = profile.find("\nlaw:");
  REQUIRE(begin != std::string::npos);
  return profile.substr(begin, profile.find("\nenvironment:") - begin);
}

struct Fit {
  explicit Fit(const std::string& samples, std::vector<std::string> more = {"--gpu", "h100-sxm"}) {
    folder.write("samples.json", samples);
    std::vector<std::string> words{"calibrate", "fit", folder.path("samples.json"), "-o",
                                   folder.path("mine.yaml")};
    words.insert(words.end(), more.begin(), more.end());
    run = test::payoff(words);
  }
  [[nodiscard]] bool is_written() const { return folder.files().size() == 2; }
  [[nodiscard]] std::string profile() const { return test::read_text(folder.path("mine.yaml")); }

  test::ScratchFolder folder;
  test::Captured run;
};

void check_refused(const Fit& fit, const std::string& reason) {
  INFO(fit.run.err);
  CHECK(fit.run.code == ExitCode::bad_input);
  CHECK_THAT(fit.run.err, ContainsSubstring(reason));
  CHECK(!fit.is_written());
}

}  // namespace

// At 70 % of the clock everything takes 1 / 0.7 times as long: in the law of the other points these
// would be a second bandwidth.
TEST_CASE("points of another steady clock are named and left out of every law") {
  test::Truth truth;
  truth.last = 28;
  const Fit without(test::samples_of(truth));
  truth.last = 29;
  const Fit slow(
      marked(test::samples_of(truth), "\"elements\": 536870912", "\"clock_reference\": 0.7, "));
  INFO(slow.run.err);
  REQUIRE(without.run.code == ExitCode::success);
  REQUIRE(slow.run.code == ExitCode::success);
  for (const char* kernel : {"copy", "fp8_tensor"}) {
    CHECK_THAT(slow.run.out,
               ContainsSubstring(fmt::format(
                   "left out: {} (fused), cold, stream, gaussian, elements=536870912: another "
                   "clock: a steady 70 % of the highest, and 100 % where most of its law was "
                   "measured",
                   kernel)));
  }
  CHECK(laws_of(slow.profile()) == laws_of(without.profile()));
}

TEST_CASE("clocks within five per cent are one, and where most points are slow these are the law") {
  const std::string samples = test::samples_of({});
  const auto left_out = [](const std::string& text) {
    const Fit fit(text);
    CHECK(fit.run.code == ExitCode::success);
    return fit.run.out;
  };
  CHECK_THAT(left_out(marked(samples, "\"elements\": 536870912", "\"clock_reference\": 0.96, ")),
             !ContainsSubstring("another clock"));
  const std::string mostly_slow =
      left_out(marked(samples, "\"elements\": ", "\"clock_reference\": 0.7, "));
  CHECK_THAT(mostly_slow, !ContainsSubstring("another clock"));  // of each law all points
  std::string all_but_one = marked(samples, "\"elements\": ", "\"clock_reference\": 0.7, ");
  all_but_one = replaced(all_but_one, "\"clock_reference\": 0.7, ", "");
  CHECK_THAT(left_out(all_but_one),
             ContainsSubstring("elements=256: another clock: a steady 100 % of the highest, and 70 "
                               "% where most of its law was measured"));
}

TEST_CASE("a check says that the judging samples are of another clock or device") {
  const test::ScratchFolder folder;
  const std::string samples = test::samples_of({});
  folder.write("laws.json", samples);
  const auto warned = [&](const std::string& text) {
    folder.write("other.json", text);
    return test::payoff({"calibrate", "check", folder.path("laws.json"), folder.path("other.json")})
        .err;
  };
  CHECK(warned(samples).empty());
  const std::string slow = warned(marked(samples, "\"kernel\": ", "\"clock_reference\": 0.7, "));
  CHECK_THAT(slow, ContainsSubstring("judged at another steady clock than they were fitted at") &&
                       ContainsSubstring("(100 % and 70 % of the highest)") &&
                       ContainsSubstring("kept a steady clock of 70 % of its highest"));
  CHECK_THAT(warned(replaced(samples, "\"Some GPU\", ", "\"Some GPU\", \"driver\": \"570.86\", ")),
             ContainsSubstring("other.json is of another device than the laws") &&
                 ContainsSubstring("`driver` is 570.86 where there it is not stated"));
}

TEST_CASE("a data sheet that cannot be the device's is refused with what differs") {
  const std::string samples = test::samples_of({});
  const auto with = [&](const std::string& gpu) { return Fit(samples, {"--gpu", gpu}); };
  check_refused(with("a100-sxm-80"), "132 compute units and not 108");
  check_refused(with("h200-sxm"), "of memory and not");
  check_refused(Fit(replaced(samples, "52428800", "20971520")),
                "21 MB of L2 cache and not 52.4 MB");
  check_refused(
      Fit(replaced(samples, "\"Some GPU\", ", "\"Some GPU\", \"compute_capability\": \"8.0\", ")),
      "compute capability 8.0 and not one of hopper");
  // 60 MiB, as drivers report of newer ones of that architecture.
  CHECK(Fit(replaced(samples, "52428800", "62914560")).is_written());
}

TEST_CASE("a data sheet that only the device's name suggests is left out where it cannot be") {
  const std::string samples = replaced(test::samples_of({}), "Some GPU", "NVIDIA H100 80GB HBM3");
  CHECK_THAT(Fit(samples, {}).profile(), ContainsSubstring("data_of: h100-sxm"));
  const Fit slice(replaced(samples, "132", "60"), {});
  INFO(slice.run.err);
  CHECK(slice.run.code == ExitCode::success);
  CHECK_THAT(slice.run.err, ContainsSubstring("60 compute units and not 132"));
  CHECK_THAT(slice.profile(), !ContainsSubstring("data_of"));
}

// Beyond the cache 1.5 of the sheet's bandwidth; products at 1.3 of its peak.
TEST_CASE("times that the data sheet says cannot be are refused, the worst named") {
  test::Truth truth;
  truth.beyond = 1.5;
  const Fit fast(test::samples_of(truth));
  check_refused(fast, "times the memory bandwidth of h100-sxm");
  CHECK_THAT(fast.run.err, ContainsSubstring("samples.json:") &&
                               ContainsSubstring("(fused), cold, stream, gaussian, elements="));
  truth.beyond = 0.9;
  truth.product = 1.3;
  const Fit products(test::samples_of(truth));
  check_refused(products, "times the arithmetic peak of h100-sxm");
  CHECK_THAT(products.run.err, ContainsSubstring("gemm (fused), cold, stream, gaussian, bytes=2"));
  truth.product = 1.0;
  CHECK(Fit(test::samples_of(truth)).is_written());
}

TEST_CASE("names of files to write say what will be in them") {
  const test::ScratchFolder folder;
  folder.write("samples.json", test::samples_of({}));
  folder.write("own.csv", "kernel,time_us\ncast,3\n");
  const auto refused = [&](std::vector<std::string> words, const std::string& help) {
    words.insert(words.begin(), "calibrate");
    const test::Captured run = test::payoff(words);
    INFO(run.err);
    CHECK(run.code == ExitCode::bad_input);
    CHECK_THAT(run.err, ContainsSubstring(help));
    CHECK(folder.files().size() == 2);
  };
  refused({"fit", folder.path("samples.json"), "-o", folder.path("mine.json")}, "mine.yaml`");
  refused({"fit", folder.path("samples.json"), "-o", folder.path("mine.yml")}, "mine.yaml`");
  refused({"run", "--program", "/bin/true", "-o", folder.path("mine.txt")}, "mine.json`");
  refused({"import", folder.path("own.csv"), "--gpu", "h100-sxm", "--date", "2026-11-20", "-o",
           folder.path("mine")},
          "does not end in .json");
  CHECK(test::payoff({"calibrate", "fit", folder.path("samples.json"), "-o", "/dev/null"}).code ==
        ExitCode::success);
}

TEST_CASE("calibrating replaces its own output, and any other file only where it is told to") {
  const test::ScratchFolder folder;
  folder.write("samples.json", test::samples_of({}));
  folder.write("own.csv", "kernel,time_us\ncast,3\n");
  const std::vector<std::string> fit{"calibrate", "fit", folder.path("samples.json"), "-o"};
  const std::vector<std::string> import{"calibrate", "import", folder.path("own.csv"), "--gpu",
                                        "h100-sxm",  "--date", "2026-11-20",           "-o"};
  const std::vector<std::string> run{"calibrate", "run", "--program", "/bin/true", "-o"};
  const auto answer = [&](std::vector<std::string> words, const std::string& file,
                          const std::vector<std::string>& more = {}) {
    words.push_back(folder.path(file));
    words.insert(words.end(), more.begin(), more.end());
    return test::payoff(words);
  };
  const auto check_kept = [&](const std::vector<std::string>& words, const std::string& file,
                              const std::string& content) {
    folder.write(file, content);
    const test::Captured refused = answer(words, file);
    INFO(words[1] << " -o " << file << ": " << refused.err);
    CHECK(refused.code == ExitCode::bad_input);
    CHECK(refused.out.empty());
    CHECK_THAT(refused.err, ContainsSubstring("not written over") && ContainsSubstring("--force"));
    CHECK(test::read_text(folder.path(file)) == content);
  };
  check_kept(fit, "experiment.yaml", test::small_job);
  check_kept(fit, "network.yaml",  // a law of `calibrate fit network`
             test::read_text(PAYOFF_SOURCE_DIR "/profiles/fitted/network.yaml"));
  check_kept(fit, "sheet.yaml", test::read_text(PAYOFF_SOURCE_DIR "/profiles/gpu/h100-sxm.yaml"));
  for (const std::vector<std::string>& words : {import, run}) {
    check_kept(words, "result.json", R"({"command_line": "payoff predict"})");
  }
  // What such a run wrote, an empty file, and what is named as to be lost.
  for (const char* more : {"", "again"}) {
    INFO(more);
    CHECK(answer(fit, "mine.yaml").code == ExitCode::success);
    CHECK(answer(fit, "laws.yaml", {"--gpu", "h100-sxm"}).code == ExitCode::success);
    CHECK(answer(import, "imported.json").code == ExitCode::success);
  }
  folder.write("empty.yaml", "");
  CHECK(answer(fit, "empty.yaml").code == ExitCode::success);
  CHECK(answer(fit, "experiment.yaml", {"--force"}).code == ExitCode::success);
  CHECK(answer(import, "result.json", {"--force"}).code == ExitCode::success);
  CHECK_THAT(test::read_text(folder.path("experiment.yaml")), ContainsSubstring("kernels_of: "));
  CHECK_THAT(test::read_text(folder.path("result.json")), ContainsSubstring("payoff-samples"));
  CHECK_THAT(test::payoff({"calibrate", "show", folder.path("samples.json"), "--force"}).err,
             ContainsSubstring("`show` has no use for `--force`"));
}
