// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/units.hpp"
#include "profiles/import/kineto_trace.hpp"

// Times of layers, from a trace in which something was put around each of them: record_function
// ("block 3"), or nn.Module where the profiler ran with with_modules ("nn.Module: Block_3").
//
// A kernel belongs to the innermost layer that was open on the thread that launched it. A kernel of
// backward, launched by autograd's thread, belongs to the layer whose operator made the node: the
// two have one sequence number. What autograd's thread runs within an annotation is recomputation
// and belongs to no pass. The time of a pass is when any of its kernels runs, communication left
// out, and the gaps in between, but for what other kernels run in them and for the wait up to a
// message that ends there: launches included, messages not, as model.layer_times wants it
// (docs/model.md, section 4).

namespace payoff {

// `from` is the name of an annotation, `*` in it any text, which takes the place of `*` in `to`.
struct LayerRule {
  std::string from;
  std::string to;
};

// `embedding`, `head`, `block` and `block *` as they are.
[[nodiscard]] std::vector<LayerRule> usual_layer_rules();

// Whether a table can hold the name: no comma, no quote, no line's end.
[[nodiscard]] bool fits_table(std::string_view layer);

// The layer of an annotation by the first rule that fits; nothing: it is none, or has a name that
// no table can hold ("block 3, attn" by `block *`), so that what it runs is of the layer around it.
[[nodiscard]] std::optional<std::string> layer_of(std::string_view annotation,
                                                  const std::vector<LayerRule>& rules);

// Annotations that a rule fits and that are no layers, for their names.
[[nodiscard]] std::vector<std::string> unfit_annotations(const std::vector<std::string>& names,
                                                         const std::vector<LayerRule>& rules);

struct TracedLayer {
  std::string layer;
  std::vector<Seconds> forward;  // of each pass of a micro-batch
  std::vector<Seconds> backward;
};

struct TracedLayers {
  std::vector<TracedLayer> layers;  // in the order in which they first ran
  Seconds attributed{};             // of what the GPU did beside communication
  Seconds all{};
};

[[nodiscard]] TracedLayers layers_of(const KinetoTrace& trace, const std::vector<LayerRule>& rules);

// Layers of several traces of one job: their passes together.
[[nodiscard]] TracedLayers join(std::vector<TracedLayers> traces);

// What the passes were measured at.
struct LayerTimesAt {
  int micro_batch{};
  int tp{1};
  int cp{1};
  int ep{1};
  int etp{1};
};

// The table that model.layer_times reads (profiles/read_layer_times.hpp): medians. Layers that lack
// one of the passes are left out.
[[nodiscard]] std::string layer_times_csv(const TracedLayers& layers, const LayerTimesAt& at);

}  // namespace payoff
