// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "study/row_prior.hpp"

// Parts of row_prior: each fills in one field that a row leaves open, or leaves it.

namespace payoff {

class RowFilling {
 public:
  RowFilling(const TrainingRow& row, const RowCatalogue& catalogue) : catalogue_(catalogue) {
    prior_.likely = row;
  }

  // Fields after another see its likely value. Of the job:
  void batch_of_images();
  void named_shape();
  void parameters();
  void shape();
  void recomputation();
  void sequence();
  void batch_of_tokens();
  void accumulation();
  void precision();
  // Of the machine:
  void nodes();
  void unnamed_gpu();
  void links();
  void whole_network();
  void network();
  void cards();
  void servers();

  [[nodiscard]] RowPrior take() { return std::move(prior_); }

 private:
  template <typename Value>
  struct Choice {
    Value value;
    std::string words;
  };

  // `set` writes a value into a copy of the row.
  template <typename Value, typename Set>
  void fill(const Value& likely, const std::vector<Choice<Value>>& others,
            const std::string& assumption, const Set& set) {
    for (RowAlternative& other : prior_.others) {
      set(other.row, likely);
    }
    for (const Choice<Value>& other : others) {
      prior_.others.push_back({prior_.likely, prior_.assumptions.size(), other.words});
      set(prior_.others.back().row, other.value);
    }
    set(prior_.likely, likely);
    prior_.assumptions.push_back(assumption);
  }

  template <typename Change>
  void change_all(const Change& change) {
    change(prior_.likely);
    for (RowAlternative& other : prior_.others) {
      change(other.row);
    }
  }

  // Nothing where that is no count that a row can state.
  [[nodiscard]] static std::optional<int> product(int a, int b) {
    const std::int64_t count = std::int64_t{a} * b;
    return count > 0 && count <= std::numeric_limits<int>::max()
               ? std::optional(static_cast<int>(count))
               : std::nullopt;
  }

  [[nodiscard]] const TrainingRow& row() const { return prior_.likely; }
  void links_of_cards();
  void precision_of_images(const Gpu& gpu);
  // nullptr: no profile, which row_experiment refuses.
  [[nodiscard]] const Gpu* gpu() const;

  const RowCatalogue& catalogue_;
  RowPrior prior_;
};

}  // namespace payoff
