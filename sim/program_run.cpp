// SPDX-License-Identifier: Apache-2.0
#include "sim/program_run.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>

#include "sim/engine.hpp"
#include "sim/invariant.hpp"
#include "sim/links.hpp"
#include "sim/program_progress.hpp"

namespace payoff::sim {
namespace {

class Runner {
 public:
  Runner(const Program& program, Bytes size, std::span<const PhasePrice> phases, Routing* routing,
         LinkCapacities left)
      : size_(size),
        routing_(routing),
        progress_(program),
        ways_of_(program.places()),
        lately_(program.places()) {
    std::uint32_t steps = 0;
    for (const PhasePrice& phase : phases) {
      prices_.push_back(phase.price);
      phase_ends_.push_back(steps += phase.steps);
    }
    PAYOFF_INVARIANT(steps == program.steps(), "phases are not all steps of a program");
    if (routing != nullptr) {
      const LinkGraph& links = routing->graph().links;
      PAYOFF_INVARIANT(links.ranks() >= program.places(),
                       "a program has more ranks than its graph");
      for (EdgeId edge = 0; edge < links.edges().size(); ++edge) {
        capacities_.push_back(left.empty() ? links.edges()[edge].capacity : left[edge]);
        resources_.push_back(engine_.add_resource({capacities_.back()}));
      }
      result_.edge_bytes.resize(links.edges().size());
    }
  }

  ProgramRun run() {
    progress_.begin(ready_);
    start_ready();
    while (engine_.advance()) {
      for (const Completion& done : engine_.completed()) {
        const auto step = static_cast<std::uint32_t>(done.tag >> 32U);
        progress_.arrived({step, static_cast<std::uint32_t>(done.tag)}, ready_);
        start_ready();
      }
    }
    result_.beyond_clock = engine_.problem().has_value();
    result_.time = to_seconds(engine_.now());
    result_.trace_hash = engine_.trace_hash();
    return std::move(result_);
  }

 private:
  void start_ready() {
    for (const ProgramProgress::SendId& id : ready_) {
      start(id);
    }
    ready_.clear();
  }

  // The links from one place to another, the narrowest of them, and what the last send used of
  // them.
  struct Way {
    std::vector<EdgeShare> route;
    double narrowest = std::numeric_limits<double>::infinity();
    Seconds latency{};
    std::vector<Use> uses;
  };
  static constexpr std::uint32_t several = 0xffffffff;
  // What a rank sent last, and what that asked of the engine: most of what it sends is alike. In
  // one cache line, because ranks come in no order.
  struct alignas(64) Lately {
    Bytes bytes{-1};
    double part{};  // of what its rank may send at once
    Bytes work;
    double share_ratio{1};
    SimTime wait;
    Use only{{several}, 0};  // all of it over one link, which is numbered as its resource is
    Rank to{};
    std::uint32_t phase{};
  };

  // Kept for later steps: most programs send along few ways.
  Way& known_way(const PlacedSend& send) {
    static constexpr std::size_t most_kept = 100'000;
    const std::uint64_t flow = flow_between(send.from, send.to);
    const auto known = ways_.find(flow);
    if (known != ways_.end()) {
      return known->second;
    }
    if (ways_.size() >= most_kept) {
      ways_.clear();
      std::fill(lately_.begin(), lately_.end(), Lately{});
    }
    Way& added = ways_[flow];
    if (routing_ == nullptr) {
      return added;
    }
    added.route = routing_->route(send.from, send.to, flow);
    added.latency = routing_->latency(send.from, send.to, flow);
    for (const EdgeShare& part : added.route) {
      added.narrowest = std::min(added.narrowest, capacities_[part.edge].si / part.share);
    }
    return added;
  }

  std::uint32_t phase_of(std::uint32_t step) const {
    const auto end = std::upper_bound(phase_ends_.begin(), phase_ends_.end(), step);
    return static_cast<std::uint32_t>(end - phase_ends_.begin());
  }

  void start(const ProgramProgress::SendId& id) {
    const PlacedSend send = progress_.send(id);
    const std::uint32_t phase = phase_of(id.step);
    const Bytes bytes = size_ * send.share;
    const double part = prices_[phase].of_rank ? send.part : 1.0;
    Lately& last = lately_[send.from];
    if (last.to != send.to || last.phase != phase || last.bytes != bytes || last.part != part) {
      last = prepared(send, phase, bytes, part);
    }
    std::span<const Use> uses{&last.only, 1};
    if (last.only.resource.index == several) {
      const Way& way = *ways_of_[send.from];
      uses = way.uses;
      for (const EdgeShare& part_of_route : way.route) {
        result_.edge_bytes[part_of_route.edge] += bytes * part_of_route.share;
      }
    } else {
      result_.edge_bytes[last.only.resource.index] += bytes;
    }
    ++result_.sends;
    (void)engine_.start({.size = last.work,
                         .uses = uses,
                         .rate_bound = full_rate,
                         .share_ratio = last.share_ratio,
                         .latency = last.wait,
                         .key = id.step,
                         .tag = std::uint64_t{id.step} << 32U | id.index});
  }

  Lately prepared(const PlacedSend& send, std::uint32_t phase, Bytes bytes, double part) {
    Way& way = known_way(send);
    ways_of_[send.from] = &way;
    const SendPrice& price = prices_[phase];
    const bool by_links = !price.of_rank && way.latency > 0_s;
    const Seconds latency = by_links ? way.latency : price.latency;
    // A send's own limit: its part of what its rank sends, and the narrowest link of its route.
    const double bound =
        price.of_rank ? std::min(way.narrowest, price.of_rank->si * part) : way.narrowest;
    PAYOFF_INVARIANT(std::isfinite(bound) || bytes <= 0_B, "a send has neither price nor route");
    Lately made;
    made.bytes = bytes;
    made.part = part;
    made.to = send.to;
    made.phase = phase;
    made.wait = to_sim_time(latency).value_or(never);
    way.uses.clear();
    if (bytes <= 0_B) {
      return made;
    }
    // Progress in picoseconds of the time alone, as in sim/links: alone it takes that exactly.
    const auto moving = to_sim_time(bytes / Bandwidth{bound});
    if (!moving) {
      made.wait = never;  // one that does not fit the clock never arrives
    }
    made.work = progress(moving.value_or(SimTime{}));
    if (made.work > 0_B) {
      made.share_ratio = std::clamp(made.work / bytes, least_share, most_share);
      for (const EdgeShare& link : way.route) {
        way.uses.push_back(
            {resources_[link.edge], below_rounding * (bytes * link.share / made.work)});
      }
    }
    if (way.uses.size() == 1 && way.route.front().share == 1.0) {
      PAYOFF_INVARIANT(way.uses.front().resource.index == way.route.front().edge,
                       "resources are not numbered as links are");
      made.only = way.uses.front();
    }
    return made;
  }

  Bytes size_;
  std::vector<SendPrice> prices_;          // of the phases
  std::vector<std::uint32_t> phase_ends_;  // the steps after them
  Routing* routing_;
  Engine engine_;
  std::vector<Bandwidth> capacities_;  // of the edges
  std::vector<ResourceId> resources_;
  ProgramProgress progress_;
  std::vector<ProgramProgress::SendId> ready_;
  std::vector<Way*> ways_of_;                    // of what a sender sent last
  std::vector<Lately> lately_;                   // by sender
  std::unordered_map<std::uint64_t, Way> ways_;  // looked up only, in no order
  ProgramRun result_;
};

// Of the size, by rank, what it sends together.
std::vector<double> shares_of_ranks(const Program& program, const std::vector<Send>& sends) {
  std::vector<double> shares(program.places());
  for (const Send& send : sends) {
    shares[send.from] += program.share(send);
  }
  return shares;
}

double busiest_share(const Program& program, std::uint32_t first, std::uint32_t steps) {
  if (program.segments() > 1) {
    return static_cast<double>(steps) / program.segments();
  }
  if (program.lanes() > 0) {  // what is longest is under way in every step
    double longest = 0;
    for (std::uint32_t chunk = 0; chunk < program.chunks(); ++chunk) {
      longest = std::max(longest, program.share(chunk));
    }
    return longest * steps * program.lanes();
  }
  double together = 0;
  std::vector<Send> sends;
  for (std::uint32_t step = first; step < first + steps; ++step) {
    program.sends(step, sends);
    const std::vector<double> shares = shares_of_ranks(program, sends);
    together += *std::max_element(shares.begin(), shares.end());
  }
  return together;
}

}  // namespace

double busiest_share(const Program& program) { return busiest_share(program, 0, program.steps()); }

PhasePrice phase_price(const Program& program, std::uint32_t first, std::uint32_t steps, Bytes size,
                       Seconds time, Seconds latency) {
  PAYOFF_INVARIANT(time > 0_s, "steps are priced that take no time");
  constexpr double below_all = 1 - 1e-6;  // a price whose latency is all of it needs a bandwidth
  latency = std::min(latency, time * below_all);
  return {steps,
          {latency / static_cast<double>(steps),
           size * busiest_share(program, first, steps) / (time - latency)}};
}

SendPrice send_price(const Program& program, Bytes size, Seconds time, Seconds latency) {
  return phase_price(program, 0, program.steps(), size, time, latency).price;
}

ProgramRun run_phases(const Program& program, Bytes size, std::span<const PhasePrice> phases,
                      Routing* routing, LinkCapacities left) {
  return Runner(program, size, phases, routing, left).run();
}

ProgramRun run(const Program& program, Bytes size, const SendPrice& price, Routing* routing) {
  const PhasePrice all{program.steps(), price};
  return run_phases(program, size, {&all, 1}, routing);
}

}  // namespace payoff::sim
