// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/draws.hpp"

// What decides a verdict: how much of the variance of the speedup (of its logarithm) goes back to
// each thing that is not known, and how far the speedup moves when that thing alone is as far off
// as in 5 and in 95 % of the draws.
//
// Shares come from the draws that the interval is made of, without a further evaluation
// (calibrate/variance_shares.hpp). Where --observed conditions the draws the variables hang
// together; a share may then be below 0. What the shares leave to 1 belongs to variables acting
// together, and to thresholds.

namespace payoff {

enum class Unknown {
  compute,
  network,
  small_reductions,
  large_reductions,
  small_gathers,
  large_gathers,
  small_exchanges,
  large_exchanges,
  codec,
  interference
};
inline constexpr std::size_t unknown_count = 10;
[[nodiscard]] std::string_view name(Unknown unknown);
// Of a latent of study/draws.hpp, those of links inside nodes too.
[[nodiscard]] std::string latent_name(std::size_t latent);

struct Influence {
  Unknown unknown{};
  double variance_share{};
  double speedup_low{};  // of both, and of the middle
  double speedup_high{};
};

// Of all unknowns that move the speedup, the largest share first. `speedups` are those of `draws`;
// `speedup_of` is asked for three further draws an unknown; `codecs` are the places of the
// strategy's in Draw::codecs, which are one unknown together.
[[nodiscard]] std::vector<Influence> influences(
    const std::vector<Draw>& draws, const std::vector<double>& speedups,
    std::span<const std::size_t> codecs, const Belief& belief,
    const std::function<double(const Draw&)>& speedup_of);

}  // namespace payoff
