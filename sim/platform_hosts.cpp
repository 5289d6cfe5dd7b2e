// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "model/collective.hpp"
#include "model/host_codec.hpp"
#include "sim/platform.hpp"

// What codecs that run on the host share with others: cores of a node, slots, NICs.

namespace payoff::sim {

void Platform::add_hosts(Bandwidth cores) {
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    StageLinks& links = stages_[s];
    if (links.slot_out == no_link) {
      add_slot(s);
    }
    const bool shares_node = s > 0 && has_network() && stages_[s - 1].nic_out == links.nic_out;
    if (s > 0 && (shares_node || !has_network())) {
      links.cores = stages_[s - 1].cores;
      continue;
    }
    links.cores = links_.size();
    links_.push_back({"cores of the node of stage " + std::to_string(s), cores, key_of_cores});
  }
}

Route Platform::on_host(const HostWork& work, std::size_t stage, bool by_cores) const {
  Route route;
  if (stages_.empty()) {
    return route;
  }
  if (by_cores) {
    route.of_one = work.traffic;
    load(route, stages_[stage].cores, work.traffic * sharers_of_host(cluster_, layout_), work.work);
  } else {
    route.of_one = work.copied;
    load(route, work.from_gpu ? stages_[stage].slot_out : stages_[stage].slot_in, work.copied,
         work.copy);
  }
  return route;
}

// No slot: a NIC reads the memory of its host.
Route Platform::between_hosts(const Message& message, std::size_t stage, const Group& hosts) const {
  const Bytes wire = wire_bytes_per_rank(message.collective, message.size, hosts.ranks);
  Route route;
  route.of_one = wire;
  load(route, stages_[stage].nic_out, wire * hosts.rivals, message.alone);
  load(route, stages_[stage].nic_in, wire * hosts.rivals, message.alone);
  return route;
}

}  // namespace payoff::sim
