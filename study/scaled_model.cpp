// SPDX-License-Identifier: Apache-2.0
#include "study/scaled_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <variant>

#include "model/transformer.hpp"
#include "study/interval_set.hpp"
#include "study/scaled_job.hpp"

namespace payoff {
namespace {

// The nearest multiple of `unit`, at least one of it.
std::int64_t multiple(double value, std::int64_t unit) {
  const double units = value / static_cast<double>(unit);
  return unit * std::max<std::int64_t>(1, std::llround(units));
}

// Depth and width times `factor`, in numbers that the layout divides. Keys and values that queries
// share keep their number, as in the sizes of one family: Llama 3 has 8 heads of them at 8, 70 and
// 405 billion parameters (Dubey et al. 2024, table 3).
TransformerShape scaled(const TransformerShape& shape, const ParallelLayout& layout,
                        double factor) {
  if (factor == 1.0) {
    return shape;
  }
  TransformerShape result = shape;
  const auto times = [factor](std::int64_t count) { return factor * static_cast<double>(count); };
  result.layers =
      multiple(times(shape.layers), std::int64_t{layout.stages()} * layout.virtual_stages);
  if (shape.decoder.layers > 0) {
    result.decoder.layers = multiple(times(shape.decoder.layers), 1);
  }
  const bool grouped = shape.kv_heads < shape.heads;
  result.heads =
      multiple(times(shape.heads), grouped ? std::lcm(shape.kv_heads, std::int64_t{layout.tp})
                                           : std::int64_t{layout.tp});
  result.kv_heads = grouped ? shape.kv_heads : result.heads;
  const double widths = static_cast<double>(result.heads) / static_cast<double>(shape.heads);
  const auto widened = [&](std::int64_t width, std::int64_t unit) {
    return width == 0 ? 0 : multiple(widths * static_cast<double>(width), unit);
  };
  // Halves of gated feed-forwards and units of tensor cores are multiples of 64 in practice.
  const std::int64_t unit = std::lcm(std::int64_t{64}, std::int64_t{layout.tp});
  result.hidden = widened(shape.hidden, std::int64_t{layout.tp});
  result.feed_forward = widened(shape.feed_forward, unit);
  result.experts.width = widened(shape.experts.width, unit);
  result.experts.shared_width = widened(shape.experts.shared_width, unit);
  result.experts.dense_blocks = std::min(shape.experts.dense_blocks, result.layers);
  return result;
}

double size_of(const TransformerShape& shape) {
  return static_cast<double>(parameter_count(shape));
}

// The factor at which the model comes nearest to `parameters`: sizes grow with it, in steps.
double factor_for(const TransformerShape& shape, const ParallelLayout& layout, double parameters) {
  if (size_of(shape) == parameters) {
    return 1.0;
  }
  constexpr double most = 1e17;  // that counts hold
  double low = 1e-3;
  double high = std::cbrt(most / size_of(shape));
  constexpr int halvings = 50;
  for (int i = 0; i < halvings; ++i) {
    const double middle = std::sqrt(low * high);
    (size_of(scaled(shape, layout, middle)) < parameters ? low : high) = middle;
  }
  const auto distance = [&](double factor) {
    return std::abs(std::log(size_of(scaled(shape, layout, factor)) / parameters));
  };
  return distance(low) < distance(high) ? low : high;
}

}  // namespace

std::string_view unscalable(const Experiment& experiment) {
  const auto* shape = std::get_if<TransformerShape>(&experiment.model);
  if (shape == nullptr) {
    return "a table of layers has one size";
  }
  if (shape->latent.key_rank > 0) {
    return "the ranks of latent attention belong to one size of the model";
  }
  if (!experiment.layer_times.empty()) {
    return "measured times of layers belong to one size of the model";
  }
  return experiment.layout.stage_layers.empty()
             ? ""
             : "stages of stated sizes belong to one size of the model";
}

double parameters_of(const Experiment& experiment) {
  return size_of(std::get<TransformerShape>(experiment.model));
}

std::optional<Experiment> with_parameters(const Experiment& experiment, double parameters) {
  if (!unscalable(experiment).empty()) {
    return std::nullopt;
  }
  const auto& shape = std::get<TransformerShape>(experiment.model);
  Experiment result = experiment;
  result.model = scaled(shape, experiment.layout, factor_for(shape, experiment.layout, parameters));
  return is_possible_uncompressed(result) ? std::optional(std::move(result)) : std::nullopt;
}

std::vector<double> model_sizes(const Experiment& experiment, double low, double high,
                                int per_decade) {
  std::vector<double> sizes;
  const auto add = [&](double parameters) {
    const std::optional<Experiment> job = with_parameters(experiment, parameters);
    if (!job) {
      return;
    }
    const double size = parameters_of(*job);
    if (size >= low && size <= high) {
      sizes.push_back(size);
    }
  };
  for (const double parameters : log_spaced_by_decade(low, high, per_decade)) {
    add(parameters);
  }
  if (unscalable(experiment).empty()) {
    add(parameters_of(experiment));
  }
  return ascending(std::move(sizes));
}

// The nearest size to the middle is an end where no other size lies between.
std::optional<double> size_between(const Experiment& experiment, double low, double high) {
  const std::optional<Experiment> job = with_parameters(experiment, std::sqrt(low * high));
  const double size = job ? parameters_of(*job) : low;
  return size > low && size < high ? std::optional(size) : std::nullopt;
}

JobAxis::Make size_axis(const Experiment& experiment) {
  return [&experiment](double x) { return with_parameters(experiment, x); };
}

}  // namespace payoff
