// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/debug_groups.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <tuple>
#include <utility>

namespace payoff::import_detail {
namespace {

// One GPU: a process may drive several.
using Gpu = std::pair<std::string, int>;
Gpu gpu_of(const Communicator& communicator) { return {communicator.process, communicator.device}; }

// Ranks of the whole job: those of its largest group, where all of that is in the log.
class JobRanks {
 public:
  explicit JobRanks(const std::vector<Communicator>& communicators) {
    for (const Communicator& each : communicators) {
      size_ = std::max(size_, each.ranks);
    }
    for (const Communicator& each : communicators) {
      if (each.ranks == size_ && each.rank >= 0) {
        const auto [place, is_new] = ranks_.emplace(gpu_of(each), each.rank);
        agree_ = agree_ && (is_new || place->second == each.rank);
      }
    }
    std::set<int> different;
    for (const auto& [gpu, rank] : ranks_) {
      different.insert(rank);
    }
    agree_ = agree_ && different.size() == ranks_.size();
  }

  [[nodiscard]] int size() const { return size_; }
  // -1: not known.
  [[nodiscard]] int of(const Communicator& communicator) const {
    const auto found = ranks_.find(gpu_of(communicator));
    return !agree_ || found == ranks_.end() ? -1 : found->second;
  }

 private:
  int size_ = 0;
  bool agree_ = true;  // two groups of the largest size count the same GPUs alike
  std::map<Gpu, int> ranks_;
};

struct OneGroup {
  std::vector<std::size_t> members;  // of the communicators
  std::set<std::string> hosts;
  std::set<int> ranks;  // within the group
  std::set<int> job_ranks;
  int stated_nodes = 0;
};

// Larger groups first, then those that span fewer nodes.
using Shape = std::tuple<int, int, int>;

struct ShapeOfGroup {
  Shape shape;
  std::vector<int> ranks;  // of the job; empty where one is not known
};

ShapeOfGroup shape_of(const OneGroup& group, int size) {
  const auto all = static_cast<std::size_t>(size);
  if (size == 1) {
    return {{-1, 1, 0}, {}};
  }
  const bool is_whole = group.ranks.size() == all;
  const int nodes = is_whole ? static_cast<int>(group.hosts.size()) : group.stated_nodes;
  const bool is_known = is_whole && group.job_ranks.size() == all && *group.job_ranks.begin() >= 0;
  ShapeOfGroup found;
  if (is_known) {
    found.ranks.assign(group.job_ranks.begin(), group.job_ranks.end());
  }
  found.shape = {-size, nodes, stride_of(found.ranks)};
  return found;
}

std::map<std::string, OneGroup> groups_by_id(const std::vector<Communicator>& communicators,
                                             const JobRanks& job) {
  std::map<std::string, OneGroup> groups;
  for (std::size_t i = 0; i < communicators.size(); ++i) {
    const Communicator& each = communicators[i];
    // Without an id nobody can say which of equal size belong together.
    OneGroup& group = groups[each.id.empty() ? "?" + std::to_string(each.ranks)
                                             : each.id + "/" + std::to_string(each.ranks)];
    group.members.push_back(i);
    group.hosts.insert(each.host);
    group.ranks.insert(each.id.empty() ? -1 : each.rank);
    group.job_ranks.insert(job.of(each));
    group.stated_nodes = std::max(group.stated_nodes, each.nodes);
  }
  return groups;
}

void describe_nodes(const std::vector<Communicator>& communicators, const JobRanks& job,
                    NcclDebugLog& log) {
  std::map<std::string, std::pair<std::set<int>, std::set<Gpu>>> hosts;
  for (const Communicator& each : communicators) {
    auto& [ranks, gpus] = hosts[each.host];
    gpus.insert(gpu_of(each));
    if (const int rank = job.of(each); rank >= 0) {
      ranks.insert(rank);
    }
  }
  for (const auto& [host, seen] : hosts) {
    log.nodes.push_back(
        {host, {seen.first.begin(), seen.first.end()}, static_cast<int>(seen.second.size())});
  }
}

// Which shape each communicator has.
std::vector<std::size_t> describe_shapes(const std::vector<Communicator>& communicators,
                                         const JobRanks& job, NcclDebugLog& log) {
  std::map<Shape, std::vector<std::pair<const OneGroup*, std::vector<int>>>> shapes;
  const std::map<std::string, OneGroup> groups = groups_by_id(communicators, job);
  for (const auto& [id, group] : groups) {
    ShapeOfGroup found = shape_of(group, communicators[group.members.front()].ranks);
    shapes[found.shape].emplace_back(&group, std::move(found.ranks));
  }
  std::vector<std::size_t> shape_of_communicator(communicators.size());
  for (auto& [shape, members] : shapes) {
    LoggedGroups logged;
    logged.ranks = -std::get<0>(shape);
    logged.nodes = std::get<1>(shape);
    logged.stride = std::get<2>(shape);
    for (auto& [group, ranks] : members) {
      for (const std::size_t i : group->members) {
        shape_of_communicator[i] = log.groups.size();
      }
      const auto size = static_cast<int>(group->members.size());
      const bool has_id = !communicators[group->members.front()].id.empty();
      logged.communicators += size;
      logged.groups += has_id ? 1 : (size + logged.ranks - 1) / logged.ranks;
      if (logged.example.empty() || (!ranks.empty() && ranks < logged.example)) {
        logged.example = std::move(ranks);
      }
    }
    log.groups.push_back(std::move(logged));
  }
  return shape_of_communicator;
}

// A GPU is in several groups of a shape where a job has more of them than it is wide: the two
// neighbours of a pipeline's stage, groups of equal ranks, one that is begun again.
std::vector<std::set<Gpu>> gpus_of_shapes(const std::vector<Communicator>& communicators,
                                          const std::vector<std::size_t>& shapes,
                                          std::size_t count) {
  std::vector<std::set<Gpu>> gpus(count);
  for (std::size_t i = 0; i < communicators.size(); ++i) {
    gpus[shapes[i]].insert(gpu_of(communicators[i]));
  }
  return gpus;
}

void describe_messages(const std::vector<Communicator>& communicators,
                       const std::vector<std::size_t>& shapes, NcclDebugLog& log) {
  std::map<std::tuple<Collective, std::size_t, double, std::string_view>, std::int64_t> calls;
  for (std::size_t i = 0; i < communicators.size(); ++i) {
    for (const auto& [key, count] : communicators[i].calls) {
      calls[{key.collective, shapes[i], key.bytes, key.type}] += count;
    }
  }
  const std::vector<std::set<Gpu>> gpus = gpus_of_shapes(communicators, shapes, log.groups.size());
  for (const auto& [key, count] : calls) {
    const auto& [collective, shape, bytes, type] = key;
    log.messages.push_back({collective, shape, std::string(type), Bytes{bytes}, count,
                            static_cast<double>(count) / static_cast<double>(gpus[shape].size())});
  }
}

}  // namespace

int stride_of(const std::vector<int>& ranks) {
  const int stride = ranks.size() > 1 ? ranks[1] - ranks[0] : 0;
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    if (ranks[i] - ranks[i - 1] != stride) {
      return 0;
    }
  }
  return stride;
}

void describe_groups(const std::vector<Communicator>& communicators, NcclDebugLog& log) {
  const JobRanks job(communicators);
  log.ranks = job.size();
  describe_nodes(communicators, job, log);
  describe_messages(communicators, describe_shapes(communicators, job, log), log);
}

}  // namespace payoff::import_detail
