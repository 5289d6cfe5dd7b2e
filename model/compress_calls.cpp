// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include "model/compression.hpp"
#include "model/formula_limits.hpp"
#include "model/method_on_graph.hpp"

namespace payoff {
namespace {

using Lanes = Expression::Lanes;

using Values = std::array<Lanes, formula_variables.size() + formula_parameter_limit>;

Values constant_values(const Method& method, Bytes element, const Workers& group) {
  Values values;
  values[formula::element_size].fill(element / 1_B);
  values[formula::workers].fill(group.all);
  values[formula::local_workers].fill(group.in_node);
  std::size_t next = formula_variables.size();
  for (const auto& [name, value] : method.parameters) {
    if (next < values.size()) {
      values[next++].fill(value);  // check_method() refuses more
    }
  }
  return values;
}

// Up to `lanes` shapes, evaluated together. The method's parts are worked out when a formula first
// needs them.
class Batch {
 public:
  Batch(const Method& method, const Values& values) : method_(method), values_(values) {
    for (const formula::Variable v :
         {formula::elements, formula::rows, formula::columns, formula::tensors}) {
      values_[v].fill(1.0);
    }
    clear();
  }

  // `together`: tensors of the call that are encoded.
  void add(const EqualTensors& shape, double together) {
    values_[formula::elements][size_] = static_cast<double>(shape.tensor.elements());
    values_[formula::rows][size_] = static_cast<double>(shape.tensor.rows);
    values_[formula::columns][size_] = static_cast<double>(shape.tensor.columns);
    values_[formula::tensors][size_] = together;
    members_[size_++] = &shape;
  }
  [[nodiscard]] bool full() const { return size_ == Expression::lanes; }
  void clear() {
    size_ = 0;
    known_ = formula_variables.size() + method_.parameters.size();
  }

  // Calls `take(shape, value)` for every shape, with the formula's value for one tensor of it.
  template <typename Take>
  void each(const Expression& formula, Take take) {
    if (formula.empty() || size_ == 0) {
      return;
    }
    for (; known_ < std::min(formula.values_needed(), values_.size()); ++known_) {
      const std::size_t part = known_ - formula_variables.size() - method_.parameters.size();
      values_[known_] = method_.where[part].evaluate_lanes(values_);
    }
    const Lanes result = formula.evaluate_lanes(values_);
    for (std::size_t i = 0; i < size_; ++i) {
      take(*members_[i], result[i]);
    }
  }

  // Adds a pass over all tensors to `pass_of(call)`.
  template <typename PassOf>
  void add_pass(const PassFormula& pass, PassOf pass_of) {
    const auto add_to = [&](const Expression& formula, auto member, auto unit,
                            const FormulaLimit& limit = most_times) {
      each(formula, [&](const EqualTensors& shape, double value) {
        pass_of(shape.call).*member +=
            static_cast<double>(shape.count) * within(value, limit) * unit;
      });
    };
    add_to(pass.bytes, &PassCost::bytes, 1_B, most_bytes);
    add_to(pass.random_bytes, &PassCost::random_bytes, 1_B, most_bytes);
    add_to(pass.block_bytes, &PassCost::block_bytes, 1_B, most_bytes);
    add_to(pass.flops, &PassCost::flops, 1_flop, most_operations);
    add_to(pass.kernels, &PassCost::kernels, 1.0);
    add_to(pass.host_syncs, &PassCost::host_syncs, 1.0);
    add_to(pass.host_seconds, &PassCost::host_time, 1_s, most_seconds);
    add_to(pass.copied, &PassCost::copied, 1_B, most_bytes);
  }

 private:
  const Method& method_;
  Values values_;
  std::array<const EqualTensors*, Expression::lanes> members_{};
  std::size_t size_{};
  std::size_t known_{};  // values worked out
};

// Which shapes are compressed, and how many tensors of each call.
struct Choice {
  std::vector<char> compressed;
  std::vector<double> of_call;  // at least 1

  void choose(std::span<const EqualTensors> all, std::size_t i) {
    compressed[i] = 1;
    of_call[all[i].call] += static_cast<double>(all[i].count);
  }
};

// Fills the batch with the shapes that `selected(i)`, and calls `visit` for each full batch and for
// the rest.
template <typename Selected, typename Visit>
void in_batches(Batch& batch, std::span<const EqualTensors> all, const Choice& choice,
                Selected selected, Visit visit) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!selected(i)) {
      continue;
    }
    batch.add(all[i], std::max(1.0, choice.of_call[all[i].call]));
    if (batch.full()) {
      visit();
      batch.clear();
    }
  }
  visit();
  batch.clear();
}

Choice choose(const Method& method, std::span<const EqualTensors> all, std::size_t calls,
              Batch& batch) {
  Choice choice{std::vector<char>(all.size(), 0), std::vector<double>(calls, 0.0)};
  const auto possible = [&](std::size_t i) {
    return all[i].tensor.is_matrix || !method.matrices_only;
  };
  if (method.worth.empty()) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (possible(i)) {
        choice.choose(all, i);
      }
    }
    return choice;
  }
  const Choice undecided = choice;
  in_batches(batch, all, undecided, possible, [&] {
    batch.each(method.worth, [&](const EqualTensors& shape, double worth) {
      if (worth > 0.0) {
        choice.choose(all, static_cast<std::size_t>(&shape - all.data()));
      }
    });
  });
  return choice;
}

// Of a number of bytes for one.
Bytes of_all(const EqualTensors& shape, double value) {
  return static_cast<double>(shape.count) * within(value, most_bytes) * 1_B;
}

void add_compressed(const Method& method, Batch& batch, std::vector<CallCost>& costs) {
  for (std::size_t r = 0; r < method.rounds.size(); ++r) {
    batch.add_pass(method.rounds[r].encode,
                   [&](std::size_t call) -> PassCost& { return costs[call].rounds[r].encode; });
    batch.each(method.rounds[r].message, [&](const EqualTensors& shape, double value) {
      costs[shape.call].rounds[r].message += of_all(shape, value);
    });
  }
  batch.add_pass(method.decode, [&](std::size_t call) -> PassCost& { return costs[call].decode; });
  batch.each(method.state_bytes, [&](const EqualTensors& shape, double value) {
    costs[shape.call].state += of_all(shape, value);
  });
  batch.each(method.saved_bytes, [&](const EqualTensors& shape, double value) {
    costs[shape.call].saved += of_all(shape, value);
  });
}

void add_dense(const Method& method, Batch& batch, std::vector<CallCost>& costs) {
  batch.add_pass(method.dense, [&](std::size_t call) -> PassCost& { return costs[call].dense; });
}

// To a method that works on buckets, a call is one vector.
std::vector<EqualTensors> merge_calls(std::span<const EqualTensors> all, std::size_t calls) {
  std::vector<EqualTensors> whole(calls);
  for (std::size_t call = 0; call < calls; ++call) {
    whole[call].call = call;
  }
  for (const EqualTensors& shape : all) {
    whole[shape.call].tensor.rows += shape.count * shape.tensor.elements();
  }
  return whole;
}

}  // namespace

std::vector<CallCost> compress_calls(const Method& method, std::span<const EqualTensors> tensors,
                                     std::size_t calls, Bytes element, const Workers& group) {
  std::vector<EqualTensors> merged;
  if (method.granularity == Granularity::bucket) {
    merged = merge_calls(tensors, calls);
    tensors = merged;
  }
  Batch batch(method, constant_values(method, element, group));
  const Choice choice = choose(method, tensors, calls, batch);
  std::vector<CallCost> costs(calls);
  for (std::size_t call = 0; call < calls; ++call) {
    if (choice.of_call[call] > 0.0) {
      costs[call].rounds.reserve(method.rounds.size());
      for (const RoundFormula& round : method.rounds) {
        costs[call].rounds.push_back(
            {{}, round.collective, {}, round.among, neighbours_in(method, round, group)});
        costs[call].rounds.back().encode.on_host = round.encode.on_host;
      }
      costs[call].decode.on_host = method.decode.on_host;
    }
  }
  const auto compressed = [&](std::size_t i) { return choice.compressed[i] != 0; };
  const auto dense = [&](std::size_t i) { return choice.compressed[i] == 0; };
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (dense(i)) {
      costs[tensors[i].call].dense_message +=
          static_cast<double>(tensors[i].count * tensors[i].tensor.elements()) * element;
    }
  }
  in_batches(batch, tensors, choice, compressed, [&] { add_compressed(method, batch, costs); });
  in_batches(batch, tensors, choice, dense, [&] { add_dense(method, batch, costs); });
  return costs;
}

CallCost compress(const Method& method, std::span<const ParameterTensor> tensors, Bytes element,
                  int workers, int local_workers) {
  std::vector<EqualTensors> shapes;
  shapes.reserve(tensors.size());
  for (const ParameterTensor& tensor : tensors) {
    shapes.push_back({tensor, 0, 1});
  }
  return compress_calls(method, shapes, 1, element, {workers, local_workers}).front();
}

}  // namespace payoff
