// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/kineto_trace.hpp"

#include <chrono>
#include <string>

#include <fmt/format.h>

#include "profiles/import/kineto_event.hpp"
#include "profiles/import/trace_layers.hpp"
#include "profiles/import/trace_timeline.hpp"
#include "tests/catch.hpp"
#include "tests/profiles/trace_writer.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using test::findings_of;
using test::TraceWriter;

namespace {

// One event, as it is written.
std::string with(const std::string& event) {
  return "{\n\"traceEvents\": [\n{\"ph\": \"M\", \"name\": \"process_name\"},\n" + event + "\n]}\n";
}

std::string kernel(const std::string& times, const std::string& args) {
  return R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, )" + times +
         R"(, "args": {)" + args + "}}";
}

}  // namespace

TEST_CASE("microseconds of sixteen digits keep their nanoseconds") {
  using import_detail::nanoseconds;
  CHECK(nanoseconds("1740461679479712.123") == 1740461679479712123);
  CHECK(nanoseconds("85") == 85000);
  CHECK(nanoseconds("0.0019") == 1);
  CHECK(nanoseconds("-1.5") == -1500);
  CHECK(nanoseconds("1.5e3") == 1500000);
  for (const char* wrong : {"", "x", "1.x", "9e30", "99999999999999999999", "-"}) {
    INFO(wrong);
    CHECK_FALSE(nanoseconds(wrong));
  }
}

TEST_CASE("a trace is read with who made it") {
  TraceWriter writer;
  writer.annotate("ProfilerStep#3", 0, 50);
  writer.kernel(TraceWriter::compute, 10, 5, 2);
  const KinetoTrace trace = writer.read();
  CHECK(trace.findings.empty());
  CHECK(trace.gpu == "NVIDIA A100-SXM4-80GB");
  CHECK(trace.rank == 3);
  CHECK(trace.ranks == 8);
  CHECK(trace.nccl_version == "2.21.5");
  CHECK(trace.events == 3);
  REQUIRE(trace.gpu_events.size() == 1);
  CHECK(trace.gpu_events[0].begin == 10000);
  CHECK(trace.gpu_events[0].end == 15000);
  CHECK(trace.gpu_events[0].stream == 7);
  REQUIRE(trace.steps.size() == 1);
  CHECK(trace.steps[0].name == "ProfilerStep#3");
}

TEST_CASE("messages are those of the kernels where they tell them, else of the operators") {
  TraceWriter writer;
  const std::string more =
      R"("Collective name": "_allgather_base", "In msg nelems": 10, "Out msg nelems": 80, )"
      R"("Group size": 8, "dtype": "Half", "Process Group Name": "0")";
  writer.event("cpu_op", "record_param_comms", 1, 100, 0, 3, more);
  const KinetoTrace operators = writer.read();
  REQUIRE(operators.messages.size() == 1);
  CHECK(operators.messages[0].collective == Collective::all_gather);
  CHECK(operators.messages[0].size == 160_B);
  CHECK(operators.messages[0].calls == 1);
  CHECK(operators.messages[0].times.empty());

  writer.all_reduce(10, 20, 5, 1000);
  const KinetoTrace kernels = writer.read();
  REQUIRE(kernels.messages.size() == 1);
  CHECK(kernels.messages[0].calls == 1);
  CHECK(kernels.messages[0].size == 2000_B);
  CHECK(kernels.messages[0].group == "default_pg");
  CHECK(kernels.messages[0].times == std::vector<std::int64_t>{20000});
}

TEST_CASE("categories of older profilers and counts between quotes are read as well") {
  const KinetoTrace trace = TraceWriter::read_text(
      with(R"({"ph": "X", "cat": "Kernel", "name": "ncclKernel_AllReduce", "pid": 2, "tid": 9, )"
           R"("ts": 5, "dur": 1, "args": {"device": "2", "stream": "9", "correlation": 4}})"));
  CHECK(trace.findings.empty());
  REQUIRE(trace.gpu_events.size() == 1);
  CHECK(trace.gpu_events[0].device == 2);
  CHECK(trace.gpu_events[0].correlation == 4);
  CHECK(trace.gpu_events[0].communicates);
}

TEST_CASE("a mistake is told with line, column and path") {
  const auto wrong = [](const std::string& times, const std::string& args) {
    return findings_of(with(kernel(times, args)));
  };
  CHECK_THAT(wrong(R"("ts": 1)", R"("stream": 7)"),
             ContainsSubstring("t.json:4:1: traceEvents[1]: ") &&
                 ContainsSubstring("category `kernel` has no `dur`"));
  CHECK_THAT(wrong(R"("ts": 1, "dur": -3)", ""),
             ContainsSubstring("4:1: traceEvents[1].dur: what a GPU does"));
  CHECK_THAT(wrong(R"("ts": "soon", "dur": 3)", ""),
             ContainsSubstring("t.json:4:69: traceEvents[1].ts: `soon` is no time"));
  CHECK_THAT(wrong(R"("ts": "soon", "dur": 3)", ""), !ContainsSubstring("has no `ts`"));
  CHECK_THAT(wrong(R"("ts": 1e300, "dur": 3)", ""), ContainsSubstring("is no time"));
  CHECK_THAT(
      wrong(R"("ts": 1e400, "dur": 3)", ""),
      ContainsSubstring("t.json:4:69: traceEvents[1].ts: `1e400` is larger than any number"));
  CHECK(wrong(R"("ts": 1, "dur": 3)", R"("stream": 99999999999)") ==
        "t.json:4:1: traceEvents[1]: an event of category `kernel` has no `args.stream`\n");
  CHECK_THAT(findings_of("{\"traceEvents\": [\n{\"ph\": \"X\", nan}]}"),
             ContainsSubstring("t.json:2:14: traceEvents[0]: this is not valid JSON: it cannot"));
  CHECK_THAT(findings_of("{\"traceEvents\": [\n{\"ph\": \"X\""),
             ContainsSubstring("the file ends here, unfinished"));
  CHECK_THAT(findings_of("{\"events\": []}"), ContainsSubstring("has no `traceEvents`"));
  CHECK_THAT(findings_of("\x1f\x8b\x08"), ContainsSubstring("is compressed"));
  CHECK_THAT(findings_of(with(kernel(R"("ts": 1, "dur": 3)", "") + "," +
                              kernel(R"("ts": 3e15, "dur": 3)", ""))),
             ContainsSubstring("three years from the first event"));
}

TEST_CASE(
    "a trace that is cut anywhere is refused, and one with any byte changed read or refused") {
  TraceWriter writer;
  writer.annotate("ProfilerStep#1", 0, 100);
  writer.annotate("block 1", 1, 40);
  writer.operate(2, 30, TraceWriter::main_thread, 5, 0);
  writer.kernel(TraceWriter::compute, 10, 5, 3);
  writer.all_reduce(12, 30, 4);
  const std::string text = writer.text();
  const std::size_t last = text.rfind('}');
  for (std::size_t i = 0; i < text.size(); ++i) {
    CHECK(TraceWriter::read_text(text.substr(0, i)).findings.empty() == (i > last));
    std::string damaged = text;
    damaged[i] = static_cast<char>('"' + static_cast<int>(i % 90));
    const KinetoTrace trace = TraceWriter::read_text(damaged);
    CHECK(timeline_of(trace).devices <= 2);
    CHECK(layers_of(trace, usual_layer_rules()).layers.size() <= 1);
  }
}

TEST_CASE("a megabyte of anything is read in a moment") {
  const auto begin = std::chrono::steady_clock::now();
  std::string deep = "{\"traceEvents\": [{\"args\": ";
  deep.append(500'000, '[');
  CHECK_FALSE(findings_of(deep).empty());
  // Every operator within the one before, all with one sequence number.
  TraceWriter nested;
  constexpr int events = 5000;
  for (int i = 0; i < events; ++i) {
    nested.operate(i, 2 * events - i, TraceWriter::main_thread, 1, i % 2);
    nested.annotate("block 1", i, 2 * events - i);
    nested.kernel(i % 3, i, 2 * events, i);
  }
  const KinetoTrace trace = nested.read();
  CHECK(timeline_of(trace).streams.size() == 3);
  CHECK(layers_of(trace, usual_layer_rules()).layers.size() == 1);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}
