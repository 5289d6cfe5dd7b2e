// SPDX-License-Identifier: Apache-2.0
// Samples files of payoff-kernels: what a reader gives back, and what it says of files that are
// other, damaged or of several devices.
#include "profiles/import/samples.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "profiles/import/json_tree.hpp"
#include "tests/catch.hpp"
#include "tests/profiles/samples_reading.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using payoff::test::file_of;
using payoff::test::point;
using payoff::test::replaced;
using Reading = payoff::test::SamplesReading;

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

TEST_CASE("a clock that stands is no clock to measure at") {
  const Reading reading(file_of(replaced(point, "\"clock_ratio\": 0.98", "\"clock_ratio\": 0")));
  CHECK(!reading.file);
  CHECK_THAT(reading.errors(), ContainsSubstring("`clock_ratio` cannot be 0"));
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
  const Reading quoted(replaced(file_of(point), "\"version\": 1", "\"version\": \"1\""));
  CHECK(quoted.diagnostics.error_count() == 1);
  CHECK_THAT(quoted.errors(), ContainsSubstring("samples.json:1:41") &&
                                  ContainsSubstring("`version` is a text, not a number") &&
                                  ContainsSubstring("1 without the quotes"));
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
