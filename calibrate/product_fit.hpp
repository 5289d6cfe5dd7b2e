// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "model/hardware.hpp"
#include "model/matrix_product.hpp"
#include "model/units.hpp"

// How fast a GPU multiplies, in the terms of predictions: the share of its peak that a product
// reaches, one for each precision, and the depth at which it loses half, one for all. By least
// squares on relative errors of the law that prices a product (model/operator_pricer.hpp):
//   max(tiling_of(product, share * peak), traffic / reached bandwidth) + launch
// whose launch and bandwidth are the GPU's. The depth is sought, the shares follow from it by
// linear least squares, with every product on the side and in the tiles where the law puts it.
// Where the law misses its points by more than their noise, that counts as a deviation of each,
// so that no point outweighs others by its noise alone.

namespace payoff {

struct ProductTiming {
  Precision precision{};
  Product product;
  Bytes traffic{};
  Seconds time{};
  double relative_sd{};  // of the time; positive
};

struct ProductShare {
  double value{};
  double relative_sd{};
};

struct ProductFit {
  std::map<Precision, ProductShare> efficiency;  // of precisions whose products tell it
  // Nothing where the shapes tell it no better than to half of itself: the GPU's holds then, and
  // what it may be off by is in the deviations of the shares.
  std::optional<ProductShare> depth_half;
  std::vector<double> errors;  // predicted / measured - 1, in order
  double rms_error{};
  double largest_error{};
};

// `gpu` has a peak for every precision of `timings`, which are not empty.
[[nodiscard]] ProductFit fit_products(std::span<const ProductTiming> timings, const Gpu& gpu);

}  // namespace payoff
