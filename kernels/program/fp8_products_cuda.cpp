// SPDX-License-Identifier: Apache-2.0
// Products of fp8 (e4m3) by cuBLASLt, which has them alone: A is stored transposed, as it has to
// be, and the result is in bf16. Nothing here has run on a GPU yet.
#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>

#include "kernels/program/dynamic_library.hpp"
#include "kernels/program/matrix_products.hpp"

namespace payoff::kernels {
namespace {

// Of cublasLt.h and library_types.h, CUDA 12 and 13.
constexpr int data_fp32 = 0;
constexpr int data_bf16 = 14;
constexpr int data_e4m3 = 28;
constexpr int compute_fp32 = 68;
constexpr int transposed = 1;
constexpr int desc_transa = 3;
struct Algorithm {
  std::array<std::uint64_t, 8> data;
};
struct Heuristic {
  Algorithm algorithm;
  std::size_t workspace;
  int state;
  float waves;
  std::array<int, 4> reserved;
};

using Create = int(void**);
using DescCreate = int(void**, int, int);
using DescSet = int(void*, int, const void*, std::size_t);
using LayoutCreate = int(void**, int, std::uint64_t, std::uint64_t, std::int64_t);
using GetHeuristic = int(void*, void*, void*, void*, void*, void*, void*, int, Heuristic*, int*);
using Multiply = int(void*, void*, const void*, const void*, void*, const void*, void*, const void*,
                     const void*, void*, void*, void*, const Algorithm*, void*, std::size_t, void*);

struct Light {
  DynamicLibrary library{{"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}};
  void* handle = nullptr;
  DescCreate* make_description = library.function<DescCreate>("cublasLtMatmulDescCreate");
  DescSet* describe = library.function<DescSet>("cublasLtMatmulDescSetAttribute");
  LayoutCreate* make_layout = library.function<LayoutCreate>("cublasLtMatrixLayoutCreate");
  Create* make_preference = library.function<Create>("cublasLtMatmulPreferenceCreate");
  GetHeuristic* choose = library.function<GetHeuristic>("cublasLtMatmulAlgoGetHeuristic");
  Multiply* product = library.function<Multiply>("cublasLtMatmul");

  [[nodiscard]] bool open() {
    auto* create = library.function<Create>("cublasLtCreate");
    if (handle == nullptr && create != nullptr && create(&handle) != 0) {
      handle = nullptr;
    }
    return handle != nullptr && make_description != nullptr && describe != nullptr &&
           make_layout != nullptr && make_preference != nullptr && choose != nullptr &&
           product != nullptr;
  }
};

Light& light() {
  static Light opened;
  return opened;
}

void check(int status, const char* what) {
  if (status != 0) {
    throw std::runtime_error(std::string(what) + ": cuBLASLt status " + std::to_string(status));
  }
}

// Made once for a size, and kept as long as the program runs.
struct Prepared {
  void* description = nullptr;
  void* left = nullptr;
  void* right = nullptr;
  void* result = nullptr;
  Heuristic heuristic{};
};

Prepared prepare(const ProductSize& size) {
  Prepared made;
  check(light().make_description(&made.description, compute_fp32, data_fp32),
        "cublasLtMatmulDescCreate");
  check(light().describe(made.description, desc_transa, &transposed, sizeof transposed),
        "cublasLtMatmulDescSetAttribute");
  const auto layout = [](void** of, int type, std::size_t rows, std::size_t columns) {
    check(light().make_layout(of, type, rows, columns, static_cast<std::int64_t>(rows)),
          "cublasLtMatrixLayoutCreate");
  };
  layout(&made.left, data_e4m3, size.k, size.m);
  layout(&made.right, data_e4m3, size.k, size.n);
  layout(&made.result, data_bf16, size.m, size.n);
  void* preference = nullptr;  // as it is: no workspace
  check(light().make_preference(&preference), "cublasLtMatmulPreferenceCreate");
  int found = 0;
  check(light().choose(light().handle, made.description, made.left, made.right, made.result,
                       made.result, preference, 1, &made.heuristic, &found),
        "cublasLtMatmulAlgoGetHeuristic");
  if (found == 0) {
    throw std::runtime_error("this device has no product of fp8 of this size");
  }
  return made;
}

}  // namespace

bool fp8_products_are_available() { return light().open(); }

void multiply_fp8(Stream stream, const ProductSize& size, const void* a, const void* b, void* c) {
  if (!light().open()) {
    throw std::runtime_error("cuBLASLt is not there");
  }
  static std::map<std::tuple<std::size_t, std::size_t, std::size_t>, Prepared> known;
  const std::tuple key{size.m, size.n, size.k};
  auto found = known.find(key);
  if (found == known.end()) {
    found = known.emplace(key, prepare(size)).first;
  }
  const Prepared& with = found->second;
  const float one = 1.0F;
  const float zero = 0.0F;
  check(light().product(light().handle, with.description, &one, a, with.left, b, with.right, &zero,
                        c, with.result, c, with.result, &with.heuristic.algorithm, nullptr, 0,
                        stream.handle),
        "cublasLtMatmul");
}

}  // namespace payoff::kernels
