// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

// The colours of heat maps: a straight line in CIE 1976 L*a*b*, from a dark blue to a light yellow.
// Equal steps of value are equal steps of lightness and of hue, so that no edge is seen where there
// is none; the difference of blue and yellow is the one that people with red or green defects see
// as everybody does, and lightness alone tells the order in print without colour. All of it lies
// within sRGB.

namespace payoff {

struct Lab {
  double lightness{};  // 0 to 100
  double red_green{};
  double yellow_blue{};
};

// At a share of the scale, from 0 (dark) to 1.
[[nodiscard]] Lab colour_on_scale(double share);

// Of 0 to 255 each, for light D65 (IEC 61966-2-1); what lies outside is cut off.
[[nodiscard]] std::array<int, 3> to_srgb(const Lab& colour);

// The palette of a gnuplot script.
[[nodiscard]] std::string palette_command();

}  // namespace payoff
