// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <type_traits>

// Units as types. A Quantity is a double in SI base units (seconds, bytes, floating-point
// operations) whose exponents are part of its type, so that adding a time to a size, or passing
// Gb/s where bytes/s is meant, does not compile. Dividing two equal quantities gives a plain
// double: `t / 1_us` is how a number leaves the type system.
//
// GB is 1e9 bytes, GiB is 2^30, Gb is 1e9 bits. The type is a literal type of one double and
// compiles to the same code as a bare double.

namespace payoff {

template <int SecondExponent, int ByteExponent, int FlopExponent>
struct Quantity {
  double si{};  // in s^SecondExponent * byte^ByteExponent * flop^FlopExponent

  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity& operator+=(Quantity other) {
    si += other.si;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    si -= other.si;
    return *this;
  }
  constexpr Quantity& operator*=(double factor) {
    si *= factor;
    return *this;
  }
  constexpr Quantity& operator/=(double divisor) {
    si /= divisor;
    return *this;
  }

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.si + b.si}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.si - b.si}; }
  friend constexpr Quantity operator-(Quantity a) { return {-a.si}; }
  friend constexpr Quantity operator*(Quantity a, double b) { return {a.si * b}; }
  friend constexpr Quantity operator*(double a, Quantity b) { return {a * b.si}; }
  friend constexpr Quantity operator/(Quantity a, double b) { return {a.si / b}; }
};

using Seconds = Quantity<1, 0, 0>;
using Bytes = Quantity<0, 1, 0>;
using Flops = Quantity<0, 0, 1>;
using Bandwidth = Quantity<-1, 1, 0>;
using FlopRate = Quantity<-1, 0, 1>;
using SecondsPerByte = Quantity<1, -1, 0>;

// A number with a unit of its own.
struct Watts {
  double si{};

  constexpr auto operator<=>(const Watts&) const = default;
};

// What a node costs: US dollars a second in SI.
struct Price {
  double si{};

  constexpr auto operator<=>(const Price&) const = default;
};

namespace detail {
// A product or quotient without dimension is a plain double.
template <int S, int B, int F>
constexpr auto dimensioned(double si) {
  if constexpr (S == 0 && B == 0 && F == 0) {
    return si;
  } else {
    return Quantity<S, B, F>{si};
  }
}
}  // namespace detail

template <int S1, int B1, int F1, int S2, int B2, int F2>
constexpr auto operator*(Quantity<S1, B1, F1> a, Quantity<S2, B2, F2> b) {
  return detail::dimensioned<S1 + S2, B1 + B2, F1 + F2>(a.si * b.si);
}

template <int S1, int B1, int F1, int S2, int B2, int F2>
constexpr auto operator/(Quantity<S1, B1, F1> a, Quantity<S2, B2, F2> b) {
  return detail::dimensioned<S1 - S2, B1 - B2, F1 - F2>(a.si / b.si);
}

template <int S, int B, int F>
constexpr Quantity<-S, -B, -F> operator/(double a, Quantity<S, B, F> b) {
  return {a / b.si};
}

inline namespace literals {
// One macro, undefined below: every literal exists for whole and for decimal numbers.
// NOLINTBEGIN(bugprone-macro-parentheses): a type's name cannot be parenthesised
#define PAYOFF_LITERAL(suffix, type, scale)                      \
  constexpr type operator""_##suffix(long double value) {        \
    return {static_cast<double>(value) * (scale)};               \
  }                                                              \
  constexpr type operator""_##suffix(unsigned long long value) { \
    return {static_cast<double>(value) * (scale)};               \
  }
PAYOFF_LITERAL(s, Seconds, 1.0)
PAYOFF_LITERAL(ms, Seconds, 1e-3)
PAYOFF_LITERAL(us, Seconds, 1e-6)
PAYOFF_LITERAL(ns, Seconds, 1e-9)
PAYOFF_LITERAL(B, Bytes, 1.0)
PAYOFF_LITERAL(KB, Bytes, 1e3)
PAYOFF_LITERAL(MB, Bytes, 1e6)
PAYOFF_LITERAL(GB, Bytes, 1e9)
PAYOFF_LITERAL(KiB, Bytes, 1024.0)
PAYOFF_LITERAL(MiB, Bytes, 1024.0 * 1024.0)
PAYOFF_LITERAL(GiB, Bytes, 1024.0 * 1024.0 * 1024.0)
PAYOFF_LITERAL(flop, Flops, 1.0)
PAYOFF_LITERAL(GFLOP, Flops, 1e9)
PAYOFF_LITERAL(TFLOP, Flops, 1e12)
PAYOFF_LITERAL(Gbps, Bandwidth, 1e9 / 8.0)
PAYOFF_LITERAL(GBps, Bandwidth, 1e9)
PAYOFF_LITERAL(TBps, Bandwidth, 1e12)
PAYOFF_LITERAL(TFLOPps, FlopRate, 1e12)
#undef PAYOFF_LITERAL
// NOLINTEND(bugprone-macro-parentheses)
}  // namespace literals

static_assert(sizeof(Seconds) == sizeof(double));
static_assert(std::is_trivially_copyable_v<Bandwidth>);

}  // namespace payoff
