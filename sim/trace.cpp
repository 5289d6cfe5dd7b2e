// SPDX-License-Identifier: Apache-2.0
#include "sim/trace.hpp"

#include <cerrno>
#include <cstring>
#include <ostream>

#include "model/decimal_text.hpp"

namespace payoff::sim {
namespace {

constexpr std::int64_t picoseconds_per_microsecond = 1'000'000;

// Whole microseconds and six decimals: nothing is rounded.
std::string microseconds(SimTime time) {
  const std::int64_t whole = time.picoseconds / picoseconds_per_microsecond;
  const std::int64_t rest = time.picoseconds % picoseconds_per_microsecond;
  std::string decimals = std::to_string(rest);
  return std::to_string(whole) + "." + std::string(6 - decimals.size(), '0') + decimals;
}

std::string shortest(double value) {
  payoff::detail::DecimalBuffer buffer;
  return std::string(payoff::detail::write_shortest(buffer, value));
}

}  // namespace

TraceWriter::TraceWriter(std::ostream& out) : out_(out) {
  out_ << R"({"displayTimeUnit":"ms","traceEvents":[)";
}

void TraceWriter::finish() {
  if (!finished_) {
    out_ << end_of_file;
    finished_ = true;
  }
}

void TraceWriter::begin_event() {
  out_ << (first_ ? "\n" : ",\n");
  first_ = false;
}

// Names are ours: nothing in them needs escaping.
void TraceWriter::name_tracks(const TraceSpan& span) {
  const auto of_place = tracks_.lower_bound({span.place, 0});
  const bool first_of_place = of_place == tracks_.end() || of_place->first != span.place;
  if (!tracks_.emplace(span.place, span.track).second) {
    return;
  }
  if (first_of_place) {
    begin_event();
    out_ << R"({"ph":"M","name":"process_name","pid":)" << span.place
         << R"(,"args":{"name":"stage )" << span.stage;
    if (span.one_of_several) {
      out_ << ", place " << span.place;
    }
    out_ << R"("}})";
  }
  begin_event();
  out_ << R"({"ph":"M","name":"thread_name","pid":)" << span.place << R"(,"tid":)" << span.track
       << R"(,"args":{"name":")" << span.track_name << R"("}})";
}

void TraceWriter::write(const TraceSpan& span) {
  errno = 0;
  name_tracks(span);
  begin_event();
  const SimTime duration = span.end - span.begin;
  out_ << R"({"ph":"X","name":")" << span.name << R"(","pid":)" << span.place << R"(,"tid":)"
       << span.track << R"(,"ts":)" << microseconds(span.begin) << R"(,"dur":)"
       << microseconds(duration) << R"(,"args":{"alone_us":)" << microseconds(span.alone);
  if (!span.item.empty()) {
    out_ << R"(,"item":")" << span.item << '"';
  }
  if (!span.collective.empty()) {
    out_ << R"(,"collective":")" << span.collective << R"(","bytes":)" << shortest(span.bytes.si);
    if (duration.picoseconds > 0) {
      out_ << R"(,"bytes_per_second":)" << shortest((span.bytes / to_seconds(duration)).si);
    }
  }
  out_ << "}}";
  if (!out_) {
    throw TraceError(errno != 0 ? std::strerror(errno) : "unknown reason");
  }
  ++count_;
}

}  // namespace payoff::sim
