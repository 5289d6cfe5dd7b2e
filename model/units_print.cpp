// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "model/decimal_text.hpp"
#include "model/unit_tables.hpp"
#include "model/units_text.hpp"

// Printing works on decimal digits: the number is rounded once, in base ten, and the
// point is then moved. Nothing is divided, so 999.6 us cannot come out as "1000 us".

namespace payoff {
namespace {

using detail::Dimension;
using detail::Unit;
using detail::UnitUse;

// d1 d2 d3 ... x 10^exponent, with the point after d1.
struct Decimal {
  bool negative = false;
  std::string digits;
  int exponent = 0;
};

Decimal round_to(double number, int significant_digits) {
  detail::DecimalBuffer buffer{};
  std::string_view text = detail::write_scientific(buffer, number, significant_digits - 1);
  Decimal result;
  result.negative = text.starts_with('-');
  if (result.negative) {
    text.remove_prefix(1);
  }
  const std::size_t mark = text.find('e');
  for (const char c : text.substr(0, mark)) {
    if (c != '.') {
      result.digits += c;
    }
  }
  std::string_view exponent = text.substr(mark + 1);
  if (exponent.starts_with('+')) {
    exponent.remove_prefix(1);
  }
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), result.exponent);
  return result;
}

// The digits with the point moved so that one unit is 10^decade; no trailing zeros.
std::string place_point(const Decimal& decimal, int decade) {
  const int whole_digits = decimal.exponent - decade + 1;
  std::string text;
  if (whole_digits <= 0) {
    text = "0." + std::string(static_cast<std::size_t>(-whole_digits), '0') + decimal.digits;
  } else {
    const auto whole = static_cast<std::size_t>(whole_digits);
    text = decimal.digits;
    if (text.size() <= whole) {
      text.append(whole - text.size(), '0');
    } else {
      text.insert(whole, ".");
    }
  }
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) {
      text.pop_back();
    }
  }
  return decimal.negative ? "-" + text : text;
}

std::string not_finite(double number) {
  if (std::isnan(number)) {
    return "nan";
  }
  return number > 0 ? "inf" : "-inf";
}

// The largest printing unit that the rounded number reaches, else the smallest one.
const Unit& fitting_unit(const Dimension& dimension, UnitUse use, int exponent) {
  const Unit* best = nullptr;
  const Unit* smallest = nullptr;
  for (const Unit& unit : dimension.units) {
    if (unit.use != use) {
      continue;
    }
    if (smallest == nullptr || unit.decade < smallest->decade) {
      smallest = &unit;
    }
    if (unit.decade <= exponent && (best == nullptr || unit.decade > best->decade)) {
      best = &unit;
    }
  }
  return best != nullptr ? *best : *smallest;
}

std::string print(double si, const Dimension& dimension, UnitUse use = UnitUse::print) {
  const double number = use == UnitUse::print_bits ? si * 8.0 : si;  // exact: a power of two
  if (!std::isfinite(number)) {
    return not_finite(number) + " " + std::string(fitting_unit(dimension, use, 0).name);
  }
  if (number == 0.0) {
    return "0 " + std::string(fitting_unit(dimension, use, 0).name);
  }
  const Decimal decimal = round_to(number, 3);
  const Unit& unit = fitting_unit(dimension, use, decimal.exponent);
  return place_point(decimal, unit.decade) + " " + std::string(unit.name);
}

// The shortest decimal number n with n * scale == si exactly, or nothing.
std::string exact_number(double si, double scale) {
  detail::DecimalBuffer buffer{};
  const std::string_view text = detail::write_shortest(buffer, si / scale);
  return detail::read_decimal(text).number * scale == si ? std::string(text) : std::string();
}

std::string print_exact(double si, const Dimension& dimension, bool bits_only) {
  std::string best;
  std::size_t best_cost = 0;
  for (const Unit& unit : dimension.units) {
    const bool in_bits = unit.use == UnitUse::print_bits;
    if (unit.use == UnitUse::alias || (bits_only && !in_bits)) {
      continue;
    }
    const std::string number = exact_number(si, unit.scale);
    if (number.empty()) {
      continue;
    }
    const double magnitude = std::abs(si / unit.scale);
    // Rates of links are said in bits, sizes in bytes.
    const bool of_the_field = !in_bits || &dimension != &detail::size_dimension;
    const bool usual = of_the_field && (si == 0.0 || (magnitude >= 1.0 && magnitude < 1024.0));
    // A number from 1 to 1023 reads better than a shorter text outside of that.
    const std::size_t cost = number.size() + unit.name.size() + (usual ? 0 : 4);
    if (best.empty() || cost < best_cost) {
      best = number + " " + std::string(unit.name);
      best_cost = cost;
    }
  }
  return best;
}

}  // namespace

std::string to_text(Seconds time) { return print(time.si, detail::time_dimension); }
std::string to_text(Bytes size) { return print(size.si, detail::size_dimension); }
std::string to_text(Bandwidth bandwidth) {
  return print(bandwidth.si, detail::bandwidth_dimension);
}
std::string to_text(Flops work) { return print(work.si, detail::work_dimension); }
std::string to_text(FlopRate rate) { return print(rate.si, detail::rate_dimension); }
std::string link_rate_text(Bandwidth bandwidth) {
  return print(bandwidth.si, detail::bandwidth_dimension, UnitUse::print_bits);
}

std::string number_text(double number, int significant_digits) {
  if (!std::isfinite(number)) {
    return not_finite(number);
  }
  if (number == 0.0) {
    return "0";
  }
  const Decimal decimal = round_to(number, significant_digits);
  if (decimal.exponent >= -4 && decimal.exponent < std::max(7, significant_digits)) {
    return place_point(decimal, 0);
  }
  return place_point(decimal, decimal.exponent) + "e" + std::to_string(decimal.exponent);
}

std::string percent_text(double ratio) { return number_text(ratio * 100.0) + " %"; }

template <class Q>
std::string exact_text(Q quantity) {
  return print_exact(quantity.si, *detail::dimension_of<Q>, false);
}

std::string exact_link_rate_text(Bandwidth bandwidth) {
  return print_exact(bandwidth.si, detail::bandwidth_dimension, true);
}

template std::string exact_text<Seconds>(Seconds);
template std::string exact_text<Bytes>(Bytes);
template std::string exact_text<Bandwidth>(Bandwidth);
template std::string exact_text<Flops>(Flops);
template std::string exact_text<FlopRate>(FlopRate);

}  // namespace payoff
