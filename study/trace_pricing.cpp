// SPDX-License-Identifier: Apache-2.0
#include "study/trace_pricing.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "model/groups.hpp"

namespace payoff {
namespace {

constexpr std::uint64_t barrier_bytes = 4;  // PyTorch's barrier sums one element

bool is_sent(const TraceMessages& messages) { return messages.type != ChakraNodeType::collective; }

const TraceGroupRole* role_given(const TraceJob& job, const std::string& group) {
  const auto named = [&](const std::string& text) {
    const auto found = std::find_if(job.roles.begin(), job.roles.end(),
                                    [&](const TraceGroupRole& each) { return each.group == text; });
    return found == job.roles.end() ? nullptr : &*found;
  };
  const TraceGroupRole* own = named(group);
  return own != nullptr ? own : named("*");
}

bool is_data_parallel_only(const ParallelLayout& layout) {
  return layout.tp == 1 && layout.cp == 1 && layout.pp == 1 && layout.ep == 1;
}

int degree_of(const ParallelLayout& layout, TraceRole role) {
  switch (role) {
    case TraceRole::all:
      return layout.ranks();
    case TraceRole::dp:
      return layout.data_ranks();
    case TraceRole::tp:
      return layout.tp;
    case TraceRole::cp:
      return layout.cp;
    case TraceRole::ep:
      return layout.ep;
    case TraceRole::pp:
      break;
  }
  return layout.pp;
}

// The slowest of the boundaries between stages: one that leaves the node, if there is one.
Group boundary_of(const ParallelLayout& layout, int gpus_per_node) {
  Group group = boundary_group(layout, gpus_per_node, 0);
  for (int stage = 1; stage + 1 < layout.pp && group.nodes() == 1; ++stage) {
    group = boundary_group(layout, gpus_per_node, stage);
  }
  return group;
}

Group group_of(TraceRole role, const TraceMessages& messages, const TraceJob& job) {
  const int gpus = job.cluster.gpus_per_node;
  ParallelLayout layout = job.layout;
  switch (role) {
    case TraceRole::all: {
      const int ranks = layout.ranks();
      return {ranks, std::min(ranks, gpus), 1};
    }
    case TraceRole::dp:
      return data_group(layout, gpus);
    case TraceRole::tp:
      return tensor_group(layout, gpus);
    case TraceRole::cp:
      layout.context_exchange =
          is_sent(messages) ? ContextExchange::ring : ContextExchange::all_to_all;
      return context_group(layout, gpus);
    case TraceRole::ep:
      return expert_group(layout, gpus);
    case TraceRole::pp:
      break;
  }
  return boundary_of(layout, gpus);
}

int traced_ranks(const ChakraTrace& trace, const TraceJob& job, const std::string& group) {
  const TraceGroupRole* given = role_given(job, group);
  return given != nullptr && given->traced_ranks > 0 ? given->traced_ranks
                                                     : told_ranks(trace, group);
}

Bytes size_of(const ChakraTrace& trace, const TraceJob& job, const TraceMessages& messages) {
  const bool is_gathered = messages.collective == ChakraCollective::all_gather;
  const int parts = is_gathered ? traced_ranks(trace, job, messages.group) : 1;
  return static_cast<double>(messages.bytes) * parts * 1_B;
}

Collective priced_as(const TraceMessages& messages) {
  return is_sent(messages) ? Collective::send_recv
                           : collective_of(*messages.collective).value_or(Collective::all_reduce);
}

std::string title(const TraceMessages& messages) {
  return messages.group.empty()
             ? std::string(kind_name(messages)) + " without a group"
             : fmt::format("{} of group {}", kind_name(messages), messages.group);
}

// A change of these would change what a rank computes, which stays as it was traced.
void check_degree(const ChakraTrace& trace, const TraceJob& job, const TraceMessages& messages,
                  TraceRole role, Problems& problems) {
  const int traced = traced_ranks(trace, job, messages.group);
  const bool divides_work = role != TraceRole::all && role != TraceRole::dp;
  const int degree = degree_of(job.layout, role);
  if (divides_work && !is_sent(messages) && traced > 0 && traced != degree) {
    problems.push_back({std::string(name(role)),
                        fmt::format("{} was traced among {} ranks, and {} is {}: they would "
                                    "compute something else",
                                    title(messages), traced, name(role), degree),
                        fmt::format("--{} {}", name(role), traced)});
  }
}

void check_messages(const ChakraTrace& trace, const TraceJob& job, const TraceMessages& messages,
                    Problems& problems) {
  const std::string group = messages.group.empty() ? "*" : messages.group;
  const std::optional<TraceRole> role = role_in(job, messages);
  if (!role) {
    problems.push_back({"group", title(messages) + " has no role in this layout",
                        fmt::format("--group '{}=dp', or tp, cp, ep, all", group)});
    return;
  }
  if (is_sent(messages) && degree_of(job.layout, *role) == 1) {
    problems.push_back({"pp", fmt::format("{} needs a stage to send to", title(messages)),
                        "--pp N with N of 2 or more"});
    return;
  }
  if (!is_sent(messages) && *role == TraceRole::pp) {
    problems.push_back({"group", title(messages) + " is no send between stages", ""});
    return;
  }
  if (!is_sent(messages) && !collective_of(*messages.collective)) {
    problems.push_back({"group", fmt::format("{} has no law here", title(messages)), ""});
    return;
  }
  if (messages.collective == ChakraCollective::all_gather &&
      traced_ranks(trace, job, messages.group) == 0) {
    problems.push_back(
        {"group",
         fmt::format("the trace does not say among how many ranks {} gathered", title(messages)),
         fmt::format("--group '{}={}:8' where they were 8", group, name(*role))});
  }
  check_degree(trace, job, messages, *role, problems);
  for (const Problem& problem : check_group(job.cluster, group_of(*role, messages, job))) {
    problems.push_back({"group", title(messages) + ": " + problem.message, problem.help});
  }
}

// A price for each group and size, once.
class Prices {
 public:
  explicit Prices(const Cluster& cluster) : cluster_(cluster) {}

  CollectivePrice of(const Group& group, Collective collective, Bytes size) {
    const auto key = std::tuple(group.ranks, group.ranks_per_node, group.rivals, group.stride);
    const auto place = models_.try_emplace(key, cluster_, group).first;
    return place->second.price(collective, size);
  }

 private:
  const Cluster& cluster_;
  std::map<std::tuple<int, int, int, int>, CollectiveModel> models_;
};

}  // namespace

const std::vector<std::pair<std::string, TraceRole>>& trace_role_names() {
  static const std::vector<std::pair<std::string, TraceRole>> names{
      {"all", TraceRole::all}, {"dp", TraceRole::dp}, {"tp", TraceRole::tp},
      {"cp", TraceRole::cp},   {"ep", TraceRole::ep}, {"pp", TraceRole::pp}};
  return names;
}

std::string_view name(TraceRole role) {
  return trace_role_names().at(static_cast<std::size_t>(role)).first;
}

std::string_view kind_name(const TraceMessages& messages) {
  return messages.collective && !is_sent(messages) ? name(*messages.collective)
                                                   : name(messages.type);
}

// What is sent goes to the next stage unless its group is said to be a ring of cp.
std::optional<TraceRole> role_in(const TraceJob& job, const TraceMessages& messages) {
  const TraceGroupRole* given = role_given(job, messages.group);
  if (is_sent(messages)) {
    return given != nullptr && given->role == TraceRole::cp ? TraceRole::cp : TraceRole::pp;
  }
  if (given != nullptr) {
    return given->role;
  }
  return is_data_parallel_only(job.layout) ? std::optional(TraceRole::dp) : std::nullopt;
}

std::vector<TraceMessages> messages_of(const ChakraTrace& trace) {
  using Key = std::tuple<int, int, std::string, std::uint64_t>;
  std::map<Key, std::size_t> places;
  std::vector<TraceMessages> all;
  for (std::size_t i = 0; i < trace.nodes.size(); ++i) {
    const ChakraNode& node = trace.nodes[i];
    if (!node.communicates()) {
      continue;
    }
    const int kind = node.collective ? static_cast<int>(*node.collective) : -1;
    const std::uint64_t bytes = node.bytes.value_or(0);
    const auto [place, is_new] =
        places.try_emplace({static_cast<int>(node.type), kind, node.group, bytes}, all.size());
    if (is_new) {
      const bool is_barrier = node.collective == ChakraCollective::barrier;
      all.push_back({node.type,
                     node.collective,
                     node.group,
                     is_barrier ? std::max(bytes, barrier_bytes) : bytes,
                     {},
                     {}});
    }
    all[place->second].nodes.push_back(i);
    all[place->second].told += static_cast<double>(node.duration_us) * 1_us;
  }
  return all;
}

int told_ranks(const ChakraTrace& trace, const std::string& group) {
  const auto found = std::find_if(trace.groups.begin(), trace.groups.end(),
                                  [&](const ChakraGroup& each) { return each.name == group; });
  return found == trace.groups.end() ? 0 : found->ranks;
}

Problems check_trace_job(const ChakraTrace& trace, const std::vector<TraceMessages>& messages,
                         const TraceJob& job) {
  Problems all = check_layout(job.layout, job.cluster, job.layout.pp);
  if (!all.empty()) {
    return all;
  }
  for (const TraceMessages& each : messages) {
    check_messages(trace, job, each, all);
  }
  Problems problems;  // each once: messages of many sizes have the same
  std::set<std::string> said;
  for (Problem& problem : all) {
    if (said.insert(problem.message).second) {
      problems.push_back(std::move(problem));
    }
  }
  return problems;
}

RepricedTrace reprice(const ChakraTrace& trace, const std::vector<TraceMessages>& messages,
                      const TraceJob& job) {
  RepricedTrace result;
  Prices prices(job.cluster);
  std::vector<Seconds>& durations = result.durations;
  durations = told_durations(trace);
  std::vector<double>& relative_sd = result.relative_sd;
  relative_sd.resize(durations.size());
  for (const TraceMessages& each : messages) {
    PricedMessages priced;
    priced.role = role_in(job, each).value_or(TraceRole::all);
    priced.ranks = group_of(priced.role, each, job);
    priced.size = size_of(trace, job, each);
    priced.price = prices.of(priced.ranks, priced_as(each), priced.size);
    for (const std::size_t node : each.nodes) {
      durations[node] = priced.price.time;
      relative_sd[node] = priced.price.relative_sd;
    }
    result.messages.push_back(priced);
  }
  result.replay = replay(trace, durations);
  for (const std::size_t node : result.replay.path) {
    result.sd += durations[node] * relative_sd[node];  // one law: off together
  }
  return result;
}

}  // namespace payoff
