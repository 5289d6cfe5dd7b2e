// SPDX-License-Identifier: Apache-2.0
#include "model/collective_links.hpp"

#include <algorithm>
#include <cmath>

#include "model/network_post.hpp"

namespace payoff {
namespace {

struct ProtocolLaw {
  Seconds step{};
  double share{};
};

ProtocolLaw law_of(const LinkLaw& law, Algorithm algorithm, Protocol protocol) {
  if (algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree) {
    return {law.step_nvls, law.share_nvls};
  }
  switch (protocol) {
    case Protocol::ll:
      return {law.step_ll, law.share_ll};
    case Protocol::ll128:
      return {law.step_ll128, law.share_ll128};
    default:
      return {law.step_simple, law.share_simple};
  }
}

// Time on the wire grows as more nodes talk: routes collide.
double congestion(const LinkLaw& law, int domains) {
  return domains <= 2 ? 1.0 : 1.0 + law.congestion_per_doubling * std::log2(domains / 2.0);
}

// LL bounces through host memory. Boards with NVSwitch have a PCIe switch between GPU and host; of
// as many words in flight fewer arrive in a second over the longer way (Little's law).
ProtocolLaw law_between(const Cluster& cluster, Protocol protocol) {
  const LinkLaw& law = cluster.network.law;
  ProtocolLaw of_protocol = law_of(law, Algorithm::none, protocol);
  const bool older = cluster.gpu.architecture < Architecture::hopper;
  const bool behind = cluster.fabric.kind == FabricKind::switched && older;
  if (protocol == Protocol::ll && behind) {
    of_protocol.step = of_protocol.step * law.switched_hosts;
    of_protocol.share /= law.switched_hosts;
  }
  return of_protocol;
}

// NCCL moves what sockets carry in one proxy thread of each process (src/proxy.cc). With several
// ranks in a node one process sends to the next node and another receives; alone, one does both.
double directions_of_a_process(const GroupPaths& paths) {
  return paths.local == 1 && paths.rivals == 1 ? 2 : 1;
}

}  // namespace

LinkTerms terms_inside(const Cluster& cluster, const CollectiveTerms& terms, Algorithm algorithm,
                       Protocol protocol, const GroupPaths& paths) {
  if (paths.local < 2) {
    return {};
  }
  const LinkLaw& law = cluster.fabric.law;
  const ProtocolLaw of_protocol = law_of(law, algorithm, protocol);
  const Bandwidth to_all = algorithm == Algorithm::pairwise ? paths.exchange : paths.gpu;
  const Bandwidth nominal = terms.one_flow ? paths.peer : to_all;
  double share = of_protocol.share;
  if (algorithm == Algorithm::nvls_tree && cluster.network.law.share_nvls > 0) {
    share *= cluster.network.law.share_nvls;
  }
  return {.launch = law.launch,
          .steps = terms.steps_inside,
          .step = of_protocol.step,
          .bytes = terms.bytes_inside,
          .nominal = nominal,
          .share = share,
          .achieved = nominal * share,
          .ramp = law.ramp,
          .depth = terms.depth_inside,
          .root = std::sqrt(law.ramp.si * terms.depth_inside / nominal.si)};
}

LinkTerms terms_between(const Cluster& cluster, const CollectiveTerms& terms, Protocol protocol,
                        const GroupPaths& paths, int channels, Bandwidth limit) {
  if (paths.domains < 2) {
    return {};
  }
  const LinkLaw& law = cluster.network.law;
  const ProtocolLaw of_protocol = law_between(cluster, protocol);
  const Bandwidth nominal = terms.one_flow ? paths.rank : paths.domain;
  LinkTerms link{.launch = law.launch,
                 .steps = terms.steps_between,
                 .step = of_protocol.step,
                 .posting = terms.posts_between * network_post(cluster.cpu, protocol),
                 .bytes = terms.bytes_between,
                 .nominal = nominal,
                 .share = of_protocol.share,
                 .achieved = nominal * of_protocol.share,
                 .congestion = congestion(law, paths.domains),
                 .ramp = law.ramp,
                 .depth = terms.depth_between};
  if (limit > Bandwidth{}) {
    link.sockets = limit / (paths.rivals * directions_of_a_process(paths));
    link.achieved = Bandwidth{1 / pipelined(1 / link.achieved.si, 1 / link.sockets.si)};
  }
  link.root = std::sqrt(law.ramp.si * terms.depth_between * link.seconds_per_byte());
  link.per_root_full =
      law.chunk > 0_B ? 1 / std::sqrt(law.chunk.si * channels * terms.depth_between) : 0.0;
  return link;
}

double pipelined(double a, double b) {
  const double slow = std::max(a, b);
  const double ratio = slow > 0 ? std::min(a, b) / slow : 0;
  const double cube = ratio * ratio * ratio;
  return slow * std::pow(1 + cube * cube, 1.0 / 6.0);
}

Rendezvous rendezvous_of(const Cluster& cluster, const CollectiveTerms& terms, Protocol protocol,
                         const GroupPaths& paths) {
  if (protocol != Protocol::ll || !cluster.network.eager || paths.domains < 2) {
    return {};
  }
  return {cluster.network.law.rendezvous * terms.steps_between,
          *cluster.network.eager / terms.share_of_message};
}

}  // namespace payoff
