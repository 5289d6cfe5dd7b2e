// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_measured.hpp"

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
constexpr std::array<std::string_view, 9> for_people{"environment", "points",   "samples",
                                                     "outliers",    "left_out", "laws",
                                                     "measured",    "codecs",   "beside"};

// Of a peak: clocks are boosted, and sheets are rounded (most_of_a_peak of
// study/measured_part.hpp).
constexpr RatioRules peak_rules{.fallback = 0.0, .min = 0.0, .max = 1.1};

class LawReader {
 public:
  LawReader(const Section& law, Gpu& gpu, Facts& facts) : law_(law), gpu_(gpu), facts_(facts) {}

  void read() {
    if (const Value launch = law_.optional("launch").sourced()) {
      gpu_.law.launch = launch.quantity<Seconds>();
      replace_fact(facts_, "law.launch");
    }
    const Section ranges = law_.optional("measured").section();
    if (const Value share = law_.optional("memory_efficiency").sourced()) {
      gpu_.law.memory_efficiency = share.ratio(factor_rules);
      gpu_.law.measured.streams = read_range<Bytes>(ranges.required("streams"));
      replace_fact(facts_, "law.memory_efficiency");
    }
    read_products(ranges);
    if (const Value depth = law_.optional("depth_half").sourced()) {
      gpu_.law.depth_half = depth.ratio(factor_rules);
      replace_fact(facts_, "law.depth_half");
    }
  }

 private:
  void read_products(const Section& ranges) {
    const Section products = law_.optional("gemm_efficiency").section();
    for (const auto& [key, precision] : precision_names) {
      const std::string name(key);
      if (const Value share = products.optional(name).sourced()) {
        gpu_.law.gemm_efficiency[precision] = share.ratio(peak_rules);
        gpu_.law.measured.products[precision] = read_range<Flops>(ranges.required(name));
        replace_fact(facts_, "law.gemm_efficiency." + name);
      }
    }
  }

  const Section& law_;
  Gpu& gpu_;
  Facts& facts_;
};

// What its copy engines move (model/hardware.hpp).
CopyLaw read_copies(const Value& value) {
  if (!value) {
    return {};
  }
  const Section section = value.section();
  CopyLaw copies;
  copies.start = section.required("start").sourced().quantity<Seconds>();
  copies.rate = section.required("rate").sourced().quantity<Bandwidth>({.sign = Sign::positive});
  copies.measured = read_range<Bytes>(section.required("measured"));
  return copies;
}

// What sharing the GPU does to work (model/hardware.hpp).
// `range`: the key of what the slow-down depends on.
PairLaw read_pair(const Value& value, std::string_view range, Facts& facts) {
  if (!value) {
    return {};
  }
  const Section section = value.section();
  PairLaw pair;
  pair.share = section.required("share").sourced().ratio(factor_rules);
  pair.spread = section.required("spread").sourced().ratio(factor_rules);
  const Section beside = section.required(range).section();
  pair.beside = {beside.required("smallest").ratio(), beside.required("largest").ratio()};
  (void)section.optional("pairs");
  pair.measured = true;
  replace_fact(facts, value.path() + ".share");
  return pair;
}

PairLaws read_pairs(const Value& value, Facts& facts) {
  if (!value) {
    return {};
  }
  const Section section = value.section();
  PairLaws pairs;
  pairs.compute_beside_codec =
      read_pair(section.optional("compute_beside_codec"), "memory_share", facts);
  pairs.codec_beside_compute =
      read_pair(section.optional("codec_beside_compute"), "memory_share", facts);
  pairs.compute_beside_message =
      read_pair(section.optional("compute_beside_message"), "units_held", facts);
  pairs.codec_beside_message =
      read_pair(section.optional("codec_beside_message"), "units_held", facts);
  return pairs;
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
  gpu.copies = read_copies(root.optional("copies"));
  gpu.pairs = read_pairs(root.optional("interference"), facts);
  for (const std::string_view key : for_people) {
    (void)root.optional(key);
  }
}

}  // namespace payoff
