// SPDX-License-Identifier: Apache-2.0

// The same random platforms and flows in SimGrid and in payoff's engine: completion dates have to
// be equal to 1e-6. SimGrid runs its model CM02 without what it adds for TCP: no window (TCP-gamma
// 0), factors of one, no weight by bandwidth (weight-S 0), no traffic of acknowledgements. What is
// left is max-min sharing after the latency, in which a flow's part is inverse to its latency.
// SimGrid's sends ignore a rate: a bound of ours is a link of its own there. Fat pipes are not
// compared, because SimGrid's slow all their users when the one with the greatest part is full.
// SimGrid can be started once in a process, so all platforms are parts of one.
//
// network/optim is Full, not SimGrid's default (Lazy): with its selective update, 3.32 misses part
// of what changed when several latencies end at one date. It marks what a flow touches through the
// flow's first link only, and stops there if another flow has marked that link before; the flow's
// other links then keep rates that add up to more than their capacity. Five flows show it: over
// links {0,2}, {0,1}, {0,2}, {1}, {0,1} of 100 MB/s and 125 ms, 100 MB each from time 0, the fourth
// ends at 1.125 s with Lazy, as if it were alone, and at 2 s with Full.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

#include "sim/engine.hpp"
#include "tests/sim/random.hpp"

namespace {

using namespace payoff;
namespace s4u = simgrid::s4u;

constexpr double tolerance = 1e-6;

struct LinkSpec {
  std::uint32_t platform = 0;
  double bandwidth = 0.0;  // bytes/s
  double latency = 0.0;    // s
};

struct FlowSpec {
  std::uint32_t platform = 0;
  std::vector<std::uint32_t> links;
  double start = 0.0;  // s
  std::uint64_t bytes = 0;
  double rate_bound = 0.0;  // bytes/s; none if zero
};

struct Scenario {
  std::uint32_t platforms = 0;
  std::vector<LinkSpec> links;
  std::vector<FlowSpec> flows;
};

double log_uniform(sim::Random& random, double low, double high) {
  return low * std::pow(high / low, random.unit());
}

// Links first .. first + count - 1 and flows over them: a platform of its own.
void add_platform(Scenario& scenario, sim::Random& random) {
  const auto first = static_cast<std::uint32_t>(scenario.links.size());
  const std::uint32_t count = random.between(1, 8);
  const bool equal_links = random.chance(0.3);
  const std::uint32_t platform = scenario.platforms++;
  const LinkSpec common{platform, log_uniform(random, 1e8, 1e10), log_uniform(random, 1e-4, 1e-2)};
  for (std::uint32_t i = 0; i < count; ++i) {
    LinkSpec link = common;
    if (!equal_links) {
      link = {platform, log_uniform(random, 1e8, 1e10), log_uniform(random, 1e-4, 1e-2)};
    }
    scenario.links.push_back(link);
  }
  const std::uint32_t flows = random.between(1, 25);
  const double mean_start = log_uniform(random, 1e-2, 1.0);
  for (std::uint32_t i = 0; i < flows; ++i) {
    FlowSpec flow;
    flow.platform = platform;
    for (std::uint32_t link = random.below(count); link < count; link += random.between(1, 3)) {
      flow.links.push_back(first + link);
    }
    flow.start = random.chance(0.3) ? 0.0 : mean_start * random.unit();
    flow.bytes = static_cast<std::uint64_t>(log_uniform(random, 1e6, 1e9));
    if (random.chance(0.3)) {
      flow.rate_bound = log_uniform(random, 1e7, 1e9);
    }
    scenario.flows.push_back(flow);
  }
}

void configure_simgrid() {
  for (const char* option :
       {"network/model:CM02", "network/TCP-gamma:0", "network/latency-factor:1",
        "network/bandwidth-factor:1", "network/weight-S:0", "network/crosstraffic:0",
        "network/optim:Full", "surf/precision:1e-12", "contexts/stack-size:128"}) {
    s4u::Engine::set_config(option);
  }
}

// Two hosts, the route between them, and an actor who sends and notes when it was through.
void add_flow(const FlowSpec& flow, std::size_t index, s4u::NetZone* zone,
              const std::vector<s4u::Link*>& links, double& end) {
  const std::string name = std::to_string(index);
  s4u::Host* source = zone->create_host("source" + name, 1e9)->seal();
  s4u::Host* sink = zone->create_host("sink" + name, 1e9)->seal();
  std::vector<s4u::LinkInRoute> route;
  for (const std::uint32_t link : flow.links) {
    route.emplace_back(links[link]);
  }
  if (flow.rate_bound > 0.0) {
    route.emplace_back(zone->create_link("bound" + name, flow.rate_bound)->seal());
  }
  zone->add_route(source->get_netpoint(), sink->get_netpoint(), nullptr, nullptr, route, false);
  s4u::Actor::create("flow" + name, source, [&end, flow, source, sink] {
    s4u::this_actor::sleep_until(flow.start);
    s4u::CommPtr send = s4u::Comm::sendto_init();  // starts once it has both ends
    send->set_payload_size(flow.bytes);
    send->set_source(source)->set_destination(sink)->wait();
    end = s4u::Engine::get_clock();
  });
}

std::vector<double> run_simgrid(const Scenario& scenario) {
  configure_simgrid();
  s4u::NetZone* root = s4u::create_full_zone("all");
  std::vector<s4u::NetZone*> zones;  // a zone keeps a route for every pair of its hosts
  for (std::uint32_t i = 0; i < scenario.platforms; ++i) {
    zones.push_back(s4u::create_full_zone("platform" + std::to_string(i))->set_parent(root));
  }
  std::vector<s4u::Link*> links;
  for (const LinkSpec& spec : scenario.links) {
    s4u::Link* link =
        zones[spec.platform]->create_link("link" + std::to_string(links.size()), spec.bandwidth);
    link->set_latency(spec.latency);
    links.push_back(link->seal());
  }
  std::vector<double> ends(scenario.flows.size(), -1.0);
  for (std::size_t f = 0; f < scenario.flows.size(); ++f) {
    add_flow(scenario.flows[f], f, zones[scenario.flows[f].platform], links, ends[f]);
  }
  for (s4u::NetZone* zone : zones) {
    zone->seal();
  }
  root->seal();
  s4u::Engine::get_instance()->run();
  return ends;
}

// A flow as an activity; its uses are kept in `uses`.
sim::Activity activity_of(const Scenario& scenario, std::size_t index,
                          const std::vector<sim::ResourceId>& links, std::vector<sim::Use>& uses) {
  const FlowSpec& flow = scenario.flows[index];
  double latency = 0.0;
  uses.clear();
  for (const std::uint32_t link : flow.links) {
    uses.push_back({links[link]});
    latency += scenario.links[link].latency;
  }
  return {.size = {static_cast<double>(flow.bytes)},
          .uses = uses,
          .rate_bound = flow.rate_bound > 0.0 ? Bandwidth{flow.rate_bound} : sim::no_rate_bound,
          .share_ratio = 1.0 / latency,
          .latency = *sim::to_sim_time({latency}),
          .tag = index};
}

std::vector<double> run_payoff(const Scenario& scenario) {
  constexpr std::uint64_t alarm = 1;  // the key of a flow's start
  sim::Engine engine;
  std::vector<sim::ResourceId> links;
  for (const LinkSpec& spec : scenario.links) {
    links.push_back(engine.add_resource({{spec.bandwidth}}));
  }
  for (std::size_t f = 0; f < scenario.flows.size(); ++f) {
    engine.wake_at(*sim::to_sim_time({scenario.flows[f].start}), alarm, f);
  }
  std::vector<double> ends(scenario.flows.size(), -1.0);
  std::vector<sim::Use> uses;
  while (engine.advance()) {
    for (const sim::Completion& done : engine.completed()) {
      if (done.key == alarm) {
        engine.start(activity_of(scenario, done.tag, links, uses));
      } else {
        ends[done.tag] = sim::to_seconds(engine.now()).si;
      }
    }
  }
  return ends;
}

}  // namespace

int main(int argc, char** argv) {
  const s4u::Engine engine(&argc, argv);
  sim::Random random(2022);
  Scenario scenario;
  constexpr int platforms = 120;
  for (int i = 0; i < platforms; ++i) {
    add_platform(scenario, random);
  }
  const std::vector<double> theirs = run_simgrid(scenario);
  const std::vector<double> ours = run_payoff(scenario);
  double worst = 0.0;
  int different = 0;
  for (std::size_t f = 0; f < ours.size(); ++f) {
    const double error = std::abs(ours[f] - theirs[f]) / theirs[f];
    worst = std::max(worst, error);
    if (!(error <= tolerance)) {
      if (different < 10) {
        std::printf("flow %zu: SimGrid %.9f s, payoff %.9f s\n", f, theirs[f], ours[f]);
      }
      ++different;
    }
  }
  std::printf("%d platforms, %zu links, %zu flows: %d differ, largest relative error %.2g\n",
              platforms, scenario.links.size(), scenario.flows.size(), different, worst);
  return different == 0 && ours.size() >= 1000 ? 0 : 1;
}
