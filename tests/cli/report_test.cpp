// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"
#include "web/what_if.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;
using payoff::test::Captured;
using payoff::test::read_text;
using payoff::test::ScratchFolder;

namespace {

// The cheapest job that has something to compress: what it costs is not the subject here.
const std::string job =
    "experiment: \"</script>\"\n"
    "cluster: {profile: p3-8xlarge, nodes: 1}\n"
    "model: {profile: resnet-18}\n"
    "layout: {micro_batch: 64}\n"
    "training: {precision: fp32}\n"
    "compress: [fp16]\n";

// A page that is nothing but the place of its data.
class SmallPage {
 public:
  explicit SmallPage(const ScratchFolder& folder,
                     const std::string& text = "<p>@PAYOFF_DATA@</p>") {
    folder.write("page.html", text);
    setenv("PAYOFF_PAGE", folder.path("page.html").c_str(), 1);
  }
  SmallPage(const SmallPage&) = delete;
  SmallPage& operator=(const SmallPage&) = delete;
  ~SmallPage() { unsetenv("PAYOFF_PAGE"); }
};

json data_of(const std::string& page) { return json::parse(page.substr(3, page.size() - 7)); }

}  // namespace

TEST_CASE("a report of a result holds what predict said, and an experiment that computes it") {
  const ScratchFolder folder;
  const SmallPage page(folder);
  folder.write("job.yaml", job);
  const std::string result = test::payoff({"predict", folder.path("job.yaml"), "--json"}).out;
  folder.write("result.json", result);
  const Captured run =
      test::payoff({"report", folder.path("result.json"), "-o", folder.path("r.html")});
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  const std::string text = read_text(folder.path("r.html"));
  CHECK_THAT(text, !ContainsSubstring("</script>"));  // of the experiment's name
  const json data = data_of(text);
  const json predicted = json::parse(result);
  CHECK(data["result"]["plans"] == predicted["plans"]);
  CHECK(data["result"]["verdict"] == predicted["verdict"]);
  CHECK(data["result"]["experiment"] == predicted["experiment"]);

  const auto stored = web::restore(data["stored"].get<std::string>());
  REQUIRE(stored);
  const web::Answer answer = web::answer(*stored, {});
  REQUIRE(answer.problems.empty());
  CHECK(answer.payoff.plans.back().prediction.step.si ==
        predicted["plans"].back()["step_seconds"].get<double>());
  // What the sliders are called is what they change.
  CHECK(data["choices"]["methods"].size() == stored->methods.size());
  CHECK(data["choices"]["models"].size() == stored->models.size());
  CHECK(stored->methods.size() > 40);
  CHECK(stored->models.size() > 2);
}

TEST_CASE("a report knows nodes of several kinds, from the file and from a result", "[once]") {
  const ScratchFolder folder;
  const SmallPage page(folder);
  const auto data_with = [&](const std::string& cluster) {
    folder.write("job.yaml", cluster +
                                 "model: {profile: gpt2-medium}\n"
                                 "layout: {tp: 4, pp: 2, micro_batch: 1, micro_batches: 8}\n"
                                 "compress: [powersgd:rank=4]\n");
    const std::string result = test::payoff({"predict", folder.path("job.yaml"), "--json"}).out;
    folder.write("result.json", result);
    json data;
    for (const char* run : {"result.json", "job.yaml"}) {
      const Captured written =
          test::payoff({"report", folder.path(run), "-o", folder.path("r.html")});
      INFO(written.err);
      REQUIRE(written.code == ExitCode::success);
      data = data_of(read_text(folder.path("r.html")));
      CHECK(data["result"]["plans"] == json::parse(result)["plans"]);
      const auto stored = web::restore(data["stored"].get<std::string>());
      REQUIRE(stored);
      CHECK(web::answer(*stored, {}).payoff.plans.back().prediction.step.si ==
            data["result"]["plans"].back()["step_seconds"].get<double>());
    }
    return data;
  };
  const json two = data_with(
      "cluster:\n  node_kinds:\n  - {profile: dgx-a100, nodes: 2}\n"
      "  - {profile: dgx-h100, nodes: 2}\n");
  CHECK(two["command"]["node_kinds"] == 2);
  CHECK(two["base"]["is_mixed"] == true);
  CHECK(two["base"]["nic_bytes_per_second"].is_null());  // there is no one rate for a slider
  CHECK(two["base"]["nics_bytes_per_second"] == json({25e9, 50e9}));

  // One kind in the list: a cluster like any other, whose keys are those of the kind.
  const json one = data_with("cluster: {node_kinds: [{profile: dgx-a100, nodes: 2}]}\n");
  CHECK(one["command"]["node_kinds"] == 1);
  CHECK(one["base"]["is_mixed"] == false);
  CHECK(one["base"]["nic_bytes_per_second"] == 25e9);
}

TEST_CASE("what cannot be a report is refused, and nothing is written") {
  const ScratchFolder folder;
  folder.write("job.yaml", job);
  folder.write("other.json", "{\"experiment\": 3}");
  const std::string file = folder.path("job.yaml");
  const std::vector<std::string> before = folder.files();
  const auto refused = [&](std::vector<std::string> words, const std::string& why) {
    words.insert(words.begin(), "report");
    const Captured run = test::payoff(words);
    CHECK(run.code == ExitCode::bad_input);
    CHECK_THAT(run.err, ContainsSubstring(why));
  };
  refused({file}, "needs -o FILE");
  refused({file, "-o", folder.path("r.pdf")}, "ends in neither .html nor .htm");
  refused({folder.path("other.json"), "--nodes", "3", "-o", folder.path("r.html")},
          "`--nodes` does not go over a result");
  refused({folder.path("other.json"), "-o", folder.path("r.html")}, "no result with an experiment");

  const std::vector<std::string> good{"report", file, "-o", folder.path("r.html")};
  setenv("PAYOFF_PAGE", folder.path("none.html").c_str(), 1);
  const Captured missing = test::payoff(good);
  CHECK(missing.code == ExitCode::failure);
  CHECK_THAT(missing.err, ContainsSubstring("`make page` builds it"));
  unsetenv("PAYOFF_PAGE");
  CHECK(folder.files() == before);
  const SmallPage page(folder, "not this one");
  CHECK_THAT(test::payoff(good).err, ContainsSubstring("is no page for reports"));
}
