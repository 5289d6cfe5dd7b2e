// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/kineto_trace.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "profiles/diagnostics.hpp"
#include "profiles/import/counted_text.hpp"
#include "profiles/import/kineto_event.hpp"

namespace payoff {
namespace {

using import_detail::Count;
using import_detail::CountedText;
using import_detail::RawEvent;
using import_detail::TextIterator;
using import_detail::TraceBuilder;
using Json = nlohmann::json;

constexpr std::array<std::pair<std::string_view, Count>, 10> count_names{
    {{"device", Count::device},
     {"stream", Count::stream},
     {"correlation", Count::correlation},
     {"External id", Count::external},
     {"external id", Count::external},
     {"Sequence number", Count::sequence},
     {"Fwd thread id", Count::forward_thread},
     {"In msg nelems", Count::sent},
     {"Out msg nelems", Count::received},
     {"Group size", Count::ranks}}};

// Where in the file the parser is.
enum class Where : std::uint8_t {
  outside,
  top,
  events,
  event,
  arguments,
  distributed,
  devices,
  device,
  other  // with everything in it
};

class KinetoReader : public nlohmann::json_sax<Json> {
 public:
  KinetoReader(CountedText& text, KinetoTrace& trace)
      : text_(text), trace_(trace), builder_(trace) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override { return whole(value); }
  bool number_unsigned(number_unsigned_t value) override {
    // The sequence number of what has none is 2^64 - 1.
    return value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
               ? true
               : whole(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t, const string_t& raw) override {
    if (is_time()) {
      time(raw);
    }
    return true;
  }
  bool string(string_t& value) override {
    text_value(value);
    return true;
  }
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override {
    Where next = Where::other;
    if (here() == Where::outside) {
      next = Where::top;
    } else if (here() == Where::events) {
      next = Where::event;
      ++trace_.events;
      event_ = RawEvent{};
      event_.place = {text_.line(), text_.column() - 1};
    } else if (here() == Where::event && key_ == "args") {
      next = Where::arguments;
    } else if (here() == Where::top && key_ == "distributedInfo") {
      next = Where::distributed;
    } else if (here() == Where::devices) {
      next = Where::device;
    }
    around_.push_back(next);
    return true;
  }
  bool start_array(std::size_t) override {
    Where next = Where::other;
    // The other form of Chrome's traces has the events alone.
    if (here() == Where::outside || (here() == Where::top && key_ == "traceEvents")) {
      next = Where::events;
      has_events_ = true;
    } else if (here() == Where::top && key_ == "deviceProperties") {
      next = Where::devices;
    }
    around_.push_back(next);
    return true;
  }
  bool end_object() override {
    if (here() == Where::event) {
      builder_.add(event_);
    }
    around_.pop_back();
    return true;
  }
  bool end_array() override {
    around_.pop_back();
    return true;
  }
  bool key(string_t& value) override {
    key_.swap(value);
    return true;
  }
  bool parse_error(std::size_t, const std::string& token,
                   const nlohmann::detail::exception& why) override {
    constexpr int out_of_range = 406;  // of nlohmann's numbers: 1e400
    if (why.id == out_of_range) {
      const std::size_t and_what_follows = token.size() + 1;
      wrong(and_what_follows, backquoted(token) + " is larger than any number");
      return false;
    }
    const bool at_end = text_.at_end();
    builder_.find({text_.line(), std::max(text_.column() - (at_end ? 0 : 1), 1)}, path(),
                  at_end ? "this is not valid JSON: the file ends here, unfinished"
                         : "this is not valid JSON: it cannot go on like this here");
    return false;
  }

  void finish() {
    if (!has_events_) {
      builder_.find({}, "", "has no `traceEvents`: this is no trace of PyTorch's profiler");
    }
    builder_.finish();
  }

 private:
  [[nodiscard]] Where here() const { return around_.empty() ? Where::outside : around_.back(); }
  [[nodiscard]] bool is_time() const {
    return here() == Where::event && (key_ == "ts" || key_ == "dur");
  }

  [[nodiscard]] std::string path() const {
    const bool in_event = here() == Where::event || here() == Where::arguments;
    return in_event ? fmt::format("traceEvents[{}]", trace_.events - 1) : std::string{};
  }

  [[nodiscard]] std::string path_of_value() const {
    const std::string around = path();
    return around.empty() ? key_ : around + "." + key_;
  }

  // `length` of the token: the parser has read that far.
  void wrong(std::size_t length, const std::string& message) {
    const int column = text_.column() - static_cast<int>(length);
    builder_.find({text_.line(), std::max(column, 1)}, path_of_value(), message);
  }

  bool whole(std::int64_t value) {
    if (is_time()) {
      time(std::to_string(value));
    } else if (here() == Where::event && (key_ == "pid" || key_ == "tid")) {
      (key_ == "pid" ? event_.process : event_.thread) = std::to_string(value);
    } else if (here() == Where::arguments) {
      count(value);
    } else if (here() == Where::distributed && value >= 0 &&
               value <= std::numeric_limits<int>::max()) {
      if (key_ == "rank" || key_ == "world_size") {
        (key_ == "rank" ? trace_.rank : trace_.ranks) = static_cast<int>(value);
      }
    }
    return true;
  }

  void time(const std::string& raw) {
    const std::optional<std::int64_t> ns = import_detail::nanoseconds(raw);
    if (!ns) {
      const std::size_t and_what_follows = raw.size() + 1;  // a number ends where another begins
      wrong(and_what_follows, backquoted(raw) + " is no time in microseconds");
      event_.has_wrong_time = true;
      return;
    }
    (key_ == "ts" ? event_.begin : event_.duration) = *ns;
  }

  void count(std::int64_t value) {
    for (const auto& [name, kind] : count_names) {
      if (key_ == name) {
        event_.counts[static_cast<std::size_t>(kind)] = value;
        return;
      }
    }
  }

  void text_value(const std::string& value) {
    if (here() == Where::event) {
      text_of_event(value);
    } else if (here() == Where::arguments) {
      text_of_arguments(value);
    } else if (here() == Where::distributed && key_ == "nccl_version") {
      trace_.nccl_version = value;
    } else if (here() == Where::device && key_ == "name" && trace_.gpu.empty()) {
      trace_.gpu = value;
    }
  }

  void text_of_event(const std::string& value) {
    if (key_ == "ph") {
      event_.phase = value;
    } else if (key_ == "cat") {
      event_.category = value;
    } else if (key_ == "name") {
      event_.name = value;
    } else if (key_ == "pid") {
      event_.process = value;
    } else if (key_ == "tid") {
      event_.thread = value;
    } else if (is_time()) {
      const std::size_t with_quotes = value.size() + 2;
      wrong(with_quotes, backquoted(value) + " is no time in microseconds");
      event_.has_wrong_time = true;
    }
  }

  // Counts stood between quotes in some versions.
  void text_of_arguments(const std::string& value) {
    if (key_ == "Collective name") {
      event_.collective = value;
    } else if (key_ == "dtype") {
      event_.type = value;
    } else if (key_ == "Process Group Description" ||
               (key_ == "Process Group Name" && event_.group.empty())) {
      event_.group = value;
    } else {
      std::int64_t number = 0;
      const char* const end = value.data() + value.size();
      const auto [last, error] = std::from_chars(value.data(), end, number);
      if (error == std::errc() && last == end) {
        count(number);
      }
    }
  }

  CountedText& text_;
  KinetoTrace& trace_;
  TraceBuilder builder_;
  std::vector<Where> around_;
  std::string key_;
  RawEvent event_;
  bool has_events_ = false;
};

}  // namespace

KinetoTrace read_kineto(std::istream& text, const std::string& file) {
  KinetoTrace trace;
  trace.file = file;
  CountedText characters(text);
  constexpr unsigned char gzip_mark = 0x1f;
  if (!characters.at_end() && static_cast<unsigned char>(characters.front()) == gzip_mark) {
    trace.findings.push_back(
        {file, 0, 0, "", "is compressed: `gunzip` it first, and give the .json", Effect::rejected});
    return trace;
  }
  KinetoReader reader(characters, trace);
  const bool is_json = Json::sax_parse(TextIterator(characters), TextIterator(), &reader);
  if (is_json) {
    reader.finish();
  }
  return trace;
}

}  // namespace payoff
