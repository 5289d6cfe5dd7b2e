// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "profiles/import/json_tree.hpp"
#include "profiles/import/nccl_log.hpp"
#include "profiles/import/nccl_run.hpp"
#include "profiles/import/yaml_fields.hpp"

namespace payoff {

namespace {

// Members of `value`, or null where it is no object or has none of this name.
const Node& member(const Node& value, std::string_view name) {
  static const Node nothing;
  const Entry* found = value.kind == Node::Kind::map ? value.find(name) : nullptr;
  return found == nullptr ? nothing : found->value;
}

std::optional<double> number(const Node& value) { return import_detail::plain_number(value.text); }

int whole(const Node& value) {
  constexpr double largest = 1e9;  // beyond any count or version
  return static_cast<int>(std::clamp(number(value).value_or(0.0), 0.0, largest));
}

// `time`, or `cpu_time` of a run that reports the time of the processor.
std::optional<double> time_us(const Node& part) {
  const std::optional<double> time = number(member(part, "time"));
  return time ? time : number(member(part, "cpu_time"));
}

class JsonReader {
 public:
  JsonReader(const std::string& text, std::string file) : file_(std::move(file)) {
    source_ = sources_.add_file(file_, text);
  }

  NcclImport read() {
    const Span whole_text{source_, 0, sources_[source_].text.size()};
    const std::optional<Node> document = parse_json_tree(whole_text, sources_, diagnostics_);
    for (const Diagnostic& each : diagnostics_.sorted()) {
      report(each.span.value_or(Span{}), each.message);
    }
    if (document && member(*document, "results").kind != Node::Kind::list) {
      report(document->span, "has no list `results` of nccl-tests");
    } else if (document) {
      read_run(*document);
    }
    return std::move(result_);
  }

 private:
  void report(Span span, const std::string& message) {
    const Location place = sources_.locate(span);
    result_.findings.push_back({file_, static_cast<int>(place.line), static_cast<int>(place.column),
                                "", message, Effect::rejected});
  }

  int line_of(const Node& node) const { return static_cast<int>(sources_.locate(node.span).line); }

  void read_run(const Node& document) {
    import_detail::NcclRun run;
    run.line = 1;
    const Node& arguments = member(document, "args");
    if (!arguments.items.empty()) {
      run.program = arguments.items.front().text;
    }
    const int code = whole(member(document, "nccl_version"));
    run.nccl_version = code > 0 ? nccl_version_text(code) : "";
    const Node& config = member(document, "config");
    run.threads = whole(member(config, "nthreads"));
    run.gpus_per_thread = whole(member(config, "ngpus"));
    run.graph = whole(member(config, "graph")) > 0;
    for (const Node& device : member(config, "devices").items) {
      run.hosts.push_back(member(device, "hostname").text);
      run.devices.push_back(member(device, "device_info").text);
    }
    for (const Node& row : member(document, "results").items) {
      const Node& first = member(row, "out_of_place");
      const Node& second = member(row, "in_place");
      run.rows.push_back({line_of(row), number(member(row, "size")), time_us(first),
                          time_us(second), number(member(first, "alg_bw")),
                          number(member(first, "bus_bw")), number(member(second, "alg_bw")),
                          number(member(second, "bus_bw")),
                          number(member(first, "nwrong")).value_or(0.0) +
                              number(member(second, "nwrong")).value_or(0.0)});
      run.dtype = member(row, "type").text;
    }
    import_detail::append_table(run, file_, result_);
  }

  std::string file_;
  SourceMap sources_;
  Diagnostics diagnostics_;
  std::size_t source_{};
  NcclImport result_;
};

}  // namespace

NcclImport parse_nccl_json(const std::string& text, const std::string& file) {
  return JsonReader(text, file).read();
}

}  // namespace payoff
