// SPDX-License-Identifier: Apache-2.0
#include "cli/colour_scale.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

namespace payoff {
namespace {

constexpr Lab darkest{24, 26, -54};
constexpr Lab lightest{92, -10, 72};
constexpr int colours = 33;  // of the palette; gnuplot mixes between two of them

// CIE 15:2018, equation 8.5: the inverse of the compression of L*a*b*.
double expanded(double t) {
  constexpr double knee = 6.0 / 29.0;
  return t > knee ? t * t * t : 3.0 * knee * knee * (t - 4.0 / 29.0);
}

// IEC 61966-2-1: light to the number that a screen is sent.
int encoded(double light) {
  const double bounded = std::clamp(light, 0.0, 1.0);
  const double value =
      bounded <= 0.0031308 ? 12.92 * bounded : 1.055 * std::pow(bounded, 1.0 / 2.4) - 0.055;
  return static_cast<int>(std::lround(255.0 * value));
}

}  // namespace

Lab colour_on_scale(double share) {
  const auto between = [share](double a, double b) { return a + share * (b - a); };
  return {between(darkest.lightness, lightest.lightness),
          between(darkest.red_green, lightest.red_green),
          between(darkest.yellow_blue, lightest.yellow_blue)};
}

std::array<int, 3> to_srgb(const Lab& colour) {
  const double middle = (colour.lightness + 16.0) / 116.0;
  const double x = 0.95047 * expanded(middle + colour.red_green / 500.0);
  const double y = expanded(middle);
  const double z = 1.08883 * expanded(middle - colour.yellow_blue / 200.0);
  return {encoded(3.2404542 * x - 1.5371385 * y - 0.4985314 * z),
          encoded(-0.9692660 * x + 1.8760108 * y + 0.0415560 * z),
          encoded(0.0556434 * x - 0.2040259 * y + 1.0572252 * z)};
}

std::string palette_command() {
  std::string text = "set palette defined (";
  for (int i = 0; i < colours; ++i) {
    const std::array<int, 3> rgb = to_srgb(colour_on_scale(i / double{colours - 1}));
    text +=
        fmt::format("{}{} '#{:02x}{:02x}{:02x}'", i == 0 ? "" : ", ", i, rgb[0], rgb[1], rgb[2]);
  }
  return text + ")\n";
}

}  // namespace payoff
