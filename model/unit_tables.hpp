// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "model/units.hpp"

// The units that can be written and read, one table a dimension. Private to units_text.cpp,
// units_print.cpp and unit_spelling. `decade` is the power of ten for the units in which results
// are printed, so that printing shifts decimal digits and never divides.

namespace payoff::detail {

enum class UnitUse { print, print_bits, read_only, alias };  // an alias is read, never proposed

struct Unit {
  std::string_view name;
  double scale;
  UnitUse use = UnitUse::read_only;
  int decade = 0;
};

struct Dimension {
  std::string_view noun;          // "a time"
  std::string_view default_unit;  // for examples
  std::span<const Unit> units;
};

inline constexpr double kibi = 1024.0;

inline constexpr std::array time_units = {
    Unit{"s", 1.0, UnitUse::print, 0},
    Unit{"ms", 1e-3, UnitUse::print, -3},
    Unit{"us", 1e-6, UnitUse::print, -6},
    Unit{"ns", 1e-9, UnitUse::print, -9},
    Unit{"ps", 1e-12, UnitUse::print, -12},
    Unit{"min", 60.0},
    Unit{"h", 3600.0},
};

inline constexpr std::array size_units = {
    Unit{"B", 1.0, UnitUse::print, 0},
    Unit{"KB", 1e3, UnitUse::print, 3},
    Unit{"MB", 1e6, UnitUse::print, 6},
    Unit{"GB", 1e9, UnitUse::print, 9},
    Unit{"TB", 1e12, UnitUse::print, 12},
    Unit{"PB", 1e15, UnitUse::print, 15},
    Unit{"KiB", kibi},
    Unit{"MiB", kibi* kibi},
    Unit{"GiB", kibi* kibi* kibi},
    Unit{"TiB", kibi* kibi* kibi* kibi},
    Unit{"PiB", kibi* kibi* kibi* kibi* kibi},
    Unit{"b", 1.0 / 8, UnitUse::print_bits, 0},
    Unit{"Kb", 1e3 / 8, UnitUse::print_bits, 3},
    Unit{"Mb", 1e6 / 8, UnitUse::print_bits, 6},
    Unit{"Gb", 1e9 / 8, UnitUse::print_bits, 9},
    Unit{"Tb", 1e12 / 8, UnitUse::print_bits, 12},
    Unit{"kB", 1e3, UnitUse::alias},
    Unit{"kb", 1e3 / 8, UnitUse::alias},
};

inline constexpr std::array bandwidth_units = {
    Unit{"B/s", 1.0, UnitUse::print, 0},
    Unit{"KB/s", 1e3, UnitUse::print, 3},
    Unit{"MB/s", 1e6, UnitUse::print, 6},
    Unit{"GB/s", 1e9, UnitUse::print, 9},
    Unit{"TB/s", 1e12, UnitUse::print, 12},
    Unit{"PB/s", 1e15, UnitUse::print, 15},
    Unit{"b/s", 1.0 / 8, UnitUse::print_bits, 0},
    Unit{"Kb/s", 1e3 / 8, UnitUse::print_bits, 3},
    Unit{"Mb/s", 1e6 / 8, UnitUse::print_bits, 6},
    Unit{"Gb/s", 1e9 / 8, UnitUse::print_bits, 9},
    Unit{"Tb/s", 1e12 / 8, UnitUse::print_bits, 12},
    Unit{"KiB/s", kibi},
    Unit{"MiB/s", kibi* kibi},
    Unit{"GiB/s", kibi* kibi* kibi},
    Unit{"TiB/s", kibi* kibi* kibi* kibi},
    Unit{"kB/s", 1e3, UnitUse::alias},
    Unit{"kb/s", 1e3 / 8, UnitUse::alias},
};

inline constexpr std::array work_units = {
    Unit{"FLOP", 1.0, UnitUse::print, 0},    Unit{"KFLOP", 1e3, UnitUse::print, 3},
    Unit{"MFLOP", 1e6, UnitUse::print, 6},   Unit{"GFLOP", 1e9, UnitUse::print, 9},
    Unit{"TFLOP", 1e12, UnitUse::print, 12}, Unit{"PFLOP", 1e15, UnitUse::print, 15},
    Unit{"EFLOP", 1e18, UnitUse::print, 18}, Unit{"ZFLOP", 1e21, UnitUse::print, 21},
};

inline constexpr std::array rate_units = {
    Unit{"FLOP/s", 1.0, UnitUse::print, 0},    Unit{"KFLOP/s", 1e3, UnitUse::print, 3},
    Unit{"MFLOP/s", 1e6, UnitUse::print, 6},   Unit{"GFLOP/s", 1e9, UnitUse::print, 9},
    Unit{"TFLOP/s", 1e12, UnitUse::print, 12}, Unit{"PFLOP/s", 1e15, UnitUse::print, 15},
    Unit{"EFLOP/s", 1e18, UnitUse::print, 18},
};

inline constexpr std::array power_units = {
    Unit{"W", 1.0, UnitUse::print, 0},
    Unit{"kW", 1e3, UnitUse::print, 3},
    Unit{"MW", 1e6, UnitUse::print, 6},
};

inline constexpr std::array price_units = {
    Unit{"USD/s", 1.0},
    Unit{"USD/h", 1.0 / 3600, UnitUse::print, 0},
};

inline constexpr Dimension time_dimension{"a time", "us", time_units};
inline constexpr Dimension size_dimension{"a size", "MiB", size_units};
inline constexpr Dimension bandwidth_dimension{"a bandwidth", "Gb/s", bandwidth_units};
inline constexpr Dimension work_dimension{"a number of operations", "GFLOP", work_units};
inline constexpr Dimension rate_dimension{"a rate of operations", "TFLOP/s", rate_units};
inline constexpr Dimension power_dimension{"a power", "W", power_units};

inline constexpr Dimension price_dimension{"a price", "USD/h", price_units};

inline constexpr std::array dimensions = {&time_dimension, &size_dimension, &bandwidth_dimension,
                                          &work_dimension, &rate_dimension, &power_dimension,
                                          &price_dimension};

template <class Q>
inline constexpr const Dimension* dimension_of = nullptr;
template <>
inline constexpr const Dimension* dimension_of<Seconds> = &time_dimension;
template <>
inline constexpr const Dimension* dimension_of<Bytes> = &size_dimension;
template <>
inline constexpr const Dimension* dimension_of<Bandwidth> = &bandwidth_dimension;
template <>
inline constexpr const Dimension* dimension_of<Flops> = &work_dimension;
template <>
inline constexpr const Dimension* dimension_of<FlopRate> = &rate_dimension;
template <>
inline constexpr const Dimension* dimension_of<Watts> = &power_dimension;
template <>
inline constexpr const Dimension* dimension_of<Price> = &price_dimension;

}  // namespace payoff::detail
