// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/codec/inputs.hpp"

// The inputs that every codec is tested on.

namespace payoff::kernels::test {

struct Tensor {
  std::string name;
  std::vector<float> values;
};

[[nodiscard]] inline std::vector<float> drawn(InputKind kind, std::size_t count,
                                              std::uint64_t seed = 1) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = input_value(kind, {seed, 0}, i);
  }
  return values;
}

// Random, heavy-tailed, constant, denormal, zero, wide-ranging; lengths that fill nothing evenly.
[[nodiscard]] inline std::vector<Tensor> tensors() {
  constexpr std::size_t odd = 4099;
  std::vector<Tensor> all{{"gaussian", drawn(InputKind::gaussian, odd)},
                          {"laplace", drawn(InputKind::laplace, 2048)},
                          {"heavy-tailed", drawn(InputKind::student_t3, odd)},
                          {"constant", drawn(InputKind::constant, 1000)},
                          {"denormal", drawn(InputKind::denormal, 777)},
                          {"zero", std::vector<float>(65, 0.0F)},
                          {"one value", {-0.37F}}};
  Tensor wide{"wide", drawn(InputKind::gaussian, 513)};
  for (std::size_t i = 0; i < wide.values.size(); ++i) {
    wide.values[i] *= power_of_two(static_cast<int>(i % 81) - 40);
  }
  all.push_back(wide);
  return all;
}

}  // namespace payoff::kernels::test
