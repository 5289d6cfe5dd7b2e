// SPDX-License-Identifier: Apache-2.0
#include "model/compression.hpp"

#include <algorithm>
#include <cstddef>

namespace payoff {
namespace {

using Lanes = Expression::Lanes;

// Positions in formula_variables.
enum Variable : std::size_t {
  elements,
  rows,
  columns,
  element_size,
  workers,
  local_workers,
  tensors
};

using Values = std::array<Lanes, formula_variables.size() + formula_parameter_limit>;

Values constant_values(const Method& method, Bytes element, int group, int local_group,
                       double count) {
  Values values;
  values[element_size].fill(element / 1_B);
  values[workers].fill(group);
  values[local_workers].fill(local_group);
  values[tensors].fill(count);
  std::size_t next = formula_variables.size();
  for (const auto& [name, value] : method.parameters) {
    if (next < values.size()) {
      values[next++].fill(value);  // check_method() refuses more
    }
  }
  return values;
}

// Up to `lanes` tensors, evaluated together. The method's parts are worked out when a formula
// first needs them.
class Batch {
 public:
  Batch(const Method& method, const Values& values) : method_(method), values_(values) {
    for (const Variable v : {elements, rows, columns}) {
      values_[v].fill(1.0);
    }
    clear();
  }

  void add(const ParameterTensor& tensor) {
    values_[elements][size_] = static_cast<double>(tensor.elements());
    values_[rows][size_] = static_cast<double>(tensor.rows);
    values_[columns][size_] = static_cast<double>(tensor.columns);
    ++size_;
  }
  [[nodiscard]] bool full() const { return size_ == Expression::lanes; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  void clear() {
    size_ = 0;
    known_ = formula_variables.size() + method_.parameters.size();
  }

  [[nodiscard]] Lanes lanes(const Expression& formula) {
    for (; known_ < std::min(formula.values_needed(), values_.size()); ++known_) {
      const std::size_t part = known_ - formula_variables.size() - method_.parameters.size();
      values_[known_] = method_.where[part].evaluate_lanes(values_);
    }
    return formula.evaluate_lanes(values_);
  }

  [[nodiscard]] double sum(const Expression& formula) {
    if (formula.empty()) {
      return 0.0;
    }
    const Lanes result = lanes(formula);
    double total = 0.0;
    for (std::size_t i = 0; i < size_; ++i) {
      total += result[i];
    }
    return total;
  }

  [[nodiscard]] PassCost sum(const PassFormula& pass) {
    return {sum(pass.bytes) * 1_B, sum(pass.random_bytes) * 1_B, sum(pass.flops) * 1_flop,
            sum(pass.kernels), sum(pass.host_syncs)};
  }

 private:
  const Method& method_;
  Values values_;
  std::size_t size_{};
  std::size_t known_{};  // values worked out
};

// Which tensors are compressed, 1 or 0 each.
std::vector<char> decide(const Method& method, std::span<const ParameterTensor> all,
                         const Values& values) {
  std::vector<char> chosen(all.size(), 0);
  std::array<std::size_t, Expression::lanes> members{};
  std::size_t count = 0;
  Batch batch(method, values);
  const auto flush = [&] {
    const Lanes worth = batch.lanes(method.worth);
    for (std::size_t i = 0; i < count; ++i) {
      chosen[members[i]] = method.worth.empty() || worth[i] > 0.0 ? 1 : 0;
    }
    batch.clear();
    count = 0;
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (method.matrices_only && !all[i].is_matrix) {
      continue;
    }
    batch.add(all[i]);
    members[count++] = i;
    if (batch.full()) {
      flush();
    }
  }
  flush();
  return chosen;
}

void flush_compressed(const Method& method, Batch& batch, CallCost& cost) {
  if (batch.empty()) {
    return;
  }
  for (std::size_t i = 0; i < method.rounds.size(); ++i) {
    cost.rounds[i].encode += batch.sum(method.rounds[i].encode);
    cost.rounds[i].message += batch.sum(method.rounds[i].message) * 1_B;
  }
  cost.decode += batch.sum(method.decode);
  cost.state += batch.sum(method.state_bytes) * 1_B;
  batch.clear();
}

void flush_dense(const Method& method, Batch& batch, CallCost& cost) {
  if (batch.empty()) {
    return;
  }
  cost.dense += batch.sum(method.dense);
  batch.clear();
}

CallCost compress_tensors(const Method& method, std::span<const ParameterTensor> all,
                          Values& values, Bytes element) {
  const std::vector<char> chosen = decide(method, all, values);
  const auto count = std::count(chosen.begin(), chosen.end(), 1);
  values[tensors].fill(static_cast<double>(std::max<std::ptrdiff_t>(count, 1)));

  CallCost cost;
  if (count > 0) {
    cost.rounds.resize(method.rounds.size());
  }
  for (std::size_t i = 0; i < cost.rounds.size(); ++i) {
    cost.rounds[i].collective = method.rounds[i].collective;
  }
  Batch compressed(method, values);
  Batch dense(method, values);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Batch& batch = chosen[i] != 0 ? compressed : dense;
    batch.add(all[i]);
    if (chosen[i] == 0) {
      cost.dense_message += static_cast<double>(all[i].elements()) * element;
    }
    if (compressed.full()) {
      flush_compressed(method, compressed, cost);
    }
    if (dense.full()) {
      flush_dense(method, dense, cost);
    }
  }
  flush_compressed(method, compressed, cost);
  flush_dense(method, dense, cost);
  return cost;
}

}  // namespace

PassCost& PassCost::operator+=(const PassCost& other) {
  bytes += other.bytes;
  random_bytes += other.random_bytes;
  flops += other.flops;
  kernels += other.kernels;
  host_syncs += other.host_syncs;
  return *this;
}

std::vector<std::string> formula_names(const std::map<std::string, double>& parameters) {
  std::vector<std::string> names(formula_variables.begin(), formula_variables.end());
  for (const auto& [name, value] : parameters) {
    names.push_back(name);
  }
  return names;
}

CallCost compress(const Method& method, std::span<const ParameterTensor> tensors, Bytes element,
                  int workers, int local_workers) {
  Values values = constant_values(method, element, workers, local_workers, 1.0);
  if (method.granularity == Granularity::tensor) {
    return compress_tensors(method, tensors, values, element);
  }
  ParameterTensor whole;
  for (const ParameterTensor& tensor : tensors) {
    whole.rows += tensor.elements();
  }
  return compress_tensors(method, {&whole, 1}, values, element);
}

Seconds price_pass(const PassCost& cost, const CodecLaw& law, const Gpu& gpu,
                   Precision arithmetic) {
  const Bandwidth memory = gpu.memory_bandwidth;
  const double kernels = std::max(cost.kernels, 1.0);
  const Bytes resident = std::min(cost.bytes, gpu.l2 * kernels);
  Seconds gpu_time = cost.kernels * gpu.law.launch;
  if (resident > 0_B) {
    gpu_time += resident / (memory * law.resident_efficiency);
  }
  if (cost.bytes > resident) {
    gpu_time += (cost.bytes - resident) / (memory * law.memory_efficiency);
  }
  if (cost.random_bytes > 0_B) {
    gpu_time += cost.random_bytes / (memory * law.random_efficiency);
  }
  if (cost.flops > 0_flop) {
    gpu_time += cost.flops / (gpu.peak[arithmetic] * law.gemm_efficiency);
  }
  return std::max(cost.kernels * law.dispatch, gpu_time) + cost.host_syncs * law.host_sync;
}

}  // namespace payoff
