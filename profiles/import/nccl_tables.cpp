// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/nccl_tables.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "model/collective.hpp"
#include "profiles/import/nccl_run.hpp"
#include "profiles/import/yaml_fields.hpp"

namespace payoff {

namespace {

using import_detail::Fields;
using import_detail::YamlSource;

constexpr std::array<std::pair<std::string_view, Collective>, 7> tested_collectives{{
    {"all_reduce", Collective::all_reduce},
    {"all_gather", Collective::all_gather},
    {"reduce_scatter", Collective::reduce_scatter},
    {"alltoall", Collective::all_to_all},
    {"broadcast", Collective::broadcast},
    {"reduce", Collective::reduce},
    {"sendrecv", Collective::send_recv},
}};

struct Columns {
  std::optional<std::size_t> bytes, time, algbw, busbw, time_in_place, algbw_in_place,
      busbw_in_place;
  std::size_t count{};
};

std::optional<Columns> read_columns(const Fields& table) {
  const std::vector<std::string> names = table.texts("columns");
  const auto at = [&names](const char* name) {
    const auto found = std::ranges::find(names, name);
    return found == names.end()
               ? std::nullopt
               : std::optional<std::size_t>(static_cast<std::size_t>(found - names.begin()));
  };
  const Columns columns{at("bytes"),         at("time_us"),         at("algbw_GBps"),
                        at("busbw_GBps"),    at("time_us_inplace"), at("algbw_inplace"),
                        at("busbw_inplace"), names.size()};
  if (!columns.bytes || !columns.time) {
    table.report(fmt::format("column {} is missing", columns.bytes ? "time_us" : "bytes"));
    return std::nullopt;
  }
  return columns;
}

void read_row(const Fields& fields, const Columns& columns, const YAML::Node& node,
              NcclTable& table) {
  if (!node.IsSequence() || node.size() != columns.count) {
    fields.report_at(node, fmt::format("a row needs {} values", columns.count));
    return;
  }
  bool readable = true;
  const auto value = [&](std::optional<std::size_t> column) -> std::optional<double> {
    if (!column) {
      return std::nullopt;
    }
    const YAML::Node cell = node[*column];
    const std::optional<double> number =
        cell.IsScalar() ? import_detail::plain_number(cell.Scalar()) : std::nullopt;
    if (!number && !cell.IsNull()) {
      fields.report_at(cell, cell.IsScalar()
                                 ? fmt::format("expected a number, found '{}'", cell.Scalar())
                                 : "expected a number");
      readable = false;
    }
    return number;
  };
  const std::optional<double> bytes = value(columns.bytes);
  const std::optional<double> time = value(columns.time);
  const std::optional<double> in_place = value(columns.time_in_place);
  const std::optional<double> algbw = value(columns.algbw);
  const std::optional<double> busbw = value(columns.busbw);
  const std::optional<double> algbw_in_place = value(columns.algbw_in_place);
  const std::optional<double> busbw_in_place = value(columns.busbw_in_place);
  if (!readable) {
    return;
  }
  if (bytes && *bytes == 0.0) {
    ++table.empty_rows;
  } else if (!bytes || *bytes < 0.0 || !time || *time <= 0.0 || (in_place && *in_place <= 0.0)) {
    fields.report_at(node, "bytes and times must be positive");
  } else if (const std::string problem = import_detail::nccl_contradiction(
                 table.collective, table.gpus,
                 {{},
                  bytes,
                  {{}, {}, time, algbw, busbw},
                  {{}, {}, in_place, algbw_in_place, busbw_in_place}});
             !problem.empty()) {
    fields.report_at(node, problem);
  } else if (!table.rows.empty() && table.rows.back().size >= Bytes{*bytes}) {
    fields.report_at(node, "sizes must ascend");
  } else {
    const auto microseconds = [](double us) { return us * 1_us; };
    table.rows.push_back({Bytes{*bytes}, microseconds(*time),
                          in_place ? std::optional(microseconds(*in_place)) : std::nullopt});
  }
}

// What a run pinned stands in the source's own words where no normalised field has it.
std::vector<std::string> pinned_in_words(const Fields& fields) {
  std::vector<std::string> settings;
  for (const auto& [variable, name] :
       {std::pair("NCCL_ALGO=", "algorithm="), std::pair("NCCL_PROTO=", "protocol=")}) {
    for (const char* key : {"system", "interconnect", "notes", "test_params"}) {
      const std::string words = fields.text(key).value_or("");
      const std::size_t found = words.find(variable);
      if (found == std::string::npos) {
        continue;
      }
      std::string value;
      std::size_t at = found + std::string_view(variable).size();
      for (; at < words.size() && std::isalnum(static_cast<unsigned char>(words[at])) != 0; ++at) {
        value += static_cast<char>(std::tolower(static_cast<unsigned char>(words[at])));
      }
      const bool list = at + 1 < words.size() && words[at] == ',' && words[at + 1] != ' ';
      if (!value.empty() && !list) {  // of a list, or all but one, NCCL chooses
        settings.push_back(name + value);
      }
      break;
    }
  }
  return settings;
}

NcclTable read_header(const Fields& fields, const YamlSource& source) {
  NcclTable table;
  table.id = fields.entry();
  table.source = std::filesystem::path(source.file).stem().string();
  table.file = source.file;
  table.line = fields.line();
  table.citation = fields.required_text("source");
  table.provenance = fields.required_text("provenance");
  table.collective = fields.required_text("collective");
  table.gpus = fields.required_integer("gpus");
  table.nodes = fields.required_integer("nodes");
  const Fields cluster = fields.child("cluster");
  table.gpu = cluster.required_text("gpu");
  table.gpus_per_node = cluster.required_integer("gpus_per_node");
  table.intra = cluster.required_text("intra");
  table.transport = cluster.required_text("transport");
  table.nics_per_node = cluster.integer("nics_per_node").value_or(0);
  table.nic_bandwidth = cluster.number("nic_gbps").value_or(0.0) * 1_Gbps;
  table.launch = cluster.text("launch").value_or("unknown");
  const std::string version = fields.text("nccl_version").value_or("");
  table.nccl_version = version == "not stated" ? "" : version;
  table.dtype = fields.text("dtype").value_or("");
  table.settings = fields.texts("settings");
  if (table.settings.empty()) {
    table.settings = pinned_in_words(fields);
  }
  const int cluster_nodes = cluster.integer("nodes").value_or(table.nodes);
  if (table.gpus < 1 || table.nodes < 1 ||
      table.gpus != static_cast<double>(table.gpus_per_node) * table.nodes ||
      cluster_nodes != table.nodes) {
    fields.report(fmt::format("{} gpus contradict {} nodes x {} gpus_per_node (cluster.nodes {})",
                              table.gpus, table.nodes, table.gpus_per_node, cluster_nodes));
  }
  return table;
}

void read_table(const YAML::Node& node, const YamlSource& source, NcclImport& result,
                std::set<std::string>& ids) {
  const std::size_t before = result.findings.size();
  Fields fields(node, source, "");
  fields.set_entry(fields.required_text("id"));
  NcclTable table = read_header(fields, source);
  if (!ids.insert(table.id).second) {
    fields.report("this id occurs twice");
  }
  const std::optional<Columns> columns = read_columns(fields);
  if (!columns || result.findings.size() != before) {
    return;  // its rows would be read against a wrong header
  }
  for (const YAML::Node& row : fields.list("rows")) {
    read_row(fields, *columns, row, table);
  }
  if (table.rows.empty()) {
    fields.report("no usable row");
    return;
  }
  result.tables.push_back(std::move(table));
}

// False: the file is readable and has no `tables:`.
bool read_document(const std::string& yaml, const std::string& file, NcclImport& result,
                   std::set<std::string>& ids) {
  const YamlSource source{file, result.findings};
  const std::optional<YAML::Node> document = import_detail::parse_document(yaml, source);
  if (!document) {
    return true;
  }
  if (!document->IsMap() || !(*document)["tables"].IsDefined()) {
    return false;
  }
  for (const YAML::Node& table : Fields(*document, source, "").list("tables")) {
    read_table(table, source, result, ids);
  }
  return true;
}

}  // namespace

std::optional<Collective> modelled_collective(const std::string& name) {
  const auto* const found =
      std::find_if(tested_collectives.begin(), tested_collectives.end(),
                   [&](const auto& collective) { return collective.first == name; });
  return found == tested_collectives.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> bus_factor(const std::string& collective, int ranks) {
  const std::optional<Collective> known = modelled_collective(collective);
  return known ? std::optional(bus_factor(*known, ranks)) : std::nullopt;
}

NcclImport parse_nccl_tables(const std::string& yaml, const std::string& file) {
  NcclImport result;
  std::set<std::string> ids;
  if (!read_document(yaml, file, result, ids)) {
    result.findings.push_back(import_detail::no_list(file, "tables"));
  }
  return result;
}

NcclImport read_nccl_tables(const std::filesystem::path& path) {
  NcclImport result;
  std::set<std::string> ids;
  import_detail::read_yaml_files(
      path, "tables",
      [&](const std::string& text, const std::string& file) {
        return read_document(text, file, result, ids);
      },
      result.skipped, result.findings);
  return result;
}

}  // namespace payoff
