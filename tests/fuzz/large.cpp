// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/large.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace payoff::fuzz {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t size = std::size_t{1} << 20;

struct Repeated {
  std::string_view name;
  std::string_view before;
  std::string_view unit;  // a `@` in it is a number that counts up
  std::string_view after = ""sv;
};

constexpr std::array units = {
    Repeated{"open lists", "", "["},
    Repeated{"open maps", "", "{"},
    Repeated{"lists in lists in YAML", "", "- "},
    Repeated{"maps in maps of JSON", "", "{\"a\":"},
    Repeated{"maps in maps of YAML", "", "a: "},
    Repeated{"complex keys", "", "? "},
    Repeated{"an open text", "", "\""},
    Repeated{"texts that are doubled", "", "'"},
    Repeated{"one long text", "\"", "a", "\""},
    Repeated{"one long word", "", "a"},
    Repeated{"one long number", "", "9"},
    Repeated{"one long fraction", "0.", "0", "1"},
    Repeated{"spaces", "", " "},
    Repeated{"tabs", "", "\t"},
    Repeated{"empty lines", "", "\n"},
    Repeated{"empty lines of DOS", "", "\r\n"},
    Repeated{"carriage returns", "a: 1", "\r"},
    Repeated{"remarks", "", "#\n"},
    Repeated{"bytes of zero", "", "\0"sv},
    Repeated{"what is no UTF-8", "", "\xff"},
    Repeated{"byte order marks", "", "\xEF\xBB\xBF"},
    Repeated{"long characters", "", "\xF0\x9F\x98\x80"},
    Repeated{"anchors", "", "&a "},
    Repeated{"aliases", "a: &a 1\nb: [", "*a,", "]\n"},
    Repeated{"tags", "", "!a "},
    Repeated{"the same key", "", "a: 1\n"},
    Repeated{"the last key again", "a@: 1\n", "b@: 1\n"},
    Repeated{"keys of YAML", "", "k@: 1\n"},
    Repeated{"keys of JSON", "{", "\"k@\":1,", "\"k\":1}"},
    Repeated{"the same key of JSON", "{", "\"k\":1,", "\"k\":1}"},
    Repeated{"items of YAML", "a:\n", "- 1\n"},
    Repeated{"items of JSON", "[", "1,", "1]"},
    Repeated{"empty items of YAML", "a:\n", "-\n"},
    Repeated{"empty items in a line", "a: [", "~,", "]\n"},
    Repeated{"texts in a list", "[", "\"a\",", "1]"},
    Repeated{"maps in a list", "[", "{\"a\":1},", "1]"},
    Repeated{"blocks of text", "", "k@: |\n  a\n"},
    Repeated{"documents", "", "---\n"},
    Repeated{"directives", "", "%YAML 1.2\n"},
    Repeated{"open parentheses", "", "("},
    Repeated{"signs", "", "-"},
    Repeated{"sums", "1", "+1"},
    Repeated{"powers", "2", "^2"},
    Repeated{"functions in functions", "", "min(1,"},
    Repeated{"commas", "", ","},
    Repeated{"cells", "kernel,time_us\n", "a,1\n"},
    Repeated{"wide cells", "layer,micro_batch,forward_ms,backward_ms\n", "block,1,1,1\n"},
    Repeated{"columns", "kernel,time_us", ",c@"},
    Repeated{"rows of nccl-tests",
             "#       size         count      type   redop    root     time   algbw   busbw #wrong "
             "    time   algbw   busbw #wrong\n",
             "  @  2  float  sum  -1  1.0  1.0  1.0  0  1.0  1.0  1.0  0\n"},
    Repeated{"tables of nccl-tests", "",
             "# nccl-tests version 2.13\n#  Rank  0 Group  0 Pid 1 on h device 0 [0x07] A100\n"},
    Repeated{"values of an axis", "nodes=", "@,", "1"},
    Repeated{"series of an axis", "nodes=", "1..64:x2,", "1"},
    Repeated{"settings", "", "layout.dp=@\n"},
    Repeated{"a deep setting", "", "a.", "b=1"},
    Repeated{"parameters of a plan", "topk:", "p@=1,", "ratio=0.1"},
    Repeated{"plans in a plan", "topk:ratio=0.1", " + topk:ratio=0.1"},
    Repeated{"a job of many keys", "cluster: {profile: p3-8xlarge}\nmodel: {profile: gpt2}\n",
             "k@: 1\n"},
    Repeated{"a job of many plans",
             "cluster: {profile: p3-8xlarge}\nmodel: {profile: gpt2}\ncompress:\n", "- fp16\n"},
    Repeated{"a job of many phases",
             "cluster: {profile: p3-8xlarge}\nmodel: {profile: gpt2}\nrun:\n  phases:\n",
             "  - {iterations: 1}\n"},
    Repeated{"a job of many slow GPUs", "cluster:\n  profile: p3-8xlarge\n  slow_gpus:\n",
             "  - {gpu: @, slowdown: 2}\n", "model: {profile: gpt2}\n"},
    Repeated{"a job of many GPUs",
             "model: {profile: gpt2}\ncluster:\n  profile: p3-8xlarge\n  "
             "on_gpus: [",
             "@,", "0]\n"},
    Repeated{"a graph of many GPUs", "topology: t\ngraph:\n  gpus: [", "g@, ", "g]\n  links: []\n"},
    Repeated{"a graph of many links", "topology: t\ngraph:\n  gpus: [a, b]\n  links:\n",
             "  - {between: [a, b], bandwidth: 1 Gb/s, latency: 1 us}\n"},
    Repeated{"a graph of many links of unknown GPUs",
             "topology: t\ngraph:\n  gpus: [a, b]\n  links:\n",
             "  - {between: [g@, h@], bandwidth: 1 Gb/s}\n"},
    Repeated{"a profile of many citations", "gpu: x\ncitations:\n", "  k@: x\n"},
    Repeated{"keys that are nothing", "gpu: x\n", "? \n"},
    Repeated{
        "lines of a sweep",
        "{\"kind\":\"sweep\",\"jobs\":9,\"strategies\":[1],\"shard\":{\"index\":0,\"of\":1}}\n",
        "{\"job\":@,\"a\":1}\n"},
    Repeated{"columns of a sweep", "{}\n", "{\"a@\":1}\n"},
};

std::string repeated(const Repeated& what) {
  std::string text(what.before);
  for (std::size_t n = 0; text.size() + what.unit.size() + what.after.size() + 8 < size; ++n) {
    const std::size_t hole = what.unit.find('@');
    text += what.unit.substr(0, hole);
    if (hole != std::string_view::npos) {
      text += std::to_string(n);
      text += what.unit.substr(hole + 1);
    }
  }
  text += what.after;
  return text;
}

// Every line is ten times the line before it.
std::string billion_laughs() {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int k = 1; k < 10; ++k) {
      text += ", " + before;
    }
    text += "]\n";
  }
  return text;
}

// As deep as 1 MiB allows, and closed.
std::string nested(std::string_view before, std::string_view after) {
  const std::size_t depth = (size - before.size() - after.size()) / 2;
  return std::string(before) + std::string(depth, '[') + std::string(depth, ']') +
         std::string(after);
}

// The same below the keys that readers ask for.
std::string laughing_rows() { return billion_laughs() + "rows: *a11\ntables: *a11\nmeta: *a11\n"; }

}  // namespace

std::vector<LargeInput> large_inputs() {
  std::vector<LargeInput> inputs;
  for (const Repeated& what : units) {
    inputs.push_back({std::string(what.name), repeated(what)});
  }
  inputs.push_back({"nested lists", nested("", "")});
  inputs.push_back({"nested lists in a map", nested("{\"a\":", "}")});
  inputs.push_back(
      {"nested lists in a sweep",
       nested("{\"kind\":\"sweep\",\"jobs\":0,\"strategies\":[1],\"shard\":{\"index\":0,\"of\":1},"
              "\"a\":",
              "}\n")});
  inputs.push_back({"a billion laughs", billion_laughs()});
  inputs.push_back({"a billion rows", laughing_rows()});
  return inputs;
}

}  // namespace payoff::fuzz
