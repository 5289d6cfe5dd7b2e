// SPDX-License-Identifier: Apache-2.0
#include "sim/program_run.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <limits>
#include <utility>

#include "sim/engine.hpp"
#include "sim/invariant.hpp"
#include "sim/links.hpp"

namespace payoff::sim {
namespace {

constexpr double least_share = 1.0 / 65536;
constexpr double most_share = 65535;

std::vector<double> shares_of_ranks(const Program& program, const std::vector<Send>& sends) {
  std::vector<double> shares(program.places());
  for (const Send& send : sends) {
    shares[send.from] += program.share(send);
  }
  return shares;
}

class Runner {
 public:
  Runner(const Program& program, Bytes size, const SendPrice& price, Routing* routing)
      : program_(program),
        size_(size),
        price_(price),
        routing_(routing),
        position_(program.places()) {
    if (routing != nullptr) {
      const LinkGraph& links = routing->graph().links;
      PAYOFF_INVARIANT(links.ranks() >= program.places(),
                       "a program has more ranks than its graph");
      for (const Edge& edge : links.edges()) {
        resources_.push_back(engine_.add_resource({edge.capacity}));
      }
      result_.edge_bytes.resize(links.edges().size());
    }
  }

  ProgramRun run() {
    for (Rank r = 0; r < program_.places(); ++r) {
      proceed(r);
    }
    while (engine_.advance()) {
      // A copy: starting what follows writes over the list.
      const std::vector<Completion> completed(engine_.completed().begin(),
                                              engine_.completed().end());
      for (const Completion& done : completed) {
        arrive(done.tag);
      }
    }
    PAYOFF_INVARIANT(!engine_.problem(), "a collective lasts longer than the clock");
    result_.time = to_seconds(engine_.now());
    result_.trace_hash = engine_.trace_hash();
    return std::move(result_);
  }

 private:
  // A step that some rank has begun and some rank has not left.
  struct Step {
    std::vector<Send> sends;             // by sender
    std::vector<std::uint32_t> first;    // of a rank
    std::vector<std::uint32_t> awaited;  // sends that a rank has not received yet
    std::vector<double> share_of_rank;
    Rank inside{};  // ranks that have not left it
  };

  Step& step(std::uint32_t number) {
    while (first_step_ + open_.size() <= number) {
      Step& added = open_.emplace_back();
      program_.sends(static_cast<std::uint32_t>(first_step_ + open_.size() - 1), added.sends);
      std::stable_sort(added.sends.begin(), added.sends.end(),
                       [](const Send& a, const Send& b) { return a.from < b.from; });
      added.first.assign(program_.places() + 1, 0);
      added.awaited.assign(program_.places(), 0);
      for (const Send& send : added.sends) {
        ++added.first[send.from + 1];
        ++added.awaited[send.to];
      }
      for (Rank r = 0; r < program_.places(); ++r) {
        added.first[r + 1] += added.first[r];
      }
      added.share_of_rank = shares_of_ranks(program_, added.sends);
      added.inside = program_.places();
    }
    return open_[number - first_step_];
  }

  // Sends of every step whose predecessors have arrived.
  void proceed(Rank rank) {
    for (;;) {
      const std::uint32_t at = position_[rank];
      if (at > 0) {
        Step& before = step(at - 1);
        if (before.awaited[rank] > 0) {
          return;
        }
        --before.inside;
      }
      if (at == program_.steps()) {
        break;
      }
      ++position_[rank];
      Step& now = step(at);
      for (std::uint32_t i = now.first[rank]; i < now.first[rank + 1]; ++i) {
        start(now, at, i);
      }
    }
    while (!open_.empty() && open_.front().inside == 0) {
      open_.pop_front();
      ++first_step_;
    }
  }

  // A send's own limit: its part of what its rank sends, and the narrowest link of its route.
  double bound_of(const Step& step, const Send& send) const {
    double bound = std::numeric_limits<double>::infinity();
    if (price_.of_rank) {
      bound = price_.of_rank->si * program_.share(send) / step.share_of_rank[send.from];
    }
    for (const EdgeShare& part : route_) {
      bound = std::min(bound, edge(part).capacity.si / part.share);
    }
    return bound;
  }

  const Edge& edge(const EdgeShare& part) const {
    return routing_->graph().links.edges()[part.edge];
  }

  void start(const Step& step, std::uint32_t number, std::uint32_t index) {
    const Send& send = step.sends[index];
    const Bytes bytes = size_ * program_.share(send);
    Seconds latency = price_.latency;
    if (routing_ != nullptr) {
      const std::uint64_t flow = std::uint64_t{send.from} << 32U | send.to;
      route_ = routing_->route(send.from, send.to, flow);
      latency += price_.of_rank ? Seconds{} : routing_->latency(send.from, send.to, flow);
    }
    const double bound = bound_of(step, send);
    PAYOFF_INVARIANT(std::isfinite(bound) || bytes <= 0_B, "a send has neither price nor route");
    // Progress in picoseconds of the time alone, as in sim/links: alone it takes that exactly.
    const Bytes work =
        bytes > 0_B ? progress(to_sim_time(bytes / Bandwidth{bound}).value_or(never)) : 0_B;
    uses_.clear();
    for (const EdgeShare& part : route_) {
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
         .key = number,
         .tag = std::uint64_t{number} << 32U | index});
  }

  void arrive(std::uint64_t tag) {
    const auto number = static_cast<std::uint32_t>(tag >> 32U);
    Step& reached = step(number);
    const Rank to = reached.sends[static_cast<std::uint32_t>(tag)].to;
    if (--reached.awaited[to] == 0 && position_[to] == number + 1) {
      proceed(to);
    }
  }

  static constexpr double below_rounding = 1 - 1e-9;

  const Program& program_;
  Bytes size_;
  SendPrice price_;
  Routing* routing_;
  Engine engine_;
  std::vector<ResourceId> resources_;
  std::vector<std::uint32_t> position_;  // steps that a rank has begun
  std::deque<Step> open_;
  std::size_t first_step_ = 0;
  std::vector<EdgeShare> route_;
  std::vector<Use> uses_;
  ProgramRun result_;
};

}  // namespace

double busiest_share(const Program& program) {
  double together = 0;
  std::vector<Send> sends;
  for (std::uint32_t step = 0; step < program.steps(); ++step) {
    program.sends(step, sends);
    const std::vector<double> shares = shares_of_ranks(program, sends);
    together += *std::max_element(shares.begin(), shares.end());
  }
  return together;
}

SendPrice send_price(const Program& program, Bytes size, Seconds time, Seconds latency) {
  PAYOFF_INVARIANT(latency < time, "a price consists of latency alone");
  return {latency / static_cast<double>(program.steps()),
          size * busiest_share(program) / (time - latency)};
}

ProgramRun run(const Program& program, Bytes size, const SendPrice& price, Routing* routing) {
  return Runner(program, size, price, routing).run();
}

}  // namespace payoff::sim
