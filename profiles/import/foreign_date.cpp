// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <chrono>

#include <fmt/format.h>

#include "profiles/import/foreign.hpp"

namespace payoff {
namespace {

// The next number of exactly `digits` digits, and what follows it.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  int value = 0;
  const std::string_view part = text.substr(0, digits);
  if (part.size() < digits || part.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  std::from_chars(part.data(), part.data() + part.size(), value);
  text.remove_prefix(digits);
  return value;
}

bool take_one_of(std::string_view& text, std::string_view characters) {
  if (text.empty() || characters.find(text.front()) == std::string_view::npos) {
    return false;
  }
  text.remove_prefix(1);
  return true;
}

// "+01:00", "Z" and nothing, in minutes.
std::optional<int> zone_minutes(std::string_view text) {
  if (text.empty() || text == "Z") {
    return 0;
  }
  const bool is_west = text.front() == '-';
  if (!take_one_of(text, "+-")) {
    return std::nullopt;
  }
  const std::optional<int> hours = take_number(text, 2);
  take_one_of(text, ":");
  const std::optional<int> minutes = hours ? take_number(text, 2) : std::nullopt;
  if (!minutes || !text.empty()) {
    return std::nullopt;
  }
  return (is_west ? -1 : 1) * (60 * *hours + *minutes);
}

}  // namespace

std::optional<std::string> utc_date(std::string_view text) {
  std::array<int, 6> parts{};
  constexpr std::array<std::string_view, 6> before{"", "-", "-", "T ", ":", ":"};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool only_a_day = i == 3 && text.empty();
    if (only_a_day) {
      break;
    }
    if (!before.at(i).empty() && !take_one_of(text, before.at(i))) {
      return std::nullopt;
    }
    const std::optional<int> part = take_number(text, i == 0 ? 4 : 2);
    if (!part) {
      return std::nullopt;
    }
    parts.at(i) = *part;
  }
  const auto [year, month, day, hour, minute, second] = parts;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  const std::optional<int> zone = zone_minutes(text);
  if (!date.ok() || hour > 23 || minute > 59 || second > 60 || !zone) {
    return std::nullopt;
  }
  const auto minutes =
      std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute - *zone);
  const auto midnight = std::chrono::floor<std::chrono::days>(minutes);
  const std::chrono::year_month_day utc{midnight};
  const auto of_day = static_cast<int>((minutes - midnight).count());
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(utc.year()),
                     static_cast<unsigned>(utc.month()), static_cast<unsigned>(utc.day()),
                     of_day / 60, of_day % 60, second);
}

}  // namespace payoff
