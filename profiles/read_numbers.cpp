// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_numbers.hpp"

#include <utility>

#include "profiles/experiment_keys.hpp"
#include "profiles/override.hpp"

namespace payoff {
namespace {

constexpr int most_in_a_node = 1024;

void read_numbers(const Section& root, JobNumbers& numbers) {
  const Section cluster = root.optional("cluster").section();
  numbers.nodes = read_nodes(cluster.optional("nodes"));
  numbers.nics_per_node = read_nics(cluster.optional("nics_per_node"));
  numbers.nic = read_nic_rate(cluster.optional("inter").section().optional("bandwidth"), {});
  numbers.fabric = read_fabric_rate(cluster.optional("intra").section().optional("bandwidth"), {});
  const Section layout = root.optional("layout").section();
  numbers.dp = read_positive(layout.optional("dp"));
  numbers.micro_batch = read_positive(layout.optional("micro_batch"));
  numbers.micro_batches = read_positive(layout.optional("micro_batches"));
  const Section training = root.optional("training").section();
  numbers.bucket = read_bucket(training.optional("bucket"), {});
  numbers.first_bucket = read_bucket(training.optional("first_bucket"), {});
}

}  // namespace

int read_positive(const Value& value) {
  return value.integer<int>({.fallback = 0, .min = 1, .max = most_ranks});
}

int read_nodes(const Value& value) {
  return value.integer<int>({.fallback = 1, .min = 1, .max = most_nodes});
}

int read_nics(const Value& value) {
  return value.integer<int>({.fallback = 1, .min = 1, .max = most_in_a_node});
}

Bandwidth read_nic_rate(const Value& value, Bandwidth fallback) {
  return value.quantity<Bandwidth>(
      {.fallback = fallback, .sign = Sign::positive, .range = &nic_rates});
}

Bandwidth read_fabric_rate(const Value& value, Bandwidth fallback) {
  return value.quantity<Bandwidth>(
      {.fallback = fallback, .sign = Sign::positive, .range = &fabric_rates});
}

Bytes read_bucket(const Value& value, Bytes fallback) {
  return value.quantity<Bytes>(
      {.fallback = fallback, .sign = Sign::positive, .range = &bucket_sizes});
}

std::optional<JobNumbers> read_number(std::string_view key, std::string_view text,
                                      const SourceMap& sources) {
  Node value;
  value.kind = Node::Kind::scalar;
  value.text = text;
  Node root;
  root.kind = Node::Kind::map;
  Diagnostics diagnostics;
  if (!set_value(root, key, std::move(value), {}, diagnostics)) {
    return std::nullopt;
  }
  Reader reader(root, sources, diagnostics);
  JobNumbers numbers;
  read_numbers(reader.root(), numbers);
  reader.finish();
  return diagnostics.empty() ? std::optional(numbers) : std::nullopt;
}

}  // namespace payoff
