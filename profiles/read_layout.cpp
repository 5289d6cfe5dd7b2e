// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_layout.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/experiment_keys.hpp"
#include "profiles/read_numbers.hpp"

namespace payoff {
namespace {

constexpr int most_overlapped_pieces = 1024;

constexpr IntegerRules degree{.fallback = 1, .min = 1, .max = most_ranks};

// A degree, and whether it is what was meant: not where what stands there was refused.
int read_degree(const Value& value, bool& known) {
  const int read = read_positive(value);
  known = known && (!value || read > 0);
  return std::max(read, 1);
}

// The number of micro-batches, or the global batch from which it follows. `known`: what one
// micro-batch of all GPUs is.
void read_batches(const Section& section, bool known, ParallelLayout& layout) {
  const Value batches = section.optional("micro_batches");
  const Value global = section.optional("global_batch");
  layout.micro_batches = read_degree(batches, known);
  const auto samples = global.integer({.fallback = 0, .min = 1, .max = std::int64_t{1} << 40});
  if (samples == 0 || !known) {
    return;
  }
  const std::int64_t once = std::int64_t{layout.dp} * layout.micro_batch;
  if (samples % once != 0) {
    global.error("is " + std::to_string(samples) + ", not a multiple of dp " +
                     std::to_string(layout.dp) + " x micro_batch " +
                     std::to_string(layout.micro_batch),
                 "", "set it to a multiple of " + std::to_string(once));
  } else if (batches && samples / once != layout.micro_batches) {
    global.error("disagrees with micro_batches " + std::to_string(layout.micro_batches), "",
                 "leave one of them out");
  } else if (samples / once > most_ranks) {
    global.error("needs " + std::to_string(samples / once) + " micro-batches a step; at most " +
                     std::to_string(most_ranks) + " are modelled",
                 "", "a larger micro_batch needs fewer");
  } else {
    layout.micro_batches = static_cast<int>(samples / once);
  }
}

// "tp-pp-dp": degrees that are not named follow in the usual order.
RankOrder read_order(const Value& value) {
  const std::string text = value.text("");
  std::vector<Degree> order;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('-', begin), text.size());
    const std::string_view word = std::string_view(text).substr(begin, end - begin);
    const auto* const found = std::find_if(degrees.begin(), degrees.end(),
                                           [&](const auto& known) { return known.first == word; });
    constexpr const char* example =
        "write each of tp, cp, dp and pp once, innermost first: tp-pp-dp";
    if (found == degrees.end()) {
      value.error("has `" + std::string(word) + "`, which is no degree", "", example);
      return usual_order;
    }
    if (std::find(order.begin(), order.end(), found->second) != order.end()) {
      value.error("has `" + std::string(word) + "` twice", "", example);
      return usual_order;
    }
    order.push_back(found->second);
    begin = end + 1;
  }
  RankOrder read{};
  for (const Degree next : usual_order) {
    if (std::find(order.begin(), order.end(), next) == order.end()) {
      order.push_back(next);
    }
  }
  std::copy(order.begin(), order.end(), read.begin());
  return read;
}

}  // namespace

int replicas_that_fit(const ParallelLayout& layout, const Cluster& cluster) {
  const std::int64_t model_ranks = std::int64_t{layout.tp} * layout.cp * layout.pp;
  const std::int64_t gpus = std::int64_t{cluster.gpus_per_node} * cluster.nodes;
  return static_cast<int>(std::max<std::int64_t>(1, gpus / model_ranks));
}

bool usual_pair_overlap(const ParallelLayout& layout) {
  return has_pairs(layout.schedule) && layout.ep > 1 && layout.zero != 3;
}

void read_layout(const Section& section, const Cluster& cluster, bool knows_gpus,
                 ParallelLayout& layout) {
  for (const auto& [foreign, ours] : foreign_degrees) {
    section.known_elsewhere_as(foreign, ours);
  }
  bool knows_rest = knows_gpus;
  layout.tp = read_degree(section.optional("tp"), knows_rest);
  layout.pp = read_degree(section.optional("pp"), knows_rest);
  layout.cp = read_degree(section.optional("cp"), knows_rest);
  layout.context_exchange = section.optional("context_exchange").choice(context_exchanges);
  layout.ep = section.optional("ep").integer<int>(degree);
  layout.etp = section.optional("etp").integer<int>(degree);
  layout.expert_imbalance =
      section.optional("expert_imbalance").number({.fallback = 1.0, .min = 1.0, .max = 1e6});
  layout.expert_capacity =
      section.optional("expert_capacity").number({.fallback = 0.0, .min = 0.01, .max = 1e6});
  const Value dp = section.optional("dp");
  bool knows_dp = true;
  layout.dp = read_degree(dp, knows_dp);
  if (!dp || !knows_dp) {
    layout.dp = replicas_that_fit(layout, cluster);
  }
  bool knows_batch = knows_dp && (dp || knows_rest);
  layout.order = read_order(section.optional("order"));
  layout.schedule = section.optional("schedule").choice(schedules);
  for (const Value& layers : section.optional("stage_layers").list()) {
    layout.stage_layers.push_back(layers.integer<int>({.fallback = 1, .min = 1, .max = 1 << 14}));
  }
  IntegerRules chunks = degree;
  chunks.fallback = is_v_shaped(layout.schedule) ? 2 : 1;
  layout.virtual_stages = section.optional("virtual_stages").integer<int>(chunks);
  layout.zero = section.optional("zero").integer<int>({.fallback = 0, .min = 0, .max = 3});
  layout.pair_overlap = section.optional("pair_overlap").boolean(usual_pair_overlap(layout));
  layout.shard =
      section.optional("shard").integer<int>({.fallback = 0, .min = 0, .max = most_ranks});
  layout.reshard = section.optional("reshard").boolean(true);
  layout.tp_overlap = section.optional("tp_overlap")
                          .integer<int>({.fallback = 1, .min = 1, .max = most_overlapped_pieces});
  layout.dp_collective = section.optional("dp_collective").choice(dp_collectives);
  layout.sequence_parallel = section.optional("sequence_parallel").boolean();
  layout.micro_batch = read_degree(section.optional("micro_batch"), knows_batch);
  layout.recompute = section.optional("recompute").choice(recomputes);
  read_batches(section, knows_batch, layout);
}

}  // namespace payoff
