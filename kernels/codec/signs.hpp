// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/portable.hpp"

// One bit a value. signSGD with majority vote: Bernstein et al., arXiv 1810.05291. EF-signSGD:
// Karimireddy et al., arXiv 1901.09847, algorithm 1: p = g + e, sent sign(p) * mean(|p|), and
// e becomes p less what was sent. A set bit is a negative value; zero, also -0, counts as positive.
// Bit j of word i is the value 32 i + j; the bits past the end are zero.

namespace payoff::kernels {

inline constexpr std::size_t signs_per_word = 32;

[[nodiscard]] PAYOFF_HD inline bool is_negative(float value) { return value < 0.0F; }

[[nodiscard]] PAYOFF_HD inline float signed_scale(std::uint32_t word, std::size_t index,
                                                  float scale) {
  return ((word >> (index % signs_per_word)) & 1U) != 0U ? -scale : scale;
}

// The error that a value leaves behind once its sign has been sent.
[[nodiscard]] PAYOFF_HD inline float sign_residual(float corrected, float scale) {
  return corrected - (is_negative(corrected) ? -scale : scale);
}

// 32 votes at once: one counter a bit, kept as bit planes and increased with carries.
class VoteCounter {
 public:
  static constexpr int planes = 8;  // up to 255 workers

  PAYOFF_HD void add(std::uint32_t word) {
    for (int plane = 0; plane < planes; ++plane) {
      const std::uint32_t carry = counts_[plane] & word;
      counts_[plane] ^= word;
      word = carry;
    }
  }

  // The bits whose count exceeds `threshold`, compared from the highest plane down.
  [[nodiscard]] PAYOFF_HD std::uint32_t more_than(std::uint32_t threshold) const {
    std::uint32_t above = 0;
    std::uint32_t equal = 0xffffffffU;
    for (int plane = planes - 1; plane >= 0; --plane) {
      const bool set = ((threshold >> static_cast<unsigned>(plane)) & 1U) != 0U;
      above |= set ? 0U : equal & counts_[plane];
      equal &= set ? counts_[plane] : ~counts_[plane];
    }
    return above;
  }

 private:
  std::uint32_t counts_[planes] = {};
};

// The majority of `workers` words that lie `stride` apart: negative where more than half are, so a
// tie is positive.
[[nodiscard]] PAYOFF_HD inline std::uint32_t majority(const std::uint32_t* words,
                                                      std::size_t stride, std::uint32_t workers) {
  VoteCounter votes;
  for (std::uint32_t worker = 0; worker < workers; ++worker) {
    votes.add(words[worker * stride]);
  }
  return votes.more_than(workers / 2U);
}

}  // namespace payoff::kernels
