// SPDX-License-Identifier: Apache-2.0
#include "model/unmeasured_price.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/collective.hpp"
#include "model/collective_links.hpp"
#include "model/nccl_constants.hpp"
#include "model/nccl_tuner.hpp"
#include "model/spread_band.hpp"

namespace payoff {

UnmeasuredPrice unmeasured_price(const Cluster& cluster, const Group& group,
                                 const CollectiveTerms& terms, Bytes size, double of_rings) {
  const GroupPaths paths = paths_of(cluster, group);
  const NcclTuner tuner(cluster, paths, newest_nccl);
  const LinkTerms in = terms_inside(cluster, terms, Algorithm::ring, Protocol::simple, paths);
  const LinkTerms out = terms_between(cluster, terms, Protocol::simple, paths,
                                      tuner.most_channels(), node_limit(cluster.network));
  UnmeasuredPrice price;
  price.latency = std::max(in.launch, out.launch) + in.latency() + out.latency();
  // As in CollectiveModel: the wire, and the filling of pipelines.
  const double root = std::sqrt(size.si);
  const double fill = out.root / (1 + out.per_root_full * root);
  const double per_byte = pipelined(in.seconds_per_byte(), out.seconds_per_byte());
  price.time = price.latency + Seconds{(in.root + fill) * root + per_byte * size.si};
  const LinkLaw& law = paths.domains > 1 ? cluster.network.law : cluster.fabric.law;
  const std::array<double, spread_band_count> of_link{law.relative_sd_small, law.relative_sd_middle,
                                                      law.relative_sd_large};
  price.relative_sd = std::hypot(of_link.at(spread_band(size)), of_rings);
  return price;
}

CollectiveTerms collnet_chain_terms(const GroupPaths& paths) {
  const double local = paths.local;
  // A way to the switches and back against one step of a ring, in NCCL's own latencies.
  const nccl::Latencies& known = nccl::latencies_2_28;
  constexpr double collnet_chain_us = 30;
  CollectiveTerms terms;
  terms.steps_inside = 2 * (local - 1);
  terms.steps_between = collnet_chain_us / known.network.ring[2];
  terms.depth_inside = local - 1;
  terms.depth_between = 2;
  // As many chains as ranks, each with its part: all ranks but one pass it on, each way.
  terms.bytes_inside = 2 * (local - 1) / local;
  terms.bytes_between = 1;
  return terms;
}

}  // namespace payoff
