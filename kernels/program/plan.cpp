// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "kernels/program/benchmark.hpp"

namespace payoff::kernels {
namespace {

std::vector<Shape> powers_of_two(unsigned first, unsigned last, unsigned step) {
  std::vector<Shape> shapes;
  for (unsigned exponent = first; exponent <= last; exponent += step) {
    shapes.push_back({std::size_t{1} << exponent});
  }
  return shapes;
}

}  // namespace

std::vector<Shape> few_shapes(const Plan& plan) {
  std::vector<Shape> few;
  for (std::size_t i = 0; i < plan.shapes.size(); i += plan.thinned ? 2 : 1) {
    few.push_back(plan.shapes[i]);
  }
  return few;
}

std::vector<Shape> shapes_of(const Plan& plan, bool is_usual) {
  return is_usual ? plan.shapes : few_shapes(plan);
}

std::string_view name(InputKind kind) {
  switch (kind) {
    case InputKind::gaussian:
      return "gaussian";
    case InputKind::laplace:
      return "laplace";
    case InputKind::student_t3:
      return "student_t3";
    case InputKind::constant:
      return "constant";
    default:
      return "denormal";
  }
}

// Three sizes fit into the caches of today, of up to 126 MB; two lie beyond them, also of a kernel
// that moves 4 bytes a value: the bandwidth of memory is the slope between them.
Plan quick_plan() {
  Plan plan{powers_of_two(14, 26, 4),  {},    {4096}, {4, 32}, {1, 48}, {8}, {0.01}, {4096}, {4096},
            ProductSizes::of_networks, false, false};
  plan.shapes.push_back({std::size_t{1} << 28U});
  return plan;
}

// The first of the workers and of the ratios is the usual one.
Plan full_plan() {
  Plan plan{powers_of_two(12, 28, 2),  {},           {1024, 4096, 16384},
            {1, 4, 16, 64, 128},       {1, 8, 48},   {8, 2, 32},
            {0.01, 0.001, 0.1},        {1024, 8192}, {1024, 4096, 12288},
            ProductSizes::of_networks, true,         true};
  // Radix selection and sampling depend on how values are spread; ties are the worst case.
  for (const InputKind kind : {InputKind::student_t3, InputKind::constant}) {
    plan.spreads.push_back({std::size_t{1} << 24U, kind});
  }
  return plan;
}

Plan emulated_plan() {
  return {{{3000}, {5000, InputKind::student_t3}},
          {},
          {64},
          {2},
          {1, 2},
          {2},
          {0.01},
          {2},
          {300},
          ProductSizes::small,
          false,
          false};
}

Plan check_plan() {
  Plan plan{{},          {},  {300}, {1, 6, 33},          {1, 3}, {1, 5},
            {0.01, 0.4}, {3}, {700}, ProductSizes::small, true,   false};
  for (const InputKind kind : {InputKind::gaussian, InputKind::laplace, InputKind::student_t3,
                               InputKind::constant, InputKind::denormal}) {
    for (const std::size_t elements : {1UL, 777UL, 4099UL}) {
      plan.shapes.push_back({elements, kind, 3});
    }
  }
  plan.shapes.push_back({70001, InputKind::student_t3, 4});
  return plan;
}

}  // namespace payoff::kernels
