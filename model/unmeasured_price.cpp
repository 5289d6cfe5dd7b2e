// SPDX-License-Identifier: Apache-2.0
#include "model/unmeasured_price.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "model/collective.hpp"
#include "model/collective_links.hpp"
#include "model/nccl_constants.hpp"
#include "model/nccl_tuner.hpp"

namespace payoff {

UnmeasuredLaw::UnmeasuredLaw(const Cluster& cluster, const Group& group,
                             const CollectiveTerms& terms, double of_rings) {
  const GroupPaths paths = paths_of(cluster, group);
  const NcclTuner tuner(cluster, paths, newest_nccl);
  const LinkTerms in = terms_inside(cluster, terms, Algorithm::ring, Protocol::simple, paths);
  const LinkTerms out = terms_between(cluster, terms, Protocol::simple, paths,
                                      tuner.most_channels(), node_limit(cluster.network));
  latency_ = std::max(in.launch, out.launch) + in.latency() + out.latency();
  // As in CollectiveModel: the wire, and the filling of pipelines.
  root_ = in.root;
  fill_ = out.root;
  per_root_full_ = out.per_root_full;
  seconds_per_byte_ = pipelined(in.seconds_per_byte(), out.seconds_per_byte());
  const LinkLaw& law = paths.domains > 1 ? cluster.network.law : cluster.fabric.law;
  const BandSds of_link{law.relative_sd_small, law.relative_sd_middle, law.relative_sd_large};
  for (std::size_t band = 0; band < of_link.size(); ++band) {
    relative_sd_.at(band) = std::hypot(of_link.at(band), of_rings);
  }
}

UnmeasuredPrice UnmeasuredLaw::price(Bytes size) const {
  const double root = std::sqrt(size.si);
  const double fill = fill_ / (1 + per_root_full_ * root);
  return {latency_ + Seconds{(root_ + fill) * root + seconds_per_byte_ * size.si}, latency_,
          relative_sd_.at(spread_band(size))};
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
