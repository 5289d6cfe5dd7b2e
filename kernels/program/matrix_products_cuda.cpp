// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <string>

#include "kernels/program/dynamic_library.hpp"
#include "kernels/program/libraries.hpp"
#include "kernels/program/matrix_products.hpp"

namespace payoff::kernels {
namespace {

// Of cublas_api.h and library_types.h, CUDA 12 and 13.
enum DataType { data_fp32 = 0, data_fp16 = 2, data_bf16 = 14 };
enum ComputeType { compute_fp32 = 68, compute_tf32 = 77 };
constexpr int not_transposed = 0;
constexpr int transposed = 1;
constexpr int default_algorithm = -1;

using Create = int(void**);
using SetStream = int(void*, void*);
using GetVersion = int(void*, int*);
using Multiply = int(void*, int, int, int, int, int, const void*, const void*, int, int, long long,
                     const void*, int, int, long long, const void*, void*, int, int, long long, int,
                     int, int);

struct Blas {
  DynamicLibrary library{{"libcublas.so.13", "libcublas.so.12", "libcublas.so"}};
  void* handle = nullptr;
  SetStream* set_stream = library.function<SetStream>("cublasSetStream_v2");
  Multiply* product = library.function<Multiply>("cublasGemmStridedBatchedEx");

  // Needs a device; done at the first use.
  [[nodiscard]] bool open() {
    auto* create = library.function<Create>("cublasCreate_v2");
    if (handle == nullptr && create != nullptr && create(&handle) != 0) {
      handle = nullptr;
    }
    return handle != nullptr && set_stream != nullptr && product != nullptr;
  }
};

Blas& blas() {
  static Blas opened;
  return opened;
}

void check(int status, const char* what) {
  if (status != 0) {
    throw std::runtime_error(std::string(what) + ": cuBLAS status " + std::to_string(status));
  }
}

}  // namespace

bool products_are_available() { return blas().open(); }

std::string product_library_version() {
  int version = 0;
  auto* get = blas().library.function<GetVersion>("cublasGetVersion_v2");
  if (!blas().open() || get == nullptr || get(blas().handle, &version) != 0) {
    return {};
  }
  return dotted(version, 10000, 100);
}

void multiply(Stream stream, ProductType type, const ProductSize& size, const void* a,
              const void* b, void* c) {
  if (type == ProductType::fp8) {
    multiply_fp8(stream, size, a, b, c);
    return;
  }
  if (!products_are_available()) {
    throw std::runtime_error("cuBLAS is not there");
  }
  const int data =
      type == ProductType::bf16 ? data_bf16 : (type == ProductType::fp16 ? data_fp16 : data_fp32);
  const int compute = type == ProductType::tf32 ? compute_tf32 : compute_fp32;
  const auto m = static_cast<int>(size.m);
  const auto n = static_cast<int>(size.n);
  const auto k = static_cast<int>(size.k);
  const long long left = static_cast<long long>(m) * k;
  const long long right = static_cast<long long>(k) * n;
  const long long result = static_cast<long long>(m) * n;
  check(blas().set_stream(blas().handle, stream.handle), "cublasSetStream");
  check(blas().product(blas().handle, size.left_transposed ? transposed : not_transposed,
                       size.right_transposed ? transposed : not_transposed, m, n, k, &size.alpha, a,
                       data, size.left_transposed ? k : m, left, b, data,
                       size.right_transposed ? n : k, right, &size.beta, c, data, m, result,
                       static_cast<int>(size.batch), compute, default_algorithm),
        "cublasGemmStridedBatchedEx");
}

}  // namespace payoff::kernels
