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

using import_detail::NcclHalf;
using import_detail::NcclPlace;

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

class JsonReader {
 public:
  JsonReader(const SourceMap& sources, std::string file)
      : sources_(sources), file_(std::move(file)) {}

  NcclImport read(const Node& document) {
    if (member(document, "results").kind != Node::Kind::list) {
      report(document.span, "has no list `results` of nccl-tests");
    } else {
      read_run(document);
    }
    return std::move(result_);
  }

 private:
  void report(Span span, const std::string& message) {
    const NcclPlace place = place_of(span);
    result_.findings.push_back({file_, place.line, place.column, "", message, Effect::rejected});
  }

  [[nodiscard]] NcclPlace place_of(Span span) const {
    const Location place = sources_.locate(span);
    return {static_cast<int>(place.line), static_cast<int>(place.column)};
  }

  void read_run(const Node& document) {
    import_detail::NcclRun run;
    run.line = 1;
    run.is_whole = true;  // or it were no JSON
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
      run.ranks.push_back({member(device, "hostname").text, member(device, "device_info").text,
                           place_of(member(device, "device_info").span)});
    }
    for (const Node& row : member(document, "results").items) {
      read_row(row, run);
    }
    import_detail::append_table(run, file_, result_);
  }

  void read_row(const Node& row, import_detail::NcclRun& run) {
    is_sound_ = true;
    import_detail::NcclRunRow read;
    read.place = place_of(row.span);
    read.bytes = value(member(row, "size"), "size");
    read.out_of_place = half(member(row, "out_of_place"));
    read.in_place = half(member(row, "in_place"));
    run.dtype = member(row, "type").text;
    if (is_sound_) {
      run.rows.push_back(read);
    }
    run.has_told = run.has_told || !is_sound_;
  }

  NcclHalf half(const Node& part) {
    const Node& own = member(part, "time");
    const bool by_device = own.kind != Node::Kind::null || is_told(own);
    const std::string_view key = by_device ? "time" : "cpu_time";
    const Node& time = member(part, key);
    const Node& wrong = member(part, "nwrong");
    return {place_of(time.span),
            place_of(wrong.span),
            value(time, key),
            value(member(part, "alg_bw"), "alg_bw"),
            value(member(part, "bus_bw"), "bus_bw"),
            value(wrong, "nwrong").value_or(0.0)};
  }

  // Nothing where there is none; a row in which anything else stands is no row.
  std::optional<double> value(const Node& node, std::string_view key) {
    const std::optional<double> read = number(node);
    if (is_told(node)) {
      is_sound_ = false;
    } else if (!read && node.kind != Node::Kind::null) {
      report(node.span, fmt::format("`{}` is not a number", key));
      is_sound_ = false;
    }
    return read;
  }

  const SourceMap& sources_;
  std::string file_;
  NcclImport result_;
  bool is_sound_ = true;  // the row that is read
};

}  // namespace

namespace import_detail {

NcclImport nccl_import_of(const Node& root, const SourceMap& sources, const std::string& file) {
  return JsonReader(sources, file).read(root);
}

}  // namespace import_detail

NcclImport parse_nccl_json(const std::string& text, const std::string& file) {
  SourceMap sources;
  Diagnostics diagnostics;
  const std::size_t source = sources.add_file(file, text);
  const std::optional<Node> root =
      parse_measured_tree({source, 0, text.size()}, sources, diagnostics);
  NcclImport result = root ? import_detail::nccl_import_of(*root, sources, file) : NcclImport{};
  Findings findings;
  for (const Diagnostic& each : diagnostics.sorted()) {
    const Location place = sources.locate(each.span.value_or(Span{}));
    findings.push_back({file, static_cast<int>(place.line), static_cast<int>(place.column), "",
                        each.message, Effect::rejected});
  }
  result.findings.insert(result.findings.begin(), findings.begin(), findings.end());
  return result;
}

}  // namespace payoff
