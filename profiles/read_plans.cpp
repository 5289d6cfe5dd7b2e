// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_plans.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "profiles/read_fitted.hpp"
#include "profiles/suggest.hpp"

namespace payoff {
namespace {

bool do_the_same(const Method& a, const Method& b) {
  return a.name == b.name && a.parameters == b.parameters && a.graph == b.graph &&
         a.among_nodes == b.among_nodes && a.smallest == b.smallest;
}

bool do_the_same(const CompressionPlan& a, const CompressionPlan& b) {
  const bool gradients = a.method && b.method
                             ? do_the_same(*a.method, *b.method) && a.placement == b.placement &&
                                   a.overlap == b.overlap
                             : a.method.has_value() == b.method.has_value();
  const auto others = [](const BucketCompression& x, const BucketCompression& y) {
    return do_the_same(x.method, y.method) && x.buckets == y.buckets;
  };
  const bool buckets =
      a.buckets == b.buckets && std::is_permutation(a.others.begin(), a.others.end(),
                                                    b.others.begin(), b.others.end(), others);
  const bool weights = a.weights && b.weights
                           ? do_the_same(a.weights->method, b.weights->method) &&
                                 a.weights->copy_in_node == b.weights->copy_in_node
                           : a.weights.has_value() == b.weights.has_value();
  return gradients && buckets && weights &&
         std::is_permutation(
             a.activations.begin(), a.activations.end(), b.activations.begin(), b.activations.end(),
             [](const ActivationCompression& x, const ActivationCompression& y) {
               return do_the_same(x.method, y.method) && x.traffic == y.traffic &&
                      x.forward == y.forward && x.backward == y.backward && x.blocks == y.blocks;
             });
}

// Of a law that was measured on other GPUs than the one it prices.
void make_assumed(Facts& facts, const std::string& law,
                  const std::vector<std::string>& measured_on) {
  const std::string gpus = listed(measured_on);
  for (Fact& fact : facts) {
    if (fact.path.starts_with(law) && fact.kind != Provenance::assumed) {
      fact.kind = Provenance::assumed;
      fact.citation = "transferred from " + gpus + ": " + fact.citation;
    }
  }
}

}  // namespace

PlanReader::PlanReader(const Gpu& gpu, const ReadContext& context) : gpu_(gpu), context_(context) {
  result_.plans.push_back(uncompressed_plan());
  result_.notes.emplace_back();
}

// Nothing where it compresses nothing, and where it is wrong.
std::optional<ReadPlan> PlanReader::read(const Value& item) const {
  const bool nested = item.is_section() || item.is_list();
  if (!item.span() || (!nested && item.text().empty())) {
    return std::nullopt;
  }
  auto read = nested ? read_plan(item, context_) : read_plan(*item.span(), context_);
  return read && read->plan.compresses() ? std::move(read) : std::nullopt;
}

// 0: there is none.
std::size_t PlanReader::twin_of(const CompressionPlan& plan) const {
  for (std::size_t i = 1; i < result_.plans.size(); ++i) {
    if (do_the_same(plan, result_.plans[i])) {
      return i;
    }
  }
  return 0;
}

void PlanReader::keep(ReadPlan read, std::size_t number) {
  mark_transferred(read.plan, read.facts);
  for (Fact& fact : read.facts) {
    fact.path = read.plan.label + "." + fact.path;
    result_.facts.push_back(std::move(fact));
  }
  result_.plans.push_back(std::move(read.plan));
  result_.notes.push_back(std::move(read.notes));
  result_.items.push_back(number);
}

void PlanReader::compare(const Value& item, std::size_t number) {
  auto read = this->read(item);
  if (!read) {
    return;
  }
  // Two rows of equal numbers under one name would answer one question twice.
  if (const std::size_t twin = twin_of(read->plan)) {
    context_.diagnostics.error(
        *item.span(), backquoted(read->plan.label) + " is compared twice",
        "does what " + backquoted(result_.plans[twin].label) + " above does");
  }
  keep(std::move(*read), number);
}

std::size_t PlanReader::use(const Value& item, std::size_t number) {
  auto read = this->read(item);
  if (!read) {
    return 0;
  }
  if (const std::size_t twin = twin_of(read->plan)) {
    return twin;
  }
  keep(std::move(*read), number);
  return result_.plans.size() - 1;
}

void PlanReader::mark_transferred(CompressionPlan& plan, Facts& facts) const {
  each_method(plan, [&](Method& method) {
    const auto gpus = codec_law_measured_on(method.implementation, context_);
    if (std::find(gpus.begin(), gpus.end(), gpu_.name) == gpus.end()) {
      make_assumed(facts, "law.", gpus);
      make_assumed(facts, method.name + ".law.", gpus);
      method.law.streams = {};
    }
  });
}

ReadPlans read_plans(const Value& list, const Gpu& gpu, const ReadContext& context) {
  PlanReader reader(gpu, context);
  constexpr std::size_t most = 200;  // each has its break-evens and its draws
  const std::vector<Value> items = list.list();
  if (items.size() > most) {
    list.error("compares " + std::to_string(items.size()) + " strategies",
               "at most " + std::to_string(most));
    return std::move(reader).result();
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    reader.compare(items[i], i);
  }
  return std::move(reader).result();
}

std::optional<PlanInPath> plan_in(std::string_view path) {
  constexpr std::string_view list = "compress.";
  if (!path.starts_with(list)) {
    return std::nullopt;
  }
  const std::size_t end = std::min(path.find('.', list.size()), path.size());
  return PlanInPath{std::stoul(std::string(path.substr(list.size(), end - list.size()))), end};
}

Problems in_the_list(Problems problems, const ReadPlans& plans) {
  for (Problem& problem : problems) {
    if (const auto of = plan_in(problem.path)) {
      problem.path.replace(0, of->length, "compress." + std::to_string(plans.items.at(of->plan)));
    }
  }
  return problems;
}

}  // namespace payoff
