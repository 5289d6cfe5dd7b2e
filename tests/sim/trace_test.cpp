// SPDX-License-Identifier: Apache-2.0
#include "sim/trace.hpp"

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "sim/step.hpp"
#include "tests/catch.hpp"
#include "tests/sim/random_plans.hpp"

using namespace payoff;
using Json = nlohmann::json;

namespace {

Json traced(const StepPlan& plan, sim::SimulatedStep& step) {
  std::ostringstream out;
  sim::TraceWriter writer(out);
  sim::SimOptions options;
  options.trace = &writer;
  step = sim::simulate(plan, {}, options);
  writer.finish();
  return Json::parse(out.str());
}

// What the Trace Event Format asks of an event, and what we promise in its arguments.
void check_event(const Json& event, std::set<std::pair<int, int>>& named) {
  const std::pair<int, int> track{event.at("pid").get<int>(), event.value("tid", 0)};
  if (event.at("ph") == "M") {
    CHECK((event.at("name") == "process_name" || event.at("name") == "thread_name"));
    CHECK(event.at("args").at("name").is_string());
    // Once each; a process is kept as the track -1, which none is.
    const bool of_process = event.at("name") == "process_name";
    CHECK(named.insert({track.first, of_process ? -1 : track.second}).second);
    return;
  }
  REQUIRE(event.at("ph") == "X");
  CHECK(named.contains(track));  // before its first span
  CHECK(event.at("name").is_string());
  CHECK(event.at("ts").get<double>() >= 0);
  CHECK(event.at("dur").get<double>() > 0);
  const Json& arguments = event.at("args");
  CHECK(arguments.at("alone_us").get<double>() <= event.at("dur").get<double>() + 1e-6);
  // Nothing that the compute stream waits for looks like its own work.
  const std::string name = event.at("name");
  const bool of_activations = name == "tp_message" || name == "cp_message" || name == "ep_message";
  CHECK(of_activations == (track.second == sim::activations_track));
  if (arguments.contains("collective")) {
    CHECK(track.second > 0);
    CHECK(arguments.at("bytes").get<double>() > 0);
    CHECK(arguments.at("bytes_per_second").get<double>() > 0);
  }
}

}  // namespace

TEST_CASE(
    "a timeline is valid Trace Event JSON: one track a stream, bytes and rates in arguments") {
  const int seed = GENERATE(1, 2, 3, 4, 5, 6);
  const auto drawn = seed % 2 == 0 ? test::random_replicas(static_cast<std::uint64_t>(seed))
                                   : test::random_pipeline(static_cast<std::uint64_t>(seed));
  sim::SimulatedStep step;
  const Json trace = traced(drawn.plan, step);
  std::set<std::pair<int, int>> named;
  std::map<std::pair<int, int>, double> free_from;
  double last = 0;
  std::size_t spans = 0;
  for (const Json& event : trace.at("traceEvents")) {
    check_event(event, named);
    if (event.at("ph") != "X") {
      continue;
    }
    ++spans;
    const double begin = event.at("ts").get<double>();
    double& free = free_from[{event.at("pid").get<int>(), event.at("tid").get<int>()}];
    CHECK(begin >= free - 1e-6);  // nothing overlaps on a track
    free = begin + event.at("dur").get<double>();
    last = std::max(last, free);
  }
  // What both ends of a pipeline sum is a span on each of them.
  CHECK(spans == step.events + (drawn.plan.sums_tied(0) ? 1 : 0));
  CHECK(std::abs(last - step.prediction.step / 1_us) < 1e-5);
}

TEST_CASE("a timeline that was stopped is valid JSON of what ran") {
  const auto drawn = test::random_pipeline(3);
  std::ostringstream out;
  sim::TraceWriter writer(out);
  const std::atomic<bool> stop{true};
  sim::SimOptions options;
  options.trace = &writer;
  options.stop = &stop;
  CHECK(sim::simulate(drawn.plan, {}, options).interrupted);
  writer.finish();
  writer.finish();  // once is enough
  CHECK(Json::parse(out.str()).at("traceEvents").is_array());
}

TEST_CASE("dates of a timeline are exact to the picosecond") {
  std::ostringstream out;
  sim::TraceWriter writer(out);
  sim::TraceSpan span;
  span.track_name = "compute";
  span.name = "forward";
  span.begin = {1'000'001};
  span.end = {86'400'000'000'000'007};  // a day and 7 ps
  writer.write(span);
  writer.finish();
  CHECK(out.str().find(R"("ts":1.000001,"dur":86399999999.000006)") != std::string::npos);
}
