// SPDX-License-Identifier: Apache-2.0
// A step of PowerSGD on one worker, error feedback included: the gradient is corrected, projected,
// orthogonalised, projected back, and what the factors miss is kept. As a tuned implementation does
// it with a library's products, which take the residual as they write, and as operators.
#include <cmath>

#include "kernels/families/families.hpp"
#include "kernels/families/orthogonal.cuh"
#include "kernels/program/matrix_products.hpp"

namespace payoff::kernels {
namespace {

struct Step {
  std::size_t rows{};
  std::size_t columns{};
  std::size_t rank{};
  [[nodiscard]] TallShape left() const { return {rows, rank}; }
};

// Row-major matrices are the transposes of column-major ones: C^T = B^T A^T.
void product_of_rows(Stream s, const ProductSize& size, const float* a, const float* b, float* c) {
  multiply(s, ProductType::fp32, size, b, a, c);
}

struct StepArrays {
  Shared<float> gradient;
  Shared<float> error_before;
  Shared<float> right_before;
  Shared<float> error;
  Shared<float> right;
  Shared<float> left;
  Shared<float> received;
  Shared<float> overlaps;

  explicit StepArrays(const Step& step)
      : gradient(drawn_on_device({step.rows * step.columns, InputKind::gaussian, 9})),
        error_before(drawn_on_device({step.rows * step.columns, InputKind::gaussian, 9}, 1)),
        right_before(drawn_on_device({step.columns * step.rank, InputKind::gaussian, 9}, 2)),
        error(array_of<float>(step.rows * step.columns)),
        right(array_of<float>(step.columns * step.rank)),
        left(array_of<float>(step.rows * step.rank)),
        received(array_of<float>(step.rows * step.columns)),
        overlaps(array_of<float>(step.rank)) {}

  // Every run begins with the same error and factor.
  void restore(Stream s) const {
    copy_in_stream(s, error->data(), error_before->data(), error->bytes());
    copy_in_stream(s, right->data(), right_before->data(), right->bytes());
  }

  // P = M Q.
  void project(Stream s, const Step& step, const float* corrected) const {
    product_of_rows(s, {step.rank, step.rows, step.columns}, corrected, right->data(),
                    left->data());
  }
  // Q = M^T P.
  void project_back(Stream s, const Step& step, const float* corrected) const {
    ProductSize size{step.rank, step.columns, step.rows};
    size.right_transposed = true;
    product_of_rows(s, size, corrected, left->data(), right->data());
  }
  // P Q^T, of which `size` may take from what is there.
  void reconstruct(Stream s, const Step& step, float alpha, float beta, float* out) const {
    ProductSize size{step.columns, step.rows, step.rank};
    size.left_transposed = true;
    size.alpha = alpha;
    size.beta = beta;
    product_of_rows(s, size, left->data(), right->data(), out);
  }

  [[nodiscard]] std::string mismatch(const Step& step) const {
    const Matrix given{step.rows, step.columns, gradient->read()};
    Matrix kept{step.rows, step.columns, error_before->read()};
    Matrix factor{step.columns, step.rank, right_before->read()};
    const Matrix expected = power_sgd_step(given, kept, factor);
    const float bound = step_bound(step, expected, kept);
    return first_of(deviates("received", *received, expected.values, bound),
                    deviates("error", *error, kept.values, bound));
  }

  // The factors' columns are off by the orthogonalisation's bound, which stands for a condition
  // number below 3 and here has to stand for that of a product of two Gaussian matrices, at most
  // 16 times that; an entry of P P^T M is then off by at most twice ||dP|| ||M||, and by the
  // rounding of sums of `rows` and `rank` products of it.
  [[nodiscard]] static float step_bound(const Step& step, const Matrix& expected,
                                        const Matrix& kept) {
    double squares = 0.0;
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
      const double corrected =
          static_cast<double>(expected.values[i]) + static_cast<double>(kept.values[i]);
      squares += corrected * corrected;
    }
    const double entries = static_cast<double>(step.rows * step.rank);
    const double of_left = 16.0 * static_cast<double>(order_bound(step.left())) /
                           std::sqrt(static_cast<double>(step.rows));
    return static_cast<float>(2.0 * of_left * std::sqrt(entries) * std::sqrt(squares));
  }
};

[[nodiscard]] Benchmark step_point(const char* implementation, const Step& step, double read,
                                   double written, int launches) {
  const auto a = static_cast<double>(step.rows);
  const auto c = static_cast<double>(step.columns);
  const auto r = static_cast<double>(step.rank);
  const double factors = 4.0 * (a + c) * r;
  const Traffic traffic{bytes_of(4.0 * read * a * c + 3.0 * factors),
                        bytes_of(4.0 * written * a * c + 2.0 * factors),
                        Flops{6.0 * a * c * r + 2.0 * a * r * r},
                        0.0,
                        launches,
                        0};
  Benchmark b{{"power_sgd",
               "low_rank",
               implementation,
               "gaussian",
               "cold",
               {{"rows", a}, {"columns", c}, {"rank", r}},
               traffic},
              bytes_of(24.0 * a * c + 4.0 * factors),
              {}};
  b.needs = "cublas";
  return b;
}

// The correction in place; the last product takes from the corrected gradient as it writes.
// Copies of the start: the error, 1 read and 1 written.
Benchmark by_library(const Step& step) {
  Benchmark b = step_point("library", step, 6.0, 4.0, 8);
  b.make = [step] {
    const StepArrays x(step);
    return Work{[=](Stream s) {
                  x.restore(s);
                  combine<4>(s, x.error->data(), x.gradient->data(), x.error->data(),
                             x.error->count(), Sum{});
                  x.project(s, step, x.error->data());
                  launch(s, 1, block_threads, gram_schmidt, x.left->data(), step.rows, step.rank);
                  x.project_back(s, step, x.error->data());
                  x.reconstruct(s, step, 1.0F, 0.0F, x.received->data());
                  x.reconstruct(s, step, -1.0F, 1.0F, x.error->data());
                },
                [=] { return x.mismatch(step); }, [=] { return checksum_of(*x.received); }};
  };
  return b;
}

// The same with Cholesky-QR, twice, in the place of Gram-Schmidt: the factor's columns are read by
// many blocks and not by one, which is what limits the step from a rank of about 16 on. Both leave
// the same columns, but for rounding: the triangular factor of either has a positive diagonal.
Benchmark by_library_and_cholesky(const Step& step) {
  Benchmark b = step_point("library", step, 6.0, 4.0, 13);
  b.point.kernel = "power_sgd_cholesky";
  const double left = 4.0 * static_cast<double>(step.rows * step.rank);
  b.point.traffic.read = b.point.traffic.read + bytes_of(3.0 * left);  // four times and not once
  b.point.traffic.written = b.point.traffic.written + bytes_of(left);  // twice and not once
  b.make = [step] {
    const StepArrays x(step);
    auto gram = array_of<float>(step.rank * step.rank);
    return Work{[=](Stream s) {
                  x.restore(s);
                  combine<4>(s, x.error->data(), x.gradient->data(), x.error->data(),
                             x.error->count(), Sum{});
                  x.project(s, step, x.error->data());
                  for (int pass = 0; pass < 2; ++pass) {
                    launch(s, step.rank, block_threads, gram_rows, x.left->data(), gram->data(),
                           step.rows, step.rank);
                    launch(s, 1, block_threads, cholesky, gram->data(), step.rank);
                    launch_threads(s, step.rows, substitute_rows, x.left->data(), gram->data(),
                                   step.rows, step.rank);
                  }
                  x.project_back(s, step, x.error->data());
                  x.reconstruct(s, step, 1.0F, 0.0F, x.received->data());
                  x.reconstruct(s, step, -1.0F, 1.0F, x.error->data());
                },
                [=] { return x.mismatch(step); }, [=] { return checksum_of(*x.received); }};
  };
  return b;
}

// Sum, product, four operators a column, product, product, difference: tensors in between.
Benchmark step_by_operators(const Step& step) {
  Benchmark b =
      step_point("framework_ops", step, 7.0, 4.0, 7 + 4 * static_cast<int>(step.rank) - 2);
  b.make = [step] {
    const StepArrays x(step);
    auto corrected = array_of<float>(x.error->count());
    return Work{[=](Stream s) {
                  x.restore(s);
                  combine<4>(s, x.gradient->data(), x.error->data(), corrected->data(),
                             corrected->count(), Sum{});
                  x.project(s, step, corrected->data());
                  gram_schmidt_by_columns(s, x.left->data(), x.overlaps->data(), step.left());
                  x.project_back(s, step, corrected->data());
                  x.reconstruct(s, step, 1.0F, 0.0F, x.received->data());
                  combine<4>(s, corrected->data(), x.received->data(), x.error->data(),
                             corrected->count(), Difference{});
                },
                [=] { return x.mismatch(step); }, [=] { return checksum_of(*x.received); }};
  };
  return b;
}

}  // namespace

std::vector<Benchmark> power_sgd_benchmarks(const Plan& plan) {
  std::vector<Benchmark> all;
  for (const std::size_t side : plan.matrix_rows) {
    for (const std::size_t rank : plan.ranks) {
      if (side <= 4096 && rank <= 64) {
        const Step step{side, side, rank};
        all.push_back(by_library(step));
        all.push_back(by_library_and_cholesky(step));
        all.push_back(step_by_operators(step));
      }
    }
  }
  return all;
}

}  // namespace payoff::kernels
