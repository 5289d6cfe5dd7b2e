// SPDX-License-Identifier: Apache-2.0
#include "cli/kernel_use.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/names.hpp"
#include "model/kernel_amounts.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

bool is_empty(const AmountRange& range) {
  return std::visit([](const auto& amounts) { return amounts.empty(); }, range);
}

// Only kinds of kernels that there are.
void add(KernelUse use, std::vector<KernelUse>& uses) {
  if (!is_empty(use.used)) {
    uses.push_back(std::move(use));
  }
}

void add_amounts(WorkKind work, const KernelAmounts& used, const KernelAmounts& measured,
                 std::vector<KernelUse>& uses) {
  for (std::size_t i = 0; i < precision_count; ++i) {
    const auto precision = static_cast<Precision>(i);
    add({{},
         work,
         fmt::format("{} products", name_of(precision)),
         used.products[precision],
         measured.products[precision]},
        uses);
  }
  add({{}, work, "convolutions", used.convolutions, measured.convolutions}, uses);
  add({{}, work, "fused attention", used.attention, measured.attention}, uses);
  add({{}, work, "streams", used.streams, measured.streams}, uses);
}

// A rate of products was measured in fp32; at another precision it is taken for want of its own.
FitRange<Flops> measured_products(const CodecLaw& law, Precision arithmetic) {
  const bool has_other = law.product_rate > FlopRate{} && arithmetic != Precision::fp32;
  return has_other ? FitRange<Flops>{} : law.products;
}

// Where nobody measured copies, their law is assumed or the cluster's, and not fitted at all.
void add_codec(const std::string& plan, WorkKind work, const CodecKernels& kernels,
               const CodecLaw& law, Precision arithmetic, const FitRange<Bytes>& copies,
               std::vector<KernelUse>& uses) {
  add({plan, work, "streams", kernels.streams, law.streams}, uses);
  add({plan, work, "gathers", kernels.gathers, law.gathers}, uses);
  add({plan, work, "products", kernels.products, measured_products(law, arithmetic)}, uses);
  if (!copies.empty()) {
    add({plan, work, "copies between host and GPU", kernels.copies, copies}, uses);
  }
}

void ends_json(const AmountRange& range, const std::string& prefix, nlohmann::ordered_json& json) {
  const std::string unit = std::holds_alternative<FitRange<Bytes>>(range) ? "_bytes" : "_flops";
  std::visit(
      [&](const auto& amounts) {
        json[prefix + "smallest" + unit] = nullptr;
        json[prefix + "largest" + unit] = nullptr;
        if (!amounts.empty()) {
          json[prefix + "smallest" + unit] = amounts.smallest.si;
          json[prefix + "largest" + unit] = amounts.largest.si;
        }
      },
      range);
}

template <typename Amount>
FitRange<Amount> in_both(const FitRange<Amount>& a, const FitRange<Amount>& b) {
  return {std::max(a.smallest, b.smallest), std::min(a.largest, b.largest)};
}

// On the GPUs of all kinds of nodes.
KernelAmounts measured_on_all(const Cluster& cluster) {
  KernelAmounts all = cluster.gpu.law.measured;
  for (const Cluster& nodes : cluster.kinds) {
    const KernelAmounts& one = nodes.gpu.law.measured;
    for (std::size_t p = 0; p < precision_count; ++p) {
      all.products.values.at(p) = in_both(all.products.values.at(p), one.products.values.at(p));
    }
    all.convolutions = in_both(all.convolutions, one.convolutions);
    all.attention = in_both(all.attention, one.attention);
    all.streams = in_both(all.streams, one.streams);
  }
  return all;
}

struct DirectedKernels {
  CodecKernels encode;
  CodecKernels decode;
};

DirectedKernels kernels_of_calls(std::span<const CallCost> calls, std::size_t method) {
  DirectedKernels kernels;
  for (const CallCost& call : calls) {
    if (call.method != method) {
      continue;
    }
    include(kernels.encode, call.dense);
    for (const RoundCost& round : call.rounds) {
      include(kernels.encode, round.encode);
    }
    include(kernels.decode, call.decode);
  }
  return kernels;
}

// Nothing where the cluster says itself what copies reach.
FitRange<Bytes> copies_measured(const Cluster& cluster) {
  return cluster.host.copy > Bandwidth{} ? FitRange<Bytes>{} : cluster.gpu.copies.measured;
}

}  // namespace

bool KernelUse::extrapolated() const {
  return std::visit(
      [&](const auto& amounts) {
        return !std::get<std::decay_t<decltype(amounts)>>(measured).covers(amounts);
      },
      used);
}

std::vector<KernelUse> kernels_of_layers(const PreparedExperiment& prepared) {
  const KernelAmounts measured = measured_on_all(prepared.experiment().cluster);
  const StepKernels kernels = layer_kernels(prepared);
  std::vector<KernelUse> uses;
  add_amounts(WorkKind::forward, kernels.forward, measured, uses);
  add_amounts(WorkKind::recompute, kernels.recompute, measured, uses);
  add_amounts(WorkKind::backward, kernels.backward, measured, uses);
  return uses;
}

std::vector<KernelUse> kernels_of_buckets(const PreparedExperiment& prepared,
                                          const StepPlan& uncompressed) {
  const KernelAmounts measured = measured_on_all(prepared.experiment().cluster);
  StepKernels kernels;
  include_buckets(uncompressed, prepared, kernels);
  std::vector<KernelUse> uses;
  add({{}, WorkKind::bucket_copy, "streams", kernels.bucket_copies, measured.streams}, uses);
  add({{}, WorkKind::optimizer, "streams", kernels.optimizer, measured.streams}, uses);
  return uses;
}

std::vector<KernelUse> kernels_of_codec(const PreparedExperiment& prepared,
                                        const CompressionPlan& compression, const StepPlan& step,
                                        std::span<const CallCost> calls) {
  std::vector<KernelUse> uses;
  const FitRange<Bytes> copies = copies_measured(prepared.experiment().cluster);
  const Precision arithmetic = prepared.experiment().training.precision;
  const auto add_method = [&](const Method& method, const DirectedKernels& kernels) {
    add_codec(compression.label, WorkKind::encode, kernels.encode, method.law, arithmetic, copies,
              uses);
    add_codec(compression.label, WorkKind::decode, kernels.decode, method.law, arithmetic, copies,
              uses);
  };
  const std::vector<const Method*> of_gradients = compression.gradient_methods();
  for (std::size_t method = 0; method < of_gradients.size(); ++method) {
    add_method(*of_gradients[method], kernels_of_calls(calls, method));
  }
  const std::vector<CodecPass> passes = compression.activations.empty()
                                            ? std::vector<CodecPass>{}
                                            : prepared.codec_passes(compression);
  const std::size_t first = of_gradients.size();
  for (std::size_t i = 0; i < compression.activations.size(); ++i) {
    DirectedKernels kernels;
    for (const CodecPass& pass : passes) {
      if (pass.work.method == first + i) {
        include(pass.work.kind == WorkKind::encode ? kernels.encode : kernels.decode, pass.cost);
      }
    }
    add_method(compression.activations[i].method, kernels);
  }
  if (compression.weights) {
    const std::vector<CallCost> of_weights = prepared.weight_costs(compression, step);
    add_method(compression.weights->method,
               kernels_of_calls(of_weights, compression.methods().size() - 1));
  }
  return uses;
}

std::string range_text(const AmountRange& range) {
  return std::visit(
      [](const auto& amounts) {
        if (amounts.empty()) {
          return std::string("nothing");
        }
        const std::string smallest = to_text(amounts.smallest);
        const std::string largest = to_text(amounts.largest);
        return smallest == largest ? smallest : fmt::format("{} to {}", smallest, largest);
      },
      range);
}

std::string sentence(const KernelUse& use) {
  return fmt::format("{}{}: {} of {}; measured on this GPU: {}", name_of(use.work),
                     use.plan.empty() ? "" : " of " + use.plan, use.kernel, range_text(use.used),
                     range_text(use.measured));
}

nlohmann::ordered_json to_json(const KernelUse& use) {
  nlohmann::ordered_json json{{"plan", use.plan.empty() ? nlohmann::ordered_json(nullptr)
                                                        : nlohmann::ordered_json(use.plan)},
                              {"work", name_of(use.work)},
                              {"kernel", use.kernel}};
  ends_json(use.used, "", json);
  ends_json(use.measured, "measured_", json);
  json["extrapolated"] = use.extrapolated();
  return json;
}

}  // namespace payoff
