// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <span>

#include "model/buckets.hpp"
#include "model/gradient_plan.hpp"

// Gradients of a stage, cut into buckets, and the kinds of these.

namespace payoff {
namespace {

// Equal shapes together, in the order in which they first appear.
std::vector<EqualTensors> shapes_of(std::span<const ReadyGradient> gradients) {
  std::vector<EqualTensors> shapes;
  for (const ReadyGradient& gradient : gradients) {
    const auto known = std::find_if(shapes.begin(), shapes.end(), [&](const EqualTensors& shape) {
      return shape.tensor == gradient.tensor;
    });
    if (known == shapes.end()) {
      shapes.push_back({gradient.tensor, 0, 1});
    } else {
      ++known->count;
    }
  }
  return shapes;
}

bool holds(const GradientKinds& kinds, std::size_t kind, std::span<const EqualTensors> shapes) {
  const auto first = std::lower_bound(
      kinds.tensors.begin(), kinds.tensors.end(), kind,
      [](const EqualTensors& shape, std::size_t call) { return shape.call < call; });
  const auto end = std::find_if(first, kinds.tensors.end(),
                                [&](const EqualTensors& shape) { return shape.call != kind; });
  return std::equal(first, end, shapes.begin(), shapes.end(),
                    [](const EqualTensors& a, const EqualTensors& b) {
                      return a.tensor == b.tensor && a.count == b.count;
                    });
}

// Neighbours in order of readiness, all summed by the same ranks.
void cut_equal(std::span<const ReadyGradient> gradients, const Training& training,
               GradientKinds& kinds, std::vector<Bucket>& buckets) {
  std::vector<Bytes> sizes;
  sizes.reserve(gradients.size());
  for (const ReadyGradient& gradient : gradients) {
    sizes.push_back(static_cast<double>(gradient.tensor.elements()) *
                    element_size(training.gradient));
  }
  for (const std::size_t count : fill_buckets(sizes, training.first_bucket, training.bucket)) {
    // Backward order: the last gradient of a bucket is the last to be ready.
    buckets.push_back(
        {gradients[count - 1].piece, kind_of_gradients(gradients.first(count), kinds)});
    gradients = gradients.subspan(count);
  }
}

// Of one chunk.
void cut_chunk(std::span<const ReadyGradient> gradients, const ParallelLayout& layout,
               const Training& training, GradientKinds& kinds, std::vector<Bucket>& buckets) {
  const auto first = static_cast<std::ptrdiff_t>(buckets.size());
  for (const bool of_experts : {false, true}) {
    if ((of_experts ? layout.expert_replicas() : layout.data_ranks()) == 1) {
      continue;
    }
    std::vector<ReadyGradient> equal;
    std::copy_if(
        gradients.begin(), gradients.end(), std::back_inserter(equal),
        [&](const ReadyGradient& gradient) { return gradient.tensor.of_expert == of_experts; });
    cut_equal(equal, training, kinds, buckets);
  }
  std::stable_sort(buckets.begin() + first, buckets.end(),
                   [](const Bucket& a, const Bucket& b) { return a.ready_after < b.ready_after; });
}

}  // namespace

std::size_t kind_of_gradients(std::span<const ReadyGradient> gradients, GradientKinds& kinds) {
  std::vector<EqualTensors> shapes = shapes_of(gradients);
  std::int64_t elements = 0;
  for (const EqualTensors& shape : shapes) {
    elements += shape.count * shape.tensor.elements();
  }
  for (std::size_t kind = 0; kind < kinds.elements.size(); ++kind) {
    if (kinds.elements[kind] == elements && holds(kinds, kind, shapes)) {
      return kind;
    }
  }
  for (EqualTensors& shape : shapes) {
    shape.call = kinds.elements.size();
    kinds.tensors.push_back(shape);
  }
  kinds.elements.push_back(elements);
  return kinds.elements.size() - 1;
}

std::vector<Bucket> cut_buckets(const PreparedStage& stage, const ParallelLayout& layout,
                                const Training& training, GradientKinds& kinds) {
  std::vector<Bucket> buckets;
  const std::vector<std::size_t>& chunks = stage.compute->backward_chunks;
  std::span<const ReadyGradient> rest = stage.gradients;
  for (std::size_t chunk = 1; chunk <= chunks.size(); ++chunk) {
    const auto end =
        chunk == chunks.size()
            ? rest.end()
            : std::find_if(rest.begin(), rest.end(), [&](const ReadyGradient& gradient) {
                return static_cast<std::size_t>(gradient.piece) >= chunks[chunk];
              });
    const auto count = static_cast<std::size_t>(end - rest.begin());
    cut_chunk(rest.first(count), layout, training, kinds, buckets);
    rest = rest.subspan(count);
  }
  return buckets;
}

}  // namespace payoff
