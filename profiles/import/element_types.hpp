// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "model/collective_kind.hpp"
#include "model/units.hpp"

// What logs and traces call the elements and the kinds of messages.

namespace payoff {

struct ElementType {
  std::string_view name;  // as in nccl.h, in small letters: "bfloat16"
  Bytes size;
};

// ncclDataType_t of nccl.h (NCCL 2.28): 0 is int8, 9 bfloat16, 11 float8e5m2.
[[nodiscard]] std::optional<ElementType> nccl_type(int code);

// The name of a scalar type of PyTorch, as its profiler writes it: "BFloat16", "Float".
[[nodiscard]] std::optional<ElementType> torch_type(std::string_view name);

// "AllReduce" of NCCL, "_allgather_base" of PyTorch. Nothing for what moves no data of the job
// (`barrier`, `wait`) and for what has no kind here (`Gather`, `Scatter`).
[[nodiscard]] std::optional<Collective> collective_named(std::string_view name);

// Of the buffer that nccl-tests counts, from what a call of NCCL counts: all_gather, reduce_scatter
// and all_to_all count the part of one rank.
[[nodiscard]] Bytes message_size(Collective collective, double count, Bytes element, int ranks);

}  // namespace payoff
