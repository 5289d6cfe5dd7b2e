// SPDX-License-Identifier: Apache-2.0
#include "cli/names.hpp"

#include <array>
#include <cstddef>

namespace payoff {

std::string strategy_name(const std::string& label) {
  return label == "none" ? "uncompressed" : label;
}

std::string_view name_of(Precision precision) {
  constexpr std::array<std::string_view, precision_count> names{"fp32", "tf32", "fp16", "bf16",
                                                                "fp8"};
  return names[static_cast<std::size_t>(precision)];
}

std::string_view name_of(MessageKind kind) {
  switch (kind) {
    case MessageKind::dp_gradients:
      return "gradients";
    case MessageKind::dp_replicas:
      return "gradients between replicas";
    case MessageKind::dp_weights:
      return "weights";
    case MessageKind::ep_gradients:
      return "gradients of experts";
    case MessageKind::ep_replicas:
      return "gradients of experts between replicas";
    case MessageKind::ep_weights:
      return "weights of experts";
    case MessageKind::tp_activations:
      return "tensor-parallel activations";
    case MessageKind::cp_activations:
      return "context-parallel activations";
    case MessageKind::ep_activations:
      return "tokens for experts";
    case MessageKind::etp_activations:
      return "tokens between parts of experts";
    case MessageKind::pp_activations:
      return "pipeline activations";
    case MessageKind::tied_gradients:
      return "gradients of a word embedding between the ends of the pipeline";
    case MessageKind::table_activations:
      return "vectors of embedding tables";
  }
  return {};
}

std::string_view name_of(WorkKind kind) {
  constexpr std::array<std::string_view, 7> names{"forward", "recompute", "backward", "bucket_copy",
                                                  "encode",  "decode",    "optimizer"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(Disagreement::Part part) {
  constexpr std::array<std::string_view, 4> names{"compute", "communication", "waiting", "host"};
  return names[static_cast<std::size_t>(part)];
}

}  // namespace payoff
