// SPDX-License-Identifier: Apache-2.0
// Which kernels are measured beside each other: products, attention's and layers' kernels beside
// codecs, both beside a message that holds multiprocessors and beside copies, and three at once.
#include <array>
#include <string_view>

#include "kernels/device/message.cuh"
#include "kernels/families/common.cuh"
#include "kernels/families/families.hpp"
#include "kernels/program/machine.hpp"

namespace payoff::kernels {
namespace {

// One after the other in both buffers, which together are beyond any cache.
constexpr unsigned message_slots = 128;
// Of a channel, as NCCL's rings are planned (field notes: 18 to 24 GB/s each).
constexpr double channel_gb_per_s = 20.0;

Benchmark message(std::size_t channels, unsigned steps) {
  const std::size_t packs = channels * message_packs;
  const double step_bytes = static_cast<double>(packs * sizeof(MessagePack));
  const Traffic traffic{bytes_of(step_bytes * steps), bytes_of(step_bytes * steps), {}, 0.0, 1, 0};
  Benchmark b{{"message",
               "interference",
               "fused",
               "gaussian",
               "hot",
               {{"channels", static_cast<double>(channels)}, {"gb_per_s", channel_gb_per_s}},
               traffic},
              bytes_of(2.0 * message_slots * step_bytes),
              {}};
  b.make = [=] {
    const unsigned slots = std::min(message_slots, steps);
    const std::size_t values = 4 * packs * slots;
    auto in = drawn_on_device({values, InputKind::gaussian, 11});
    auto out = array_of<float>(values);
    const auto pace = static_cast<unsigned long long>(
        static_cast<double>(message_packs * sizeof(MessagePack)) / channel_gb_per_s);
    return Work{[=](Stream s) {
                  launch(s, channels, message_threads, move_message,
                         reinterpret_cast<const MessagePack*>(in->data()),
                         reinterpret_cast<MessagePack*>(out->data()), slots, steps, pace);
                },
                [=] { return differs("message", *out, in->read()); },
                [=] { return checksum_of(*out); }};
  };
  return b;
}

// As model/ cuts products of tensor cores whose blocks fill a multiprocessor.
std::size_t blocks_of(const Point& product) {
  const auto along = [&](const char* side, std::size_t tile) {
    return divided_up(static_cast<std::size_t>(product.parameters.at(side)), tile);
  };
  const bool is_one = product.parameters.at("batch") == 1.0;
  return product.kernel == "gemm" && is_one ? along("m", 256) * along("n", 128) : 0;
}

bool has_value(const Point& point, const char* parameter, double value) {
  const auto found = point.parameters.find(parameter);
  return found != point.parameters.end() && found->second == value;
}

// The largest size of the plan that streams from memory, and still leaves room for the others.
std::size_t elements_beyond_cache(const Plan& plan) {
  constexpr std::size_t most = std::size_t{1} << 26U;
  std::size_t elements = 0;
  for (const Shape& shape : plan.shapes) {
    const bool fits = shape.elements <= most && shape.input == InputKind::gaussian;
    elements = fits ? std::max(elements, shape.elements) : elements;
  }
  return elements;
}

bool is_codec(const Point& point) {
  constexpr std::array<std::string_view, 5> families{"casts", "blocks", "signs", "groups",
                                                     "selection"};
  return point.implementation == "fused" && point.input == "gaussian" &&
         point.traffic.host_syncs == 0 &&
         std::find(families.begin(), families.end(), point.family) != families.end();
}

using Names = std::vector<std::string_view>;

// Each once, of a size of the plan: those of these names, or all.
std::vector<Neighbour> codecs(const Plan& plan, std::size_t size, const Names& names) {
  const auto elements = static_cast<double>(size);
  std::vector<Neighbour> chosen;
  std::vector<std::string> seen;
  for (auto family : {cast_benchmarks, natural_benchmarks, block_benchmarks, sign_benchmarks,
                      group_benchmarks, selection_benchmarks}) {
    for (Benchmark& each : family(plan)) {
      const std::string& kernel = each.point.kernel;
      const bool wanted =
          names.empty() || std::find(names.begin(), names.end(), kernel) != names.end();
      if (wanted && is_codec(each.point) && has_value(each.point, "elements", elements) &&
          std::find(seen.begin(), seen.end(), kernel) == seen.end()) {
        seen.push_back(kernel);
        chosen.push_back({std::move(each), Role::codec});
      }
    }
  }
  return chosen;
}

std::vector<Neighbour> codecs(const Plan& plan) {
  const Names of_quick{"quantize_group", "dequantize_group", "sign_ef", "fp8_blocks", "topk_radix"};
  const std::size_t elements = elements_beyond_cache(plan);
  std::vector<Neighbour> chosen = codecs(plan, elements, plan.every_variant ? Names{} : of_quick);
  if (plan.thinned) {  // two of them of a quarter of the size too: still beyond the cache
    for (Neighbour& each : codecs(plan, elements / 4, {"quantize_group", "topk_radix"})) {
      chosen.push_back(std::move(each));
    }
  }
  return chosen;
}

// Large products of 16 bits, square ones or with 2,048 columns, and with every variant those of
// attention. The shapes of networks beyond would be too many.
bool is_wanted_product(const Plan& plan, const Point& point) {
  if (point.kernel == "attention") {
    return plan.every_variant;
  }
  const auto side = [&](const char* name) { return point.parameters.at(name); };
  const bool is_large = point.kernel == "gemm" && has_value(point, "bytes", 2.0) &&
                        has_value(point, "fp16", 0.0) && side("m") >= 2048.0;
  if (!is_large || !plan.every_variant) {
    return is_large && side("m") == side("n");
  }
  return side("n") == 2048.0 || (side("m") == side("n") && side("n") == side("k"));
}

// Products, and of the layers the largest.
std::vector<Neighbour> computing(const Plan& plan) {
  std::vector<Neighbour> chosen;
  Neighbour largest;
  for (Benchmark& each : product_benchmarks(plan)) {
    if (is_wanted_product(plan, each.point)) {
      const std::size_t blocks = blocks_of(each.point);
      chosen.push_back({std::move(each), Role::compute, 0, blocks});
    }
  }
  for (Benchmark& each : layer_benchmarks(plan)) {
    if (each.point.kernel == "layer_norm") {
      largest = {std::move(each), Role::compute};
    }
  }
  if (largest.benchmark.make) {
    chosen.push_back(std::move(largest));
  }
  // One that goes value by value.
  Neighbour activation;
  for (Benchmark& each : element_wise_benchmarks(plan)) {
    if (each.point.kernel == "swiglu" && each.point.implementation == "fused") {
      activation = {std::move(each), Role::compute};
    }
  }
  if (activation.benchmark.make) {
    chosen.push_back(std::move(activation));
  }
  return chosen;
}

std::vector<Neighbour> messages(const Plan& plan) {
  constexpr unsigned steps_on_gpu = 400;  // 4 ms at the pace
  const unsigned steps = is_emulated() ? 2 : steps_on_gpu;
  std::vector<std::size_t> counts{4, 16};
  if (is_emulated()) {
    counts = {1};
  } else if (plan.every_variant) {
    counts = {1, 2, 4, 8, 16, 24, 32};
  }
  std::vector<Neighbour> chosen;
  for (const std::size_t channels : counts) {
    chosen.push_back({message(channels, steps), Role::message, channels});
  }
  return chosen;
}

Neighbour copies(const Plan& plan) {
  const std::size_t elements = std::min(elements_beyond_cache(plan), std::size_t{1} << 23U);
  Plan one = plan;
  one.shapes = {{elements}};
  return {std::move(transfer_benchmarks(one).front()), Role::copies};
}

// Of the codecs, which differ in what they do between reading and writing: arithmetic, a residual
// that is read and written, random numbers. The largest size comes first.
std::vector<Neighbour> codecs_of_triples(const std::vector<Neighbour>& all) {
  std::vector<Neighbour> chosen;
  for (const std::string_view name : {"fp8_blocks", "sign_ef", "quantize_group"}) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Neighbour& each) {
      return each.benchmark.point.kernel == name;
    });
    if (found != all.end()) {
      chosen.push_back(*found);
    }
  }
  return chosen;
}

}  // namespace

std::vector<Benchmark> message_benchmarks(const Plan& plan) {
  std::vector<Benchmark> all;
  for (Neighbour& each : messages(plan)) {
    all.push_back(std::move(each.benchmark));
  }
  return all;
}

std::vector<Neighbours> neighbour_benchmarks(const Plan& plan) {
  const std::vector<Neighbour> compute = computing(plan);
  const std::vector<Neighbour> codec = codecs(plan);
  const std::vector<Neighbour> sent = messages(plan);
  const Neighbour copied = copies(plan);
  std::vector<Neighbours> all;
  for (const Neighbour& work : compute) {
    for (const Neighbour& beside : codec) {
      all.push_back({work, beside});
    }
    for (const Neighbour& beside : sent) {
      all.push_back({work, beside});
    }
    all.push_back({work, copied});
  }
  for (const Neighbour& work : codec) {
    for (const Neighbour& beside : sent) {
      all.push_back({work, beside});
    }
    all.push_back({work, copied});
  }
  // Three at once judge whether pairs add up: two kernels and a message, or a copy engine.
  const std::vector<Neighbour> three = codecs_of_triples(codec);
  for (const Neighbour& work : compute) {
    for (const Neighbour& beside : three) {
      all.push_back({work, beside, sent.back()});
    }
    if (!three.empty()) {
      all.push_back({work, three.front(), copied});
    }
  }
  return all;
}

}  // namespace payoff::kernels
