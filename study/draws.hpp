// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/units.hpp"

// What is not known about a machine, as standard normal latent variables, and seeded draws of them.
// A latent z moves a time by the factor exp(sd * z), so the prediction itself is the median. Draws
// are Latin hypercube samples: every variable takes each of n equally likely strata once, which
// settles medians and quantiles with few draws. Own uniform and normal variates: the standard
// library's distributions differ between implementations.

namespace payoff {

// Shared by everything that runs on the machine, compressed or not. A message feels the deviation
// of the whole network and, in equal parts, that of its own kind: reductions, gathers and exchanges
// by other laws, small messages (latency) and large ones (bandwidth) by other parts of them.
//
// Links inside nodes and between them deviate alike until somebody measures those inside alone:
// then the variables from `first_inside` on say how much more a message inside a node deviates, the
// network's first, then those of each kind. They are zero before.
namespace latent {
inline constexpr std::size_t compute = 0;
inline constexpr std::size_t network = 1;
inline constexpr std::size_t first_of_messages = 2;  // two sizes for each of three families
inline constexpr std::size_t first_inside = 8;
}  // namespace latent
inline constexpr std::size_t latent_count = latent::first_inside;  // of a machine as it is believed
inline constexpr std::size_t inside_count = latent_count - latent::network;
inline constexpr std::size_t all_latents = latent_count + inside_count;
using Latents = std::array<double, all_latents>;
using LatentMatrix = std::array<Latents, all_latents>;

[[nodiscard]] constexpr LatentMatrix identity_matrix() {
  LatentMatrix m{};
  for (std::size_t i = 0; i < latent_count; ++i) {
    m[i][i] = 1.0;
  }
  return m;  // nothing is known to deviate inside nodes alone
}

struct Draw {
  Latents shared{};
  std::vector<double> codecs;  // one variable for each compression method
  double pairs{};  // what work does to what runs beside it, where nobody has measured it
};

// What is believed of the shared latents: mean + factor * standard normal. The default is the
// prior.
struct Belief {
  Latents mean{};
  LatentMatrix factor = identity_matrix();
  bool tells_inside{};  // links inside nodes were measured alone
};

// What is left of the uncertainty of each latent: 1 before anything was measured.
[[nodiscard]] Latents deviations(const Belief& belief);
// The same belief, links inside nodes by themselves instead of by what they have beyond the others.
[[nodiscard]] Belief with_inside_apart(Belief belief);

[[nodiscard]] std::vector<Draw> make_draws(std::size_t count, std::uint64_t seed,
                                           std::size_t codecs, const Belief& belief = {});

// Inverse of the normal distribution, 0 < p < 1 (Wichura 1988, algorithm AS 241, about 1e-16).
[[nodiscard]] double normal_quantile(double p);
// And the normal distribution itself.
[[nodiscard]] double normal_probability(double z);
// Standard deviations to either side within which 90 % of it lie, as rounded in intervals.
inline constexpr double deviations_of_90_percent = 1.645;

// Quantile of a sample by linear interpolation between order statistics; 0 <= p <= 1.
[[nodiscard]] double quantile(std::vector<double> sample, double p);

}  // namespace payoff
