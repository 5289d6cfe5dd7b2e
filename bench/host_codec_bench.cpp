// SPDX-License-Identifier: Apache-2.0

// What one core streams through the loops of codecs that run on a host: the numbers `host.core` of
// the methods `*_host` in profiles/compression. The loops are plain C++ as a compiler leaves them,
// counted as those files count: 4 bytes a float read or written, one bit a packed sign. A loop of
// one thread, arrays far beyond the caches, processor time, the fastest of several runs.
//
//   host_codec_bench [ELEMENTS]      16,777,216 unless told otherwise
//
// A ratio of every codec to a copy of the same array is printed beside it.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace {

constexpr std::size_t word_bits = 32;
constexpr int runs = 7;

struct Arrays {
  explicit Arrays(std::size_t n) : gradient(n), error(n), words(n / word_bits + 1) {
    std::uint32_t state = 1;
    for (float& value : gradient) {
      state = state * 1664525U + 1013904223U;
      value = static_cast<float>(static_cast<std::int32_t>(state));
    }
  }

  std::vector<float> gradient;
  std::vector<float> error;
  std::vector<std::uint32_t> words;
  std::vector<std::uint32_t> positions;
  std::vector<float> values;
};

// 12 bytes an element.
void add_error(Arrays& a) {
  for (std::size_t i = 0; i < a.gradient.size(); ++i) {
    a.gradient[i] += a.error[i];
  }
}

// 4.
float mean_magnitude(const Arrays& a) {
  double sum = 0;
  for (const float value : a.gradient) {
    sum += static_cast<double>(std::abs(value));
  }
  return static_cast<float>(sum / static_cast<double>(a.gradient.size()));
}

// 4 + 1/8.
void pack_signs(Arrays& a) {
  for (std::size_t word = 0; word < a.gradient.size() / word_bits; ++word) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < word_bits; ++i) {
      bits = bits << 1U | (a.gradient[word * word_bits + i] > 0 ? 1U : 0U);
    }
    a.words[word] = bits;
  }
}

// 4 + 1/8 into `out`; 8 + 1/8 where it is taken from the gradient.
void unpack_signs(const Arrays& a, float scale, std::vector<float>& out, bool subtract) {
  for (std::size_t word = 0; word < out.size() / word_bits; ++word) {
    std::uint32_t bits = a.words[word];
    for (std::size_t i = word_bits; i-- > 0; bits >>= 1U) {
      const float value = (bits & 1U) != 0 ? scale : -scale;
      const std::size_t at = word * word_bits + i;
      out[at] = subtract ? a.gradient[at] - value : value;
    }
  }
}

// 4, and what it keeps.
void keep_above(Arrays& a, float threshold) {
  a.positions.clear();
  a.values.clear();
  for (std::size_t i = 0; i < a.gradient.size(); ++i) {
    const float value = a.gradient[i];
    if (std::isfinite(value) && std::abs(value) >= threshold) {
      a.positions.push_back(static_cast<std::uint32_t>(i));
      a.values.push_back(value);
    }
  }
}

// 8 to copy, then what is kept; 4 to fill.
void clear_kept(Arrays& a) {
  std::memcpy(a.error.data(), a.gradient.data(), a.gradient.size() * sizeof(float));
  for (const std::uint32_t at : a.positions) {
    a.error[at] = 0;
  }
}

double seconds_of(const std::function<void()>& work) {
  double least = 1e9;
  for (int run = 0; run < runs; ++run) {
    const std::clock_t start = std::clock();
    work();
    const auto took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    least = std::min(least, took);
  }
  return least;
}

void report(const std::string& name, double bytes, const std::function<void()>& work, double copy) {
  const double rate = bytes / seconds_of(work) / 1e9;
  fmt::print("{:<24} {:>6.2f} GB/s {:>6.2f} of a copy\n", name, rate, rate / copy);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : std::size_t{1} << 24U;
  const auto elements = static_cast<double>(n);
  Arrays a(n);
  // Of numbers that are uniform up to 2^31, 1 % are above.
  constexpr float threshold = 0.99F * 2147483648.0F;
  const double copy = 8 * elements / seconds_of([&] { a.error = a.gradient; }) / 1e9;
  fmt::print("{:<24} {:>6.2f} GB/s\n", "copy", copy);
  const auto of_loop = [&](const char* name, double bytes, const std::function<void()>& work) {
    report(name, bytes * elements, work, copy);
  };
  float scale = 0;
  of_loop("add", 12, [&] { add_error(a); });
  of_loop("copy and clear kept", 8, [&] { clear_kept(a); });
  of_loop("mean magnitude", 4, [&] { scale += mean_magnitude(a); });
  of_loop("pack signs", 4.125, [&] { pack_signs(a); });
  of_loop("unpack signs", 4.125, [&] { unpack_signs(a, scale, a.error, false); });
  of_loop("subtract signs", 8.125, [&] { unpack_signs(a, scale, a.error, true); });
  of_loop("scan by threshold", 4, [&] { keep_above(a, threshold); });
  return 0;
}
