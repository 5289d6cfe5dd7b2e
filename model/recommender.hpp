// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/units.hpp"

// A deep learning recommendation model (Naumov et al. 2019, arXiv:1906.00091; Mudigere et al. 2022,
// arXiv:2104.05158): dense features go through a bottom MLP, categorical ones look up rows of
// embedding tables and are summed up, one vector a table; dot products of all pairs of these
// vectors and the MLP's output go through a top MLP.
//
// Training is hybrid parallel: tables are divided over all data-parallel ranks, every rank looks up
// its own ones for the samples of all ranks. Pooled vectors go to the ranks of their samples beside
// the bottom MLP, their gradients back beside its backward (facebookresearch/dlrm,
// extend_distributed.py: all-to-all started after the lookup, waited for before the interaction).
// MLPs are replicated, their gradients summed. Rows are updated where they are, in the backward of
// the lookup (FBGEMM's fused table-batched embeddings, HugeCTR): no gradient of a table exists.
//
// Without: tables that are small enough to be replicated, caches of rows that many samples ask for,
// tables divided by rows, sorting of indices before the update, the exchange of indices (every rank
// reads those of its own tables).

namespace payoff {

// What an update keeps beside each row, in 32 bits.
enum class RowOptimizer {
  sgd,              // nothing
  rowwise_adagrad,  // one number a row
  adagrad           // one number an element
};

struct EmbeddingTables {
  std::vector<std::int64_t> rows;  // of each table
  std::int64_t dimension{};        // elements of a row, of every table
  double lookups{1};               // rows of a table that a sample adds up, on average
  RowOptimizer optimizer{RowOptimizer::sgd};

  bool operator==(const EmbeddingTables&) const = default;
};

struct RecommenderShape {
  std::string name;
  std::int64_t dense{};              // features of a sample
  std::vector<std::int64_t> bottom;  // widths of layers; the last one is the tables' dimension
  EmbeddingTables tables;
  std::vector<std::int64_t> top;  // widths of layers; the last one is the output

  // Vectors whose pairs are multiplied, and what the top MLP takes: the bottom MLP's output and the
  // products of all different pairs.
  [[nodiscard]] std::int64_t vectors() const {
    return static_cast<std::int64_t>(tables.rows.size()) + 1;
  }
  [[nodiscard]] std::int64_t top_inputs() const {
    return tables.dimension + vectors() * (vectors() - 1) / 2;
  }
  bool operator==(const RecommenderShape&) const = default;
};

// Of all tables, and of tables and MLPs.
[[nodiscard]] std::int64_t table_elements(const EmbeddingTables& tables);
[[nodiscard]] std::int64_t parameter_count(const RecommenderShape& shape);

// Whole tables, or where there are more ranks than tables equal parts of their columns: as few as
// give every rank one. No rank has more parts than an even division gives some; among those with
// room left the next larger table goes to the one that holds least.
struct TableDivision {
  std::int64_t cuts{1};    // parts of a table
  std::int64_t width{};    // columns of a part
  std::int64_t busiest{};  // parts of the rank with most
  Bytes fullest{};         // weights of the rank that holds most
  Bytes fullest_state{};   // what the optimizer keeps beside them

  bool operator==(const TableDivision&) const = default;
};

// Parts into which tables are cut for so many ranks; 0: their columns do not suffice.
[[nodiscard]] std::int64_t cuts_of(const EmbeddingTables& tables, std::int64_t ranks);
// Requires cuts_of() above 0.
[[nodiscard]] TableDivision divide_tables(const EmbeddingTables& tables, std::int64_t ranks);

struct Workload;

// As each of `ranks` GPUs runs it. `activation` is the size of a stored activation; rows of tables
// are kept in 32 bits.
[[nodiscard]] Workload recommender_workload(const RecommenderShape& shape, int ranks,
                                            Bytes activation);

}  // namespace payoff
