// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/families/selecting.cuh"
#include "kernels/families/sparse_operators.cuh"

// A choice as a framework's operators make it: magnitudes to memory, a byte a value that says
// whether it is chosen, how many are, their places, the values there.

namespace payoff::kernels {

struct Masks {
  Shared<float> magnitudes;
  Shared<Byte> mask;

  explicit Masks(std::size_t count)
      : magnitudes(array_of<float>(count)), mask(array_of<Byte>(count)) {}

  void take_magnitudes(Stream s, const float* in, std::size_t n) const {
    map<4>(s, in, magnitudes->data(), n, Magnitude{});
  }
  // `threshold` is on the device.
  void compare(Stream s, const float* threshold, std::size_t n) const {
    map<4>(s, magnitudes->data(), mask->data(), n, AtLeast{threshold});
  }
  // Adds to *total what is set.
  void count(Stream s, Word* total, std::size_t n) const {
    launch(s, striding_blocks(n, round_values), block_threads, count_flags, mask->data(), total, n);
  }
  // The places of what is set, behind the *length that are there.
  void places(Stream s, Word* out, Word* length, std::size_t n) const {
    launch(s, striding_blocks(n, round_values), block_threads, places_of_flags, mask->data(), out,
           length, n);
  }
  // What is set of `in`, and how many.
  void entries(Stream s, const float* in, const SparseArrays& out, Word* length,
               std::size_t n) const {
    fill_in_stream(s, length, 0, sizeof(Word));
    places(s, out.indices->data(), length, n);
    launch(s, striding_blocks(n, round_values), block_threads, gather_listed, in,
           out.indices->data(), length, out.values->data());
  }
};

}  // namespace payoff::kernels
