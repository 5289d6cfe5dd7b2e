// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "kernels/program/device_memory.hpp"

// The QR factorisation of a library, cuSOLVER, which is opened when the first one is asked for.

namespace payoff::kernels {

[[nodiscard]] bool factorizations_are_available();

// Orthogonal columns of a tall column-major matrix, by Householder reflections (geqrf, orgqr), in
// place. Its working memory is its own.
class Orthogonalization {
 public:
  Orthogonalization(std::size_t rows, std::size_t columns);
  ~Orthogonalization();
  Orthogonalization(const Orthogonalization&) = delete;
  Orthogonalization& operator=(const Orthogonalization&) = delete;

  void run(Stream stream, float* tall) const;
  // Of the last run: what the library says was wrong; zero: nothing.
  [[nodiscard]] int status() const;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace payoff::kernels
