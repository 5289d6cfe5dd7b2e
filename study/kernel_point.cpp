// SPDX-License-Identifier: Apache-2.0
#include "study/kernel_point.hpp"

namespace payoff {
namespace {

double number_of(const SamplesPoint& point, const std::string& name) {
  return value_or(point.parameters, name, 0.0);
}

// Column-major, as cuBLAS has it: the rows of a layer's product, its tokens, are n.
Product product_of(const SamplesPoint& point) {
  const double batch = number_of(point, "batch");
  return {number_of(point, "n"), number_of(point, "m"), number_of(point, "k"),
          batch > 0.0 ? batch : 1.0};
}

}  // namespace

double value_or(const std::map<std::string, double>& parameters, const std::string& name,
                double otherwise) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? otherwise : found->second;
}

KernelPoint kernel_point(const SamplesPoint& point, const SampleSummary& summary) {
  KernelPoint result;
  result.title = title_of(point);
  result.bytes = point.traffic();
  result.flops = point.flops;
  result.random_accesses = point.random_accesses;
  result.ratio = number_of(point, "ratio");
  result.kept = result.ratio * number_of(point, "elements");
  result.rank = number_of(point, "rank");
  result.launches = point.launches;
  result.product = product_of(point);
  result.time = summary.median;
  return result;
}

}  // namespace payoff
