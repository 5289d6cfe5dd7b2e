// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_fitted.hpp"

#include <array>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "profiles/law_parts.hpp"
#include "profiles/precision_names.hpp"
#include "profiles/section.hpp"
#include "profiles/shared_document.hpp"

namespace payoff {
namespace {

// One parameter of a law: its key and where its value goes.
template <class Law>
struct Field {
  std::string_view key;
  std::variant<double Law::*, Seconds Law::*, Bandwidth Law::*, Bytes Law::*> member;
  bool always = true;  // false: absent where the hardware has no such thing
};

template <class Law>
void read_fields(const Section& section, std::span<const Field<Law>> fields, Law& law) {
  for (const Field<Law>& field : fields) {
    const Value value =
        (field.always ? section.required(field.key) : section.optional(field.key)).sourced();
    if (!value) {
      continue;
    }
    if (const auto* ratio = std::get_if<double Law::*>(&field.member)) {
      law.*(*ratio) = value.ratio(factor_rules);
    } else if (const auto* rate = std::get_if<Bandwidth Law::*>(&field.member)) {
      law.*(*rate) = value.quantity<Bandwidth>();
    } else if (const auto* bytes = std::get_if<Bytes Law::*>(&field.member)) {
      law.*(*bytes) = value.quantity<Bytes>();
    } else {
      law.*std::get<Seconds Law::*>(field.member) = value.quantity<Seconds>();
    }
  }
}

void add_facts(const LawEntry& entry, const Facts& read, Facts& facts) {
  for (Fact fact : read) {
    if (entry.borrowed) {
      fact.kind = Provenance::assumed;
      fact.citation = "as " + entry.name + ": " + fact.citation;
    }
    facts.push_back(std::move(fact));
  }
}

// Calls `read` with the section of the entry in `kind` of a file, and hands its facts on.
template <class Read>
void with_law(std::string_view file, std::string_view kind, const LawEntry& named,
              const ReadContext& context, Facts& facts, Read read) {
  const std::string path = context.library.fitted(file).string();
  const auto document = share_yaml_file(path, context.sources, context.diagnostics);
  if (!document) {
    return;
  }
  const Entry* kinds = document->root->find(kind);
  const Entry* entry = kinds == nullptr ? nullptr : kinds->value.find(named.name);
  if (entry == nullptr) {
    context.diagnostics.error(Span{document->source, 0, 0},
                              "no law of " + std::string(kind) + " " + backquoted(named.name), "",
                              "`payoff calibrate fit` writes it; a profile may name hardware whose "
                              "law it shares: `law_of: NAME`");
    return;
  }
  const Node part = part_of(*document->root, *entry);
  Reader reader(part, context.sources, context.diagnostics);
  const Section law = reader.root().required("law").section();
  read(law);
  reader.finish();
  add_facts(named, reader.facts(), facts);
}

constexpr std::array<Field<LinkLaw>, 20> link_fields{{
    {"launch", &LinkLaw::launch},
    {"step_ll", &LinkLaw::step_ll},
    {"step_ll128", &LinkLaw::step_ll128},
    {"step_simple", &LinkLaw::step_simple},
    {"step_nvls", &LinkLaw::step_nvls, false},
    {"share_ll", &LinkLaw::share_ll},
    {"share_ll128", &LinkLaw::share_ll128},
    {"share_simple", &LinkLaw::share_simple},
    {"share_nvls", &LinkLaw::share_nvls, false},
    {"rendezvous", &LinkLaw::rendezvous, false},
    {"switched_hosts", &LinkLaw::switched_hosts, false},
    {"channel", &LinkLaw::channel, false},
    {"node_limit", &LinkLaw::node_limit, false},
    {"relative_sd_node_limit", &LinkLaw::relative_sd_node_limit, false},
    {"ramp", &LinkLaw::ramp},
    {"chunk", &LinkLaw::chunk, false},
    {"congestion_per_doubling", &LinkLaw::congestion_per_doubling, false},
    {"relative_sd_small", &LinkLaw::relative_sd_small},
    {"relative_sd_middle", &LinkLaw::relative_sd_middle},
    {"relative_sd_large", &LinkLaw::relative_sd_large},
}};

constexpr std::array<Field<HostLaw>, 2> host_fields{{
    {"launch_per_gpu", &HostLaw::launch_per_gpu},
    {"relative_sd", &HostLaw::relative_sd},
}};

constexpr std::array<Field<ComputeLaw>, 6> compute_fields{{
    {"convolution_efficiency", &ComputeLaw::convolution_efficiency},
    {"attention_efficiency", &ComputeLaw::attention_efficiency},
    {"depth_half", &ComputeLaw::depth_half},
    {"memory_efficiency", &ComputeLaw::memory_efficiency},
    {"launch", &ComputeLaw::launch},
    {"relative_sd", &ComputeLaw::relative_sd},
}};

constexpr std::array<Field<Software>, 4> software_fields{{
    {"host_per_kernel", &Software::host_per_kernel},
    {"host_per_step", &Software::host_per_step},
    {"memory_traffic_ratio", &Software::memory_traffic_ratio},
    {"relative_sd", &Software::relative_sd},
}};

constexpr std::array<Field<CodecLaw>, 7> codec_fields{{
    {"dispatch", &CodecLaw::dispatch},
    {"host_sync", &CodecLaw::host_sync},
    {"resident_efficiency", &CodecLaw::resident_efficiency},
    {"memory_efficiency", &CodecLaw::memory_efficiency},
    {"random_efficiency", &CodecLaw::random_efficiency},
    {"gemm_efficiency", &CodecLaw::gemm_efficiency},
    {"relative_sd", &CodecLaw::relative_sd},
}};

// Absent where nobody measured the link.
FitDomain read_domain(const Value& value) {
  if (!value) {
    return {};
  }
  const Section domain = value.section();
  return {domain.required("smallest").quantity<Bytes>(),
          domain.required("largest").quantity<Bytes>(),
          domain.required("ranks").integer<int>({.min = 2})};
}

// Absent where the link's own tables tell.
void read_bands(const Section& section, const std::string& of, BandSds& sds) {
  for (std::size_t band = 0; band < spread_band_count; ++band) {
    const std::string key = "relative_sd_" + of + "_" + spread_band_names.at(band);
    if (const Value value = section.optional(key).sourced()) {
      sds.at(band) = value.ratio(factor_rules);
    }
  }
}

void read_further_spreads(const Section& section, LinkLaw& law) {
  for (std::size_t family = 0; family < collective_family_count; ++family) {
    read_bands(section, std::string(collective_family_names.at(family)),
               law.relative_sd_family.at(family));
  }
  read_bands(section, "more_ranks", law.relative_sd_more_ranks);
}

LinkLaw read_link_law(std::string_view kind, const LawEntry& entry, const ReadContext& context,
                      Facts& facts) {
  LinkLaw law;
  with_law("network", kind, entry, context, facts, [&](const Section& section) {
    read_fields<LinkLaw>(section, link_fields, law);
    read_further_spreads(section, law);
    law.domain = read_domain(section.optional("domain"));
    if (entry.borrowed) {
      law.domain = {};
    }
  });
  return law;
}

}  // namespace

LinkLaw read_fabric_law(const LawEntry& entry, const ReadContext& context, Facts& facts) {
  return read_link_law("fabric", entry, context, facts);
}

LinkLaw read_network_law(const LawEntry& entry, const ReadContext& context, Facts& facts) {
  return read_link_law("network", entry, context, facts);
}

HostLaw read_host_law(const ReadContext& context) {
  HostLaw law;
  Facts facts;
  with_law("network", "host", {"one_process", false}, context, facts,
           [&](const Section& section) { read_fields<HostLaw>(section, host_fields, law); });
  return law;
}

ComputeLaw read_compute_law(const LawEntry& entry, const Gpu& gpu, const ReadContext& context,
                            Facts& facts) {
  ComputeLaw law;
  with_law("compute", "gpu", entry, context, facts, [&](const Section& section) {
    const Section gemm = section.required("gemm_efficiency").section();
    for (const auto& [key, precision] : precision_names) {
      const bool has = gpu.peak[precision] > FlopRate{};
      const Value value = has ? gemm.required(key) : gemm.optional(key);
      law.gemm_efficiency[precision] = value.sourced().ratio();
    }
    read_fields<ComputeLaw>(section, compute_fields, law);
    law.measured = read_amounts(section.optional("measured"));
    if (entry.borrowed) {
      law.measured = {};
    }
  });
  return law;
}

void read_software_law(Software& software, const ReadContext& context, Facts& facts) {
  const LawEntry entry{software.name, false};
  with_law("compute", "software", entry, context, facts, [&](const Section& section) {
    read_fields<Software>(section, software_fields, software);
  });
}

namespace {

LawEntry entry_of(Implementation implementation) {
  return {std::string(name_of(implementation)), false};
}

// Both of what is known about a class: its law, and the GPUs that its timings are from.
std::vector<std::string> read_codec(Implementation implementation, const ReadContext& context,
                                    Facts& facts, CodecLaw& law) {
  std::vector<std::string> gpus;
  with_law("codecs", "implementation", entry_of(implementation), context, facts,
           [&](const Section& section) {
             for (const Value& gpu : section.required("measured_on").list()) {
               gpus.push_back(gpu.text());
             }
             read_fields<CodecLaw>(section, codec_fields, law);
             law.streams = read_range<Bytes>(section.optional("streams"));
           });
  return gpus;
}

}  // namespace

CodecLaw read_codec_law(Implementation implementation, const ReadContext& context, Facts& facts) {
  CodecLaw law;
  (void)read_codec(implementation, context, facts, law);
  return law;
}

std::vector<std::string> codec_law_measured_on(Implementation implementation,
                                               const ReadContext& context) {
  Facts facts;
  CodecLaw law;
  return read_codec(implementation, context, facts, law);
}

}  // namespace payoff
