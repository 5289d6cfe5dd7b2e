// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "profiles/plan_text.hpp"
#include "profiles/read_method.hpp"
#include "profiles/read_plan_part.hpp"
#include "profiles/suggest.hpp"

namespace payoff {

CompressionPlan uncompressed_plan() {
  CompressionPlan plan;
  plan.label = "none";
  return plan;
}

namespace {

// Puts the parts of a plan together.
class PlanBuilder {
 public:
  explicit PlanBuilder(const ReadContext& context) : diagnostics_(context.diagnostics) {}

  void add(const WrittenPlan& written, PlanPart part, bool alone) {
    for (const Traffic traffic : part.traffic) {
      add(written, part, traffic);
    }
    for (Fact& fact : part.facts) {
      fact.path = alone ? fact.path : part.method.name + "." + fact.path;
      const bool known = std::any_of(result_.facts.begin(), result_.facts.end(),
                                     [&](const Fact& other) { return other.path == fact.path; });
      if (!known) {  // one method may have two parts
        result_.facts.push_back(std::move(fact));
      }
    }
    result_.notes = is_first_ ? std::move(part.notes) : joined(result_.notes, part.notes);
    is_first_ = false;
  }

  ReadPlan result(std::string label) && {
    result_.plan.label = std::move(label);
    return std::move(result_);
  }

 private:
  void add(const WrittenPlan& written, const PlanPart& part, Traffic traffic) {
    CompressionPlan& plan = result_.plan;
    if (traffic == Traffic::dp_gradients && plan.method) {
      add_gradients(written, part);
      return;
    }
    const bool known = traffic == Traffic::dp_gradients ? false
                       : traffic == Traffic::dp_weights
                           ? plan.weights.has_value()
                           : std::any_of(plan.activations.begin(), plan.activations.end(),
                                         [&](const ActivationCompression& other) {
                                           return other.traffic == traffic;
                                         });
    if (known) {
      diagnostics_.error(written.whole.span,
                         "compresses " + std::string(name_of(traffic)) + " a second time", "",
                         "one method for each kind of traffic");
    } else if (traffic == Traffic::dp_gradients) {
      plan.method = part.method;
      placement_ = part.placement;
      plan.placement = part.placement.value_or(plan.usual_placement());
      plan.overlap = part.overlap;
      plan.buckets = part.buckets;
    } else if (traffic == Traffic::dp_weights) {
      plan.weights = WeightCompression{part.method, part.copy_in_node};
    } else {
      const auto usual = part.notes.directions.find(std::string(name_of(traffic)));
      const Directions directions = part.directions.value_or(
          usual == part.notes.directions.end() ? Directions{} : usual->second);
      plan.activations.push_back({part.method, traffic, directions.forward, directions.backward,
                                  part.blocks.value_or(BlockRange{})});
    }
  }

  // One more method, of other buckets.
  void add_gradients(const WrittenPlan& written, const PlanPart& part) {
    CompressionPlan& plan = result_.plan;
    bool again = plan.buckets.overlaps(part.buckets);
    for (const BucketCompression& other : plan.others) {
      again = again || other.buckets.overlaps(part.buckets);
    }
    if (again) {
      diagnostics_.error(written.whole.span, "compresses dp_gradients a second time", "",
                         "one method for each kind of traffic, or `buckets=` of its own for each");
    } else if (is_elsewhere(part) || part.overlap != plan.overlap) {
      diagnostics_.error(written.whole.span,
                         "has another `placement` or `overlap` than the method before it", "",
                         "say the same for all buckets");
    } else {
      plan.others.push_back({part.method, part.buckets});
      placement_ = placement_ ? placement_ : part.placement;
      plan.placement = placement_.value_or(plan.usual_placement());
    }
  }

  // Where neither says a placement, the one that waits longest decides.
  [[nodiscard]] bool is_elsewhere(const PlanPart& part) const {
    CompressionPlan alone;
    alone.method = part.method;
    return (part.placement || placement_) &&
           part.placement.value_or(alone.usual_placement()) != result_.plan.placement;
  }

  Diagnostics& diagnostics_;
  ReadPlan result_{uncompressed_plan(), {}, {}};
  std::optional<Placement> placement_;  // of gradients, where the plan says it
  bool is_first_ = true;
};

// Beyond any method; what is longer was not written by hand.
constexpr std::size_t most_parts = 16;
constexpr std::size_t most_parameters = 64;

bool is_too_long(const std::vector<WrittenPlan>& parts, Diagnostics& diagnostics) {
  if (parts.size() > most_parts) {
    diagnostics.error(parts.front().method.span,
                      "the plan joins " + std::to_string(parts.size()) + " methods",
                      "at most " + std::to_string(most_parts));
    return true;
  }
  for (const WrittenPlan& part : parts) {
    if (part.assignments.size() > most_parameters) {
      diagnostics.error(part.method.span,
                        backquoted(part.method.text) + " is given " +
                            std::to_string(part.assignments.size()) + " parameters",
                        "at most " + std::to_string(most_parameters));
      return true;
    }
  }
  return false;
}

std::optional<ReadPlan> read(const std::vector<WrittenPlan>& parts, const std::string& label,
                             const ReadContext& context) {
  if (is_too_long(parts, context.diagnostics)) {
    return std::nullopt;
  }
  const std::size_t errors = context.diagnostics.error_count();
  PlanBuilder builder(context);
  for (const WrittenPlan& part : parts) {
    if (part.method.text == "none") {
      if (part.has_colon || parts.size() > 1) {
        context.diagnostics.error(part.whole.span, part.has_colon ? "`none` has no parameters"
                                                                  : "`none` is a plan of its own");
      }
      continue;
    }
    if (auto read = read_plan_part(part, context)) {
      builder.add(part, *std::move(read), parts.size() == 1);
    }
  }
  return context.diagnostics.error_count() > errors
             ? std::nullopt
             : std::optional(std::move(builder).result(label));
}

}  // namespace

std::optional<ReadPlan> read_plan(Span written, const ReadContext& context) {
  const std::vector<WrittenPlan> parts = written_parts(written, context.sources);
  return read(parts, label_of(parts), context);
}

std::optional<ReadPlan> read_plan(const Value& value, const ReadContext& context) {
  std::vector<WrittenPlan> parts;
  for (const Value& item : value.is_list() ? value.list() : std::vector<Value>{value}) {
    if (item.is_section()) {
      std::optional<WrittenPlan> part = written_plan(item, context.sources);
      if (!part) {
        return std::nullopt;
      }
      parts.push_back(*std::move(part));
    } else if (item.span() && !item.text().empty()) {
      const std::vector<WrittenPlan> more = written_parts(*item.span(), context.sources);
      parts.insert(parts.end(), more.begin(), more.end());
    }
  }
  return read(parts, label_of(parts), context);
}

}  // namespace payoff
