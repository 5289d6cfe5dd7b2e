// SPDX-License-Identifier: Apache-2.0
#include "model/host_chains.hpp"

#include <algorithm>

namespace payoff {

void HostChains::begin(const CodecCall* call, double now) {
  ++running_;
  enter({call, 0}, now);
  find_next();
}

void HostChains::enter(const Job& job, double now) {
  const HostLeg& leg = job.call->legs[job.leg];
  Server& server = servers_[static_cast<std::size_t>(leg.server)];
  if (server.leg != nullptr || !server.waiting.empty()) {
    server.waiting.push(job);
  } else {
    start(server, job, now);
  }
}

void HostChains::start(Server& server, const Job& job, double now) {
  const HostLeg& leg = job.call->legs[job.leg];
  if (leg.time <= 0.0) {
    leave(job, now);
    return;
  }
  server.job = job;
  server.leg = &leg;
  server.end = now + leg.time;
}

void HostChains::leave(const Job& job, double now) {
  if (job.leg + 1 < job.call->legs.size()) {
    enter({job.call, job.leg + 1}, now);
    return;
  }
  --running_;
  done_.push(job.call);
}

void HostChains::advance(double now) {
  while (next_ <= now) {
    const double date = next_;
    for (Server& server : servers_) {
      if (server.leg == nullptr || server.end > date) {
        continue;
      }
      const Job job = server.job;
      server.leg = nullptr;
      leave(job, date);
      while (server.leg == nullptr && !server.waiting.empty()) {
        start(server, server.waiting.pop(), date);
      }
    }
    find_next();
  }
}

void HostChains::find_next() {
  next_ = never;
  for (const Server& server : servers_) {
    if (server.leg != nullptr) {
      next_ = std::min(next_, server.end);
    }
  }
}

double HostChains::copy_memory_share() const {
  double share = 0.0;
  for (const HostServer copy : {HostServer::copy_out, HostServer::copy_in}) {
    const HostLeg* leg = server(copy).leg;
    share += leg != nullptr ? leg->memory_share : 0.0;
  }
  return share;
}

const HostLeg* HostChains::working() const { return server(HostServer::cores).leg; }

const HostLeg* HostChains::copying() const {
  const HostLeg* in = server(HostServer::copy_in).leg;
  return in != nullptr ? in : server(HostServer::copy_out).leg;
}

void HostChains::take(const HostChains& other, double delay) {
  for (std::size_t s = 0; s < servers_.size(); ++s) {
    servers_[s].waiting.take(other.servers_[s].waiting);
    servers_[s].job = other.servers_[s].job;
    servers_[s].leg = other.servers_[s].leg;
    servers_[s].end = other.servers_[s].end + delay;
  }
  done_.take(other.done_);
  running_ = other.running_;
  next_ = other.next_ + delay;
}

}  // namespace payoff
