// SPDX-License-Identifier: Apache-2.0
#include "study/trace_compression.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "model/gradient_plan.hpp"
#include "model/groups.hpp"

namespace payoff {
namespace {

bool is_gradient_sum(const TraceMessages& messages, const TraceJob& job) {
  return messages.type == ChakraNodeType::collective &&
         messages.collective == ChakraCollective::all_reduce &&
         role_in(job, messages) == TraceRole::dp;
}

// A buffer of so many bytes as one vector.
ParameterTensor vector_of(const TraceMessages& messages, const TraceCodec& codec) {
  const double elements = static_cast<double>(messages.bytes) * 1_B / element_size(codec.gradient);
  return {static_cast<std::int64_t>(elements), 1, false, false};
}

CallCost cost_of(const TraceMessages& messages, const TraceJob& job, const TraceCodec& codec) {
  const ParameterTensor vector = vector_of(messages, codec);
  const Group group = data_group(job.layout, job.cluster.gpus_per_node);
  return compress(codec.method, {&vector, 1}, element_size(codec.gradient), group.ranks,
                  group.ranks_per_node);
}

// The stream of the GPU that computes longest.
std::optional<std::int64_t> computing_stream(const ChakraTrace& trace) {
  std::map<std::int64_t, std::uint64_t> busy;
  for (const ChakraNode& node : trace.nodes) {
    if (node.stream && work_of(node) == TraceWork::compute) {
      busy[*node.stream] += node.duration_us;
    }
  }
  const auto most = std::max_element(
      busy.begin(), busy.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == busy.end() ? std::nullopt : std::optional(most->first);
}

class Compressor {
 public:
  Compressor(const ChakraTrace& trace, const TraceJob& job, const TraceCodec& codec,
             CompressedTrace& result)
      : job_(job), codec_(codec), result_(result), before_(trace.nodes.size()) {
    decoders_.assign(trace.nodes.size(), none);
    stream_ = computing_stream(trace);
    const Group all = data_group(job.layout, job.cluster.gpus_per_node);
    for (const Group& group : {all, part_in_node(all), part_across_nodes(all)}) {
      networks_.emplace_back(job.cluster, group);
    }
  }

  // The node itself stays the last round's message.
  void replace(std::size_t node, const CallCost& cost) {
    std::vector<std::size_t> waits = result_.trace.nodes[node].waits;
    for (std::size_t r = 0; r < cost.rounds.size(); ++r) {
      const RoundCost& round = cost.rounds[r];
      const Seconds encode = time_of(round.encode);
      if (encode > 0_s) {
        const std::size_t encoder = add_pass("encode", encode, std::exchange(waits, {}));
        before_[node].push_back(encoder);
        waits = {encoder};
      }
      const CollectivePrice price = price_of(round);
      if (r + 1 < cost.rounds.size()) {
        const std::size_t sent =
            add(result_.trace.nodes[node], price.time, std::exchange(waits, {}));
        result_.relative_sd[sent] = price.relative_sd;
        before_[node].push_back(sent);
        waits = {sent};
      } else {
        result_.trace.nodes[node].waits = std::exchange(waits, {});
        result_.durations[node] = price.time;
        result_.relative_sd[node] = price.relative_sd;
      }
    }
    const Seconds decode = time_of(cost.decode);
    if (decode > 0_s) {
      decoders_[node] = add_pass("decode", decode, {node});
    }
    ++result_.compressed;
  }

  // Waits for sums become waits for decoders; a decoder stands before the first node that does.
  void finish() {
    ChakraTrace& trace = result_.trace;
    std::vector<std::size_t> order;
    std::vector<bool> is_placed(trace.nodes.size());
    const auto place = [&](std::size_t node) {
      if (!is_placed[node]) {
        is_placed[node] = true;
        order.push_back(node);
      }
    };
    for (const std::size_t node : trace.order) {
      redirect(node, place);
      for (const std::size_t earlier : before_[node]) {
        redirect(earlier, place);
        place(earlier);
      }
      place(node);
    }
    for (const std::size_t decoder : decoders_) {
      if (decoder != none) {
        place(decoder);
      }
    }
    trace.order = std::move(order);
    renumber();
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  // In the file's order, which decides between nodes that are ready at once: passes and rounds
  // stand where their sum did.
  void renumber() {
    std::vector<std::size_t> file;
    for (std::size_t node = 0; node < before_.size(); ++node) {
      file.insert(file.end(), before_[node].begin(), before_[node].end());
      file.push_back(node);
      if (decoders_[node] != none) {
        file.push_back(decoders_[node]);
      }
    }
    std::vector<std::size_t> place(file.size());
    CompressedTrace moved = result_;
    for (std::size_t i = 0; i < file.size(); ++i) {
      place[file[i]] = i;
      moved.trace.nodes[i] = result_.trace.nodes[file[i]];
      moved.durations[i] = result_.durations[file[i]];
      moved.relative_sd[i] = result_.relative_sd[file[i]];
    }
    for (ChakraNode& node : moved.trace.nodes) {
      for (std::size_t& on : node.waits) {
        on = place[on];
      }
    }
    for (std::size_t& node : moved.trace.order) {
      node = place[node];
    }
    result_ = std::move(moved);
  }

  template <class Place>
  void redirect(std::size_t node, const Place& place) {
    for (std::size_t& on : result_.trace.nodes[node].waits) {
      if (on < decoders_.size() && decoders_[on] != none) {
        on = decoders_[on];
        place(on);
      }
    }
  }

  std::size_t add(ChakraNode node, Seconds duration, std::vector<std::size_t> waits) {
    node.waits = std::move(waits);
    result_.trace.nodes.push_back(std::move(node));
    result_.durations.push_back(duration);
    result_.relative_sd.push_back(0);
    return result_.trace.nodes.size() - 1;
  }

  std::size_t add_pass(const std::string& name, Seconds duration, std::vector<std::size_t> waits) {
    ChakraNode node;
    node.name = name;
    node.type = ChakraNodeType::compute;
    node.stream = stream_;
    return add(std::move(node), duration, std::move(waits));
  }

  [[nodiscard]] Seconds time_of(const PassCost& pass) const {
    return price_pass(pass, codec_.method.law, job_.cluster.gpu, codec_.arithmetic);
  }

  [[nodiscard]] CollectivePrice price_of(const RoundCost& round) const {
    const CollectiveModel& network = networks_[static_cast<std::size_t>(round.among)];
    const int ranks = network.group().ranks;
    return ranks == 1 ? CollectivePrice{}
                      : network.price(round.collective, collective_size(round, ranks));
  }

  const TraceJob& job_;
  const TraceCodec& codec_;
  CompressedTrace& result_;
  std::vector<std::vector<std::size_t>> before_;  // of each sum, what comes before its last round
  std::vector<std::size_t> decoders_;
  std::optional<std::int64_t> stream_;
  std::vector<CollectiveModel> networks_;  // by Among
};

}  // namespace

Problems check_trace_codec(const std::vector<TraceMessages>& messages, const TraceJob& job,
                           const TraceCodec& codec) {
  Problems problems;
  const auto refuse = [&](const std::string& what, std::string help) {
    problems.push_back({"compress", "`" + codec.method.name + "` " + what, std::move(help)});
  };
  if (runs_on_host(codec.method)) {
    refuse("runs on the host, which traces are not run again with", "use a method of the GPU");
  } else if (codec.method.scatters) {
    refuse("leaves each rank the sum of its own part", "use a method that sums for all ranks");
  }
  if (job.layout.data_ranks() == 1 || !problems.empty()) {
    return problems;  // of one rank nothing is summed, and nothing compressed
  }
  std::size_t sums = 0;
  std::size_t smaller = 0;
  for (const TraceMessages& each : messages) {
    if (is_gradient_sum(each, job)) {
      ++sums;
      smaller += cost_of(each, job, codec).rounds.empty() ? 0U : 1U;
    }
  }
  if (sums == 0) {
    refuse("compresses sums over data-parallel ranks, and the trace has none",
           "say which groups are: --group NAME=dp");
  } else if (smaller == 0) {
    refuse("compresses none of the trace's sums: they are vectors without shapes to it",
           "use a method that needs no matrices, or `payoff predict` with the layers of the model");
  }
  return problems;
}

CompressedTrace compressed(const ChakraTrace& trace, const std::vector<TraceMessages>& messages,
                           const TraceJob& job, const TraceCodec& codec,
                           std::span<const Seconds> durations,
                           std::span<const double> relative_sd) {
  CompressedTrace result{
      trace, {durations.begin(), durations.end()}, {relative_sd.begin(), relative_sd.end()}};
  if (job.layout.data_ranks() == 1) {
    return result;
  }
  Compressor compressor(trace, job, codec, result);
  for (const TraceMessages& each : messages) {
    if (!is_gradient_sum(each, job)) {
      continue;
    }
    const CallCost cost = cost_of(each, job, codec);
    for (const std::size_t node : cost.rounds.empty() ? std::vector<std::size_t>{} : each.nodes) {
      compressor.replace(node, cost);
    }
  }
  compressor.finish();
  return result;
}

RepricedTrace reprice(const ChakraTrace& trace, const std::vector<TraceMessages>& messages,
                      const TraceJob& job, const TraceCodec& codec) {
  const RepricedTrace plain = reprice(trace, messages, job);
  const CompressedTrace other =
      compressed(trace, messages, job, codec, plain.durations, plain.relative_sd);
  RepricedTrace result = plain;
  result.durations = other.durations;
  result.relative_sd = other.relative_sd;
  result.replay = replay(other.trace, other.durations);
  result.sd = {};
  for (const std::size_t node : result.replay.path) {
    result.sd += other.durations[node] * other.relative_sd[node];
  }
  return result;
}

}  // namespace payoff
