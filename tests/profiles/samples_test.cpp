// SPDX-License-Identifier: Apache-2.0
// Samples files of payoff-kernels: what a reader gives back, and what it says of damaged ones.
#include "profiles/import/samples.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "profiles/import/json_tree.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string point = R"({"kernel": "copy", "family": "memory", "implementation": "fused",
   "input": "gaussian", "state": "cold", "mode": "stream", "parameters": {"elements": 4096},
   "read_bytes": 16384, "written_bytes": 16384.0, "flops": 0, "launches": 1, "host_syncs": 0,
   "samples_us": [3.25, 3.5e0, 3], "discarded": 2, "stop": "noise", "clock_ratio": 0.98})";

std::string file_of(const std::string& points, const std::string& device = "Some GPU") {
  return R"({"format": "payoff-samples", "version": 1, "provenance": "measured_local",
 "date": "2026-11-22T03:00:00Z", "seed": 1, "program": {"name": "payoff-kernels", "version": "0.1"},
 "device": {"name": ")" +
         device + R"(", "multiprocessors": 132, "l2_bytes": 50000000, "memory_bytes": 80000000000},
 "anchors": [{"after_points": 0, "copy_gb_per_s": 3000.5}],
 "points": [)" +
         points + "]}\n";
}

struct Reading {
  explicit Reading(const std::string& text) {
    const std::size_t source = sources.add_file("samples.json", text);
    file = parse_samples({source, 0, text.size()}, sources, diagnostics);
  }
  [[nodiscard]] std::string errors() const { return render_text(diagnostics, sources); }

  SourceMap sources;
  Diagnostics diagnostics;
  std::optional<SamplesFile> file;
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

}  // namespace

TEST_CASE("a samples file reads as what is written in it") {
  const Reading reading(file_of(point));
  INFO(reading.errors());
  REQUIRE(reading.file);
  const SamplesFile& file = *reading.file;
  CHECK(file.origin == SamplesOrigin::measured);
  CHECK(file.device.name == "Some GPU");
  CHECK(file.device.multiprocessors == 132);
  CHECK(file.device.l2 == 50_MB);
  CHECK(file.anchors.at(0).copy == Bandwidth{3000.5e9});
  REQUIRE(file.points.size() == 1);
  const SamplesPoint& copy = file.points.front();
  CHECK(copy.traffic() == Bytes{32768.0});
  CHECK(copy.samples == std::vector<Seconds>{3.25 * 1_us, 3.5 * 1_us, 3.0 * 1_us});
  CHECK(copy.discarded == 2);
  CHECK(copy.parameters.at("elements") == 4096.0);
  CHECK(title_of(copy) == "copy (fused), cold, stream, gaussian, elements=4096");
}

TEST_CASE("keys of a later program are passed over") {
  CHECK(Reading(file_of(replaced(point, R"("stop")", R"("later": {"a": [1]}, "stop")"))).file);
}

TEST_CASE("every mistake of a file is named at its place, and the file gives nothing") {
  std::string wrong = replaced(point, "3.5e0", "-3.5");
  wrong = replaced(wrong, "16384,", "\"many\",");
  wrong = replaced(wrong, R"("launches": 1, )", "");
  const Reading reading(file_of(wrong));
  CHECK(!reading.file);
  CHECK(reading.diagnostics.error_count() == 3);
  CHECK_THAT(reading.errors(), ContainsSubstring("samples.json:8:25") &&
                                   ContainsSubstring("`samples_us` cannot be -3.5"));
  CHECK_THAT(reading.errors(), ContainsSubstring("samples.json:7:18") &&
                                   ContainsSubstring("`read_bytes` is not a number"));
  CHECK_THAT(reading.errors(), ContainsSubstring("missing key `launches`"));
}

TEST_CASE("what ran beside each other reads as written, and its mistakes are named") {
  const std::string run = R"({"window_ms": 60.5, "members": [
   {"kernel": "gemm", "role": "compute", "parameters": {"m": 4096}, "read_bytes": 4e6,
    "written_bytes": 1e6, "blocks": 512, "alone_us": 200, "together_us": 310.5},
   {"kernel": "message", "role": "message", "parameters": {"channels": 16}, "units_held": 16,
    "alone_us": 4000, "together_us": 4010}]})";
  const auto with = [](const std::string& runs) {
    return replaced(file_of(point), "\"points\"", "\"interference\": [" + runs + "], \"points\"");
  };
  const Reading reading(with(run));
  INFO(reading.errors());
  REQUIRE(reading.file);
  REQUIRE(reading.file->together.size() == 1);
  const SamplesTogether& together = reading.file->together.front();
  CHECK(together.window == 60.5 * 1_ms);
  CHECK(together.members.at(0).traffic == 5_MB);
  CHECK(together.members.at(0).blocks == 512);
  CHECK(together.members.at(1).held == 16);
  CHECK(together.members.at(1).together == 4010.0 * 1_us);
  CHECK(title_of(together) == "gemm m=4096 beside message channels=16");
  const Reading wrong(
      with(run + "," + replaced(replaced(run, "310.5", "-1"), "\"compute\"", "\"gpu\"")));
  CHECK(!wrong.file);
  CHECK_THAT(wrong.errors(), ContainsSubstring("interference 2") &&
                                 ContainsSubstring("`together_us` cannot be -1") &&
                                 ContainsSubstring("unknown role `gpu`"));
  CHECK_THAT(Reading(with(replaced(run, "\"message\", \"parameters", "\"compute\", \"parameters")))
                 .errors(),
             ContainsSubstring("two members are `compute`"));
}

TEST_CASE("the point that is wrong is named by its number and its kernel") {
  const Reading reading(file_of(point + "," + replaced(point, "3.25", "-3.25")));
  CHECK_THAT(reading.errors(), ContainsSubstring("point 2, copy"));
}

TEST_CASE("values that a point may not have are told with what was meant") {
  const auto told = [](const std::string& from, const std::string& to,
                       const std::vector<std::string>& reasons) {
    const Reading reading(file_of(replaced(point, from, to)));
    INFO(from << " -> " << to << "\n" << reading.errors());
    CHECK(!reading.file);
    CHECK(reading.diagnostics.error_count() == 1);
    for (const std::string& reason : reasons) {
      CHECK_THAT(reading.errors(), ContainsSubstring(reason));
    }
  };
  told("\"fused\"", "\"fusd\"", {"point 1, copy: unknown implementation `fusd`", "`fused`?"});
  told("\"cold\"", "\"warm\"", {"unknown state `warm`", "one of cold, hot"});
  told("\"stream\"", "\"streams\"", {"unknown mode `streams`", "did you mean `stream`?"});
  told("\"gaussian\"", "\"gauss\"", {"unknown input `gauss`"});
  told("\"stop\": \"noise\"", "\"stop\": \"nois\"", {"unknown stop `nois`", "`noise`?"});
  told("\"copy\"", "\"Copy\"", {"a-z, 0-9 and _", "did you mean `copy`?"});
  told("\"kernel\"", "\"kernle\"", {"samples.json:5:", "missing key `kernel`", "`kernel`?"});
  told(", \"stop\": \"noise\"", "", {"missing key `stop`"});
  told("\"discarded\": 2, ", "", {"missing key `discarded`"});
  told("\"family\": \"memory\", ", "", {"missing key `family`"});
  told("{\"elements\": 4096}", "{\"elements\": -4096}", {"`elements` cannot be -4096"});
  told("16384,", "1e30,", {"`read_bytes` cannot be 1e30", "at most"});
}

TEST_CASE("how samples were taken is checked like the samples") {
  const auto told = [](const std::string& key, const std::string& reason) {
    const Reading reading(file_of(replaced(point, "\"stop\"", key + ", \"stop\"")));
    INFO(key << "\n" << reading.errors());
    CHECK(reading.file.has_value() == reason.empty());
    CHECK(reading.diagnostics.error_count() == (reason.empty() ? 0 : 1));
    CHECK_THAT(reading.errors(), ContainsSubstring(reason));
  };
  told(R"("gated": false, "timed_out": 3, "clock_ratios": [1, 0.99, 0], "clock_reference": 0.7)",
       "");
  told(R"("gated": "maybe")", "point 1, copy: `gated` cannot be `maybe`");
  told(R"("gated": "false")", "`gated` cannot be `false`");
  told(R"("gated": true)", "absent where the samples waited");
  told(R"("gated": [])", "`gated` is a list");
  told(R"("timed_out": 0)", "`timed_out` cannot be 0");
  told(R"("timed_out": 1.5)", "a whole number");
  told(R"("timed_out": "many")", "`timed_out` is not a number");
  told(R"("clock_ratios": [1, 1])", "2 `clock_ratios` of 3 samples");
  told(R"("clock_ratios": [1, -1, 1])", "`clock_ratios` cannot be -1");
  told(R"("clock_ratios": [1, "1", 1])", "`clock_ratios` is a text, not a number");
  told(R"("clock_ratios": 1)", "`clock_ratios` is `1`");
  told(R"("clock_reference": 0)", "`clock_reference` cannot be 0");
  told(R"("clock_reference": 1.2)", "`clock_reference` cannot be 1.2");
}

TEST_CASE("a number in quotes is a text, and a part of a launch is none") {
  const auto told = [](const std::string& from, const std::string& to, const std::string& reason) {
    const Reading reading(file_of(replaced(point, from, to)));
    INFO(reading.errors());
    CHECK(!reading.file);
    CHECK(reading.diagnostics.error_count() == 1);
    CHECK_THAT(reading.errors(), ContainsSubstring(reason));
  };
  told("3.25", "\"3.25\"", "point 1, copy: `samples_us` is a text, not a number");
  told("3.25", "\"3.25\"", "3.25 without the quotes");
  told("4096}", "\"4096\"}", "`elements` is a text");
  told("16384,", "\"16384\",", "`read_bytes` is a text");
  told("\"launches\": 1", "\"launches\": 1.5", "`launches` cannot be 1.5");
  told("\"discarded\": 2", "\"discarded\": 0.5", "`discarded` cannot be 0.5");
}

TEST_CASE("the date and the seed of a file are checked") {
  const auto told = [](const std::string& from, const std::string& to) {
    const Reading reading(replaced(file_of(point), from, to));
    CHECK(!reading.file);
    CHECK(reading.diagnostics.error_count() == 1);
    return reading.errors();
  };
  CHECK_THAT(told("2026-11-22T03:00:00Z", "yesterday"),
             ContainsSubstring("samples.json:2:10") && ContainsSubstring("is not a date"));
  CHECK_THAT(told("2026-11-22T03:00:00Z", "2026-13-22T03:00:00Z"),
             ContainsSubstring("is not a date"));
  CHECK_THAT(told("2026-11-22T03:00:00Z", "2026-11-22"),
             ContainsSubstring("did you mean `2026-11-22T00:00:00Z`?"));
  CHECK_THAT(told(" \"seed\": 1,", ""), ContainsSubstring("missing key `seed`"));
  CHECK_THAT(told("\"seed\": 1", "\"seed\": -1"), ContainsSubstring("`seed` cannot be -1"));
  CHECK_THAT(told("measured_local", "measured"),
             ContainsSubstring("unknown provenance `measured`"));
}

TEST_CASE("what is wrong with every point alike is one error, and says how often") {
  std::string points;
  for (int i = 1; i <= 160; ++i) {
    const std::string one = replaced(point, "4096", std::to_string(i));
    points += (i > 1 ? "," : "") + replaced(one, ", \"stop\": \"noise\"", "");
  }
  const Reading reading(file_of(points));
  CHECK(reading.diagnostics.error_count() == 1);
  CHECK_THAT(reading.errors(), ContainsSubstring("point 1, copy: missing key `stop`") &&
                                   ContainsSubstring("so are samples.json:8:") &&
                                   ContainsSubstring("(point 2, copy)") &&
                                   ContainsSubstring("(point 4, copy) and 156 more"));
}

TEST_CASE("what is no number of JSON is told with its record, and hides nothing behind it") {
  const std::string first = replaced(point, "3.25", "NaN");
  const std::string second = replaced(replaced(point, "3.25", "-Infinity"), "4096", "1");
  const std::string third = replaced(replaced(point, "3.25", "-3"), "4096", "2");
  const Reading reading(file_of(first + "," + second + "," + third));
  CHECK(!reading.file);
  CHECK(reading.diagnostics.error_count() == 3);
  CHECK_THAT(reading.errors(),
             ContainsSubstring("NaN is no number") &&
                 ContainsSubstring("inside `points`, entry 1 (copy), `samples_us`, entry 1") &&
                 ContainsSubstring("-Infinity is no number") &&
                 ContainsSubstring("point 3, copy: `samples_us` cannot be -3"));
  const std::string whole = file_of(point + "," + replaced(point, "4096", "1"));
  const Reading truncated(whole.substr(0, whole.size() - 40));
  CHECK_THAT(truncated.errors(), ContainsSubstring("the file ends here") &&
                                     ContainsSubstring("inside `points`, entry 2 (copy), "));
}

TEST_CASE("what is no JSON is refused where it breaks") {
  const std::string whole = file_of(point);
  const Reading truncated(whole.substr(0, whole.size() / 2));
  CHECK(!truncated.file);
  CHECK_THAT(truncated.errors(), ContainsSubstring("the file ends here"));
  const Reading nan(replaced(whole, "3.25", "NaN"));
  CHECK(!nan.file);
  CHECK_THAT(nan.errors(), ContainsSubstring("this is not valid JSON"));
  CHECK_THAT(Reading("").errors(), ContainsSubstring("the file ends here"));
  CHECK_THAT(Reading(replaced(whole, "\"seed\"", "\"date\": 1, \"date\"")).errors(),
             ContainsSubstring("there twice"));
}

TEST_CASE("other files, versions and two files in one are told apart") {
  CHECK_THAT(Reading("{\"format\": \"nvbench\"}").errors(),
             ContainsSubstring("no samples file of payoff-kernels"));
  CHECK_THAT(Reading(replaced(file_of(point), "\"version\": 1", "\"version\": 2")).errors(),
             ContainsSubstring("version `2` of samples is not known"));
  CHECK_THAT(Reading("[" + file_of(point) + "," + file_of(point) + "]").errors(),
             ContainsSubstring("give them one by one"));
  CHECK_THAT(Reading(file_of("")).errors(), ContainsSubstring("there is no point"));
}

TEST_CASE("every value of a JSON tree knows where it stands") {
  const std::string text = "{\"a\": [12, -3.5e2, true, null, \"x\"],\n \"b\": {\"c\": 7}}";
  SourceMap sources;
  Diagnostics diagnostics;
  const std::size_t source = sources.add_file("tree.json", text);
  const auto root = parse_json_tree({source, 0, text.size()}, sources, diagnostics);
  REQUIRE(root);
  const Node& list = root->find("a")->value;
  REQUIRE(list.items.size() == 5);
  for (const std::size_t i : {0U, 1U, 2U}) {
    CHECK(sources.text(list.items[i].span) == list.items[i].text);
  }
  CHECK(list.items[3].kind == Node::Kind::null);
  CHECK(sources.text(list.items[4].span) == "\"x\"");
  CHECK(sources.place(root->find("b")->value.find("c")->value.span) == "tree.json:2:13");
}

TEST_CASE("files of one set come from one device and share no point") {
  const auto folder = std::filesystem::temp_directory_path() / "payoff-samples-test";
  std::filesystem::create_directories(folder);
  const auto written = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  };
  const std::string larger = replaced(point, "4096", "8192");
  const std::string first = written("first.json", file_of(point));
  const std::string second = written("second.json", file_of(larger));
  const std::string same = written("same.json", file_of(larger + "," + point));
  const std::string other = written("other.json", file_of(larger, "Another GPU"));
  const auto read = [](const std::vector<std::string>& paths) {
    SourceMap sources;
    Diagnostics diagnostics;
    const auto files = read_samples(paths, sources, diagnostics);
    CHECK(files.empty() == diagnostics.has_errors());
    return render_text(diagnostics, sources);
  };
  CHECK(read({first, second}).empty());
  CHECK_THAT(read({first, same}), ContainsSubstring("elements=4096 is there twice"));
  // Also where something else is wrong with the twin.
  const std::string damaged = written("damaged.json", file_of(replaced(point, "3.25", "-3.25")));
  CHECK_THAT(read({first, damaged}), ContainsSubstring("elements=4096 is there twice") &&
                                         ContainsSubstring("`samples_us` cannot be -3.25"));
  CHECK_THAT(read({first, other}), ContainsSubstring("the device `Another GPU` is not that of") &&
                                       ContainsSubstring("`name` is Another GPU and not Some GPU"));
  // Another driver, another card of one name, less memory: told as that, and nothing else.
  const std::string device = "\"Some GPU\", ";
  const auto differing = [&](const std::string& from, const std::string& to) {
    return read({first, written("differs.json", replaced(file_of(larger), from, to))});
  };
  CHECK_THAT(differing(device, device + "\"driver\": \"570.86\", "),
             ContainsSubstring("^ `driver` is 570.86 where there it is not stated\n"));
  CHECK_THAT(differing(device, device + "\"uuid_hash\": \"00112233aabbccdd\", "),
             ContainsSubstring("^ `uuid_hash` is 00112233aabbccdd where there it is not stated\n"));
  CHECK_THAT(differing("132", "114"),
             ContainsSubstring("^ `multiprocessors` is 114 and not 132\n"));
  CHECK_THAT(differing("80000000000", "40000000000"),
             ContainsSubstring("`memory_bytes` is 40000000000 and not 80000000000"));
  CHECK_THROWS_AS(read({(folder / "absent.json").string()}), std::runtime_error);
  std::filesystem::remove_all(folder);
}
