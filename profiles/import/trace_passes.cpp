// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/trace_passes.hpp"

#include <algorithm>
#include <tuple>

namespace payoff::import_detail {

// Something that begins on a thread. Of equal begin the longer one is around the other, and what is
// launched is within both.
struct TracePasses::Moment {
  enum class Kind : std::uint8_t { layer, operation, launch };
  int thread;
  std::int64_t begin;
  std::int64_t end;
  Kind kind;
  std::size_t index;  // of the instances, operators or GPU events

  bool operator<(const Moment& other) const {
    return std::make_tuple(thread, begin, -end, kind, index) <
           std::make_tuple(other.thread, other.begin, -other.end, other.kind, other.index);
  }
};

TracePasses::TracePasses(const KinetoTrace& trace, const std::vector<LayerRule>& rules)
    : contexts_(trace.gpu_events.size()) {
  find_instances(trace, rules);
  if (!instances_.empty()) {
    walk(trace);
  }
}

void TracePasses::find_instances(const KinetoTrace& trace, const std::vector<LayerRule>& rules) {
  std::map<std::string, std::size_t> known;
  std::vector<std::optional<std::size_t>> layer_of_name;
  for (const std::string& name : trace.names) {
    const std::optional<std::string> layer = layer_of(name, rules);
    std::optional<std::size_t> place;
    if (layer) {
      place = known.emplace(*layer, names_.size()).first->second;
      if (*place == names_.size()) {
        names_.push_back(*layer);
      }
    }
    layer_of_name.push_back(place);
  }
  for (const TraceAnnotation& each : trace.annotations) {
    if (const auto layer = layer_of_name[static_cast<std::size_t>(each.name)]) {
      instances_.push_back({each.begin, each.end, each.thread, *layer});
    }
  }
  std::stable_sort(
      instances_.begin(), instances_.end(),
      [](const LayerInstance& a, const LayerInstance& b) { return a.begin < b.begin; });
}

std::vector<TracePasses::Moment> TracePasses::moments_of(const KinetoTrace& trace) const {
  std::vector<Moment> moments;
  moments.reserve(instances_.size() + trace.operators.size() + trace.gpu_events.size());
  for (std::size_t i = 0; i < instances_.size(); ++i) {
    moments.push_back(
        {instances_[i].thread, instances_[i].begin, instances_[i].end, Moment::Kind::layer, i});
  }
  for (std::size_t i = 0; i < trace.operators.size(); ++i) {
    const TraceOperator& each = trace.operators[i];
    moments.push_back({each.thread, each.begin, each.end, Moment::Kind::operation, i});
  }
  const TraceLaunches launches(trace);
  for (std::size_t i = 0; i < trace.gpu_events.size(); ++i) {
    if (const auto launch = launches.of(trace.gpu_events[i])) {
      moments.push_back({launch->thread, launch->time, launch->time, Moment::Kind::launch, i});
    }
  }
  std::sort(moments.begin(), moments.end());
  return moments;
}

void TracePasses::open(const Moment& moment, const KinetoTrace& trace,
                       std::vector<Context>& stack) {
  Context context = stack.empty() ? Context{} : stack.back();
  context.end = moment.end;
  if (moment.kind == Moment::Kind::layer) {
    context.instance = static_cast<int>(moment.index);
  } else {
    const TraceOperator& each = trace.operators[moment.index];
    if (each.is_backward) {
      context.backward = static_cast<int>(operators_.size());
      context.instance = -1;
      operators_.push_back(each);
    } else if (each.sequence >= 0) {
      made_.push_back({each.sequence, each.begin, context.instance, context.backward});
    }
  }
  stack.push_back(context);
}

void TracePasses::walk(const KinetoTrace& trace) {
  std::vector<Context> stack;
  int thread = -1;
  for (const Moment& moment : moments_of(trace)) {
    if (moment.thread != thread) {
      thread = moment.thread;
      stack.clear();
    }
    const bool is_launch = moment.kind == Moment::Kind::launch;
    while (!stack.empty() &&
           (is_launch ? stack.back().end < moment.begin : stack.back().end <= moment.begin)) {
      stack.pop_back();
    }
    if (!is_launch) {
      open(moment, trace, stack);
    } else if (!stack.empty()) {
      contexts_[moment.index] = stack.back();
    }
  }
  std::stable_sort(made_.begin(), made_.end(), [](const MadeNode& a, const MadeNode& b) {
    return std::tie(a.sequence, a.begin) < std::tie(b.sequence, b.begin);
  });
}

// The last operator with the number that began before: numbers come again on another thread, and
// operators that make no node show the number of the next one that does.
const TracePasses::MadeNode* TracePasses::node_of(const TraceOperator& backward) const {
  const auto after = std::upper_bound(
      made_.begin(), made_.end(), backward, [](const TraceOperator& wanted, const MadeNode& each) {
        return std::tie(wanted.sequence, wanted.begin) < std::tie(each.sequence, each.begin);
      });
  const bool is_same = after != made_.begin() && std::prev(after)->sequence == backward.sequence;
  return is_same ? &*std::prev(after) : nullptr;
}

// What a checkpoint computes again within its backward belongs to whoever made the checkpoint.
int TracePasses::made_by(const TraceOperator& backward) const {
  constexpr int deepest = 8;  // checkpoints within checkpoints
  const MadeNode* node = node_of(backward);
  for (int depth = 0; node != nullptr && depth < deepest; ++depth) {
    if (node->instance >= 0 || node->backward < 0) {
      return node->instance;
    }
    node = node_of(operators_[static_cast<std::size_t>(node->backward)]);
  }
  return -1;
}

std::optional<std::pair<std::size_t, LayerPass>> TracePasses::of(std::size_t event) const {
  const Context& context = contexts_[event];
  const bool in_backward = context.backward >= 0;
  if (context.instance >= 0) {
    return std::pair(static_cast<std::size_t>(context.instance),
                     in_backward ? LayerPass::recomputation : LayerPass::forward);
  }
  const int instance =
      in_backward ? made_by(operators_[static_cast<std::size_t>(context.backward)]) : -1;
  return instance < 0
             ? std::nullopt
             : std::optional(std::pair(static_cast<std::size_t>(instance), LayerPass::backward));
}

}  // namespace payoff::import_detail
