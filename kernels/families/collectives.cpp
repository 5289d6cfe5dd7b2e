// SPDX-License-Identifier: Apache-2.0
// NCCL's collectives among the GPUs of the machine, named and counted as nccl-tests do it.
#include "kernels/program/collectives.hpp"

#include <algorithm>
#include <memory>

#include "kernels/families/families.hpp"

namespace payoff::kernels {
namespace {

Benchmark collective(CollectiveKind kind, std::size_t elements) {
  const auto size = 4.0 * static_cast<double>(elements);
  const Traffic traffic{Bytes{size}, Bytes{}, {}, 0.0, 1, 0};
  Benchmark b{{"nccl_" + std::string(name(kind)) + "_float",
               "collectives",
               "library",
               "constant",
               "hot",
               {{"size", size},
                {"gpus", static_cast<double>(devices())},
                {"nodes", 1.0},
                {"in_place", 0.0}},
               traffic},
              Bytes{2.0 * size},
              {}};
  b.needs = "nccl with two GPUs";
  b.make = [=] {
    auto work = std::make_shared<CollectiveWork>(kind, elements);
    Work rounds{[=](Stream s) { work->run(s); }, [=] { return work->mismatch(); }, {}};
    rounds.repeats = rounds_of_collectives;
    return rounds;
  };
  return b;
}

}  // namespace

std::string_view name(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return "all_reduce";
    case CollectiveKind::all_gather:
      return "all_gather";
    default:
      return "reduce_scatter";
  }
}

std::vector<Benchmark> collective_benchmarks(const Plan& plan) {
  std::vector<std::size_t> sizes;
  for (const Shape& shape : plan.shapes) {
    sizes.push_back(shape.elements);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::vector<Benchmark> all;
  for (const CollectiveKind kind :
       {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    for (const std::size_t elements : sizes) {
      all.push_back(collective(kind, elements));
    }
  }
  return all;
}

}  // namespace payoff::kernels
