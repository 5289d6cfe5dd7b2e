// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_measured.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "profiles/law_parts.hpp"
#include "profiles/precision_names.hpp"
#include "profiles/section.hpp"

namespace payoff {
namespace {

constexpr std::string_view base_key = "data_of";

// Of a file that `payoff calibrate fit` wrote, what is for people.
constexpr std::array<std::string_view, 8> for_people{
    "environment", "points", "samples", "outliers", "left_out", "laws", "measured", "codecs"};

// What is measured replaces what was known of the data sheet's GPU, number by number.
void replace(Facts& facts, const std::string& path) {
  std::erase_if(facts, [&](const Fact& fact) { return fact.path == path; });
}

class LawReader {
 public:
  LawReader(const Section& law, Gpu& gpu, Facts& facts) : law_(law), gpu_(gpu), facts_(facts) {}

  void read() {
    if (const Value launch = law_.optional("launch").sourced()) {
      gpu_.law.launch = launch.quantity<Seconds>();
      replace(facts_, "law.launch");
    }
    const Section ranges = law_.optional("measured").section();
    if (const Value share = law_.optional("memory_efficiency").sourced()) {
      gpu_.law.memory_efficiency = share.ratio(factor_rules);
      gpu_.law.measured.streams = read_range<Bytes>(ranges.required("streams"));
      replace(facts_, "law.memory_efficiency");
    }
    read_products(ranges);
  }

 private:
  void read_products(const Section& ranges) {
    const Section products = law_.optional("gemm_efficiency").section();
    for (const auto& [key, precision] : precision_names) {
      const std::string name(key);
      if (const Value share = products.optional(name).sourced()) {
        gpu_.law.gemm_efficiency[precision] = share.ratio();
        gpu_.law.measured.products[precision] = read_range<Flops>(ranges.required(name));
        replace(facts_, "law.gemm_efficiency." + name);
      }
    }
  }

  const Section& law_;
  Gpu& gpu_;
  Facts& facts_;
};

// One class of implementations; facts are named "law. ...".
Facts read_codec(const Document& document, const Entry& entry, const ReadContext& context,
                 CodecLaw& law) {
  const Node part = part_of(document.root, entry);
  Reader reader(part, context.sources, context.diagnostics);
  const Section section = reader.root().required("law").section();
  const auto share = [&](std::string_view key) {
    return section.required(key).sourced().ratio(factor_rules);
  };
  law.resident_efficiency = share("resident_efficiency");
  law.memory_efficiency = share("memory_efficiency");
  law.relative_sd = share("relative_sd");
  law.streams = read_range<Bytes>(section.required("streams"));
  reader.finish();
  return reader.facts();
}

}  // namespace

bool is_measured_gpu(const Section& root) { return root.has(base_key); }

void read_measured_gpu(const Section& root, const ReadContext& context, Gpu& gpu, Facts& facts) {
  const Value base = root.required(base_key);
  const std::string own = gpu.name;
  if (const std::string name = base.text(); !name.empty()) {
    if (auto read = read_gpu(name, base.span(), context)) {
      gpu = std::move(read->value);
      gpu.name = own;
      facts.insert(facts.end(), read->facts.begin(), read->facts.end());
    }
  }
  if (const Value law = root.optional("law")) {
    const Section section = law.section();
    LawReader(section, gpu, facts).read();
  }
  for (const std::string_view key : for_people) {
    (void)root.optional(key);
  }
}

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
    const Entry* entry = codecs->value.find(
        implementation_names.at(static_cast<std::size_t>(method.implementation)));
    if (entry == nullptr) {
      return;
    }
    for (Fact& fact : read_codec(*document, *entry, context, method.law)) {
      fact.path = path + fact.path;
      replace(plans.facts, fact.path);
      plans.facts.push_back(std::move(fact));
    }
  };
  for (CompressionPlan& plan : plans.plans) {
    const bool alone = plan.methods().size() == 1;
    const auto path = [&](const Method& method) {
      return plan.label + "." + (alone ? "" : method.name + ".");
    };
    if (plan.method) {
      use(*plan.method, path(*plan.method));
    }
    for (BucketCompression& of : plan.others) {
      use(of.method, path(of.method));
    }
    for (ActivationCompression& of : plan.activations) {
      use(of.method, path(of.method));
    }
  }
}

}  // namespace payoff
