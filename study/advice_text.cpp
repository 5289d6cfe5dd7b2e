// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "model/units_text.hpp"
#include "profiles/method_notes.hpp"
#include "study/advice.hpp"

// A plan as the reader of experiments takes it.

namespace payoff {
namespace {

std::string_view name_of(Placement placement) {
  switch (placement) {
    case Placement::side_stream:
      return "side_stream";
    case Placement::low_priority_stream:
      return "low_priority_stream";
    case Placement::high_priority_stream:
      return "high_priority_stream";
    case Placement::after_backward:
      return "after_backward";
    case Placement::compute_stream:
      break;
  }
  return "compute_stream";
}

void append(std::string& text, bool& any, std::string_view key, std::string_view value) {
  text += fmt::format("{}{}={}", any ? "," : ":", key, value);
  any = true;
}

void append_graph(std::string& text, bool& any, const ExchangeGraph& graph) {
  const auto shape = std::find_if(exchange_shapes.begin(), exchange_shapes.end(),
                                  [&](const auto& known) { return known.second == graph.shape; });
  append(text, any, "graph", shape != exchange_shapes.end() ? shape->first : graph.file);
  if (graph.shape == ExchangeShape::random && graph.seed > 0) {
    append(text, any, "graph_seed", fmt::format("{}", graph.seed));
  }
}

// The shortest text of a number reads back as that number.
bool append_parameters(std::string& text, const Method& method) {
  bool any = false;
  const bool fixed = method.graph && method.graph->shape != ExchangeShape::random;
  for (const auto& [key, value] : method.parameters) {
    if (!fixed || key != "neighbours") {
      append(text, any, key, fmt::format("{}", value));
    }
  }
  if (method.graph) {
    append_graph(text, any, *method.graph);
  }
  return any;
}

std::string written(const Method& method, const OwnFiles& files) {
  const auto file = files.find(method.name);
  return file == files.end() ? method.name : file->second;
}

std::string gradients_text(const CompressionPlan& plan, std::size_t index, const OwnFiles& files) {
  const Method& method = *plan.gradient_methods()[index];
  std::string text = written(method, files);
  bool any = append_parameters(text, method);
  if (plan.placement != plan.usual_placement()) {
    append(text, any, "placement", name_of(plan.placement));
  }
  if (!plan.overlap) {
    append(text, any, "overlap", "false");
  }
  if (method.among_nodes) {
    append(text, any, "among", "nodes");
  }
  if (method.smallest > 0_B) {
    append(text, any, "smallest", exact_text(method.smallest));
  }
  if (const BucketSet& buckets = plan.buckets_of(index); !buckets.is_all()) {
    append(text, any, "buckets", buckets_text(buckets));
  }
  return text;
}

std::string activations_text(const ActivationCompression& of, const OwnFiles& files) {
  std::string text = written(of.method, files);
  bool any = append_parameters(text, of.method);
  append(text, any, "traffic", name_of(of.traffic));
  append(text, any, "directions", directions_text(of));
  if (!(of.blocks == BlockRange{})) {
    append(text, any, "layers", layers_text(of.blocks));
  }
  return text;
}

std::string weights_text(const WeightCompression& of, const OwnFiles& files) {
  std::string text = written(of.method, files);
  bool any = append_parameters(text, of.method);
  append(text, any, "traffic", name_of(Traffic::dp_weights));
  if (of.copy_in_node) {
    append(text, any, "copy_in_node", "true");
  }
  return text;
}

}  // namespace

OwnFiles own_files(const Experiment& experiment) {
  constexpr std::string_view joint = " + ";
  constexpr std::string_view suffix = ".yaml";
  OwnFiles files;
  for (const CompressionPlan& plan : experiment.plans) {
    const std::vector<const Method*> methods = plan.methods();
    for (std::size_t begin = 0; begin < plan.label.size();) {
      const std::size_t end = std::min(plan.label.find(joint, begin), plan.label.size());
      const std::string part = plan.label.substr(begin, end - begin);
      const std::string name = part.substr(0, part.find(':'));
      const std::size_t folder = name.rfind('/') + 1;  // 0 where there is none
      const std::string stem = name.substr(folder, name.rfind(suffix) - folder);
      for (const Method* method : methods) {
        if (name.ends_with(suffix) && (methods.size() == 1 || method->name == stem)) {
          files[method->name] = name;
        }
      }
      begin = end + joint.size();
    }
  }
  return files;
}

std::string plan_text(const CompressionPlan& plan, const OwnFiles& files) {
  std::string text;
  for (std::size_t method = 0; method < plan.gradient_methods().size(); ++method) {
    text += (text.empty() ? "" : " + ") + gradients_text(plan, method, files);
  }
  if (plan.weights) {
    text += (text.empty() ? "" : " + ") + weights_text(*plan.weights, files);
  }
  for (const ActivationCompression& of : plan.activations) {
    text += (text.empty() ? "" : " + ") + activations_text(of, files);
  }
  return text.empty() ? plan.label : text;
}

}  // namespace payoff
