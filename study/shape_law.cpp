// SPDX-License-Identifier: Apache-2.0
#include "study/shape_law.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace payoff {
namespace {

struct Published {
  double parameters{};
  double layers{};
};
constexpr std::array gpt3{Published{125e6, 12}, Published{350e6, 24}, Published{760e6, 24},
                          Published{1.3e9, 24}, Published{2.7e9, 32}, Published{6.7e9, 32},
                          Published{13e9, 40},  Published{175e9, 96}};
constexpr double vocabulary = 50257;

// Far beyond what the law is valid for: what a row may state by mistake still gives a shape.
constexpr double fewest_parameters = 1e5;
constexpr double most_parameters = 1e15;
constexpr double shallowest = 0.01;  // times the usual depth
constexpr double deepest = 100;

double usual_layers(double parameters) {
  if (parameters <= gpt3.front().parameters) {
    return gpt3.front().layers;
  }
  for (std::size_t i = 1; i < gpt3.size(); ++i) {
    const Published& below = gpt3[i - 1];
    const Published& above = gpt3[i];
    if (parameters <= above.parameters) {
      const double share =
          std::log(parameters / below.parameters) / std::log(above.parameters / below.parameters);
      return below.layers * std::pow(above.layers / below.layers, share);
    }
  }
  return gpt3.back().layers;
}

int head_size(double hidden) { return hidden < 2048 ? 64 : 128; }

}  // namespace

UsualShape usual_shape(double parameters, double depth, int tp) {
  // Not std::clamp: what is no number has to become one.
  const double count = std::min(std::max(fewest_parameters, parameters), most_parameters);
  const double layers = std::min(std::max(shallowest, depth), deepest) * usual_layers(count);
  UsualShape shape;
  shape.layers = std::max(1, static_cast<int>(std::lround(layers)));
  const double blocks = 12.0 * shape.layers;
  const double hidden =
      (std::sqrt(vocabulary * vocabulary + 4 * blocks * count) - vocabulary) / (2 * blocks);
  const int head = head_size(hidden);
  const int parts = std::min(std::max(1, tp), 64);
  shape.heads = parts * std::max(1, static_cast<int>(std::lround(hidden / head / parts)));
  shape.hidden = shape.heads * head;
  return shape;
}

int usual_heads(int hidden) { return std::max(1, hidden / head_size(hidden)); }

}  // namespace payoff
