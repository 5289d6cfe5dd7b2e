// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_merge.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/file_text.hpp"
#include "cli/flat_line.hpp"
#include "cli/refused_files.hpp"
#include "cli/sweep_lines.hpp"

namespace payoff {
namespace {

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
    std::string text = results_in(file);
    ResultLine header = header_of(file, whole_lines(text));
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
    ResultLine header = header_;
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

  ResultLine header_;
  std::uint64_t of_{};
  std::map<std::uint64_t, LinePart> parts_;
};

}  // namespace

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

}  // namespace payoff
