// SPDX-License-Identifier: Apache-2.0
// From a job's own logs and traces to predictions.
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/exit_code.hpp"
#include "cli/import_parts.hpp"
#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using nlohmann::json;

namespace {

const std::string example = PAYOFF_SOURCE_DIR "/examples/12-own-trace/";
const std::string trace = example + "rank0.json";
const std::string log_file = example + "nccl.log";

void check_refused(const std::vector<std::string>& words, const std::string& why) {
  const test::Captured run = test::payoff(words);
  INFO(run.err);
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring(why));
}

}  // namespace

// By examples/12-own-trace/make.py: forward is 2 + 100, then twelve blocks of 2 + 300 + 10 + 200,
// then 2 + 400; backward 2 + 800, twelve of 2 + 500 + 10 + 300 + 10 + 200, and 2 + 150; then the
// last message, 5000 long.
TEST_CASE("the steps, messages and layers of a trace are what went into it") {
  const json result = test::json_of({"import", "kineto", trace});
  const json& read = result["traces"][0];
  CHECK(read["gpu"] == "NVIDIA A100-SXM4-40GB");
  CHECK(read["ranks"] == 16);
  REQUIRE(read["steps"].size() == 3);
  const double compute = 100 + 12 * 500 + 400 + 800 + 12 * 1000 + 150 + 2800;
  for (const json& step : read["steps"]) {
    CHECK_THAT(step["compute_seconds"].get<double>(), WithinRel(compute * 1e-6, 1e-9));
    const double messages =
        step["hidden_seconds"].get<double>() + step["exposed_seconds"].get<double>();
    CHECK_THAT(messages, WithinRel(3 * 5000e-6, 1e-9));
  }
  REQUIRE(read["messages"].size() == 2);
  CHECK(read["messages"][0]["size_bytes"] == 83e6);
  CHECK_THAT(read["messages"][0]["time_seconds"].get<double>(), WithinRel(5e-3, 1e-9));
  REQUIRE(result["layers"].size() == 14);
  CHECK(result["layers"][3]["layer"] == "block 2");
  CHECK(result["layers"][3]["forward"]["passes"] == 3);
  CHECK_THAT(result["layers"][3]["forward"]["median_seconds"].get<double>(),
             WithinRel(510e-6, 1e-9));
  CHECK_THAT(result["layers"][3]["backward"]["median_seconds"].get<double>(),
             WithinRel(1020e-6, 1e-9));
}

TEST_CASE("layers of a trace become those of a prediction, and its step an observation") {
  const test::ScratchFolder folder;
  const std::string csv = folder.path("layers.csv");
  const test::Captured import =
      test::payoff({"import", "kineto", trace, "--micro-batch", "4", "-o", csv});
  INFO(import.err);
  REQUIRE(import.code == ExitCode::success);
  const json observation = test::json_of({"import", "kineto", trace})["observation"];
  const std::vector<std::string> job{"predict",
                                     "--model",
                                     "gpt2",
                                     "--cluster",
                                     "p4d-24xlarge",
                                     "--nodes",
                                     "2",
                                     "--micro-batch",
                                     "4",
                                     "--precision",
                                     "bf16",
                                     "--set",
                                     "model.layer_times=" + csv};
  const json predicted = test::json_of(job);
  // Forward of the trace's layers, without what is between them.
  const double forward = 100 + 12 * 510 + 400;
  CHECK_THAT(predicted["plans"][0]["waterfall"]["forward_seconds"].get<double>(),
             WithinRel(forward * 1e-6, 1e-6));
  std::vector<std::string> observed = job;
  observed.insert(observed.end(), {"--observed", observation["observed"].get<std::string>()});
  const test::Captured with = test::payoff(observed);
  INFO(with.err);
  CHECK(with.code == ExitCode::success);
  observed.back() = trace;
  CHECK(test::payoff(observed).out == with.out);
  observed.back() = trace + "@nodes=2";
  CHECK(test::payoff(observed).out == with.out);
}

TEST_CASE("a trace that measures no step is no observation, and says nothing else of its own") {
  const test::ScratchFolder folder;
  const std::string empty = folder.path("empty.json");
  std::ofstream(empty) << R"({"traceEvents": []})";
  const std::vector<std::string> job{"predict",      "--model", "gpt2", "--cluster",
                                     "p4d-24xlarge", "--nodes", "2",    "--observed"};
  const auto with = [&](const std::string& observed) {
    std::vector<std::string> words = job;
    words.push_back(observed);
    return words;
  };
  check_refused(with(empty), "is no measurement of a step");
  check_refused(with(trace + ",step=3ms"), "`step` is given twice");
  check_refused(with(trace + "@dp=x"), "--observed dp");
}

TEST_CASE("how many rows a table leaves out is said below it") {
  CHECK(left_out_rows(most_table_rows, "more streams").empty());
  CHECK(left_out_rows(most_table_rows + 3, "more streams") ==
        "... and 3 more streams (--json has them all).\n");
}

TEST_CASE("annotations of other names are layers by rules") {
  const test::ScratchFolder folder;
  const test::Captured run =
      test::payoff({"import", "kineto", trace, "--layer", "block *=block", "--micro-batch", "4",
                    "--tp", "2", "-o", folder.path("l.csv")});
  INFO(run.err);
  CHECK(run.code == ExitCode::success);
  CHECK(test::read_text(folder.path("l.csv")) ==
        "layer,micro_batch,forward_us,backward_us,tp,cp,ep,etp\n"
        "embedding,4,100.000,150.000,2,1,1,1\n"
        "block,4,510.000,1020.000,2,1,1,1\n"
        "head,4,400.000,800.000,2,1,1,1\n");
}

TEST_CASE("a log says how many bytes a step sends") {
  const test::ScratchFolder folder;
  const test::Captured run = test::payoff(
      {"import", "nccl-log", log_file, "--steps", "3", "-o", folder.path("messages.csv")});
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  // GPT-2 has 124,439,808 parameters; gradients of two bytes.
  CHECK_THAT(run.out, ContainsSubstring("16 ranks on 2 nodes, 144 calls in 1 file") &&
                          ContainsSubstring("|       166 MB |") &&
                          ContainsSubstring("Connections: 2 NET/IB GDRDMA, 14 P2P/CUMEM"));
  CHECK(test::read_text(folder.path("messages.csv")) ==
        "collective,ranks,nodes,stride,groups,type,bytes,calls,calls_a_rank\n"
        "all_reduce,16,2,1,1,bfloat16,82879616,48,3\n"
        "all_reduce,16,2,1,1,bfloat16,83000000,96,6\n");
}

TEST_CASE("what PyTorch recorded of a rank says what NCCL's log says of all") {
  const test::ScratchFolder folder;
  const std::string dump = example + "flight0.json";
  const test::Captured run = test::payoff(
      {"import", "flight-recorder", dump, "--steps", "2", "-o", folder.path("messages.csv")});
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("16 ranks, 6 calls in 1 file") &&
                          ContainsSubstring("|       166 MB |") && ContainsSubstring("1 of 16"));
  CHECK(test::read_text(folder.path("messages.csv")) ==
        "collective,ranks,nodes,stride,groups,type,bytes,calls,calls_a_rank\n"
        "all_reduce,16,,1,1,bfloat16,82879616,2,2\n"
        "all_reduce,16,,1,1,bfloat16,83000000,4,4\n");
  CHECK(test::json_of({"import", "flight-recorder", dump})["format"] == "flight-recorder");
}

TEST_CASE("options of an import that has no file are looked at all the same") {
  const test::Captured run = test::payoff({"import", "nccl-log", "--steps", "0", "--tp", "2"});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("`nccl-log` takes files, and there is none") &&
                          ContainsSubstring("--steps") && ContainsSubstring("`--tp` is of") &&
                          ContainsSubstring("3 errors"));
  const test::Captured traces =
      test::payoff({"import", "kineto", "--micro-batch", "0", "--layer", "no rule"});
  CHECK_THAT(traces.err, ContainsSubstring("--micro-batch") &&
                             ContainsSubstring("is not FROM=TO") && ContainsSubstring("3 errors"));
}

TEST_CASE("a file is given once and can be read") {
  const std::string again = example + "../12-own-trace/nccl.log";
  check_refused({"import", "nccl-log", log_file, log_file}, "` is given twice\n");
  check_refused({"import", "nccl-log", log_file, again}, "` is given twice: as `");
  check_refused({"import", "kineto", trace, trace}, "` is given twice");
  const test::Captured none = test::payoff({"import", "nccl-log", "none.log", "none.too"});
  CHECK(none.code == ExitCode::bad_input);
  CHECK_THAT(none.err, ContainsSubstring("argument 3: none.log\n") &&
                           ContainsSubstring("`none.log` cannot be read") &&
                           ContainsSubstring("`none.too` cannot be read"));
}

namespace {

std::string event(const std::string& category, const std::string& name, int begin, int duration,
                  const std::string& args = "") {
  return fmt::format(
      R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 1, "tid": 1, "ts": {}, "dur": {}, "args": )"
      R"({{{}}}}},)",
      category, name, begin, duration, args);
}

// A kernel of 60 us, 10 after the launch.
std::string kernel(int launch) {
  const std::string correlation = fmt::format(R"("correlation": {})", launch + 1);
  return event("cuda_runtime", "cudaLaunchKernel", launch, 1, correlation) +
         event("kernel", "gemm", launch + 10, 60, R"("device": 0, "stream": 7, )" + correlation);
}

std::string step(int number, int begin) {
  return event("user_annotation", fmt::format("ProfilerStep#{}", number), begin, 90) +
         kernel(begin);
}

std::string trace_of(std::string events) {
  events.pop_back();  // the last comma
  return R"({"traceEvents": [)" + events + "]}";
}

}  // namespace

TEST_CASE("a trace is a measurement where a step on a GPU begins and the next one ends it") {
  const test::ScratchFolder folder;
  const std::string file = folder.path("trace.json");
  const auto observed = [&](const std::string& events) {
    folder.write("trace.json", trace_of(events));
    return test::json_of({"import", "kineto", file})["observation"];
  };
  // Begins of kernels: 10 and 110; the second step has no end.
  CHECK(observed(step(1, 0) + step(2, 100))["observed"] == "step=100.000us,exposed=0.000us");
  const auto check_none = [&](const std::string& events, const std::string& why) {
    CHECK(observed(events).is_null());
    const test::Captured run = test::payoff({"import", "kineto", file});
    CHECK(run.code == ExitCode::success);
    CHECK_THAT(run.out, !ContainsSubstring("--observed"));
    CHECK_THAT(run.err, ContainsSubstring("is no measurement of a step: " + why));
  };
  check_none(step(1, 0), "no step of it is whole");
  check_none(kernel(0) + kernel(100), "it has no steps");
  check_none(event("user_annotation", "ProfilerStep#1", 0, 60) + event("cpu_op", "mm", 1, 5),
             "nothing runs on a GPU");
}

TEST_CASE("a trace of another program is refused, as a log is") {
  const test::ScratchFolder folder;
  for (const char* text : {"[]", R"({"traceEvents": [{"ph": "X", "name": "k", "ts": 1}]})"}) {
    folder.write("other.json", text);
    check_refused({"import", "kineto", folder.path("other.json")}, "no event of the kinds");
  }
}

TEST_CASE("bytes that are no UTF-8 stand in JSON as what replaces them") {
  const test::ScratchFolder folder;
  const std::string host = "n\xffode";
  folder.write("\xff.log", host +
                               ":1:1 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x1 "
                               "count 64 datatype 7 op 0 root 0 comm 0x1 [nranks=2] stream 0x2\n");
  const std::string file = folder.path("\xff.log");
  CHECK_THAT(test::payoff({"import", "nccl-log", file}).out, ContainsSubstring(host));
  const json result = test::json_of({"import", "nccl-log", file});
  CHECK(result["nodes"][0]["host"] == "n\xef\xbf\xbdode");
}

TEST_CASE("what no table can hold is no layer but part of the layer around it") {
  const test::ScratchFolder folder;
  const auto operation = [](int begin, int sequence, int forward_thread) {
    return event(
        "cpu_op", "mm", begin, 20,
        fmt::format(R"("Sequence number": {}, "Fwd thread id": {})", sequence, forward_thread));
  };
  folder.write("trace.json",
               trace_of(event("user_annotation", "block 3", 0, 90) +
                        event("user_annotation", "block 3, attn", 0, 80) + operation(0, 1, 0) +
                        kernel(5) + operation(100, 1, 1) + kernel(105)));
  const test::Captured run = test::payoff({"import", "kineto", folder.path("trace.json"),
                                           "--micro-batch", "4", "-o", folder.path("l.csv")});
  INFO(run.err);
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.err, ContainsSubstring("`block 3, attn` can be no name of a layer"));
  CHECK(test::read_text(folder.path("l.csv")) ==
        "layer,micro_batch,forward_us,backward_us,tp,cp,ep,etp\n"
        "block 3,4,60.000,60.000,1,1,1,1\n");
}

TEST_CASE("mistakes of an import are told, and nothing is written") {
  const test::ScratchFolder folder;
  const std::string out = folder.path("out.csv");
  folder.write("bad.json", "{\"traceEvents\": [\n{\"ph\": \"X\", \"cat\": \"kernel\"}]}");
  folder.write("bad.log", "h:1:1 [0] NCCL INFO AllReduce: opCount 0 sendbuff x\nh:1:1 [0] x\n");
  check_refused({"import", "kinet", trace}, "did you mean `kineto`?");
  check_refused({"import", "kineto"}, "takes files, and there is none");
  check_refused({"import", "kineto", folder.path("bad.json")}, "has no `ts`");
  check_refused({"import", "nccl-log", folder.path("bad.log")}, "bad.log:1:52");
  check_refused({"import", "nccl-log", trace}, "has no line of a group or a call");
  check_refused({"import", "kineto", log_file}, "this is not valid JSON");
  check_refused({"import", "kineto", trace, "-o", out}, "need the size of a micro-batch");
  check_refused({"import", "kineto", trace, "--steps", "2"}, "is of `payoff import nccl-log`");
  check_refused({"import", "nccl-log", log_file, "--tp", "2"}, "is of `payoff import kineto`");
  check_refused({"import", "kineto", trace, "--layer", "block"}, "is not FROM=TO");
  check_refused({"import", "kineto", trace, "--layer", "a=b *"}, "too many `*`");
  check_refused({"import", "kineto", trace, "--layer", "a=b,c"}, "no table can hold");
  check_refused({"import", "kineto", trace, "--micro-batch", "1", "-o", trace}, "is an input");
  folder.write("none.json", "{\"traceEvents\": []}");
  check_refused({"import", "kineto", folder.path("none.json"), "--micro-batch", "1", "-o", out},
                "no layer of the traces has a forward and a backward pass");
  CHECK(folder.files() == std::vector<std::string>{"bad.json", "bad.log", "none.json"});
}
