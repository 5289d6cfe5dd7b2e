// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/nccl_log.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "profiles/import/nccl_columns.hpp"
#include "profiles/import/nccl_ending.hpp"
#include "profiles/import/nccl_run.hpp"
#include "profiles/import/yaml_fields.hpp"

namespace payoff {

namespace {

using import_detail::NcclColumns;
using import_detail::NcclPlace;
using import_detail::NcclRun;
using import_detail::NcclRunRow;

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    words.push_back(std::move(word));
  }
  return words;
}

struct LogWord {
  std::string text;
  int column{};  // from 1
};

// With their columns in a line whose first `skipped` characters are somebody else's.
std::vector<LogWord> cells_of_row(const std::string& line, std::size_t skipped) {
  constexpr std::string_view blanks = " \t\r";
  std::vector<LogWord> cells;
  for (std::size_t begin = line.find_first_not_of(blanks); begin != std::string::npos;) {
    const std::size_t end = std::min(line.find_first_of(blanks, begin), line.size());
    cells.push_back({line.substr(begin, end - begin), static_cast<int>(skipped + begin + 1)});
    begin = line.find_first_not_of(blanks, end);
  }
  return cells;
}

// "[1,0]<stdout>: text" and "0: text" as mpirun and srun --label write them
std::string without_prefix(const std::string& line) {
  const std::size_t tag = line.find("<stdout>:");
  if (line.starts_with('[') && tag != std::string::npos) {
    return line.substr(tag + 9);
  }
  const std::size_t digits = line.find_first_not_of("0123456789");
  if (digits != 0 && digits != std::string::npos && line[digits] == ':') {
    return line.substr(digits + 1);
  }
  return line;
}

std::string after(const std::string& line, std::string_view name) {
  const std::size_t at = line.find(name);
  return at == std::string::npos ? "" : line.substr(at + name.size());
}

int number_after(const std::string& line, std::string_view name) {
  const std::string text = after(line, name);
  const std::size_t start = text.find_first_not_of(" \t");
  int value = 0;
  if (start != std::string::npos) {
    std::from_chars(text.data() + start, text.data() + text.size(), value);
  }
  return value;
}

// "#  Rank  0 Group  0 Pid 1 on  host device  0 [0000:07:00] NVIDIA H100": true when it is one.
// `skipped` characters before the line are somebody else's.
bool read_device(const std::string& line, std::size_t skipped, int number, NcclRun& run) {
  const std::string device = after(line, " device ");
  const std::size_t bracket = device.find(']');
  if (line.find("Rank") == std::string::npos || device.empty() || bracket == std::string::npos) {
    return false;
  }
  const std::vector<std::string> before = words_of(line.substr(0, line.find(" device ")));
  const std::string behind = device.substr(bracket + 1);
  const std::vector<std::string> name = words_of(behind);
  if (before.empty()) {
    return false;
  }
  std::string joined;
  for (const std::string& word : name) {
    joined += (joined.empty() ? "" : " ") + word;
  }
  const std::size_t blanks = std::min(behind.find_first_not_of(" \t\r"), behind.size());
  const std::size_t column = skipped + line.size() - behind.size() + blanks + 1;
  run.ranks.push_back({before.back(), joined, {number, static_cast<int>(column)}});
  return true;
}

void read_remark(const std::string& line, NcclRun& run) {
  if (line.find("nThread ") != std::string::npos) {
    run.threads = number_after(line, "nThread");
    run.gpus_per_thread = number_after(line, "nGpus");
    run.graph = number_after(line, "graph:") > 0;
  }
  import_detail::read_sizes(line, run);
  if (const int code = number_after(line, "nccl-library="); code > 0) {
    run.nccl_version = nccl_version_text(code);
  } else if (const std::string text = after(line, "NCCL version "); !text.empty()) {
    run.nccl_version = text.substr(0, text.find_first_not_of("0123456789."));
  }
  if (const auto name = words_of(after(line, "Collective test starting: ")); !name.empty()) {
    run.program = name.front();
  }
}

// Which of them comes first has changed between versions.
bool begins_run(const std::string& line) {
  constexpr std::array<std::string_view, 4> beginnings{
      "nccl-tests version ", "Collective test starting: ", "nThread ", "Using devices"};
  return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view beginning) {
    return line.find(beginning) != std::string::npos;
  });
}

class LogReader {
 public:
  explicit LogReader(std::string file) : file_(std::move(file)) {}

  void line(const std::string& raw, int number) {
    const std::string line = without_prefix(raw);
    const std::vector<std::string> words = words_of(line);
    if (words.empty()) {
      return;
    }
    const std::size_t skipped = raw.size() - line.size();
    if (import_detail::tells_failure(line)) {
      failure(line, number);
    } else if (words.front().starts_with('#')) {
      if (!read_device(line, skipped, number, run_)) {
        remark(line, words, number);
      }
    } else if (columns_ && words.front().find_first_not_of("0123456789") == std::string::npos) {
      row(cells_of_row(line, skipped), *columns_, number);
    } else if (line.find("NCCL version ") != std::string::npos) {
      read_remark(line, run_);
    }
  }

  NcclImport finish() {
    close();
    if (result_.tables.empty() && result_.findings.empty()) {
      result_.findings.push_back(
          {file_, 0, 0, "", "there is no table of nccl-tests in this file", Effect::rejected});
    }
    return std::move(result_);
  }

 private:
  // The first line says why; what follows it says who else heard of it.
  void failure(const std::string& line, int number) {
    if (run_.has_failed) {
      return;
    }
    run_.has_failed = true;
    result_.findings.push_back({file_, number, 1, "", "the run failed here: " + line,
                                Effect::rejected,
                                "run it again; or take this line out and what follows it, to keep "
                                "the rows above"});
  }

  void remark(const std::string& line, const std::vector<std::string>& words, int number) {
    std::vector<std::string> names = words;
    if (names.front() == "#") {
      names.erase(names.begin());
    } else {
      names.front().erase(0, 1);
    }
    const std::optional<NcclColumns> columns = import_detail::nccl_columns(names);
    if (columns) {
      close();
      columns_ = columns;
      run_.line = number;
      return;
    }
    if (begins_run(line)) {
      close();  // the next run of a log that holds several
    }
    read_remark(line, run_);
  }

  void row(const std::vector<LogWord>& words, const NcclColumns& columns, int number) {
    if (words.size() < columns.count) {
      wrong({number, 1}, fmt::format("{} values under {} names", words.size(), columns.count));
      return;
    }
    const std::size_t before = result_.findings.size();
    const auto place = [&](std::optional<std::size_t> column) {
      return column ? NcclPlace{number, words[*column].column} : NcclPlace{number};
    };
    const auto value = [&](std::optional<std::size_t> column, std::string_view name) {
      return column ? cell(words[*column], place(column), name) : std::nullopt;
    };
    NcclRunRow row;
    row.place = {number};
    row.bytes = value(columns.size, "size");
    row.out_of_place = {
        place(columns.time),           place(columns.wrong),
        value(columns.time, "time"),   value(columns.algbw, "algbw"),
        value(columns.busbw, "busbw"), value(columns.wrong, "#wrong").value_or(0.0)};
    if (columns.time_in_place) {
      row.in_place = {place(columns.time_in_place),
                      place(columns.wrong_in_place),
                      value(columns.time_in_place, "time in place"),
                      value(columns.algbw_in_place, "algbw in place"),
                      value(columns.busbw_in_place, "busbw in place"),
                      value(columns.wrong_in_place, "#wrong in place").value_or(0.0)};
    }
    if (columns.type) {
      run_.dtype = words[*columns.type].text;
    }
    row.has_told = result_.findings.size() != before;
    run_.rows.push_back(row);
  }

  // Nothing where nccl-tests had nothing to print.
  std::optional<double> cell(const LogWord& word, NcclPlace place, std::string_view name) {
    if (word.text == "N/A") {
      return std::nullopt;
    }
    const std::optional<double> value = import_detail::plain_number(word.text);
    if (!value) {
      wrong(place, fmt::format("the {} `{}` is no number", name, word.text));
    }
    return value;
  }

  void wrong(NcclPlace place, std::string message) {
    result_.findings.push_back(
        {file_, place.line, place.column, "", std::move(message), Effect::rejected});
  }

  void close() {
    if (columns_) {
      import_detail::append_table(run_, file_, result_);
      run_ = NcclRun();
      columns_.reset();
    }
  }

  std::string file_;
  NcclImport result_;
  NcclRun run_;
  std::optional<NcclColumns> columns_;
};

}  // namespace

NcclImport parse_nccl_log(const std::string& text, const std::string& file) {
  LogReader reader(file);
  std::istringstream stream(text);
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    reader.line(line, number);
  }
  return reader.finish();
}

}  // namespace payoff
