// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli/file_text.hpp"
#include "cli/flat_line.hpp"
#include "cli/refused_files.hpp"
#include "cli/sweep_lines.hpp"
#include "cli/table.hpp"

namespace payoff {
namespace {

using Json = ResultLine;

// What was written there before. Of a pipe or a device nothing: /dev/full gives zeros without end.
std::string written_before(const std::filesystem::path& file) {
  return std::filesystem::is_regular_file(file) ? contents_of(file) : std::string();
}

bool is_of_job(std::string_view line, std::uint64_t job) {
  return line.starts_with(fmt::format("{{\"job\":{},", job)) && line.ends_with('}');
}

struct LinePart {
  std::filesystem::path file;
  std::string text;
};

void refuse_all(const std::vector<std::string>& problems) {
  if (!problems.empty()) {
    throw RefusedFiles(problems);
  }
}

constexpr std::size_t most_told = 20;  // of the problems of files

// Of a whole file of so many jobs. Its header may be anybody's: beyond all numbers no file is
// whole.
std::uint64_t lines_of_whole(std::uint64_t jobs, std::size_t strategies) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return jobs > (most - 1) / strategies ? most : jobs * strategies + 1;
}

// Whether a line can be read at all: merged lines are copied, and read by others.
class ResultCheck : private FlatLine {
 public:
  bool is_result(std::string_view line) { return read(line) && keys() > 1; }

 private:
  void on_key(const std::string&) override {}
  void on_number(double) override {}
  void on_text(std::string&) override {}
};

// The parts of one sweep by their place in it.
class Merge {
 public:
  void add(const std::filesystem::path& file) {
    std::string text = contents_of(file);
    Json header = header_of(file, whole_lines(text));
    const Shard shard = shard_of(header);
    header.erase("shard");
    if (parts_.empty()) {
      header_ = header;
      of_ = shard.of;
    } else if (header != header_ || shard.of != of_) {
      refuse_results(
          file, fmt::format("asks another question than {}", parts_.begin()->second.file.string()));
    }
    if (const auto before = parts_.find(shard.index); before != parts_.end()) {
      refuse_results(file, fmt::format("is the same shard as {}", before->second.file.string()));
    }
    parts_[shard.index] = {file, std::move(text)};
  }

  [[nodiscard]] std::string text() const {
    check_parts();
    Json header = header_;
    header["shard"] = {{"index", 0}, {"of", 1}};
    std::string result = header.dump() + "\n";
    std::vector<std::vector<std::string_view>> lines;
    lines.reserve(parts_.size());
    for (const auto& [index, part] : parts_) {
      lines.push_back(whole_lines(part.text));
    }
    const std::size_t strategies = header_["strategies"].size();
    const auto jobs = header_["jobs"].get<std::uint64_t>();
    std::vector<std::string> problems;
    ResultCheck check;
    for (std::uint64_t job = 0; job < jobs && problems.size() < most_told; ++job) {
      for (std::size_t i = 0; i < strategies; ++i) {
        const std::uint64_t place = 1 + job / of_ * strategies + i;
        const std::string_view line = lines[job % of_][place];
        if (!check.is_result(line)) {
          problems.push_back(broken_line(parts_.at(job % of_).file, place + 1));
        } else if (!is_of_job(line, job)) {
          problems.push_back(fmt::format("{}:{}: is not of job {}",
                                         parts_.at(job % of_).file.string(), place + 1, job));
        }
        result += line;
        result += '\n';
      }
    }
    refuse_all(problems);
    return result;
  }

 private:
  // All that are not there, and all that are not finished.
  void check_parts() const {
    const std::size_t strategies = header_["strategies"].size();
    const auto jobs = header_["jobs"].get<std::uint64_t>();
    std::vector<std::string> problems;
    for (std::uint64_t s = 0; s < of_ && problems.size() < most_told; ++s) {
      const auto part = parts_.find(s);
      if (part == parts_.end()) {
        problems.push_back(fmt::format("shard {} of {} is missing", s, of_));
        continue;
      }
      const std::size_t lines = whole_lines(part->second.text).size();
      const std::uint64_t wanted = lines_of_whole(Shard{s, of_}.size(jobs), strategies);
      if (lines != wanted) {
        problems.push_back(fmt::format("{}: has {} of {} lines: finish it with --resume",
                                       part->second.file.string(), lines, wanted));
      }
    }
    refuse_all(problems);
  }

  Json header_;
  std::uint64_t of_{};
  std::map<std::uint64_t, LinePart> parts_;
};

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

std::string merged_log(const std::vector<std::filesystem::path>& files) {
  Merge merge;
  std::vector<std::string> problems;
  std::vector<std::string> unreadable;
  for (const std::filesystem::path& file : files) {
    try {
      merge.add(file);
    } catch (const RefusedFiles& refused) {
      problems.emplace_back(refused.what());
    } catch (const std::runtime_error& error) {
      unreadable.emplace_back(error.what());
    }
  }
  if (!problems.empty() || !unreadable.empty()) {
    throw RefusedFiles(problems, unreadable);
  }
  return merge.text();
}

std::string begun_log(const std::filesystem::path& file) {
  std::string text = contents_of(file);
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
