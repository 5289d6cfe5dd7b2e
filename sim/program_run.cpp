// SPDX-License-Identifier: Apache-2.0
#include "sim/program_run.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <unordered_map>
#include <utility>

#include "sim/engine.hpp"
#include "sim/invariant.hpp"
#include "sim/links.hpp"
#include "sim/program_progress.hpp"

namespace payoff::sim {
namespace {

constexpr double least_share = 1.0 / 65536;
constexpr double most_share = 65535;

class Runner {
 public:
  Runner(const Program& program, Bytes size, std::span<const PhasePrice> phases, Routing* routing,
         LinkCapacities left)
      : program_(program),
        size_(size),
        routing_(routing),
        progress_(program),
        last_ways_(program.places()) {
    for (const PhasePrice& phase : phases) {
      prices_.insert(prices_.end(), phase.steps, phase.price);
    }
    PAYOFF_INVARIANT(prices_.size() == program.steps(), "phases are not all steps of a program");
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
    std::vector<Completion> completed;
    while (engine_.advance()) {
      // A copy: starting what follows writes over the list.
      completed.assign(engine_.completed().begin(), engine_.completed().end());
      for (const Completion& done : completed) {
        const auto step = static_cast<std::uint32_t>(done.tag >> 32U);
        progress_.arrived({step, static_cast<std::uint32_t>(done.tag)}, ready_);
        start_ready();
      }
    }
    PAYOFF_INVARIANT(!engine_.problem(), "a collective lasts longer than the clock");
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

  // The links from one place to another, and the narrowest of them.
  struct Way {
    std::vector<EdgeShare> route;
    double narrowest = std::numeric_limits<double>::infinity();
    Seconds latency{};
  };
  struct LastWay {
    Rank to{};
    const Way* way = nullptr;
  };

  // In most programs a rank sends to the same one again and again.
  const Way& way(const Send& send) {
    LastWay& last = last_ways_[send.from];
    if (last.way == nullptr || last.to != send.to) {
      const Way& found = known_way(send);
      last = {send.to, &found};
    }
    return *last.way;
  }

  // Kept for later steps: most programs send along few ways.
  const Way& known_way(const Send& send) {
    static constexpr std::size_t most_kept = 100'000;
    const std::uint64_t flow = std::uint64_t{send.from} << 32U | send.to;
    const auto known = ways_.find(flow);
    if (known != ways_.end()) {
      return known->second;
    }
    if (ways_.size() >= most_kept) {
      ways_.clear();
      std::fill(last_ways_.begin(), last_ways_.end(), LastWay{});
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

  // A send's own limit: its part of what its rank sends, and the narrowest link of its route.
  double bound_of(const ProgramProgress::SendId& id, const SendPrice& price, const Way& way) const {
    return price.of_rank ? std::min(way.narrowest, price.of_rank->si * progress_.part_of_rank(id))
                         : way.narrowest;
  }

  void start(const ProgramProgress::SendId& id) {
    const Send send = progress_.send(id);
    const SendPrice& price = prices_[id.step];
    const Bytes bytes = size_ * program_.share(send);
    const Way& links = way(send);
    const Seconds latency = price.latency + (price.of_rank ? Seconds{} : links.latency);
    const double bound = bound_of(id, price, links);
    PAYOFF_INVARIANT(std::isfinite(bound) || bytes <= 0_B, "a send has neither price nor route");
    // Progress in picoseconds of the time alone, as in sim/links: alone it takes that exactly.
    const Bytes work =
        bytes > 0_B ? progress(to_sim_time(bytes / Bandwidth{bound}).value_or(never)) : 0_B;
    uses_.clear();
    for (const EdgeShare& part : links.route) {
      result_.edge_bytes[part.edge] += bytes * part.share;
      if (work > 0_B) {
        uses_.push_back({resources_[part.edge], below_rounding * (bytes * part.share / work)});
      }
    }
    ++result_.sends;
    (void)engine_.start(
        {.size = work,
         .uses = uses_,
         .rate_bound = full_rate,
         .share_ratio = work > 0_B ? std::clamp(work / bytes, least_share, most_share) : 1.0,
         .latency = to_sim_time(latency).value_or(never),
         .key = id.step,
         .tag = std::uint64_t{id.step} << 32U | id.index});
  }

  static constexpr double below_rounding = 1 - 1e-9;

  const Program& program_;
  Bytes size_;
  std::vector<SendPrice> prices_;  // of the steps
  Routing* routing_;
  Engine engine_;
  std::vector<Bandwidth> capacities_;  // of the edges
  std::vector<ResourceId> resources_;
  ProgramProgress progress_;
  std::vector<ProgramProgress::SendId> ready_;
  std::vector<LastWay> last_ways_;               // of a sender
  std::unordered_map<std::uint64_t, Way> ways_;  // looked up only, in no order
  std::vector<Use> uses_;
  ProgramRun result_;
};

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
  PAYOFF_INVARIANT(latency < time, "a price consists of latency alone");
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
