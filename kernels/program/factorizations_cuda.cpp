// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <string>

#include "kernels/program/dynamic_library.hpp"
#include "kernels/program/factorizations.hpp"
#include "kernels/program/libraries.hpp"

namespace payoff::kernels {
namespace {

// Of cusolverDn.h, CUDA 12 and 13.
using Create = int(void**);
using GetVersion = int(int*);
using SetStream = int(void*, void*);
using FactorSize = int(void*, int, int, float*, int, int*);
using Factor = int(void*, int, int, float*, int, float*, float*, int, int*);
using FormSize = int(void*, int, int, int, const float*, int, const float*, int*);
using Form = int(void*, int, int, int, float*, int, const float*, float*, int, int*);

struct Solver {
  DynamicLibrary library{{"libcusolver.so.12", "libcusolver.so.11"}};
  void* handle = nullptr;
  SetStream* set_stream = library.function<SetStream>("cusolverDnSetStream");
  FactorSize* factor_size = library.function<FactorSize>("cusolverDnSgeqrf_bufferSize");
  Factor* factor = library.function<Factor>("cusolverDnSgeqrf");
  FormSize* form_size = library.function<FormSize>("cusolverDnSorgqr_bufferSize");
  Form* form = library.function<Form>("cusolverDnSorgqr");

  // Needs a device; done at the first use.
  [[nodiscard]] bool open() {
    auto* create = library.function<Create>("cusolverDnCreate");
    if (handle == nullptr && create != nullptr && create(&handle) != 0) {
      handle = nullptr;
    }
    return handle != nullptr && set_stream != nullptr && factor_size != nullptr &&
           factor != nullptr && form_size != nullptr && form != nullptr;
  }
};

Solver& solver() {
  static Solver opened;
  return opened;
}

void check(int status, const char* what) {
  if (status != 0) {
    throw std::runtime_error(std::string(what) + ": cuSOLVER status " + std::to_string(status));
  }
}

}  // namespace

bool factorizations_are_available() { return solver().open(); }

std::string factorization_library_version() {
  auto* get = solver().library.function<GetVersion>("cusolverGetVersion");
  int version = 0;
  return get != nullptr && get(&version) == 0 ? dotted(version, 1000, 100) : "";
}

struct Orthogonalization::Inside {
  int rows;
  int columns;
  DeviceArray<float> scalars;
  DeviceArray<int> status{1};
  int work_size = 0;
  std::unique_ptr<DeviceArray<float>> work{};
};

Orthogonalization::Orthogonalization(std::size_t rows, std::size_t columns)
    : inside_(std::make_unique<Inside>(
          Inside{static_cast<int>(rows), static_cast<int>(columns), DeviceArray<float>(columns)})) {
  if (!factorizations_are_available()) {
    throw std::runtime_error("cuSOLVER is not there");
  }
  Inside& in = *inside_;
  int of_factor = 0;
  int of_form = 0;
  // The sizes depend on the shape alone: any address of the device stands for the matrix.
  float* unread = in.scalars.data();
  check(solver().factor_size(solver().handle, in.rows, in.columns, unread, in.rows, &of_factor),
        "cusolverDnSgeqrf_bufferSize");
  check(solver().form_size(solver().handle, in.rows, in.columns, in.columns, unread, in.rows,
                           in.scalars.data(), &of_form),
        "cusolverDnSorgqr_bufferSize");
  in.work_size = std::max({of_factor, of_form, 1});
  in.work = std::make_unique<DeviceArray<float>>(static_cast<std::size_t>(in.work_size));
}

Orthogonalization::~Orthogonalization() = default;

void Orthogonalization::run(Stream stream, float* tall) const {
  const Inside& in = *inside_;
  check(solver().set_stream(solver().handle, stream.handle), "cusolverDnSetStream");
  check(solver().factor(solver().handle, in.rows, in.columns, tall, in.rows, in.scalars.data(),
                        in.work->data(), in.work_size, in.status.data()),
        "cusolverDnSgeqrf");
  check(solver().form(solver().handle, in.rows, in.columns, in.columns, tall, in.rows,
                      in.scalars.data(), in.work->data(), in.work_size, in.status.data()),
        "cusolverDnSorgqr");
}

int Orthogonalization::status() const { return inside_->status.read().front(); }

}  // namespace payoff::kernels
