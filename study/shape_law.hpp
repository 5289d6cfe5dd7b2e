// SPDX-License-Identifier: Apache-2.0
#pragma once

// Depth and width of a transformer of which only the number of parameters is known: between the
// models of Brown et al. 2020 (GPT-3), table 2.1, by the logarithm of the count; the width then
// follows from the count, 12 l h^2 + v h, rounded to whole heads. Valid from 125 M to 175 G
// parameters; beyond, the depth of the last model.

namespace payoff {

struct UsualShape {
  int layers{};
  int hidden{};
  int heads{};
};

// `depth`: as deep as that times the usual depth, and narrower at the same count. `tp` ranks have
// as many heads each.
[[nodiscard]] UsualShape usual_shape(double parameters, double depth, int tp = 1);

// Heads of 128 from a width of 2,048 on, of 64 below.
[[nodiscard]] int usual_heads(int hidden);

}  // namespace payoff
