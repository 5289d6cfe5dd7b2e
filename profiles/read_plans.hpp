// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "model/compression.hpp"
#include "model/problem.hpp"
#include "profiles/read_method.hpp"
#include "profiles/section.hpp"

// The list of plans that an experiment compares, "none" put before them. The same plan twice is a
// mistake. A codec law that was measured on other GPUs than the one it prices here is an
// assumption, whatever it was fitted to.

namespace payoff {

struct ReadPlans {
  std::vector<CompressionPlan> plans;  // the first is uncompressed
  Facts facts;                         // "powersgd:rank=4.law.dispatch"
  std::vector<MethodNotes> notes;      // of every plan, none for the first
  std::vector<std::size_t> items;      // of every plan that compresses, its place in the list
};

// Calls `use` with every codec of a plan, in the order of CompressionPlan::methods().
template <class Use>
void each_method(CompressionPlan& plan, const Use& use) {
  if (plan.method) {
    use(*plan.method);
  }
  for (BucketCompression& of : plan.others) {
    use(of.method);
  }
  for (ActivationCompression& of : plan.activations) {
    use(of.method);
  }
  if (plan.weights) {
    use(plan.weights->method);
  }
}

// Reads plans one by one.
class PlanReader {
 public:
  PlanReader(const Gpu& gpu, const ReadContext& context);

  // One that is to be compared: the same again is a mistake.
  void compare(const Value& item, std::size_t number);
  // The place among all plans of one that is used; the first, which is uncompressed, also where it
  // cannot be read. The same again is the same plan.
  [[nodiscard]] std::size_t use(const Value& item, std::size_t number);

  [[nodiscard]] ReadPlans result() && { return std::move(result_); }

 private:
  [[nodiscard]] std::optional<ReadPlan> read(const Value& item) const;
  [[nodiscard]] std::size_t twin_of(const CompressionPlan& plan) const;
  void keep(ReadPlan read, std::size_t number);
  void mark_transferred(CompressionPlan& plan, Facts& facts) const;

  const Gpu& gpu_;
  const ReadContext& context_;
  ReadPlans result_;
};

[[nodiscard]] ReadPlans read_plans(const Value& list, const Gpu& gpu, const ReadContext& context);

// Which plan a problem's path is about, counted as the model does: "compress.0" is the first that
// compresses. `length`: of that beginning of the path. Nothing for other paths.
struct PlanInPath {
  std::size_t plan{};
  std::size_t length{};
};
[[nodiscard]] std::optional<PlanInPath> plan_in(std::string_view path);

// With the places in the list, which may hold "none" among the plans that compress.
[[nodiscard]] Problems in_the_list(Problems problems, const ReadPlans& plans);

}  // namespace payoff
