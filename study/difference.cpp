// SPDX-License-Identifier: Apache-2.0
#include "study/difference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "profiles/override.hpp"
#include "study/sensitivity.hpp"
#include "study/spread.hpp"

namespace payoff {
namespace {

constexpr std::string_view strategies = "compress";
constexpr std::array<std::string_view, 3> no_causes{"experiment", "base", strategies};

// Where they were written does not count.
bool same(const Node& a, const Node& b) {
  return a.kind == b.kind && a.text == b.text &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same) &&
         std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
                    [](const Entry& x, const Entry& y) {
                      return x.key == y.key && same(x.value, y.value);
                    });
}

void collect(const std::string& path, const Node* a, const Node* b, std::vector<ChangedKey>& keys) {
  const auto is_section = [](const Node* node) {
    return node == nullptr || (node->kind == Node::Kind::map && !node->entries.empty());
  };
  if (is_section(a) && is_section(b)) {
    for (const Entry& entry : a != nullptr ? a->entries : std::vector<Entry>{}) {
      const Entry* other = b != nullptr ? b->find(entry.key) : nullptr;
      collect(join_path(path, entry.key), &entry.value, other ? &other->value : nullptr, keys);
    }
    for (const Entry& entry : b != nullptr ? b->entries : std::vector<Entry>{}) {
      if (a == nullptr || a->find(entry.key) == nullptr) {
        collect(join_path(path, entry.key), nullptr, &entry.value, keys);
      }
    }
    return;
  }
  const bool counts = std::find(no_causes.begin(), no_causes.end(), path) == no_causes.end();
  if (counts && (a == nullptr || b == nullptr || !same(*a, *b))) {
    keys.push_back(
        {path, a ? std::optional(*a) : std::nullopt, b ? std::optional(*b) : std::nullopt});
  }
}

// Sections that are left empty go too.
void remove_key(Node& node, std::span<const PathPart> path) {
  Entry* entry = node.find(path.front().key);
  if (entry == nullptr) {
    return;
  }
  if (path.size() > 1) {
    remove_key(entry->value, path.subspan(1));
  }
  if (path.size() == 1 || entry->value.entries.empty()) {
    const std::string key = entry->key;
    std::erase_if(node.entries, [&](const Entry& each) { return each.key == key; });
  }
}

void put(Node& root, const std::string& path, const std::optional<Node>& value) {
  if (value) {
    Diagnostics none;  // the path was read from a document
    (void)set_value(root, path, *value, value->span, none);
  } else if (const auto parts = split_path(path)) {
    remove_key(root, *parts);
  }
}

// The experiment with one strategy or none; nothing where the reader or the model refuses it.
struct Answer {
  Experiment experiment;
  StepPrediction prediction;
};
std::optional<Answer> answer(Document document, const std::optional<Node>& strategy,
                             const ReadContext& context) {
  std::optional<Node> list;
  if (strategy) {
    list.emplace();
    list->kind = Node::Kind::list;
    list->items = {*strategy};
    list->span = strategy->span;
  }
  put(document.root, std::string(strategies), list);
  Diagnostics found;
  const auto read = read_experiment(
      std::move(document), {},
      {context.library, context.sources, found, context.with_laws, context.find_in_links});
  if (!read || (strategy && read->experiment.plans.size() < 2)) {
    return std::nullopt;
  }
  return Answer{read->experiment,
                PreparedExperiment(read->experiment).predict(read->experiment.plans.back())};
}

Terms less(const Terms& a, const Terms& b) {
  Terms result;
  for (std::size_t i = 0; i < a.size(); ++i) {
    result.push_back(a[i] - b[i]);
  }
  return result;
}

Seconds sum(const Terms& terms) {
  Seconds total{};
  for (const Seconds term : terms) {
    total += term;
  }
  return total;
}

Cause cause_of(Cause::Kind kind, Terms terms) {
  Cause cause;
  cause.kind = kind;
  cause.contribution = sum(terms);
  cause.terms = std::move(terms);
  return cause;
}

// What the ends say, and the causes between them.
Difference joined(const Side& a, const Side& b, const std::vector<ChangedKey>& keys,
                  const Attribution& shares) {
  const Terms now_a = terms_of(a.prediction.waterfall);
  const Terms now_b = terms_of(b.prediction.waterfall);
  Difference result;
  result.a_terms = a.recorded.value_or(now_a);
  result.b_terms = b.recorded.value_or(now_b);
  result.a = sum(result.a_terms);
  result.b = sum(result.b_terms);
  result.rule = shares.rule;
  result.states = shares.states;
  if (a.recorded) {
    result.causes.push_back(cause_of(Cause::Kind::program_of_a, less(now_a, *a.recorded)));
  }
  for (std::size_t c = 0; c < shares.causes.size(); ++c) {
    Cause cause = cause_of(Cause::Kind::keys, shares.contributions[c]);
    for (const std::size_t key : shares.causes[c]) {
      cause.keys.push_back(keys[key]);
    }
    result.causes.push_back(std::move(cause));
  }
  if (b.recorded) {
    result.causes.push_back(cause_of(Cause::Kind::program_of_b, less(*b.recorded, now_b)));
  }
  return result;
}

// The causes of a measurement: the parts of the machine that moved.
void add_machine(const Latents& mean, const std::vector<std::size_t>& moved,
                 const Attribution& shares, Difference& result) {
  for (std::size_t c = 0; c < shares.causes.size(); ++c) {
    Cause cause = cause_of(Cause::Kind::machine, shares.contributions[c]);
    const std::size_t part = moved[shares.causes[c].front()];
    cause.machine = name(static_cast<Unknown>(part));
    cause.deviations = mean.at(part);
    result.causes.push_back(std::move(cause));
  }
  Cause rest;
  rest.kind = Cause::Kind::unexplained;
  rest.contribution = result.unexplained;
  rest.terms = Terms(step_terms.size());
  result.causes.push_back(std::move(rest));
}

// A latent that a measurement says nothing of stays where it was, up to rounding.
constexpr double least_deviation = 1e-6;

}  // namespace

Terms terms_of(const Waterfall& waterfall) {
  Terms terms;
  terms.reserve(step_terms.size());
  for (const auto& [name, term] : step_terms) {
    terms.push_back(waterfall.*term);
  }
  return terms;
}

std::vector<ChangedKey> changed_keys(const Node& a, const Node& b) {
  std::vector<ChangedKey> keys;
  collect({}, &a, &b, keys);
  return keys;
}

std::optional<Side> side_of(const ReadExperiment& read, const std::string& plan,
                            const ReadContext& context) {
  Side side{read.document, plan, {}, {}, {}};
  const Experiment& experiment = read.experiment;
  if (plan == experiment.plans.front().label) {
    side.prediction = PreparedExperiment(experiment).predict(experiment.plans.front());
    return side;
  }
  const Entry* list = read.document.root.find(strategies);
  for (const Node& item : list != nullptr ? list->value.items : std::vector<Node>{}) {
    const auto alone = answer(read.document, item, context);
    if (alone && alone->experiment.plans.back().label == plan) {
      side.strategy = item;
      side.prediction = alone->prediction;
      return side;
    }
  }
  return std::nullopt;
}

Difference difference(const Side& a, const Side& b, const ReadContext& context) {
  context.sources.mark_users_own(a.document.source);
  context.sources.mark_users_own(b.document.source);
  std::vector<ChangedKey> keys = changed_keys(a.document.root, b.document.root);
  const bool same_strategy = a.strategy && b.strategy
                                 ? same(*a.strategy, *b.strategy)
                                 : a.strategy.has_value() == b.strategy.has_value();
  const std::size_t documents = keys.size();
  if (!same_strategy) {
    keys.push_back({std::string(strategies), a.strategy, b.strategy});
  }
  const TermsOf value = [&](const Switches& on) -> std::optional<Terms> {
    Document document = a.document;
    for (std::size_t i = 0; i < documents; ++i) {
      if (on[i]) {
        put(document.root, keys[i].path, keys[i].in_b);
      }
    }
    const bool others = !same_strategy && on.back();
    const auto found = answer(std::move(document), others ? b.strategy : a.strategy, context);
    return found ? std::optional(terms_of(found->prediction.waterfall)) : std::nullopt;
  };
  return joined(a, b, keys, attribute(keys.size(), value));
}

Difference difference(const Experiment& experiment, const Observation& observation) {
  const Conditioning seen = condition(experiment, observation);
  const Latents& mean = seen.belief.mean;
  const Experiment job = measured_job(experiment, observation).value();
  Ensemble ensemble({{PreparedExperiment(job).plan(job.plans.front())}}, compute_sd(job));
  std::vector<std::size_t> moved;
  for (std::size_t i = 0; i < latent_count; ++i) {
    if (std::abs(mean.at(i)) > least_deviation) {
      moved.push_back(i);
    }
  }
  const TermsOf value = [&](const Switches& on) -> std::optional<Terms> {
    // Those that do not count as moved are in both states, so that the ends are what they are.
    Latents z = mean;
    for (std::size_t i = 0; i < moved.size(); ++i) {
      z.at(moved[i]) = on[i] ? mean.at(moved[i]) : 0.0;
    }
    return terms_of(evaluate(ensemble.scaled(0, {z, {}})).waterfall);
  };
  const Attribution shares = attribute(moved.size(), value);
  Difference result;
  result.a_terms = *value(Switches(moved.size(), false));
  result.b_terms = *value(Switches(moved.size(), true));
  result.a = sum(result.a_terms);
  result.b = observation.step;
  result.unexplained = observation.step - sum(result.b_terms);
  result.rule = shares.rule;
  result.states = shares.states;
  add_machine(mean, moved, shares, result);
  return result;
}

}  // namespace payoff
