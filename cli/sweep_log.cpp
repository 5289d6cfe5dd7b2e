// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli/file_text.hpp"
#include "cli/refused_files.hpp"
#include "cli/sweep_lines.hpp"
#include "cli/table.hpp"

namespace payoff {
namespace {

using Json = ResultLine;

// What was written there before. Of a pipe or a device nothing: /dev/full gives zeros without end.
std::string written_before(const std::filesystem::path& file) {
  return std::filesystem::is_regular_file(file) ? results_in(file) : std::string();
}

// Of all rows, in the order of their first appearance. Rows are read twice, and not kept: as trees
// they take ten times their text.
std::vector<std::string> keys_of(const std::vector<std::string_view>& lines) {
  std::vector<std::string> keys;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const Json row = parsed_line(lines[i]);
    if (!row.is_object()) {
      throw BrokenLine(i + 1);
    }
    for (const auto& [key, value] : row.items()) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
        keys.push_back(key);
      }
      if (keys.size() > most_columns) {
        throw BrokenLine(i + 1);
      }
    }
  }
  return keys;
}

}  // namespace

SweepLog::SweepLog(std::filesystem::path file)
    : file_(std::move(file)),
      descriptor_(::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) {
    fail();
  }
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(descriptor_);
    throw std::runtime_error(file_.string() + ": another process writes to it");
  }
}

SweepLog::~SweepLog() { ::close(descriptor_); }

void SweepLog::begin(const std::string& header) {
  if (!written_before(file_).empty()) {
    refuse_results(file_, "exists");
  }
  add(header);
}

std::uint64_t SweepLog::go_on(const std::string& header, std::size_t strategies) {
  const std::string text = written_before(file_);
  if (text.size() < header.size() && header.starts_with(text)) {
    cut(0);  // it ended while its first line was written
    add(header);
    return 0;
  }
  if (!text.starts_with(header)) {
    (void)header_of(file_, whole_lines(text));
    refuse_results(file_,
                   "was made from other inputs, axes or options: give another name, or remove it");
  }
  const Json asked = header_of(file_, whole_lines(header));
  if (asked["strategies"].size() != strategies) {
    refuse_results(file_, "is no result of `payoff sweep`");
  }
  const Shard shard = shard_of(asked);
  std::size_t kept = header.size();
  std::uint64_t lines = 0;
  for (std::size_t at = kept, end = 0; (end = text.find('\n', at)) != std::string::npos;
       at = end + 1) {
    const std::string_view line = std::string_view(text).substr(at, end - at);
    const std::uint64_t job = shard.job(lines / strategies);
    const std::string strategy = asked["strategies"][lines % strategies].dump();
    if (!is_of_job(line, job) || line.find("\"strategy\":" + strategy) == std::string_view::npos) {
      refuse_results(file_, fmt::format("line {} is not that of job {} with {}: it was changed "
                                        "since; cut the file before it, or give another name",
                                        lines + 2, job, strategy));
    }
    if (++lines % strategies == 0) {
      kept = end + 1;
    }
  }
  cut(kept);
  return lines / strategies;
}

void SweepLog::cut(std::size_t bytes) {
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) {
    fail();
  }
}

void SweepLog::add(const std::string& lines) {
  for (std::string_view rest = lines; !rest.empty();) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      fail();
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void SweepLog::fail() const {
  throw std::runtime_error("cannot write " + file_.string() + ": " + std::strerror(errno));
}

std::filesystem::path shard_file(const std::filesystem::path& file, const Shard& shard) {
  if (shard.of == 1) {
    return file;
  }
  std::filesystem::path name = file;
  name.replace_filename(fmt::format("{}.{}-of-{}{}", file.stem().string(), shard.index, shard.of,
                                    file.extension().string()));
  return name;
}

std::string begun_log(const std::filesystem::path& file) {
  std::string text = results_in(file);
  (void)header_of(file, whole_lines(text));
  text.resize(text.rfind('\n') + 1);
  return text;
}

std::string csv_of_log(const std::string& log, const std::filesystem::path& file) try {
  const std::vector<std::string_view> lines = whole_lines(log);
  const std::vector<std::string> keys = keys_of(lines);
  std::string csv = csv_line(keys);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const Json row = parsed_line(lines[i]);
    std::vector<std::string> cells;
    for (const std::string& key : keys) {
      const auto cell = row.find(key);
      const bool empty = cell == row.end() || cell->is_null();
      cells.push_back(empty ? "" : cell->is_string() ? cell->get<std::string>() : cell->dump());
    }
    csv += csv_line(cells);
  }
  return csv;
} catch (const BrokenLine& broken) {
  throw RefusedFiles({broken_line(file, broken.line())});
}

}  // namespace payoff
