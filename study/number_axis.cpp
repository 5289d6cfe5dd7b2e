// SPDX-License-Identifier: Apache-2.0
#include "study/number_axis.hpp"

#include <algorithm>
#include <array>

namespace payoff {
namespace {

template <auto Member>
void take(const JobNumbers& from, JobNumbers& to) {
  to.*Member = from.*Member;
}

constexpr std::array axes{
    NumberAxis{"cluster.nodes", take<&JobNumbers::nodes>, true},
    NumberAxis{"cluster.nics_per_node", take<&JobNumbers::nics_per_node>, false},
    NumberAxis{"cluster.inter.bandwidth", take<&JobNumbers::nic>, false},
    NumberAxis{"cluster.intra.bandwidth", take<&JobNumbers::fabric>, false},
    NumberAxis{"layout.dp", take<&JobNumbers::dp>, true},
    NumberAxis{"layout.micro_batch", take<&JobNumbers::micro_batch>, true},
    NumberAxis{"layout.micro_batches", take<&JobNumbers::micro_batches>, true},
    NumberAxis{"training.bucket", take<&JobNumbers::bucket>, false},
    NumberAxis{"training.first_bucket", take<&JobNumbers::first_bucket>, false},
};

}  // namespace

const NumberAxis* find_number_axis(std::string_view key) {
  const auto* found = std::find_if(axes.begin(), axes.end(),
                                   [key](const NumberAxis& axis) { return axis.key == key; });
  return found == axes.end() ? nullptr : found;
}

}  // namespace payoff
