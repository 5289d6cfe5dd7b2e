// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/debug_line.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

#include "profiles/diagnostics.hpp"

namespace payoff::import_detail {
namespace {

constexpr std::string_view blanks = " \t\r";
constexpr std::string_view mark = " NCCL INFO ";
constexpr int most_logged_ranks = 1 << 24;
constexpr std::int64_t most_elements = std::int64_t{1} << 50;

// The words of a line one after another; after the first mistake it gives nothing more.
class Words {
 public:
  Words(std::string_view line, std::size_t begin) : line_(line), at_(begin) {}

  std::string_view next() {
    const std::size_t begin = std::min(line_.find_first_not_of(blanks, at_), line_.size());
    at_ = std::min(line_.find_first_of(blanks, begin), line_.size());
    word_ = begin;
    return line_.substr(begin, at_ - begin);
  }

  // The word after the name that comes now.
  std::string_view value(std::string_view name) {
    if (mistake_) {
      return {};
    }
    if (const std::string_view word = next(); word != name) {
      wrong(word.empty() ? "the line ends before " + backquoted(name)
                         : backquoted(name) + " is expected here");
      return {};
    }
    const std::string_view word = next();
    if (word.empty()) {
      wrong("the line ends before the value of " + backquoted(name));
    }
    return word;
  }

  std::int64_t number(std::string_view name, std::string_view word, std::int64_t largest,
                      int base = 10) {
    std::int64_t value = 0;
    const char* const end = word.data() + word.size();
    const auto [last, error] = std::from_chars(word.data(), end, value, base);
    if (!mistake_ && (error != std::errc() || last != end || value < 0 || value > largest)) {
      wrong(backquoted(name) + " cannot be " + backquoted(word));
    }
    return mistake_ ? 0 : value;
  }

  std::int64_t number_after(std::string_view name, std::int64_t largest, int base = 10) {
    const std::string_view word = value(name);
    return mistake_ ? 0 : number(name, word, largest, base);
  }

  void wrong(std::string message) {
    if (!mistake_) {
      mistake_ = DebugMistake{word_, std::move(message)};
    }
  }

  [[nodiscard]] const std::optional<DebugMistake>& mistake() const { return mistake_; }
  [[nodiscard]] bool at_end() const {
    return line_.find_first_not_of(blanks, at_) == std::string_view::npos;
  }

 private:
  std::string_view line_;
  std::size_t at_;
  std::size_t word_ = 0;  // where the last one begins
  std::optional<DebugMistake> mistake_;
};

// "host:1234:1250 [3]" at the end of what stands before the mark; RCCL puts a time behind it.
void read_process(std::string_view before, DebugLine& line) {
  const std::size_t bracket = before.rfind(" [");
  if (bracket == std::string_view::npos) {
    return;
  }
  const std::string_view left = before.substr(0, before.find_last_not_of(blanks, bracket) + 1);
  const std::size_t blank = left.find_last_of(blanks);
  const std::string_view word = blank == std::string_view::npos ? left : left.substr(blank + 1);
  const std::size_t thread = word.rfind(':');
  const std::size_t process = thread == std::string_view::npos || thread == 0
                                  ? std::string_view::npos
                                  : word.rfind(':', thread - 1);
  if (process != std::string_view::npos) {
    line.process = word.substr(0, thread);
    line.host = word.substr(0, process);
    // "[1,0]<stdout>:host" and "0:host", as mpirun and srun --label write them without a blank.
    if (const std::size_t label = line.host.rfind(':'); label != std::string_view::npos) {
      line.host.remove_prefix(label + 1);
      line.process.remove_prefix(label + 1);
    }
    const std::string_view device = before.substr(bracket + 2);
    int number = -1;
    std::from_chars(device.data(), device.data() + device.size(), number);
    line.device = std::max(number, -1);
  }
}

ElementType read_type(Words& words) {
  const std::int64_t code = words.number_after("datatype", std::numeric_limits<int>::max());
  const std::optional<ElementType> type = nccl_type(static_cast<int>(code));
  if (!type) {
    words.wrong("no type of NCCL has the number " + std::to_string(code));
  }
  return type.value_or(ElementType{"int8", Bytes{1}});
}

int read_ranks(Words& words) {
  std::string_view word = words.next();
  constexpr std::string_view name = "[nranks=";
  if (!word.starts_with(name) || !word.ends_with(']')) {
    words.wrong(word.empty() ? "the line ends before `[nranks=N]`"
                             : "`[nranks=N]` is expected here");
    return 1;
  }
  word.remove_prefix(name.size());
  word.remove_suffix(1);
  const auto ranks = static_cast<int>(words.number("nranks", word, most_logged_ranks));
  if (ranks == 0) {
    words.wrong("`nranks` cannot be `0`");
  }
  return ranks;
}

void read_call(std::string_view name, Words words, DebugLine& line) {
  const std::optional<Collective> collective = collective_named(name);
  DebugCall call;
  (void)words.number_after("opCount", std::numeric_limits<std::int64_t>::max(), 16);
  (void)words.value("sendbuff");
  (void)words.value("recvbuff");
  call.count = words.number_after("count", most_elements);
  call.type = read_type(words);
  (void)words.value("op");
  (void)words.value("root");
  call.comm = words.value("comm");
  call.ranks = read_ranks(words);
  if (words.mistake()) {
    line.what = *words.mistake();
  } else if (!collective) {
    line.what = DebugOtherCall{name};
  } else {
    call.collective = *collective;
    line.what = call;
  }
}

// Where the word after `name` begins; `npos` where the name is not there.
std::size_t place_after(std::string_view body, std::string_view name) {
  const std::size_t at = body.find(name);
  return at == std::string_view::npos ? at : at + name.size();
}

std::string_view word_after(std::string_view line, std::string_view name) {
  const std::size_t at = place_after(line, name);
  return at == std::string_view::npos ? std::string_view{} : Words(line, at).next();
}

// `comm` begins where the pointer is told.
void read_init(std::string_view line, std::size_t comm, DebugLine& read) {
  const std::string_view body = line.substr(comm);
  DebugInit init;
  Words words(line, comm);
  init.comm = words.value("comm");
  init.rank = static_cast<int>(words.number_after("rank", most_logged_ranks));
  init.ranks = static_cast<int>(words.number_after("nranks", most_logged_ranks));
  if (!words.mistake() && init.rank >= init.ranks) {
    words.wrong("there is no rank " + std::to_string(init.rank) + " among " +
                std::to_string(init.ranks));
  }
  init.id = word_after(body, " commId ");
  if (const std::string_view device = word_after(body, " cudaDev "); !device.empty()) {
    init.device = static_cast<int>(words.number("cudaDev", device, most_logged_ranks));
  }
  if (words.mistake()) {
    read.what = *words.mistake();
  } else {
    read.what = init;
  }
}

void read_nodes(std::string_view body, DebugLine& read) {
  const std::string_view nodes = word_after(body, " nNodes ");
  int count = 0;
  const auto [last, error] = std::from_chars(nodes.data(), nodes.data() + nodes.size(), count);
  if (error == std::errc() && last == nodes.data() + nodes.size() && count > 0) {
    read.what = DebugNodes{word_after(body, "comm "), count};
  }
}

// "NET/IB/1/GDRDMA" as "NET/IB GDRDMA": the numbers are those of devices.
std::string transport_of(std::string_view via) {
  std::string transport(via.substr(0, via.find('/')));
  const std::size_t first = via.find('/');
  if (first == std::string_view::npos) {
    return transport;
  }
  const std::string_view rest = via.substr(first + 1);
  const std::string_view second = rest.substr(0, rest.find('/'));
  if (second.find_first_not_of("0123456789") != std::string_view::npos) {
    transport += "/" + std::string(second.substr(0, second.find('(')));
  }
  return via.find("GDRDMA") == std::string_view::npos ? transport : transport + " GDRDMA";
}

void read_channels(std::string_view body, DebugLine& read) {
  int channels = 0;
  const auto [last, error] = std::from_chars(body.data(), body.data() + body.size(), channels);
  if (error == std::errc() && last != body.data() && channels > 0) {
    read.what = DebugChannels{channels};
  }
}

void read_body(std::string_view line, std::size_t begin, DebugLine& read) {
  const std::string_view body = line.substr(begin);
  const std::size_t call = body.find(": opCount");
  const bool begins_with_comm = body.starts_with("comm ");
  const std::size_t comm = begins_with_comm ? 0 : place_after(body, " comm ");
  if (call != std::string_view::npos && body.find(' ') > call) {
    read_call(body.substr(0, call), Words(line, begin + call + 1), read);
  } else if (body.find("- Init ") != std::string_view::npos && comm != std::string_view::npos) {
    read_init(line, begin + comm - (begins_with_comm ? 0 : std::string_view("comm ").size()), read);
  } else if (begins_with_comm && body.find(" nNodes ") != std::string_view::npos) {
    read_nodes(body, read);
  } else if (body.find("- Destroy ") != std::string_view::npos ||
             body.find("- Abort ") != std::string_view::npos) {
    read.what = DebugEnd{word_after(body, "comm ")};
  } else if (body.starts_with("Channel ") && body.find(" via ") != std::string_view::npos) {
    read.what = DebugConnection{transport_of(word_after(body, " via "))};
  } else if (body.find(" coll channels") != std::string_view::npos) {
    read_channels(body, read);
  }
}

}  // namespace

DebugLine parse_debug_line(std::string_view line) {
  DebugLine read;
  if (const std::size_t version = place_after(line, "NCCL version ");
      version != std::string_view::npos) {
    read.what = DebugVersion{Words(line, version).next()};
    return read;
  }
  const std::size_t at = line.find(mark);
  if (at == std::string_view::npos) {
    return read;
  }
  read_process(line.substr(0, at), read);
  const std::size_t begin = line.find_first_not_of(blanks, at + mark.size());
  if (begin != std::string_view::npos) {
    read_body(line, begin, read);
  }
  return read;
}

}  // namespace payoff::import_detail
