// SPDX-License-Identifier: Apache-2.0
#include "cli/explanation_text.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "cli/names.hpp"
#include "cli/profile_text.hpp"
#include "cli/table.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

// The largest first; what is left out is counted.
std::string parts_text(const TermExplanation& term) {
  constexpr std::size_t most_shown = 24;
  if (term.parts.empty()) {
    return {};
  }
  std::vector<const ExplainedPart*> order;
  order.reserve(term.parts.size());
  for (const ExplainedPart& part : term.parts) {
    order.push_back(&part);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->count * a->each > b->count * b->each;
  });
  Table table({{"part", Align::left},
               {"count", Align::right},
               {"each", Align::right},
               {"all", Align::right},
               {"numbers put in (B, flop, s)", Align::left}});
  Seconds all{};
  Seconds hidden{};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const ExplainedPart& part = *order[i];
    const Seconds time = part.count * part.each;
    all += time;
    if (i >= most_shown) {
      hidden += time;
      continue;
    }
    table.add(
        {part.what, number_text(part.count), to_text(part.each), to_text(time), part.numbers});
  }
  const std::string equation = term.part_equation.empty()
                                   ? ""
                                   : fmt::format(", each\n\n  {}   (docs/model.md, {})",
                                                 term.part_equation, term.part_section);
  std::string text =
      fmt::format("\nParts, {} in all{}:\n\n{}", to_text(all), equation, table.markdown());
  if (order.size() > most_shown) {
    text += fmt::format("{} smaller ones take {}: --json has them.\n", order.size() - most_shown,
                        to_text(hidden));
  }
  return text;
}

std::string messages_text(const TermExplanation& term, const Experiment& experiment) {
  if (term.messages.empty()) {
    return {};
  }
  Table table({{"message", Align::left},
               {"collective", Align::left},
               {"count", Align::right},
               {"ranks", Align::right},
               {"a node", Align::right},
               {"size", Align::right},
               {"alone", Align::right},
               {"chosen", Align::left},
               {"", Align::left}});
  for (const MessageUse& use : term.messages) {
    const CollectiveModel model(experiment.cluster, use.group);
    std::vector<Bytes> sizes{use.smallest};
    if (use.largest > use.smallest) {
      sizes.push_back(use.largest);
    }
    for (const Bytes size : sizes) {
      const CollectivePrice price = model.price(use.collective, size);
      table.add({std::string(name_of(use.kind)), std::string(name(use.collective)),
                 std::to_string(use.count), std::to_string(use.group.ranks),
                 std::to_string(use.group.ranks_per_node), to_text(size), to_text(price.time),
                 price.by == AllReduceBy::nccl
                     ? fmt::format("{}/{}", name(price.algorithm), name(price.protocol))
                     : std::string(name(price.by)),
                 price.extrapolated ? "extrapolated" : ""});
    }
  }
  return "\nMessages (smallest and largest):\n\n" + table.markdown();
}

std::string kernels_text(const TermExplanation& term) {
  if (term.kernels.empty()) {
    return {};
  }
  Table table({{"kernels", Align::left},
               {"work in one", Align::left},
               {"measured on this GPU", Align::left},
               {"", Align::left}});
  for (const KernelUse& use : term.kernels) {
    table.add({use.kernel, range_text(use.used), range_text(use.measured),
               use.extrapolated() ? "extrapolated" : ""});
  }
  return "\nKernels, and those that their law was fitted to:\n\n" + table.markdown();
}

std::string facts_text(const TermExplanation& term) {
  if (term.facts.empty()) {
    return {};
  }
  std::vector<Citation> citations;
  Table table({{"number", Align::left},
               {"value", Align::left},
               {"±", Align::right},
               {"from", Align::left},
               {"source", Align::left}});
  for (const Fact& fact : term.facts) {
    const std::size_t citation = cite(fact, citations);
    table.add({fact.path, fact.value_text, fact.relative_sd ? percent_text(*fact.relative_sd) : "",
               std::string(name_of(fact.kind)),
               citation == 0 ? "" : fmt::format("[{}]", citation)});
  }
  return "\n" + table.markdown() + "\n" + citations_text(citations);
}

// All terms, and their sum.
std::string side_by_side(const std::vector<TermExplanation>& terms, const std::string& label) {
  const bool compressed = label != "none";
  std::vector<Column> columns{{"term", Align::left}, {"uncompressed [ms]", Align::right}};
  if (compressed) {
    columns.push_back({label + " [ms]", Align::right});
  }
  columns.push_back({"equation", Align::left});
  Table table(columns);
  const auto add = [&](const std::string& term, Seconds uncompressed, Seconds own,
                       const std::string& equation) {
    std::vector<std::string> row{term, fixed(uncompressed / 1_ms, 2)};
    if (compressed) {
      row.push_back(fixed(own / 1_ms, 2));
    }
    row.push_back(equation);
    table.add(std::move(row));
  };
  Seconds total{};
  Seconds baseline{};
  for (const TermExplanation& term : terms) {
    total += term.time;
    baseline += term.uncompressed;
    add(term.term, term.uncompressed, term.time, term.equation);
  }
  add("step", baseline, total, "sum of all");
  return table.markdown();
}

std::string assumed_numbers(const Trust& trust) {
  if (trust.assumed.empty()) {
    return {};
  }
  std::string text =
      fmt::format("{} of {} numbers that these predictions read are assumed:", trust.assumed.size(),
                  trust.numbers);
  for (const Fact& fact : trust.assumed) {
    text += fmt::format("\n  {} = {}", fact.path, fact.value_text);
    // A law that others measured on other hardware: "transferred from a100-sxm-40".
    if (fact.citation.starts_with("transferred from ")) {
      text += fmt::format(" ({})", fact.citation.substr(0, fact.citation.find(':')));
    }
  }
  return text + "\n";
}

// What is priced beyond what was measured: messages of all strategies, kernels and pairs of one.
std::string beyond_measured(const Trust& trust, const std::string& label) {
  std::string text;
  for (const MessageUse& use : trust.messages) {
    if (use.extrapolated) {
      text += fmt::format("Extrapolated: {} of {} ({} of {} to {} on {} ranks)\n",
                          name_of(use.kind), use.plan, name(use.collective), to_text(use.smallest),
                          to_text(use.largest), use.group.ranks);
    }
  }
  std::size_t others = 0;
  for (const KernelUse& use : trust.kernels) {
    if (!use.extrapolated()) {
      continue;
    }
    if (use.plan.empty() || use.plan == label) {
      text += fmt::format("Extrapolated: {}\n", sentence(use));
    } else {
      ++others;
    }
  }
  for (const PairUse& use : trust.pairs) {
    if (use.extrapolated() && use.plan == label) {
      text += fmt::format("Extrapolated: {}\n", sentence(use));
    }
  }
  return others == 0 ? text
                     : text + fmt::format(
                                  "{} kinds of kernels of other strategies are extrapolated: "
                                  "--plan\n",
                                  others);
}

}  // namespace

std::string overview(const std::vector<TermExplanation>& terms, const std::string& label,
                     const Trust& trust) {
  return side_by_side(terms, label) + "\n" + assumed_numbers(trust) +
         beyond_measured(trust, label) +
         "`payoff explain EXPERIMENT TERM` shows the numbers of one term.\n";
}

std::string term_text(const TermExplanation& term, const std::string& label,
                      const Experiment& experiment) {
  std::string text = fmt::format("{}: {}\n\n  {} = {}   (docs/model.md, {})\n", term.term,
                                 term.what, term.term, term.equation, term.section);
  text += fmt::format("  {} = {} s\n", std::string(term.term.size(), ' '), term.inserted);
  text += fmt::format("  {}: {}", strategy_name(label), to_text(term.time));
  text +=
      label == "none" ? "\n\n" : fmt::format(", uncompressed: {}\n\n", to_text(term.uncompressed));
  Table table({{"symbol", Align::left}, {"value", Align::right}, {"meaning", Align::left}});
  for (const InsertedNumber& number : term.numbers) {
    table.add({number.symbol, number.value, number.meaning});
  }
  return text + table.markdown() + parts_text(term) + messages_text(term, experiment) +
         kernels_text(term) + facts_text(term);
}

}  // namespace payoff
