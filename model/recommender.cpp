// SPDX-License-Identifier: Apache-2.0
#include "model/recommender.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "model/workload.hpp"

namespace payoff {
namespace {

constexpr Bytes row_element = 4_B;
constexpr Bytes row_index = 8_B;  // of a row, as PyTorch's EmbeddingBag takes it
// What a GPU reads at least (CUDA C++ Best Practices Guide, coalesced access to global memory).
constexpr Bytes sector = 32_B;

// Of `width` columns of a row.
Bytes state_of_row(RowOptimizer optimizer, std::int64_t width) {
  switch (optimizer) {
    case RowOptimizer::sgd:
      return 0_B;
    case RowOptimizer::rowwise_adagrad:
      return 4_B;
    case RowOptimizer::adagrad:
      return real(width) * 4_B;
  }
  return 0_B;
}

// Rows stand anywhere: whole sectors are moved for each.
Bytes moved_for(Bytes wanted) { return std::ceil(wanted / sector) * sector; }

class Translator {
 public:
  Translator(const RecommenderShape& shape, int ranks, Bytes activation)
      : shape_(shape),
        ranks_(ranks),
        activation_(activation),
        division_(divide_tables(shape.tables, ranks)),
        vectors_(real(std::ssize(shape.tables.rows)) * real(shape.tables.dimension) * activation) {}

  Workload translate() {
    Workload workload;
    workload.name = shape_.name;
    workload.width = division_.busiest * division_.width;
    workload.layers.push_back(lookup());
    workload.layers.push_back(bottom());
    workload.layers.push_back(interaction());
    add_top(workload.layers);
    for (Layer& layer : workload.layers) {
      layer.selective_activation_per_sample = layer.activation_per_sample;
    }
    workload.recommender = shape_;
    return workload;
  }

 private:
  // For every sample of this rank its tables are asked by one of each other rank too.
  [[nodiscard]] double parts_asked() const { return ranks_ * real(division_.busiest); }

  Layer lookup() const {
    const EmbeddingTables& tables = shape_.tables;
    const Bytes row = moved_for(real(division_.width) * row_element);
    const Bytes state = state_of_row(tables.optimizer, division_.width);
    const Bytes kept = state > 0_B ? moved_for(state) : 0_B;
    const Bytes pooled = real(division_.width) * activation_;
    Layer layer;
    layer.name = "tables";
    // Backward reads the gradients of the sums, reads and writes the rows that were asked for.
    layer.forward.push_back(
        uncast_pass(parts_asked() * (tables.lookups * (row_index + row) + pooled),
                    parts_asked() * (tables.lookups * (row_index + 2 * (row + kept)) + pooled),
                    static_cast<int>(division_.busiest)));
    layer.activation_per_sample = parts_asked() * tables.lookups * row_index + vectors_;
    layer.boundary_per_sample = parts_asked() * tables.lookups * row_index;
    layer.tables.weights = division_.fullest;
    layer.tables.state = division_.fullest_state;
    return layer;
  }

  Layer bottom() const {
    Layer layer;
    layer.name = "bottom";
    std::int64_t in = shape_.dense;
    for (const std::int64_t out : shape_.bottom) {
      add_linear(layer, in, out, true);
      in = out;
    }
    layer.forward.front().input_gradient = false;
    layer.boundary_per_sample = real(shape_.dense) * activation_;
    if (ranks_ > 1) {
      layer.exchange = {parts_asked() * real(division_.width) * activation_, vectors_};
    }
    return layer;
  }

  // Vectors put together, all products of two of them, those of different ones picked out and put
  // behind the bottom MLP's output. With F vectors of D elements that is F D / (F + D)
  // multiply-adds an element that is moved, 22 of Criteo's 27 vectors of 128: less than what keeps
  // units busy.
  Layer interaction() const {
    const Bytes vectors = real(shape_.vectors() * shape_.tables.dimension) * activation_;
    const Bytes products = real(shape_.vectors() * shape_.vectors()) * activation_;
    const Bytes output = real(shape_.top_inputs()) * activation_;
    Layer layer;
    layer.name = "interaction";
    layer.forward.push_back(uncast_pass(3 * vectors + 2 * products + 2 * output,
                                        4 * vectors + 2 * products + 2 * output, 4));
    layer.activation_per_sample = vectors + output;
    layer.boundary_per_sample = vectors;
    return layer;
  }

  void add_top(std::vector<Layer>& layers) const {
    std::int64_t in = shape_.top_inputs();
    for (std::size_t i = 0; i < shape_.top.size(); ++i) {
      Layer& layer = layers.emplace_back();
      layer.name = "top " + std::to_string(i);
      layer.boundary_per_sample = real(in) * activation_;
      add_linear(layer, in, shape_.top[i], i + 1 < shape_.top.size());
      in = shape_.top[i];
    }
  }

  // The bias is added by the product; backward reads the gradient once to sum it. ReLU works in
  // place, and where kernels are fused it is part of the product.
  void add_linear(Layer& layer, std::int64_t in, std::int64_t out, bool activates) const {
    const Bytes output = real(out) * activation_;
    Operator product{.kind = OperatorKind::gemm};
    product.rows_per_sample = 1;
    product.columns = real(out);
    product.depth = real(in);
    layer.forward.push_back(product);
    layer.forward.push_back(uncast_pass(0_B, output));
    if (activates) {
      layer.forward.push_back(uncast_pass(2 * output, 3 * output, 1, 0));
    }
    layer.parameters.push_back({out, in, true});
    layer.parameters.push_back({out, 1, false});
    layer.activation_per_sample += output;
  }

  const RecommenderShape& shape_;
  double ranks_;
  Bytes activation_;
  TableDivision division_;
  Bytes vectors_;  // of one sample, of all tables
};

}  // namespace

std::int64_t table_elements(const EmbeddingTables& tables) {
  return tables.dimension *
         std::accumulate(tables.rows.begin(), tables.rows.end(), std::int64_t{0});
}

std::int64_t parameter_count(const RecommenderShape& shape) {
  std::int64_t sum = table_elements(shape.tables);
  const auto add = [&](std::int64_t in, const std::vector<std::int64_t>& widths) {
    for (const std::int64_t out : widths) {
      sum += (in + 1) * out;
      in = out;
    }
  };
  add(shape.dense, shape.bottom);
  add(shape.top_inputs(), shape.top);
  return sum;
}

std::int64_t cuts_of(const EmbeddingTables& tables, std::int64_t ranks) {
  for (std::int64_t cuts = 1; cuts <= tables.dimension; ++cuts) {
    if (tables.dimension % cuts == 0 && cuts * std::ssize(tables.rows) >= ranks) {
      return cuts;
    }
  }
  return 0;
}

TableDivision divide_tables(const EmbeddingTables& tables, std::int64_t ranks) {
  TableDivision division;
  division.cuts = cuts_of(tables, ranks);
  if (division.cuts == 0) {  // check() refuses the job: some rank would have nothing
    division.cuts = tables.dimension;
  }
  division.width = tables.dimension / division.cuts;
  const std::int64_t parts = division.cuts * std::ssize(tables.rows);
  division.busiest = (parts + ranks - 1) / ranks;
  std::vector<std::int64_t> largest = tables.rows;
  std::sort(largest.begin(), largest.end(), std::greater<>());
  // Rows held, then the rank: equally full ones in their order.
  using Holder = std::pair<std::int64_t, std::int64_t>;
  std::priority_queue<Holder, std::vector<Holder>, std::greater<>> open;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    open.emplace(0, rank);
  }
  std::vector<std::int64_t> held(static_cast<std::size_t>(ranks), 0);
  std::int64_t fullest = 0;
  for (const std::int64_t rows : largest) {
    for (std::int64_t cut = 0; cut < division.cuts; ++cut) {
      const auto [before, rank] = open.top();
      open.pop();
      fullest = std::max(fullest, before + rows);
      if (++held[static_cast<std::size_t>(rank)] < division.busiest) {
        open.emplace(before + rows, rank);
      }
    }
  }
  division.fullest = real(fullest) * real(division.width) * row_element;
  division.fullest_state = real(fullest) * state_of_row(tables.optimizer, division.width);
  return division;
}

Workload recommender_workload(const RecommenderShape& shape, int ranks, Bytes activation) {
  return Translator(shape, ranks, activation).translate();
}

}  // namespace payoff
