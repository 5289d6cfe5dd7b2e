// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "model/experiment.hpp"
#include "model/optimizer.hpp"

// Names of values in experiment files, and the keys that others use for what we call otherwise.

namespace payoff {

inline constexpr int most_nodes = 1 << 20;
inline constexpr std::int64_t most_steps = 1'000'000'000;

inline constexpr std::array<std::pair<std::string_view, ContextExchange>, 2> context_exchanges{{
    {"ring", ContextExchange::ring},
    {"all_to_all", ContextExchange::all_to_all},
}};

inline constexpr std::array<std::pair<std::string_view, AllReduceBy>, 3> dp_collectives{{
    {"nccl", AllReduceBy::nccl},
    {"sharp", AllReduceBy::sharp},
    {"packed_trees", AllReduceBy::packed_trees},
}};

inline constexpr std::array<std::pair<std::string_view, PipelineSchedule>, 7> schedules{{
    {"1f1b", PipelineSchedule::one_f_one_b},
    {"gpipe", PipelineSchedule::gpipe},
    {"zb-h1", PipelineSchedule::zb_h1},
    {"zb-h2", PipelineSchedule::zb_h2},
    {"zb-v", PipelineSchedule::zb_v},
    {"dualpipe-v", PipelineSchedule::dualpipe_v},
    {"dualpipe", PipelineSchedule::dualpipe},
}};

inline constexpr std::array<std::pair<std::string_view, Degree>, 4> degrees{{
    {"tp", Degree::tp},
    {"cp", Degree::cp},
    {"dp", Degree::dp},
    {"pp", Degree::pp},
}};

inline constexpr std::array<std::pair<std::string_view, Recompute>, 3> recomputes{{
    {"none", Recompute::none},
    {"selective", Recompute::selective},
    {"full", Recompute::full},
}};

inline constexpr std::array<std::pair<std::string_view, Optimizer>, 3> optimizers{{
    {"sgd", Optimizer::sgd},
    {"sgd-momentum", Optimizer::sgd_momentum},
    {"adam", Optimizer::adam},
}};

inline constexpr std::array<std::pair<std::string_view, JitterLaw>, 2> jitter_laws{{
    {"exponential", JitterLaw::exponential},
    {"half_normal", JitterLaw::half_normal},
}};

// Names of the same degrees elsewhere: torchtitan's and Megatron-LM's.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 18> foreign_degrees{{
    {"data_parallel_degree", "dp"},
    {"data_parallel_replicate_degree", "dp"},
    {"data_parallel_size", "dp"},
    {"tensor_parallel_degree", "tp"},
    {"tensor_model_parallel_size", "tp"},
    {"pipeline_parallel_degree", "pp"},
    {"pipeline_model_parallel_size", "pp"},
    {"expert_parallel_degree", "ep"},
    {"expert_model_parallel_size", "ep"},
    {"expert_tensor_parallel_size", "etp"},
    {"reshard_after_forward", "reshard"},
    {"tp_comm_overlap", "tp_overlap"},
    {"context_parallel_degree", "cp"},
    {"context_parallel_size", "cp"},
    {"cp_comm_type", "context_exchange"},
    {"micro_batch_size", "micro_batch"},
    {"gradient_accumulation_steps", "micro_batches"},
    {"pipeline_parallel_schedule", "schedule"},
}};

// Keys that people look for at the top, or beside the ones they belong to.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 16> misplaced{{
    {"precision", "training.precision"},
    {"gradient", "training.gradient"},
    {"optimizer", "training.optimizer"},
    {"bucket", "training.bucket"},
    {"overlap", "training.overlap"},
    {"nodes", "cluster.nodes"},
    {"gpus_per_node", "cluster.gpus_per_node"},
    {"bandwidth", "cluster.inter.bandwidth"},
    {"dp", "layout.dp"},
    {"tp", "layout.tp"},
    {"pp", "layout.pp"},
    {"micro_batch", "layout.micro_batch"},
    {"global_batch", "layout.global_batch"},
    {"sequence", "model.sequence"},
    {"decoder_sequence", "model.decoder_sequence"},
    {"compression", "compress"},
}};

}  // namespace payoff
