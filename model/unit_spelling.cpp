// SPDX-License-Identifier: Apache-2.0
#include "model/unit_spelling.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace payoff::detail {
namespace {

void replace_suffix(std::string& text, std::string_view suffix, std::string_view by) {
  if (text.size() >= suffix.size() && text.ends_with(suffix)) {
    text.replace(text.size() - suffix.size(), suffix.size(), by);
  }
}

// Spellings that people bring along: `Gbps`, `Gbit/s`, `MBytes`, `TFLOPS`, `µs`, `sec`.
std::string usual_spelling(std::string_view unit, const Dimension& dimension) {
  static constexpr std::array words = {
      std::pair{"sec", "s"},     std::pair{"secs", "s"},      std::pair{"second", "s"},
      std::pair{"seconds", "s"}, std::pair{"msec", "ms"},     std::pair{"usec", "us"},
      std::pair{"nsec", "ns"},   std::pair{"\u00b5s", "us"},  std::pair{"\u03bcs", "us"},
      std::pair{"mins", "min"},  std::pair{"minutes", "min"}, std::pair{"hr", "h"},
      std::pair{"hours", "h"},   std::pair{"hour", "h"},      std::pair{"minute", "min"},
  };
  for (const auto& [theirs, ours] : words) {
    if (unit == theirs) {
      return ours;
    }
  }
  std::string result(unit);
  replace_suffix(result, "/sec", "/s");
  if (&dimension == &bandwidth_dimension) {
    replace_suffix(result, "ps", "/s");
  }
  const bool per_second = result.ends_with("/s");
  if (per_second) {
    result.resize(result.size() - 2);
  }
  for (const char* plural : {"FLOPS", "FLOPs", "Flops", "flops", "FLOP", "flop"}) {
    const std::size_t before = result.size();
    replace_suffix(result, plural, "FLOP");
    if (result.size() != before || result.ends_with("FLOP")) {
      return result + (&dimension == &rate_dimension ? "/s" : "");
    }
  }
  for (const char* bits : {"bits", "bit"}) {
    replace_suffix(result, bits, "b");
  }
  for (const char* bytes : {"Bytes", "bytes", "Byte", "byte"}) {
    replace_suffix(result, bytes, "B");
  }
  return result + (per_second ? "/s" : "");
}

bool same_letters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

const Unit* find_unit(const Dimension& dimension, std::string_view name) {
  const auto found = std::find_if(dimension.units.begin(), dimension.units.end(),
                                  [&](const Unit& unit) { return unit.name == name; });
  return found == dimension.units.end() ? nullptr : &*found;
}

std::vector<std::string_view> meant_units(std::string_view unit, const Dimension& dimension) {
  const std::string usual = usual_spelling(unit, dimension);
  for (const std::string& guess : {usual, usual + "/s"}) {
    if (const Unit* exact = find_unit(dimension, guess)) {
      return {exact->name};
    }
  }
  std::vector<std::string_view> found;
  for (const Unit& candidate : dimension.units) {
    if (candidate.use != UnitUse::alias && same_letters(candidate.name, usual)) {
      found.push_back(candidate.name);
    }
  }
  return found;
}

std::string list_of_units(const Dimension& dimension) {
  std::string list = "units of " + std::string(dimension.noun) + ": ";
  const char* separator = "";
  for (const Unit& unit : dimension.units) {
    if (unit.use == UnitUse::alias) {
      continue;
    }
    list += separator;
    list += unit.name;
    separator = ", ";
  }
  return list;
}

}  // namespace payoff::detail
