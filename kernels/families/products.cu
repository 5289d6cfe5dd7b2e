// SPDX-License-Identifier: Apache-2.0
// Matrix products of a library by shape and precision: those of transformers, of PowerSGD's factors
// and of auto-encoders, and batches as attention has them. A framework's operator is the same call.
#include <cmath>
#include <cstring>
#include <optional>

#include "kernels/families/common.cuh"
#include "kernels/families/families.hpp"
#include "kernels/program/matrix_products.hpp"

namespace payoff::kernels {
namespace {

// Of a device that has the type: fp8 since Ada, bf16 and tf32 since Ampere; before, cuBLAS refuses
// or computes in fp32 what would be called tf32.
[[nodiscard]] int least_capability(ProductType type) {
  if (type == ProductType::fp8) {
    return 89;
  }
  return type == ProductType::bf16 || type == ProductType::tf32 ? 80 : 0;
}

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

[[nodiscard]] float value_of(ProductType type, const std::vector<Byte>& matrix, std::size_t i) {
  const Byte* place = matrix.data() + i * element_bytes(type);
  if (type == ProductType::bf16 || type == ProductType::fp16) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, place, sizeof bits);
    return type == ProductType::bf16 ? to_float(Bf16{bits}) : to_float(Half{bits});
  }
  if (type == ProductType::fp8) {
    return decode_minifloat<e4m3>(*place);
  }
  float value = 0.0F;
  std::memcpy(&value, place, sizeof value);
  return value;
}

// Rounding of a number to the type's mantissa: half a unit in its last place.
[[nodiscard]] double rounding_of(ProductType type) {
  return type == ProductType::fp16 ? 0x1p-11 : (type == ProductType::fp32 ? 0x1p-24 : 0x1p-8);
}

// What an entry may be off by: k roundings of a sum in fp32 whatever their order, factors of tf32
// cut to 10 bits, and the result rounded to its type; each relative to the sum of magnitudes. Below
// the normal numbers of fp16 half a step, which is 2^-24.
[[nodiscard]] double product_bound(ProductType type, std::size_t k, double magnitudes) {
  const double sums = static_cast<double>(k + 1) * 0x1p-23;
  const double factors = type == ProductType::tf32 ? 2.0 * 0x1p-10 : 0.0;
  const double result = type == ProductType::tf32 ? 0.0 : rounding_of(type);
  const double denormal = type == ProductType::fp16 ? 0x1p-25 : 0.0;
  return (sums + factors + result) * magnitudes + denormal;
}

// Each entry against the sum in double precision of the factors as they are stored.
[[nodiscard]] std::string product_mismatch(ProductType type, const ProductSize& size,
                                           const std::vector<Byte>& left,
                                           const std::vector<Byte>& right,
                                           const DeviceArray<Byte>& found) {
  if (!found.guard_is_whole()) {
    return "product: written past its end";
  }
  const std::vector<Byte> stored = found.read();
  const ProductType result = type == ProductType::fp8 ? ProductType::bf16 : type;
  for (std::size_t entry = 0; entry < size.batch * size.m * size.n; ++entry) {
    const std::size_t matrix = entry / (size.m * size.n);
    double sum = 0.0;
    double magnitudes = 0.0;
    for (std::size_t i = 0; i < size.k; ++i) {
      // As cublasLt has fp8: the left factor transposed.
      const std::size_t a =
          type == ProductType::fp8 ? entry % size.m * size.k + i : i * size.m + entry % size.m;
      const double term =
          static_cast<double>(value_of(type, left, matrix * size.m * size.k + a)) *
          static_cast<double>(value_of(
              type, right, matrix * size.k * size.n + entry / size.m % size.n * size.k + i));
      sum += term;
      magnitudes += std::abs(term);
    }
    const double off = std::abs(static_cast<double>(value_of(result, stored, entry)) - sum);
    if (!(off <= product_bound(type, size.k, magnitudes))) {  // NaN deviates
      return "product: entry " + std::to_string(entry) + " is off by " +
             std::to_string(off / magnitudes) + " of its sum of magnitudes";
    }
  }
  return {};
}

// What a network takes on a device without the type.
[[nodiscard]] std::optional<ProductType> before_it(ProductType type) {
  if (type == ProductType::bf16) {
    return ProductType::fp16;
  }
  return type == ProductType::tf32 ? std::optional(ProductType::fp32) : std::nullopt;
}

Point point_of_product(const char* kernel, ProductType type, const ProductSize& size) {
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
  return {kernel,
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
          traffic};
}

// Beside the matrices, the larger factor in fp32, from which the one of the type is made.
Bytes memory_of_product(const Traffic& traffic, const ProductSize& size) {
  const auto drawn = static_cast<double>(size.batch * size.k * std::max(size.m, size.n));
  return traffic.read + traffic.written + bytes_of(4.0 * drawn);
}

Benchmark product(const char* kernel, ProductType type, const ProductSize& size) {
  const Point point = point_of_product(kernel, type, size);
  Benchmark b{point, memory_of_product(point.traffic, size), {}};
  b.needs = type == ProductType::fp8 ? "cublasLt" : "cublas";
  b.least_capability = least_capability(type);
  if (const auto other = before_it(type)) {
    Benchmark instead = product(kernel, *other, size);
    instead.point.instead_of = name(type);
    b.instead = std::make_shared<const Benchmark>(std::move(instead));
  }
  b.make = [type, size] {
    auto left = matrix_of(type, size.batch * size.m * size.k, 1);
    auto right = matrix_of(type, size.batch * size.k * size.n, 2);
    auto out = array_of<Byte>(size.batch * size.m * size.n * result_bytes(type));
    return Work{
        [=](Stream s) { multiply(s, type, size, left->data(), right->data(), out->data()); },
        [=] { return product_mismatch(type, size, left->read(), right->read(), *out); },
        [=] { return checksum_of(*out); }};
  };
  return b;
}

// Layers of networks of today on 4,096 tokens (profiles/model), whole or split eight ways: gate and
// up, down, query with key and value of grouped heads; an expert's share of the tokens.
void add_products_of_networks(std::vector<Benchmark>& all) {
  const std::vector<ProductSize> sizes{
      {14336, 4096, 4096}, {4096, 4096, 14336}, {6144, 4096, 4096},  // Llama 3 8B
      {3584, 4096, 8192},  {8192, 4096, 3584},                       // Llama 2 70B, tp 8
      {14336, 1024, 4096}, {4096, 1024, 14336},                      // Mixtral 8x7B, an expert
      {2048, 128, 7168},   {7168, 128, 2048},                        // DeepSeek-V3, an expert
      {1536, 4096, 7168},  {576, 4096, 7168}};                       // its latent attention
  for (const ProductSize& size : sizes) {
    for (const ProductType type : {ProductType::bf16, ProductType::fp8}) {
      all.push_back(product("gemm", type, size));
    }
  }
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
  if (plan.every_variant) {
    add_products_of_networks(all);
  }
  for (const std::size_t rank : plan.ranks) {
    for (const std::size_t side : {1024UL, 4096UL}) {
      all.push_back(product("lowrank_gemm", ProductType::tf32, {side, rank, 4096}));
      all.push_back(product("lowrank_gemm", ProductType::tf32, {side, 4096, rank}));
    }
    for (const std::size_t batch : plan.batches) {
      all.push_back(product("lowrank_gemm", ProductType::tf32, {1024, rank, 1024, batch}));
    }
  }
  for (const std::size_t ratio : {8UL, 32UL}) {
    all.push_back(product("autoencoder", ProductType::bf16, {4096 / ratio, 8192, 4096}));
    all.push_back(product("autoencoder", ProductType::bf16, {4096, 8192, 4096 / ratio}));
  }
  for (const std::size_t tokens : {1024UL, 2048UL}) {  // one size tells no rate
    all.push_back(product("attention", ProductType::bf16, {tokens, tokens, 128, 16}));
    all.push_back(product("attention", ProductType::bf16, {128, tokens, tokens, 16}));
  }
}

// For checks of what the library is asked for: sides that differ, and are multiples of 16 as fp8
// has to have them.
void add_small_products(std::vector<Benchmark>& all) {
  for (const ProductType type : {ProductType::fp32, ProductType::tf32, ProductType::bf16,
                                 ProductType::fp16, ProductType::fp8}) {
    all.push_back(product("gemm", type, {32, 48, 80}));
    if (type != ProductType::fp8) {
      all.push_back(product("gemm", type, {17, 5, 33, 3}));
    }
  }
}

}  // namespace

std::vector<Benchmark> product_benchmarks(const Plan& plan) {
  std::vector<Benchmark> all;
  if (plan.products == ProductSizes::small) {
    add_small_products(all);
  } else {
    add_products(plan, all);
  }
  return all;
}

}  // namespace payoff::kernels
