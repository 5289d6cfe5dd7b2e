// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_lines.hpp"

#include <cstdint>
#include <stdexcept>

#include <fmt/format.h>

#include "cli/refused_files.hpp"
#include "cli/result_kind.hpp"

namespace payoff {
namespace {

bool is_count(const ResultLine& json, const char* key) {
  return json.contains(key) && json[key].is_number_unsigned();
}

}  // namespace

void refuse_results(const std::filesystem::path& file, std::string_view why) {
  throw RefusedFiles({fmt::format("{}: {}", file.string(), why)});
}

std::string broken_line(const std::filesystem::path& file, std::size_t line) {
  return fmt::format("{}:{}: is no result of `payoff sweep`", file.string(), line);
}

BrokenLine::BrokenLine(std::size_t line)
    : std::runtime_error(fmt::format("line {} is no result of `payoff sweep`", line)),
      line_(line) {}

std::vector<std::string_view> whole_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

bool is_of_job(std::string_view line, std::uint64_t job) {
  return line.starts_with(fmt::format("{{\"job\":{},", job)) && line.ends_with('}');
}

ResultLine parsed_line(std::string_view line) {
  constexpr int deepest = 64;
  struct TooDeep {};
  try {
    return ResultLine::parse(
        line,
        [](int depth, ResultLine::parse_event_t, const ResultLine&) {
          return depth > deepest ? throw TooDeep{} : true;
        },
        false);
  } catch (const TooDeep&) {
    return ResultLine(ResultLine::value_t::discarded);
  }
}

ResultLine header_of(const std::filesystem::path& file,
                     const std::vector<std::string_view>& lines) {
  ResultLine header = lines.empty() ? ResultLine() : parsed_line(lines.front());
  const bool is_sweep = header.is_object() && header.contains("kind") &&
                        header["kind"] == "sweep" && is_count(header, "jobs") &&
                        header.contains("strategies") && header["strategies"].is_array() &&
                        !header["strategies"].empty() && header.contains("shard") &&
                        is_count(header["shard"], "index") && is_count(header["shard"], "of") &&
                        header["shard"]["index"] < header["shard"]["of"];
  if (!is_sweep) {
    const std::optional<std::string> command = result_command(file.string());
    refuse_results(file,
                   command && *command != "sweep"
                       ? fmt::format("is a result of `payoff {}`, not of `payoff sweep`", *command)
                       : "is no result of `payoff sweep`");
  }
  return header;
}

Shard shard_of(const ResultLine& header) {
  return {header["shard"]["index"].get<std::uint64_t>(),
          header["shard"]["of"].get<std::uint64_t>()};
}

}  // namespace payoff
