// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_measured_codecs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "profiles/law_parts.hpp"
#include "profiles/section.hpp"

namespace payoff {
namespace {

// A class of implementations, or one kernel of it; facts are named "law. ...".
Facts read_codec(const Document& document, const Entry& entry, const ReadContext& context,
                 CodecLaw& law) {
  const Node part = part_of(document.root, entry);
  Reader reader(part, context.sources, context.diagnostics);
  const Section section = reader.root().required("law").section();
  // What the samples did not tell stays as it was published.
  const auto read_share = [&](std::string_view key, double& share) {
    if (const Value value = section.optional(key).sourced()) {
      share = value.ratio(factor_rules);
    }
  };
  read_share("resident_efficiency", law.resident_efficiency);
  read_share("memory_efficiency", law.memory_efficiency);
  read_share("relative_sd", law.relative_sd);
  law.streams = read_range<Bytes>(section.required("streams"));
  if (const Value scattered = section.optional("random_efficiency").sourced()) {
    law.random_efficiency = scattered.ratio(factor_rules);
    law.gathers = read_range<Bytes>(section.required("gathers"));
  }
  if (const Value rate = section.optional("product_rate").sourced()) {
    law.product_rate = rate.quantity<FlopRate>({.sign = Sign::positive});
    law.products = read_range<Flops>(section.required("products"));
  }
  (void)section.optional("kernels");
  reader.finish();
  return reader.facts();
}

// Of the laws of a method's kernels, one for all of its passes: the traffic that each has to move
// counts alike, and that they differ makes it less certain.
CodecLaw mean_law(const std::vector<CodecLaw>& laws) {
  CodecLaw mean = laws.front();
  const auto count = static_cast<double>(laws.size());
  double resident = 0.0;
  double beyond = 0.0;
  double multiplying = 0.0;
  Seconds per_flop{};  // of those that multiply
  for (const CodecLaw& law : laws) {
    resident += 1.0 / law.resident_efficiency / count;
    beyond += 1.0 / law.memory_efficiency / count;
    mean.streams.include(law.streams);
    mean.gathers.include(law.gathers);
    mean.products.include(law.products);
    if (law.product_rate > FlopRate{}) {
      multiplying += 1.0;
      per_flop += 1_flop / law.product_rate;
    }
  }
  mean.product_rate = multiplying > 0.0 ? multiplying * 1_flop / per_flop : FlopRate{};
  mean.resident_efficiency = 1.0 / resident;
  mean.memory_efficiency = 1.0 / beyond;
  double variance = 0.0;
  for (const CodecLaw& law : laws) {
    const double off = mean.memory_efficiency / law.memory_efficiency - 1.0;
    variance += (law.relative_sd * law.relative_sd + off * off) / count;
  }
  mean.relative_sd = std::sqrt(variance);
  return mean;
}

// A kernel of a method: of its class; of a library those that payoff-kernels has in its place.
const Entry* find_kernel(const Entry& codecs, Implementation of, const std::string& kernel) {
  const Implementation other = of == Implementation::library ? Implementation::fused : of;
  for (const Implementation each : {of, other}) {
    const Entry* of_class = codecs.value.find(name(each));
    const Entry* kernels = of_class != nullptr ? of_class->value.find("kernels") : nullptr;
    const Entry* found = kernels != nullptr ? kernels->value.find(kernel) : nullptr;
    if (found != nullptr) {
      return found;
    }
  }
  return nullptr;
}

// A class of which nothing but single kernels was measured has no law.
bool has_only_kernels(const Entry& of_class) {
  const std::vector<Entry>& entries = of_class.value.entries;
  return entries.size() == 1 && entries.front().key == "kernels";
}

// By the kernels that are the method's passes, where all of them were measured; nothing else. The
// facts are those of the first kernel, with the numbers of the law of all.
std::optional<Facts> read_own_kernels(const Document& document, const Entry& codecs,
                                      const ReadContext& context, Method& method) {
  std::vector<CodecLaw> laws;
  Facts facts;
  for (const std::string& kernel : method.kernels) {
    const Entry* entry = find_kernel(codecs, method.implementation, kernel);
    if (entry == nullptr) {
      return std::nullopt;
    }
    laws.push_back(method.law);
    Facts read = read_codec(document, *entry, context, laws.back());
    if (facts.empty()) {
      facts = std::move(read);
    }
  }
  const auto is_usable = [](const CodecLaw& law) {
    return law.resident_efficiency > 0.0 && law.memory_efficiency > 0.0;
  };
  if (laws.empty() || !std::all_of(laws.begin(), laws.end(), is_usable)) {
    return std::nullopt;
  }
  method.law = mean_law(laws);
  const auto state = [&](std::string_view path, double value) {
    for (Fact& fact : facts) {
      fact.value_text = fact.path == path ? fmt::format("{:.4g}", value) : fact.value_text;
    }
  };
  state("law.resident_efficiency", method.law.resident_efficiency);
  state("law.memory_efficiency", method.law.memory_efficiency);
  state("law.relative_sd", method.law.relative_sd);
  return facts;
}

}  // namespace

std::optional<NamedPart> gpu_of_cluster(const std::string& cluster, std::optional<Span> asked,
                                        const ReadContext& context) {
  const auto document = context.library.load(ProfileKind::cluster, cluster, asked, context.sources,
                                             context.diagnostics);
  const Entry* gpu = document ? document->root.find("gpu") : nullptr;
  if (gpu == nullptr || gpu->value.text.empty()) {
    return std::nullopt;  // reported where the cluster was read
  }
  return NamedPart{gpu->value.text, gpu->value.span};
}

void use_measured_codecs(const NamedPart& gpu, const ReadContext& context, ReadPlans& plans) {
  const auto document = context.library.load(ProfileKind::gpu, gpu.name, gpu.asked, context.sources,
                                             context.diagnostics);
  const Entry* codecs = document ? document->root.find("codecs") : nullptr;
  if (codecs == nullptr) {
    return;
  }
  const auto use = [&](Method& method, const std::string& path) {
    std::optional<Facts> measured = read_own_kernels(*document, *codecs, context, method);
    const Entry* of_class = codecs->value.find(name(method.implementation));
    if (!measured && of_class != nullptr && !has_only_kernels(*of_class)) {
      measured = read_codec(*document, *of_class, context, method.law);
    }
    for (Fact& fact : measured.value_or(Facts{})) {
      fact.path = path + fact.path;
      replace_fact(plans.facts, fact.path);
      plans.facts.push_back(std::move(fact));
    }
    if (method.law.product_rate > FlopRate{}) {
      replace_fact(plans.facts, path + "law.gemm_efficiency");  // goes before it
    }
  };
  for (CompressionPlan& plan : plans.plans) {
    const bool alone = plan.methods().size() == 1;
    const auto path = [&](const Method& method) {
      return plan.label + "." + (alone ? "" : method.name + ".");
    };
    each_method(plan, [&](Method& method) { use(method, path(method)); });
  }
}

}  // namespace payoff
