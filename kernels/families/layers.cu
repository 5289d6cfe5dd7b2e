// SPDX-License-Identifier: Apache-2.0
// Layers that a step computes beside its communication: matrix products by shape and precision
// (those of transformers, of PowerSGD and of auto-encoders), batches as attention has them,
// normalisation, softmax.
#include <cmath>

#include "kernels/device/layers.cuh"
#include "kernels/families/common.cuh"
#include "kernels/families/families.hpp"
#include "kernels/program/matrix_products.hpp"

namespace payoff::kernels {
namespace {

// A matrix of the type, from numbers drawn in fp32.
[[nodiscard]] Shared<Byte> matrix_of(ProductType type, std::size_t count, std::uint64_t stream) {
  const auto values = drawn_on_device({count, InputKind::gaussian, 5}, stream);
  auto matrix = array_of<Byte>(count * element_bytes(type));
  if (type == ProductType::bf16) {
    map<8>(Stream{}, values->data(), reinterpret_cast<Bf16*>(matrix->data()), count, FloatToBf16{});
  } else if (type == ProductType::fp16) {
    map<8>(Stream{}, values->data(), reinterpret_cast<Half*>(matrix->data()), count, FloatToHalf{});
  } else if (type == ProductType::fp8) {
    map<4>(Stream{}, values->data(), matrix->data(), count, FloatToE4m3{});
  } else {
    map<4>(Stream{}, values->data(), reinterpret_cast<float*>(matrix->data()), count, Same{});
  }
  wait_for(Stream{});
  return matrix;
}

Benchmark product(const char* kernel, ProductType type, const ProductSize& size) {
  const auto m = static_cast<double>(size.m);
  const auto n = static_cast<double>(size.n);
  const auto k = static_cast<double>(size.k);
  const auto batch = static_cast<double>(size.batch);
  const auto bytes = static_cast<double>(element_bytes(type));
  const Traffic traffic{bytes_of(bytes * batch * (m * k + k * n)),
                        bytes_of(static_cast<double>(result_bytes(type)) * batch * m * n),
                        Flops{2.0 * batch * m * n * k},
                        0.0,
                        1,
                        0};
  Benchmark b{{kernel,
               "layers",
               "library",
               "gaussian",
               "cold",
               {{"m", m},
                {"n", n},
                {"k", k},
                {"batch", batch},
                {"bytes", bytes},
                {"tf32", type == ProductType::tf32 ? 1.0 : 0.0},
                {"fp16", type == ProductType::fp16 ? 1.0 : 0.0}},
               traffic},
              traffic.read + traffic.written + bytes_of(4.0 * batch * std::max(m * k, k * n)),
              {}};
  b.needs = type == ProductType::fp8 ? "cublasLt" : "cublas";
  b.make = [type, size] {
    auto left = matrix_of(type, size.batch * size.m * size.k, 1);
    auto right = matrix_of(type, size.batch * size.k * size.n, 2);
    auto out = array_of<Byte>(size.batch * size.m * size.n * result_bytes(type));
    return Work{
        [=](Stream s) { multiply(s, type, size, left->data(), right->data(), out->data()); },
        {},
        [=] { return checksum_of(*out); }};
  };
  return b;
}

struct RowShape {
  std::size_t rows{};
  std::size_t columns{};
};

using RowKernel = void (*)(const float*, float*, std::size_t);

// The same in double precision.
std::vector<float> normalized(const std::vector<float>& in, const RowShape& shape) {
  std::vector<float> out(in.size());
  for (std::size_t row = 0; row < shape.rows; ++row) {
    const float* begin = in.data() + row * shape.columns;
    double mean = 0.0;
    double squares = 0.0;
    for (std::size_t i = 0; i < shape.columns; ++i) {
      mean += static_cast<double>(begin[i]) / static_cast<double>(shape.columns);
    }
    for (std::size_t i = 0; i < shape.columns; ++i) {
      squares += (static_cast<double>(begin[i]) - mean) * (static_cast<double>(begin[i]) - mean);
    }
    const double spread = std::sqrt(squares / static_cast<double>(shape.columns) + 1e-12);
    for (std::size_t i = 0; i < shape.columns; ++i) {
      out[row * shape.columns + i] =
          static_cast<float>((static_cast<double>(begin[i]) - mean) / spread);
    }
  }
  return out;
}

std::vector<float> softmax(const std::vector<float>& in, const RowShape& shape) {
  std::vector<float> out(in.size());
  for (std::size_t row = 0; row < shape.rows; ++row) {
    const float* begin = in.data() + row * shape.columns;
    double sum = 0.0;
    for (std::size_t i = 0; i < shape.columns; ++i) {
      sum += std::exp(static_cast<double>(begin[i]));
    }
    for (std::size_t i = 0; i < shape.columns; ++i) {
      out[row * shape.columns + i] =
          static_cast<float>(std::exp(static_cast<double>(begin[i])) / sum);
    }
  }
  return out;
}

Benchmark of_rows(const char* kernel_name, RowKernel kernel,
                  std::vector<float> (*reference)(const std::vector<float>&, const RowShape&),
                  const RowShape& shape) {
  const Shape flat{shape.rows * shape.columns, InputKind::gaussian, 6};
  Benchmark b{point_of(kernel_name, "layers", "fused", flat,
                       {{"rows", static_cast<double>(shape.rows)},
                        {"columns", static_cast<double>(shape.columns)}},
                       streamed(flat.elements, 4, 4, 1)),
              bytes_of(8.0 * static_cast<double>(flat.elements)),
              {}};
  b.make = [=] {
    auto in = drawn_on_device(flat);
    auto out = array_of<float>(flat.elements);
    return Work{[=](Stream s) {
                  launch(s, shape.rows, block_threads, kernel, in->data(), out->data(),
                         shape.columns);
                },
                // Inputs are a thousandth, so cancellation in the mean costs a few units.
                [=] { return deviates("rows", *out, reference(in->read(), shape), 2e-5F); },
                [=] { return checksum_of(*out); }};
  };
  return b;
}

// GPT-3 175B's layer split eight ways, BERT-large's, a convolution as a product, PowerSGD's
// gradients and factors.
void add_products(const Plan& plan, std::vector<Benchmark>& all) {
  std::vector<ProductSize> sizes{{4096, 2048, 12288},
                                 {2048, 2048, 12288},
                                 {1024, 4096, 1024},
                                 {4096, 4096, 4096},
                                 {512, 3136, 4608}};
  if (plan.every_variant) {
    for (const std::size_t side : {256UL, 512UL, 1024UL, 2048UL, 8192UL}) {
      sizes.push_back({side, side, side});
    }
  }
  for (const ProductSize& size : sizes) {
    for (const ProductType type : {ProductType::fp32, ProductType::tf32, ProductType::bf16,
                                   ProductType::fp16, ProductType::fp8}) {
      all.push_back(product("gemm", type, size));
    }
  }
  for (const std::size_t rank : plan.ranks) {
    for (const std::size_t side : {1024UL, 4096UL}) {
      all.push_back(product("lowrank_gemm", ProductType::tf32, {side, rank, 4096}));
      all.push_back(product("lowrank_gemm", ProductType::tf32, {side, 4096, rank}));
    }
    all.push_back(product("lowrank_gemm", ProductType::tf32, {1024, rank, 1024, 48}));
  }
  for (const std::size_t ratio : {8UL, 32UL}) {
    all.push_back(product("autoencoder", ProductType::bf16, {4096 / ratio, 8192, 4096}));
    all.push_back(product("autoencoder", ProductType::bf16, {4096, 8192, 4096 / ratio}));
  }
  all.push_back(product("attention", ProductType::bf16, {2048, 2048, 128, 16}));
  all.push_back(product("attention", ProductType::bf16, {128, 2048, 2048, 16}));
}

}  // namespace

std::vector<Benchmark> layer_benchmarks(const Plan& plan) {
  std::vector<Benchmark> all;
  for (const std::size_t rows : plan.layer_rows) {
    for (const std::size_t columns : plan.layer_columns) {
      all.push_back(of_rows("layer_norm", normalize_rows, normalized, {rows, columns}));
      all.push_back(of_rows("softmax", softmax_rows, softmax, {rows, columns}));
    }
  }
  if (plan.with_products) {
    add_products(plan, all);
  }
  return all;
}

}  // namespace payoff::kernels
