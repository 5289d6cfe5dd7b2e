// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/nccl_debug.hpp"

#include <algorithm>
#include <istream>
#include <map>
#include <string_view>
#include <unordered_map>
#include <variant>

#include <fmt/format.h>

#include "profiles/import/debug_groups.hpp"
#include "profiles/import/debug_line.hpp"

namespace payoff {
namespace {

using import_detail::Communicator;
using import_detail::DebugLine;

constexpr std::size_t most_findings = 50;
// NCCL's lines are short, and a program that writes into its log has longer ones; a device may
// write one without end.
constexpr std::size_t longest_line = std::size_t{1} << 20U;

enum class NextLine { none, whole, too_long };

// Into a buffer of which the line is a part.
NextLine next_line(std::istream& text, std::string& buffer, std::string_view& line) {
  buffer.resize(longest_line + 1);
  text.getline(buffer.data(), static_cast<std::streamsize>(buffer.size()));
  const auto taken = static_cast<std::size_t>(text.gcount());
  if (text.fail()) {
    return taken > 0 ? NextLine::too_long : NextLine::none;
  }
  line = std::string_view(buffer).substr(0, text.eof() ? taken : taken - 1);  // without its end
  return NextLine::whole;
}

}  // namespace

struct NcclDebugReader::State {
  NcclDebugLog log;
  std::vector<Communicator> communicators;
  // By process and pointer: which of the communicators has it now. Never walked over.
  std::unordered_map<std::string, std::size_t> now;
  std::map<std::string, std::int64_t> connections;
  std::map<std::string, std::int64_t> other_calls;
  std::string file;

  Communicator& communicator(const DebugLine& line, std::string_view pointer, int ranks) {
    const auto [place, is_new] = now.emplace(key(line, pointer), communicators.size());
    if (is_new) {
      Communicator& added = communicators.emplace_back();
      added.host = line.host;
      added.process = line.process;
      added.ranks = ranks;
      added.device = line.device;
    }
    return communicators[place->second];
  }

  static std::string key(const DebugLine& line, std::string_view pointer) {
    return fmt::format("{} {}", line.process, pointer);
  }

  void take(const DebugLine&, std::monostate) {}

  void take(const DebugLine& line, const import_detail::DebugCall& call) {
    ++log.calls;
    Communicator& caller = communicator(line, call.comm, call.ranks);
    if (caller.ranks != call.ranks) {
      find(1,
           fmt::format("{} ranks, and {} where this communicator began", call.ranks, caller.ranks));
      return;
    }
    const Bytes size =
        message_size(call.collective, static_cast<double>(call.count), call.type.size, call.ranks);
    ++caller.calls[{call.collective, call.type.name, size / 1_B}];
  }

  // Told when it begins and when it is complete: one communicator.
  void take(const DebugLine& line, const import_detail::DebugInit& init) {
    const auto known = now.find(key(line, init.comm));
    if (known != now.end()) {
      const Communicator& before = communicators[known->second];
      if (before.rank >= 0 && (before.id != init.id || before.ranks != init.ranks)) {
        now.erase(known);  // the pointer was given again
      }
    }
    Communicator& begun = communicator(line, init.comm, init.ranks);
    begun.id = init.id;
    begun.rank = init.rank;
    begun.ranks = init.ranks;
    begun.device = init.device >= 0 ? init.device : begun.device;
  }

  void take(const DebugLine& line, const import_detail::DebugNodes& told) {
    const auto known = now.find(key(line, told.comm));
    if (known != now.end()) {
      communicators[known->second].nodes = told.nodes;
    }
  }

  void take(const DebugLine& line, const import_detail::DebugEnd& end) {
    now.erase(key(line, end.comm));
  }

  void take(const DebugLine&, const import_detail::DebugConnection& made) {
    ++connections[made.transport];
  }

  void take(const DebugLine&, const import_detail::DebugChannels& told) {
    log.channels = std::max(log.channels, told.channels);
  }

  void take(const DebugLine&, const import_detail::DebugVersion& told) {
    log.version = log.version.empty() ? std::string(told.version) : log.version;
  }

  void take(const DebugLine&, const import_detail::DebugOtherCall& call) {
    ++other_calls[std::string(call.name)];
  }

  void take(const DebugLine&, const import_detail::DebugMistake& mistake) {
    find(static_cast<int>(mistake.offset) + 1, mistake.message);
  }

  void find(int column, std::string message) {
    if (log.findings.size() < most_findings) {
      log.findings.push_back({file, line_number, column, "", std::move(message), Effect::rejected});
    }
  }

  void read_line(std::string_view text, bool is_cut) {
    const DebugLine line = import_detail::parse_debug_line(text);
    if (is_cut && std::holds_alternative<import_detail::DebugMistake>(line.what)) {
      log.findings.push_back(
          {file, line_number, 1, "", "the last line is cut off, and left out", Effect::noted});
      return;
    }
    std::visit([&](const auto& what) { take(line, what); }, line.what);
  }

  int line_number = 0;
};

NcclDebugReader::NcclDebugReader() : state_(std::make_unique<State>()) {}
NcclDebugReader::~NcclDebugReader() = default;

void NcclDebugReader::read(std::istream& text, const std::string& file) {
  state_->file = file;
  state_->line_number = 0;
  std::string buffer;
  std::string_view line;
  for (NextLine next{}; (next = next_line(text, buffer, line)) != NextLine::none;) {
    ++state_->line_number;
    ++state_->log.lines;
    if (next == NextLine::too_long) {
      state_->find(1, "is longer than 1 MiB: this is no log of NCCL");
      return;
    }
    state_->read_line(line, text.eof());
  }
}

NcclDebugLog NcclDebugReader::finish() {
  NcclDebugLog& log = state_->log;
  import_detail::describe_groups(state_->communicators, log);
  log.connections.assign(state_->connections.begin(), state_->connections.end());
  for (const auto& [name, count] : state_->other_calls) {
    log.findings.push_back({state_->file, 0, 0, "",
                            fmt::format("{} calls of {} are left out: they are no collective that "
                                        "is known here",
                                        count, name),
                            Effect::noted});
  }
  if (log.groups.empty() && log.findings.empty()) {
    log.findings.push_back({state_->file, 0, 0, "",
                            "has no line of a group or a call as NCCL prints them",
                            Effect::rejected});
  }
  return std::move(log);
}

}  // namespace payoff
