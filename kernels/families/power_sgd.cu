// SPDX-License-Identifier: Apache-2.0
// A step of PowerSGD on one worker, of one layer or of a batch of equal ones, error feedback
// included: the gradient is corrected, projected, orthogonalised, projected back, and what the
// factors miss is kept. As a tuned implementation does it with a library's products, which take the
// residual as they write, and as operators.
#include <algorithm>
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
  std::size_t batch{1};  // layers of one size that are compressed at once
  [[nodiscard]] TallShape left() const { return {rows, rank, batch}; }
  [[nodiscard]] std::size_t entries() const { return batch * rows * columns; }
  [[nodiscard]] std::size_t right_entries() const { return batch * columns * rank; }
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
      : gradient(drawn_on_device({step.entries(), InputKind::gaussian, 9})),
        error_before(drawn_on_device({step.entries(), InputKind::gaussian, 9}, 1)),
        right_before(drawn_on_device({step.right_entries(), InputKind::gaussian, 9}, 2)),
        error(array_of<float>(step.entries())),
        right(array_of<float>(step.right_entries())),
        left(array_of<float>(step.batch * step.rows * step.rank)),
        received(array_of<float>(step.entries())),
        overlaps(array_of<float>(step.batch * step.rank)) {}

  // Every run begins with the same error and factor.
  void restore(Stream s) const {
    copy_in_stream(s, error->data(), error_before->data(), error->bytes());
    copy_in_stream(s, right->data(), right_before->data(), right->bytes());
  }

  // P = M Q.
  void project(Stream s, const Step& step, const float* corrected) const {
    product_of_rows(s, {step.rank, step.rows, step.columns, step.batch}, corrected, right->data(),
                    left->data());
  }
  // Q = M^T P.
  void project_back(Stream s, const Step& step, const float* corrected) const {
    ProductSize size{step.rank, step.columns, step.rows, step.batch};
    size.right_transposed = true;
    product_of_rows(s, size, corrected, left->data(), right->data());
  }
  // P Q^T, of which `size` may take from what is there.
  void reconstruct(Stream s, const Step& step, float alpha, float beta, float* out) const {
    ProductSize size{step.columns, step.rows, step.rank, step.batch};
    size.left_transposed = true;
    size.alpha = alpha;
    size.beta = beta;
    product_of_rows(s, size, left->data(), right->data(), out);
  }

  // Each matrix of the batch as if it were alone; one bound for all: the largest.
  [[nodiscard]] std::string mismatch(const Step& step) const {
    const std::vector<float> given = gradient->read();
    const std::vector<float> kept_before = error_before->read();
    const std::vector<float> factor_before = right_before->read();
    std::vector<float> all_received;
    std::vector<float> all_kept;
    float bound = 0.0F;
    for (std::size_t matrix = 0; matrix < step.batch; ++matrix) {
      Matrix kept = matrix_at(kept_before, matrix, step.rows, step.columns);
      Matrix factor = matrix_at(factor_before, matrix, step.columns, step.rank);
      const Matrix gradient_before = matrix_at(given, matrix, step.rows, step.columns);
      const double condition = condition_number(product(sum_of(gradient_before, kept), factor));
      const Matrix expected = power_sgd_step(gradient_before, kept, factor);
      bound = std::max(bound, step_bound(step, condition, expected, kept));
      all_received.insert(all_received.end(), expected.values.begin(), expected.values.end());
      all_kept.insert(all_kept.end(), kept.values.begin(), kept.values.end());
    }
    return first_of(deviates("received", *received, all_received, bound),
                    deviates("error", *error, all_kept, bound));
  }

  [[nodiscard]] static Matrix matrix_at(const std::vector<float>& batch, std::size_t place,
                                        std::size_t rows, std::size_t columns) {
    const auto begin = batch.begin() + static_cast<std::ptrdiff_t>(place * rows * columns);
    return {rows, columns, {begin, begin + static_cast<std::ptrdiff_t>(rows * columns)}};
  }

  [[nodiscard]] static Matrix sum_of(Matrix a, const Matrix& b) {
    for (std::size_t i = 0; i < a.values.size(); ++i) {
      a.values[i] += b.values[i];
    }
    return a;
  }

  // The factors' columns are off by the orthogonalisation's bound, which stands for a condition
  // number of 3, and grows with that of what is orthogonalised: the QR factor of A + dA is off by
  // the condition number of A times ||dA|| / ||A|| to first order (Stewart, SIAM J. Numer. Anal.
  // 14, 1977), by Gram-Schmidt and by Cholesky-QR done twice alike. An entry of P P^T M is then off
  // by at most twice ||dP|| ||M||, and by the rounding of sums of `rows` and `rank` products of it.
  [[nodiscard]] static float step_bound(const Step& step, double condition, const Matrix& expected,
                                        const Matrix& kept) {
    double squares = 0.0;
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
      const double corrected =
          static_cast<double>(expected.values[i]) + static_cast<double>(kept.values[i]);
      squares += corrected * corrected;
    }
    const double entries = static_cast<double>(step.rows * step.rank);
    const double of_product = std::max(1.0, condition / 3.0);
    const double of_left = of_product * static_cast<double>(order_bound(step.left())) /
                           std::sqrt(static_cast<double>(step.rows));
    return static_cast<float>(2.0 * of_left * std::sqrt(entries) * std::sqrt(squares));
  }
};

[[nodiscard]] Benchmark step_point(const char* implementation, const Step& step, int products,
                                   double read, double written, int launches) {
  const auto a = static_cast<double>(step.rows);
  const auto c = static_cast<double>(step.columns);
  const auto r = static_cast<double>(step.rank);
  const auto batch = static_cast<double>(step.batch);
  const double factors = 4.0 * (a + c) * r;
  const Traffic traffic{bytes_of(batch * (4.0 * read * a * c + 3.0 * factors)),
                        bytes_of(batch * (4.0 * written * a * c + 2.0 * factors)),
                        Flops{batch * (products * 2.0 * a * c * r + 2.0 * a * r * r)},
                        0.0,
                        launches,
                        0};
  Benchmark b{{"power_sgd",
               "low_rank",
               implementation,
               "gaussian",
               "cold",
               {{"rows", a}, {"columns", c}, {"rank", r}, {"batch", batch}},
               traffic},
              bytes_of(batch * (24.0 * a * c + 4.0 * factors)),
              {}};
  b.needs = "cublas";
  return b;
}

// The correction in place; the last product takes from the corrected gradient as it writes.
// Copies of the start: the error, 1 read and 1 written.
Benchmark by_library(const Step& step) {
  Benchmark b = step_point("library", step, 4, 6.0, 4.0, 8);
  b.make = [step] {
    const StepArrays x(step);
    return Work{[=](Stream s) {
                  x.restore(s);
                  combine<4>(s, x.error->data(), x.gradient->data(), x.error->data(),
                             x.error->count(), Sum{});
                  x.project(s, step, x.error->data());
                  launch(s, step.batch, block_threads, gram_schmidt, x.left->data(), step.rows,
                         step.rank);
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
  Benchmark b = step_point("library", step, 4, 6.0, 4.0, 13);
  b.point.kernel = "power_sgd_cholesky";
  const double left = 4.0 * static_cast<double>(step.batch * step.rows * step.rank);
  b.point.traffic.read += bytes_of(3.0 * left);  // four times and not once
  b.point.traffic.written += bytes_of(left);     // twice and not once
  b.make = [step] {
    const StepArrays x(step);
    auto gram = array_of<float>(step.batch * step.rank * step.rank);
    return Work{[=](Stream s) {
                  x.restore(s);
                  combine<4>(s, x.error->data(), x.gradient->data(), x.error->data(),
                             x.error->count(), Sum{});
                  x.project(s, step, x.error->data());
                  for (int pass = 0; pass < 2; ++pass) {
                    launch(s, step.batch * step.rank, block_threads, gram_rows, x.left->data(),
                           gram->data(), step.rows, step.rank);
                    launch(s, step.batch, block_threads, cholesky, gram->data(), step.rank);
                    launch_threads(s, step.batch * step.rows, substitute_rows, x.left->data(),
                                   gram->data(), step.rows, step.rank, step.batch);
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
      step_point("framework_ops", step, 3, 7.0, 4.0, 7 + 4 * static_cast<int>(step.rank) - 2);
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
  constexpr std::size_t largest_of_batch = 1024;  // side: 48 of them take 1.2 GB
  std::vector<Benchmark> all;
  for (const std::size_t side : plan.matrix_rows) {
    for (const std::size_t rank : plan.ranks) {
      for (const std::size_t batch : plan.batches) {
        if (side <= (batch > 1 ? largest_of_batch : 4096) && rank <= 64) {
          const Step step{side, side, rank, batch};
          all.push_back(by_library(step));
          all.push_back(by_library_and_cholesky(step));
          all.push_back(step_by_operators(step));
        }
      }
    }
  }
  return all;
}

}  // namespace payoff::kernels
