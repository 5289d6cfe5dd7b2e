// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "model/units.hpp"

// One thing to measure, and what it moves and computes by the model: the achieved share of the
// memory's bandwidth means something only against counted bytes.

namespace payoff::kernels {

struct Traffic {
  Bytes read{};
  Bytes written{};
  Flops flops{};
  double random_accesses{};  // of 32-byte sectors, not in `read` and `written`
  int launches{1};
  int host_syncs{};
};

using Parameters = std::map<std::string, double>;

struct Point {
  std::string kernel;          // a row of the catalogue
  std::string family;          // memory, casts, ...
  std::string implementation;  // fused, framework_ops or library
  std::string input{"gaussian"};
  std::string state{"cold"};  // cold: the L2 cache holds other data; hot: the point's own
  Parameters parameters;
  Traffic traffic;
  std::string instead_of{};  // the precision in whose place this one is, on a device without it
};

// " elements=4096 ratio=0.01": names in alphabetical order.
[[nodiscard]] std::string text_of(const Parameters& parameters);
// All that tells two points of a file apart, but for the way they were launched.
[[nodiscard]] std::string title_of(const Point& point);

}  // namespace payoff::kernels
