// SPDX-License-Identifier: Apache-2.0
// Sums of sparse messages in a dense tensor.
#include <cmath>

#include "kernels/families/families.hpp"
#include "kernels/families/selecting.cuh"

namespace payoff::kernels {
namespace {

// Random-K messages of several workers, one after the other.
struct SparseMessages {
  Shared<Word> indices;
  Shared<float> values;
  Word each{};

  SparseMessages(const Shape& shape, unsigned workers, Word k)
      : indices(array_of<Word>(std::size_t{k} * workers)),
        values(array_of<float>(std::size_t{k} * workers)),
        each(k) {
    for (unsigned worker = 0; worker < workers; ++worker) {
      const auto in = drawn_on_device(shape, worker);
      const std::size_t begin = std::size_t{k} * worker;
      launch_threads(Stream{}, k, gather_random, in->data(),
                     SharedPermutation(static_cast<Word>(shape.elements), worker + 1U),
                     values->data() + begin, indices->data() + begin, k);
      wait_for(Stream{});
    }
  }

  [[nodiscard]] std::vector<SparseMessage> read(unsigned workers) const {
    const std::vector<Word> all_indices = indices->read();
    const std::vector<float> all_values = values->read();
    std::vector<SparseMessage> messages(workers);
    for (std::size_t i = 0; i < all_indices.size(); ++i) {
      messages[i / each].indices.push_back(all_indices[i]);
      messages[i / each].values.push_back(all_values[i]);
    }
    return messages;
  }
};

// What the order of a place's additions can change: (W - 1) u of the sum of magnitudes, twice, as
// the reference rounds as well. One bound for all places: the largest.
[[nodiscard]] float order_bound(const std::vector<SparseMessage>& messages) {
  float largest = 0.0F;
  for (const SparseMessage& message : messages) {
    for (const float value : message.values) {
      largest = std::max(largest, std::abs(value));
    }
  }
  const auto workers = static_cast<float>(messages.size());
  return 2.0F * (workers - 1.0F) * workers * largest * unit_roundoff;
}

[[nodiscard]] Traffic scattered_traffic(const Shape& shape, Word k, double workers, int launches) {
  const auto n = static_cast<double>(shape.elements);
  // Each sector is read and written back by the atomic unit of the L2 cache.
  return {bytes_of(8.0 * workers * k), bytes_of(4.0 * n), {}, 2.0 * workers * k, launches, 0};
}

Benchmark scatter_add(const Shape& shape, double ratio, unsigned workers) {
  const Word k = kept(shape, ratio);
  const double w = workers;
  Benchmark b{point_of("scatter_add", "sparse", "fused", shape, {{"ratio", ratio}, {"workers", w}},
                       scattered_traffic(shape, k, w, 2)),
              bytes_of(8.0 * static_cast<double>(shape.elements) + 8.0 * w * k),
              {}};
  b.make = [shape, workers, k] {
    const SparseMessages in(shape, workers, k);
    auto dense = array_of<float>(shape.elements);
    return Work{[=](Stream s) {
                  fill_in_stream(s, dense->data(), 0, dense->bytes());
                  launch_threads(s, in.indices->count(), scatter_sum, in.indices->data(),
                                 in.values->data(), dense->data(), in.indices->count());
                },
                [=] {
                  const auto messages = in.read(workers);
                  return deviates("sums", *dense, scattered(messages, shape.elements),
                                  order_bound(messages));
                },
                [=] { return checksum_of(*dense); }};
  };
  return b;
}

// A framework adds message after message: a launch each, so the sums are the reference's.
Benchmark scatter_by_operators(const Shape& shape, double ratio, unsigned workers) {
  const Word k = kept(shape, ratio);
  const double w = workers;
  Benchmark b{
      point_of("scatter_add", "sparse", "framework_ops", shape, {{"ratio", ratio}, {"workers", w}},
               scattered_traffic(shape, k, w, static_cast<int>(workers) + 1)),
      bytes_of(8.0 * static_cast<double>(shape.elements) + 8.0 * w * k),
      {}};
  b.make = [shape, workers, k] {
    const SparseMessages in(shape, workers, k);
    auto dense = array_of<float>(shape.elements);
    return Work{
        [=](Stream s) {
          fill_in_stream(s, dense->data(), 0, dense->bytes());
          for (unsigned worker = 0; worker < workers; ++worker) {
            const std::size_t begin = std::size_t{k} * worker;
            launch_threads(s, k, scatter_sum, in.indices->data() + begin, in.values->data() + begin,
                           dense->data(), std::size_t{k});
          }
        },
        [=] { return differs("sums", *dense, scattered(in.read(workers), shape.elements)); },
        [=] { return checksum_of(*dense); }};
  };
  return b;
}

}  // namespace

std::vector<Benchmark> sparse_benchmarks(const Plan& plan) {
  std::vector<Benchmark> all;
  // Of a long plan one number of workers with all ratios and one ratio with all numbers: the law is
  // of accesses, which both only multiply.
  for (const double ratio : plan.ratios) {
    for (const unsigned workers : plan.workers) {
      const int unusual =
          (ratio != plan.ratios.front() ? 1 : 0) + (workers != plan.workers.front() ? 1 : 0);
      if (unusual == 2 && plan.thinned) {
        continue;
      }
      for (const Shape& shape : shapes_of(plan, unusual == 0)) {
        all.push_back(scatter_add(shape, ratio, workers));
        all.push_back(scatter_by_operators(shape, ratio, workers));
      }
    }
  }
  return all;
}

}  // namespace payoff::kernels
