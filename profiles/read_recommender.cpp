// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_recommender.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace payoff {
namespace {

constexpr std::array<std::pair<std::string_view, RowOptimizer>, 3> row_optimizers{{
    {"sgd", RowOptimizer::sgd},
    {"rowwise_adagrad", RowOptimizer::rowwise_adagrad},
    {"adagrad", RowOptimizer::adagrad},
}};

enum class Interaction { dot };
constexpr std::array<std::pair<std::string_view, Interaction>, 1> interactions{
    {{"dot", Interaction::dot}}};

// Above any model that exists. At most 2^12 tables of 2^36 rows of 2^12 elements: counts stay
// within 64 bits, products of widths too. Widths that were refused read as 0, and are held against
// nothing.
constexpr IntegerRules width_rules{.fallback = 0, .min = 1, .max = 1 << 18};
constexpr IntegerRules dimension_rules{.fallback = 0, .min = 1, .max = 1 << 12};
constexpr IntegerRules row_rules{.fallback = 1, .min = 1, .max = std::int64_t{1} << 36};
constexpr IntegerRules copy_rules{.fallback = 1, .min = 1, .max = 1 << 12};
constexpr std::size_t most_tables = 1 << 12;
constexpr std::size_t most_products = 64;  // of an MLP, one after another

std::vector<std::int64_t> read_widths(const Value& value) {
  std::vector<std::int64_t> widths;
  for (const Value& width : value.list()) {
    widths.push_back(width.integer(width_rules));
  }
  if (value && widths.empty()) {
    value.error("has no layer");
  } else if (widths.size() > most_products) {
    value.error("has " + std::to_string(widths.size()) + " layers; at most " +
                std::to_string(most_products) + " are modelled");
  }
  return widths;
}

EmbeddingTables read_tables(const Section& section) {
  EmbeddingTables tables;
  const Value rows = section.required("rows");
  std::vector<std::int64_t> sizes;
  for (const Value& row : rows.list()) {
    sizes.push_back(row.integer(row_rules));
  }
  const auto copies = static_cast<std::size_t>(section.optional("copies").integer(copy_rules));
  tables.dimension = section.required("dimension").integer(dimension_rules);
  tables.lookups = section.required("lookups").number({.fallback = 1, .min = 1e-3, .max = 1e6});
  tables.optimizer = section.required("optimizer").choice(row_optimizers, RowOptimizer::sgd);
  if (rows && sizes.empty()) {
    rows.error("has no table");
  } else if (sizes.size() * copies > most_tables) {
    rows.error("makes " + std::to_string(sizes.size() * copies) + " tables; at most " +
               std::to_string(most_tables) + " are modelled");
    return tables;
  }
  for (std::size_t copy = 0; copy < copies; ++copy) {
    tables.rows.insert(tables.rows.end(), sizes.begin(), sizes.end());
  }
  return tables;
}

}  // namespace

RecommenderShape read_recommender(const Section& root, std::string name) {
  RecommenderShape shape;
  shape.name = std::move(name);
  shape.dense = root.required("dense").integer(width_rules);
  const Value bottom = root.required("bottom");
  shape.bottom = read_widths(bottom);
  shape.tables = read_tables(root.required("tables").section());
  (void)root.required("interaction").choice(interactions);
  shape.top = read_widths(root.required("top"));
  const std::int64_t outputs = shape.bottom.empty() ? 0 : shape.bottom.back();
  if (outputs > 0 && shape.tables.dimension > 0 && outputs != shape.tables.dimension) {
    bottom.error("ends with " + std::to_string(outputs) +
                     " outputs, which are multiplied with rows of " +
                     std::to_string(shape.tables.dimension) + " elements",
                 {}, "let the last layer be as wide as `tables.dimension`");
  }
  return shape;
}

}  // namespace payoff
