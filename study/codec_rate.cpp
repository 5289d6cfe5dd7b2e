// SPDX-License-Identifier: Apache-2.0
#include "study/codec_rate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "model/compression.hpp"
#include "model/host_codec.hpp"

namespace payoff {
namespace {

// The side of the square matrix that comes nearest to so many bytes.
std::int64_t side_of(Bytes size, Bytes element) {
  return std::max<std::int64_t>(1, std::llround(std::sqrt(size / element)));
}

CodecRate rate_of(const Method& method, std::int64_t side, const Experiment& experiment,
                  const Group& group) {
  const Bytes element = element_size(experiment.training.gradient);
  const std::array<ParameterTensor, 1> gradient{{{side, side, true, false}}};
  const int sharers = sharers_of_host(experiment.cluster, experiment.layout);
  const CallCost cost = compress(method, gradient, element, group.ranks, group.ranks_per_node);
  const auto time = [&](const PassCost& pass) {
    return (price_pass(pass, method.law, experiment.cluster.gpu, experiment.training.precision) +
            (pass.on_host ? host_time(pass, *method.host, experiment.cluster.host, sharers) +
                                copy_time(pass.copied, experiment.cluster)
                          : 0_s)) /
           experiment.training.codec_speed;
  };
  CodecRate rate{static_cast<double>(side * side) * element, {}, {}};
  for (const RoundCost& round : cost.rounds) {
    rate.encode += time(round.encode);
  }
  rate.decode = cost.rounds.empty() ? 0_s : time(cost.decode);
  return rate;
}

}  // namespace

std::vector<CodecRate> codec_rates(const PreparedExperiment& job, std::size_t plan,
                                   const std::vector<Bytes>& sizes) {
  const Experiment& experiment = job.experiment();
  const CompressionPlan& compression = experiment.plans.at(plan);
  std::vector<CodecRate> rates;
  if (!compression.method) {
    return rates;
  }
  const Bytes element = element_size(experiment.training.gradient);
  std::int64_t last = 0;
  for (const Bytes size : sizes) {
    const std::int64_t side = side_of(size, element);
    if (side == last) {
      continue;
    }
    last = side;
    const CodecRate rate =
        rate_of(*compression.method, side, experiment, job.data_network().group());
    if (rate.encode + rate.decode > 0_s) {
      rates.push_back(rate);
    }
  }
  return rates;
}

Bandwidth reduction_rate(const PreparedExperiment& job, Bytes size) {
  return size / job.data_network().price(Collective::all_reduce, size).time;
}

Bandwidth memory_roof(const PreparedExperiment& job) {
  return job.experiment().cluster.gpu.memory_bandwidth;
}

}  // namespace payoff
