// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_method.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "model/units_text.hpp"
#include "profiles/formula_reader.hpp"
#include "profiles/law_parts.hpp"
#include "profiles/named_profile.hpp"
#include "profiles/positions.hpp"
#include "profiles/read_fitted.hpp"
#include "profiles/section.hpp"
#include "profiles/suggest.hpp"

namespace payoff {
namespace {

constexpr std::array<std::pair<std::string_view, Granularity>, 2> granularities{{
    {"tensor", Granularity::tensor},
    {"bucket", Granularity::bucket},
}};

constexpr std::array<std::pair<std::string_view, Collective>, 7> method_collectives{{
    {"all_reduce", Collective::all_reduce},
    {"all_gather", Collective::all_gather},
    {"reduce_scatter", Collective::reduce_scatter},
    {"broadcast", Collective::broadcast},
    {"reduce", Collective::reduce},
    {"all_to_all", Collective::all_to_all},
    {"send_recv", Collective::send_recv},
}};

constexpr std::array<std::pair<std::string_view, Among>, 3> amongs{{
    {"all", Among::all},
    {"node", Among::node},
    {"nodes", Among::nodes},
}};

enum class WireUsed { as_published, as_implemented };
constexpr std::array<std::pair<std::string_view, WireUsed>, 2> wires{{
    {"as_published", WireUsed::as_published},
    {"as_implemented", WireUsed::as_implemented},
}};

// NaN where it is missing or was refused: that is above and below nothing.
double bound(const Section& parameter, std::string_view key, bool integer) {
  constexpr std::int64_t exact = std::int64_t{1} << 53;  // as a double
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const Value value = parameter.required(key);
  if (!integer) {
    return value.number({.fallback = unknown});
  }
  const std::int64_t whole = value.integer({.fallback = exact + 1, .min = -exact, .max = exact});
  return whole > exact ? unknown : static_cast<double>(whole);
}

ParameterRules read_parameters(const Section& section, Method& method) {
  ParameterRules rules;
  for (const auto& [name, value] : section.entries()) {
    check_name(name, value);
    const Section parameter = value.section();
    ParameterRule& rule = rules[name];
    rule.integer = parameter.optional("integer").boolean();
    rule.min = bound(parameter, "min", rule.integer);
    rule.max = bound(parameter, "max", rule.integer);
    method.parameters[name] = bound(parameter, "default", rule.integer);
    for (const Value& one : parameter.optional("values").list()) {
      rule.values.push_back(one.number({.fallback = rule.min}));
    }
    if (rule.min > rule.max) {
      parameter.error("has a `min` above its `max`");
    } else if (method.parameters[name] < rule.min || method.parameters[name] > rule.max) {
      parameter.required("default").error("is not between `min` and `max`");
    } else if (!rule.takes(method.parameters[name])) {
      parameter.required("default").error("is not one of `values`");
    }
  }
  return rules;
}

// `sends`: from one rank to another, so that no collective is said.
std::vector<RoundFormula> read_rounds(const Value& list, const FormulaReader& formulas,
                                      bool sends) {
  std::vector<RoundFormula> rounds;
  for (const Value& item : list.list()) {
    const Section section = item.section();
    RoundFormula& round = rounds.emplace_back();
    const Section encode = section.required("encode").section();
    round.encode = sends ? formulas.pass(encode) : formulas.pass_of_gradients(encode);
    round.collective =
        sends ? Collective::send_recv : section.required("collective").choice(method_collectives);
    round.message = formulas.read(section.required("message"));
    if (sends) {
      continue;
    }
    if (const Value among = section.optional("among")) {
      round.among = among.choice(amongs);
    }
  }
  return rounds;
}

std::optional<OtherFormulas> read_other(const Section& root, std::string_view key,
                                        const FormulaReader& formulas) {
  const Value value = root.optional(key);
  if (!value) {
    return std::nullopt;
  }
  const Section section = value.section();
  return OtherFormulas{read_rounds(section.required("rounds"), formulas, true),
                       formulas.pass(section.optional("decode").section())};
}

// What goes from one rank to another says nothing about a sum over many.
void check_sends(const Section& root, const MethodProfile& read) {
  const std::vector<RoundFormula>& rounds = read.profile.value.rounds;
  const bool sends = std::any_of(rounds.begin(), rounds.end(), [](const RoundFormula& round) {
    return round.collective == Collective::send_recv;
  });
  if (sends && read.notes.traffic != std::vector<std::string>{"pp_activations"}) {
    root.required("rounds").error("has a send_recv", "",
                                  "only for `traffic: [pp_activations]`: others are collectives");
  }
}

// Which of its two wire formulas a file says that its rounds send.
struct WireClaim {
  Value used;
  WireUsed which{};
};

// What one worker sends for a tensor must be what the file says of it. Checked for one matrix; a
// method that sees buckets sees one column.
void check_wire(const WireClaim& claim, const Method& method) {
  constexpr double rows = 1536;
  constexpr double columns = 768;
  const bool bucket = method.granularity == Granularity::bucket;
  std::vector<double> values{
      rows * columns, bucket ? rows * columns : rows, bucket ? 1 : columns, 4, 16, 4, 1};
  for (const auto& [name, value] : method.parameters) {
    values.push_back(value);
  }
  double sent = 0;
  for (const RoundFormula& round : method.rounds) {
    sent += round.message.evaluate(values);
  }
  const double stated = (claim.which == WireUsed::as_published ? method.wire.as_published
                                                               : method.wire.as_implemented)
                            .evaluate(values);
  if (!(std::abs(sent - stated) <= 1e-9 * std::abs(stated))) {
    claim.used.error(
        "is not what the rounds send",
        number_text(stated) + " bytes of a 1536 x 768 matrix, the rounds " + number_text(sent),
        "the messages of all rounds add up to one of the two formulas");
  }
}

WireClaim read_wire(const Section& root, const FormulaReader& formulas, Method& method) {
  const Section wire = root.required("wire").section();
  method.wire.as_published = formulas.read(wire.required("as_published"));
  method.wire.as_implemented = formulas.read(wire.required("as_implemented"));
  const Value used = wire.required("used");
  return {used, used.choice(wires)};
}

// What sort of method it is.
void read_traits(const Section& root, Method& method) {
  method.implementation = root.required("implementation").choice(implementation_names);
  method.granularity = root.required("granularity").choice(granularities);
  method.matrices_only = root.optional("matrices_only").boolean();
  method.sums_in_collective = root.optional("sums_in_collective").boolean();
  method.elementwise = root.optional("elementwise").boolean();
  method.scatters = root.optional("scatters").boolean();
  const Value from = root.optional("reduces_from");
  method.reduces_from = from ? std::optional(from.choice(architecture_names)) : std::nullopt;
  method.in_network = root.optional("in_network").boolean();
  method.bypasses_buckets = root.optional("bypasses_buckets").boolean();
  method.after_backward = root.optional("after_backward").boolean();
}

WireClaim read_root(const Section& root, MethodProfile& read) {
  Method& method = read.profile.value;
  method.description = root.required("description").text();
  read_traits(root, method);
  read.rules = read_parameters(root.optional("parameters").section(), method);
  FormulaReader formulas(formula_names(method.parameters));
  for (const auto& [name, value] : root.optional("where").section().entries()) {
    formulas.define(name, value);
  }
  method.rounds = read_rounds(root.required("rounds"), formulas, false);
  method.decode = formulas.pass_of_gradients(root.optional("decode").section());
  method.dense = formulas.pass(root.optional("dense").section());
  method.worth = formulas.read(root.optional("worth"));
  method.fits = formulas.read(root.optional("fits"));
  method.state_bytes = formulas.read(root.optional("state"));
  method.saved_bytes = formulas.read(root.optional("saved"));
  method.sent = read_other(root, "sent", formulas);
  method.backward = read_other(root, "backward", formulas);
  if (const Value learned = root.optional("learned")) {
    method.learned = learned.boolean();
    if (method.learned && !method.backward) {
      learned.error("needs `backward`", "", "what encoder and decoder cost in the backward pass");
    }
  }
  if (const Value kernels = root.optional("kernels")) {
    for (const Value& kernel : kernels.list()) {
      method.kernels.push_back(kernel.text());
    }
  }
  read.notes = read_method_notes(root);
  check_sends(root, read);
  return read_wire(root, formulas, method);
}

std::optional<HostCodec> read_host(const Value& value) {
  if (!value) {
    return std::nullopt;
  }
  constexpr IntegerRules threads{.fallback = 1, .min = 1, .max = 4096};
  const Section section = value.section();
  HostCodec host;
  host.call = section.required("call").sourced().quantity<Seconds>();
  const QuantityRules<Bandwidth> rates{.fallback = Bandwidth{1}, .sign = Sign::positive};
  host.core = section.required("core").sourced().quantity<Bandwidth>(rates);
  host.irregular = section.required("irregular").sourced().quantity<Bandwidth>(rates);
  host.threads = section.required("threads").sourced().integer<int>(threads);
  host.relative_sd =
      section.required("relative_sd").sourced().ratio({.fallback = 0.0, .min = 0.0, .max = 3.0});
  return host;
}

// A formula has no single number to source: what a file cites becomes one fact each. A user's own
// file needs no source.
void read_sources(const Section& root, const Document& document, const SourceMap& sources,
                  Facts& facts) {
  const bool own = sources.is_users_own(document.root.span);
  const Value cited = own ? root.optional("sources") : root.required("sources");
  for (const Value& source : cited.list()) {
    source.cited("formulas");
  }
  if (own && !cited) {
    facts.push_back(fact_in_words("formulas", "given in " + sources[document.source].name));
  }
}

}  // namespace

std::optional<MethodProfile> read_method_profile(std::string_view name, std::optional<Span> asked,
                                                 const ReadContext& context) {
  const std::size_t errors = context.diagnostics.error_count();
  const auto document = context.library.load(ProfileKind::compression, name, asked, context.sources,
                                             context.diagnostics);
  if (!document) {
    return std::nullopt;
  }
  Reader reader(document->root, context.sources, context.diagnostics);
  const Section root = reader.root();
  if (!root) {
    return std::nullopt;
  }
  MethodProfile read;
  Profile<Method>& profile = read.profile;
  profile.value.name = read_name(root, "method", name);
  const WireClaim claim = read_root(root, read);
  profile.value.host = read_host(root.optional("host"));
  const auto sync_delay = root.optional("sync_delay").sourced().quantity<Seconds>();
  read_sources(root, *document, context.sources, profile.facts);
  reader.finish();
  read.notes.users_own = context.sources.is_users_own(document->root.span);
  if (!read.notes.unchecked.empty()) {
    profile.facts.push_back(fact_in_words("unchecked", read.notes.unchecked));
  }
  profile.description = profile.value.description;
  profile.facts.insert(profile.facts.begin(), reader.facts().begin(), reader.facts().end());
  if (context.diagnostics.error_count() == errors) {
    check_wire(claim, profile.value);
    report(check_method(profile.value), PositionMap(document->root), context.diagnostics);
    profile.value.law = read_codec_law(profile.value.implementation, context, profile.facts);
    profile.value.law.host_sync += sync_delay;
    if (profile.value.host) {
      profile.value.law.relative_sd = profile.value.host->relative_sd;
    }
  }
  return context.diagnostics.error_count() > errors ? std::nullopt : std::optional(std::move(read));
}

std::optional<Profile<Method>> read_method(std::string_view name, std::optional<Span> asked,
                                           const ReadContext& context) {
  auto read = read_method_profile(name, asked, context);
  return read ? std::optional(std::move(read->profile)) : std::nullopt;
}

}  // namespace payoff
