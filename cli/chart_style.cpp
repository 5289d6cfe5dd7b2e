// SPDX-License-Identifier: Apache-2.0
#include "cli/chart_style.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace payoff {
namespace {

using Colour = std::array<int, 3>;

// Okabe and Ito 2008, black and yellow left out: black is the base line, yellow is too pale.
constexpr std::array<Colour, plain_hues> hues = {{{0x00, 0x72, 0xB2},
                                                  {0xD5, 0x5E, 0x00},
                                                  {0x00, 0x9E, 0x73},
                                                  {0xCC, 0x79, 0xA7},
                                                  {0xE6, 0x9F, 0x00},
                                                  {0x56, 0xB4, 0xE9},
                                                  {0x7F, 0x7F, 0x7F}}};

struct Member {
  double shade;  // towards white where positive, towards black where negative
  std::string_view dash;
  double width;
};
// A later member lies over an earlier one: thinner, dashed, and of another shade.
constexpr std::array<Member, 4> looks = {
    {{0.35, "1", 3.0}, {0.0, "(10,5)", 2.0}, {-0.55, "(3,4)", 2.0}, {-0.3, "(12,4,2,4)", 1.6}}};

// An open circle (6) is the mark of a break-even, and no curve's.
constexpr std::array<std::array<int, 4>, 7> point_types = {{{7, 1, 3, 2},
                                                            {5, 4, 3, 2},
                                                            {9, 8, 3, 2},
                                                            {13, 12, 3, 2},
                                                            {11, 10, 3, 2},
                                                            {15, 14, 3, 2},
                                                            {2, 1, 3, 4}}};
constexpr std::string_view letters = "abcdefghijklmnpqrstuvwxyzABCDEFGHIJKLMNPQRSTUVWXYZ";

std::string shaded(const Colour& colour, double shade) {
  Colour result{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double target = shade > 0.0 ? 255.0 : 0.0;
    result[i] = static_cast<int>(std::lround(colour[i] + std::abs(shade) * (target - colour[i])));
  }
  return fmt::format("#{:02x}{:02x}{:02x}", result[0], result[1], result[2]);
}

// Hues and looks in them that no curve has yet.
class FreeLooks {
 public:
  struct Look {
    std::size_t hue{};
    std::size_t place{};
  };
  // The wanted hue where it has a look left, else the one that has most; some look twice where
  // there are no others.
  Look take(std::size_t wanted) {
    std::size_t hue = wanted % hues.size();
    if (used_[hue] == looks.size()) {
      hue = static_cast<std::size_t>(std::min_element(used_.begin(), used_.end()) - used_.begin());
    }
    const std::size_t place = used_[hue] % looks.size();
    used_[hue] = std::min(used_[hue] + 1, looks.size());
    return {hue, place};
  }

 private:
  std::array<std::size_t, hues.size()> used_{};
};

}  // namespace

std::string family_of(std::string_view strategy) {
  return std::string(strategy.substr(0, strategy.find(':')));
}

namespace {

std::string family_name(const ChartCurve& curve) {
  return curve.family.empty() ? family_of(curve.label) : curve.family;
}

}  // namespace

std::string plain_hue(std::size_t number) { return shaded(hues[number % hues.size()], 0.0); }

std::string painted(std::string_view text, std::string_view colour) {
  constexpr std::array<int, 6> levels = {0, 95, 135, 175, 215, 255};
  constexpr int first_of_cube = 16;
  int code = 0;
  for (std::size_t at = 1; at + 1 < colour.size(); at += 2) {
    int value = 0;
    std::from_chars(colour.data() + at, colour.data() + at + 2, value, 16);
    const auto nearest = std::min_element(levels.begin(), levels.end(), [value](int a, int b) {
      return std::abs(a - value) < std::abs(b - value);
    });
    code = 6 * code + static_cast<int>(nearest - levels.begin());
  }
  return fmt::format("\x1b[38;5;{}m{}\x1b[0m", first_of_cube + code, text);
}

std::vector<CurveStyle> curve_styles(const std::vector<ChartCurve>& curves) {
  std::map<std::string, std::size_t> members;
  for (const ChartCurve& curve : curves) {
    ++members[family_name(curve)];
  }
  std::map<std::string, std::pair<std::size_t, std::size_t>> seen;  // number, members so far
  FreeLooks free;
  std::vector<CurveStyle> styles;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const std::string family = family_name(curves[i]);
    auto& [number, so_far] = seen.try_emplace(family, seen.size(), 0).first->second;
    const auto [hue, place] = free.take(number);
    const bool alone = members[family] == 1 && place == 0;
    const Member& look = looks[place];
    styles.push_back({shaded(hues[hue], alone ? 0.0 : look.shade), look.dash,
                      alone ? 2.0 : look.width, point_types[hue][place],
                      letters[i % letters.size()], so_far, members[family]});
    ++so_far;
  }
  return styles;
}

}  // namespace payoff
