// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/kineto_event.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include "profiles/diagnostics.hpp"
#include "profiles/import/element_types.hpp"

namespace payoff::import_detail {
namespace {

constexpr std::int64_t latest = 4'000'000'000'000'000'000;  // ns: half of what fits, 127 years
constexpr std::int64_t longest = 100'000'000'000'000'000;   // ns, of a trace: 3 years
constexpr std::size_t most_findings = 50;

std::string small_letters(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return small;
}

// Kernels of NCCL, RCCL, NVSHMEM and DeepEP.
bool is_communication(const RawEvent& event) {
  if (!event.collective.empty()) {
    return true;
  }
  const std::string name = small_letters(event.name);
  return name.find("nccl") != std::string::npos || name.find("rccl") != std::string::npos ||
         name.find("nvshmem") != std::string::npos || name.find("deep_ep") != std::string::npos;
}

// -1 where it is missing or no int.
int small_count(const std::optional<std::int64_t>& count) {
  return count && *count >= 0 && *count <= std::numeric_limits<int>::max()
             ? static_cast<int>(*count)
             : -1;
}

}  // namespace

std::optional<std::int64_t> nanoseconds(std::string_view microseconds) {
  const bool is_negative = microseconds.starts_with('-');
  const std::string_view text = microseconds.substr(is_negative ? 1 : 0);
  const char* const end = text.data() + text.size();
  if (text.find_first_of("eE") != std::string_view::npos) {
    double value = 0.0;
    const auto [last, error] = std::from_chars(text.data(), end, value);
    const bool fits =
        error == std::errc() && last == end && value * 1e3 < static_cast<double>(latest);
    const auto whole = fits ? std::int64_t{std::llround(value * 1e3)} : 0;
    return fits ? std::optional(is_negative ? -whole : whole) : std::nullopt;
  }
  std::int64_t whole = 0;
  const auto [point, error] = std::from_chars(text.data(), end, whole);
  if (error != std::errc() || whole >= latest / 1000) {
    return std::nullopt;
  }
  std::int64_t ns = whole * 1000;
  std::int64_t unit = 100;
  const bool has_point = point != end && *point == '.';
  for (const char* digit = has_point ? point + 1 : point; digit != end; ++digit, unit /= 10) {
    if (*digit < '0' || *digit > '9') {
      return std::nullopt;
    }
    ns += unit * (*digit - '0');
  }
  return is_negative ? -ns : ns;
}

std::string TraceBuilder::path() const { return fmt::format("traceEvents[{}]", trace_.events - 1); }

void TraceBuilder::find(Place place, const std::string& path, const std::string& message,
                        Effect effect) {
  if (trace_.findings.size() < most_findings) {
    trace_.findings.push_back({trace_.file, place.line, place.column, path, message, effect});
  }
}

std::optional<TraceBuilder::Times> TraceBuilder::times_of(const RawEvent& event, bool is_gpu) {
  if (event.has_wrong_time) {
    return std::nullopt;
  }
  if (!event.begin || !event.duration) {
    find(event.place, path(),
         fmt::format("an event of category {} has no {}", backquoted(event.category),
                     event.begin ? "`dur`" : "`ts`"));
    return std::nullopt;
  }
  if (is_gpu && *event.duration < 0) {
    find(event.place, path() + ".dur", "what a GPU does cannot take less than no time");
    return std::nullopt;
  }
  origin_ = origin_.value_or(*event.begin);
  const std::int64_t begin = *event.begin - *origin_;
  if (begin > longest || begin < -longest || *event.duration > longest) {
    find(event.place, path(), "it lies three years from the first event, or takes as long");
    return std::nullopt;
  }
  // Operators that had not ended when the trace did have durations below zero.
  return Times{begin, begin + std::max<std::int64_t>(*event.duration, 0)};
}

int TraceBuilder::thread_of(const RawEvent& event) {
  const auto [place, is_new] =
      threads_.emplace(event.process + "/" + event.thread, static_cast<int>(threads_.size()));
  return place->second;
}

int TraceBuilder::message_of(const RawEvent& event) {
  const std::optional<Collective> collective = collective_named(event.collective);
  const int ranks = small_count(event.count(Count::ranks));
  const std::int64_t elements =
      std::max(event.count(Count::sent).value_or(-1), event.count(Count::received).value_or(-1));
  if (!collective || ranks < 1 || elements < 0) {
    return -1;
  }
  const std::optional<ElementType> type = torch_type(event.type);
  if (!type) {
    if (!unknown_type_told_) {
      find(event.place, path() + ".args.dtype",
           fmt::format("the type {} is not known: messages of it are left out of the table",
                       backquoted(event.type)),
           Effect::noted);
    }
    unknown_type_told_ = true;
    return -1;
  }
  const Bytes size = type->size * static_cast<double>(elements);
  const auto [place, is_new] = messages_.emplace(
      MessageKey{*collective, ranks, event.group, std::string(type->name), size / Bytes{1}},
      static_cast<int>(trace_.messages.size()));
  if (is_new) {
    trace_.messages.push_back(
        {*collective, ranks, event.group, std::string(type->name), size, 0, {}});
  }
  return place->second;
}

void TraceBuilder::add_gpu(const RawEvent& event, bool is_kernel) {
  const std::optional<Times> times = times_of(event, true);
  if (!times) {
    return;
  }
  GpuEvent added;
  added.begin = times->begin;
  added.end = times->end;
  added.correlation = event.count(Count::correlation).value_or(-1);
  added.external = event.count(Count::external).value_or(-1);
  // Kineto shows a device as a process and a stream as a thread.
  const auto number = [](const std::string& text) {
    int value = -1;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  added.device =
      event.count(Count::device) ? small_count(event.count(Count::device)) : number(event.process);
  added.stream =
      event.count(Count::stream) ? small_count(event.count(Count::stream)) : number(event.thread);
  if (added.device < 0 || added.stream < 0) {
    find(event.place, path(),
         fmt::format("an event of category {} has no {}", backquoted(event.category),
                     added.device < 0 ? "`args.device`" : "`args.stream`"));
    return;
  }
  added.communicates = is_kernel && is_communication(event);
  if (const int index = added.communicates ? message_of(event) : -1; index >= 0) {
    kernels_tell_ = true;
    TraceMessage& message = trace_.messages[static_cast<std::size_t>(index)];
    ++message.calls;
    message.times.push_back(added.end - added.begin);
  }
  trace_.gpu_events.push_back(added);
}

void TraceBuilder::add_operator(const RawEvent& event) {
  const std::optional<Times> times = times_of(event, false);
  if (!times) {
    return;
  }
  if (!event.collective.empty()) {
    if (const int message = message_of(event); message >= 0) {
      ++of_operators_[message];
    }
  }
  trace_.operators.push_back({times->begin, times->end, event.count(Count::external).value_or(-1),
                              event.count(Count::sequence).value_or(-1), thread_of(event),
                              event.count(Count::forward_thread).value_or(0) > 0});
}

void TraceBuilder::add_launch(const RawEvent& event) {
  const std::optional<std::int64_t> correlation = event.count(Count::correlation);
  const std::optional<Times> times = correlation ? times_of(event, false) : std::nullopt;
  if (times) {
    trace_.launches.push_back({times->begin, *correlation, thread_of(event)});
  }
}

void TraceBuilder::add_annotation(const RawEvent& event) {
  const std::optional<Times> times = times_of(event, false);
  if (!times) {
    return;
  }
  if (event.name.starts_with("ProfilerStep#")) {
    trace_.steps.push_back({times->begin, times->end, event.name});
    return;
  }
  const auto [name, is_new] = names_.emplace(event.name, static_cast<int>(trace_.names.size()));
  if (is_new) {
    trace_.names.push_back(event.name);
  }
  trace_.annotations.push_back({times->begin, times->end, thread_of(event), name->second});
}

void TraceBuilder::add(const RawEvent& event) {
  if (event.phase != "X") {
    return;
  }
  const std::string category = small_letters(event.category);
  if (category == "kernel") {
    add_gpu(event, true);
  } else if (category == "gpu_memcpy" || category == "memcpy" || category == "gpu_memset" ||
             category == "memset") {
    add_gpu(event, false);
  } else if (category == "cuda_runtime" || category == "cuda_driver" || category == "runtime") {
    add_launch(event);
  } else if (category == "user_annotation" ||
             ((category == "cpu_op" || category == "operator") &&
              event.name.starts_with("ProfilerStep#")) ||
             (category == "python_function" && event.name.starts_with("nn.Module: "))) {
    add_annotation(event);
  } else if (category == "cpu_op" || category == "operator") {
    add_operator(event);
  }
}

void TraceBuilder::finish() {
  if (!kernels_tell_) {
    for (const auto& [message, calls] : of_operators_) {
      trace_.messages[static_cast<std::size_t>(message)].calls = calls;
    }
  }
  std::erase_if(trace_.messages, [](const TraceMessage& message) { return message.calls == 0; });
}

}  // namespace payoff::import_detail
