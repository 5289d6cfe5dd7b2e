// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

#include "study/row_parts.hpp"

namespace payoff {
namespace {

// The first line whose source matches and whose words occur in the row's software or, where it
// names none, in the path that it cites. An empty field matches everything.
struct StackRule {
  std::string_view source;
  std::string_view words;
  std::string_view stack;
};

constexpr std::array rules{
    StackRule{"vtrain_single", "", "megatron-2022"},
    StackRule{"vtrain_multi", "", "megatron-2022"},
    StackRule{"megatron_sc21", "", "megatron-2022"},
    StackRule{"korthikanti_2022", "", "megatron-2022"},
    StackRule{"bigscience_176b", "", "bigscience-2022"},
    StackRule{"sdp4bit", "", "megatron-2022"},
    StackRule{"megatron_2020_readme", "", "megatron-2020"},
    StackRule{"megatron_h100", "", "nemo-2024"},
    StackRule{"simumax_b200", "", "nemo-2024"},
    StackRule{"", "NeMo", "nemo-2024"},
    StackRule{"dlperf_libai", "Megatron-LM", "megatron-2020"},
    StackRule{"", "NGC PyTorch", "ngc-pytorch-2020"},
    StackRule{"", "NGC TensorFlow", "ngc-tensorflow-2020"},
    StackRule{"", "NGC MXNet", "ngc-mxnet-2020"},
    StackRule{"dle_", "PyTorch/", "ngc-pytorch-2020"},
    StackRule{"dle_", "TensorFlow", "ngc-tensorflow-2020"},
    StackRule{"dle_", "MxNet/", "ngc-mxnet-2020"},
    StackRule{"dle_", "PaddlePaddle/", "ngc-paddle-2022"},
    StackRule{"mlperf_nvidia", "PyTorch NVIDIA", "mlperf-2021"},
    StackRule{"mlperf_nvidia", "MxNet", "mlperf-2021"},
    StackRule{"mlperf_nvidia", "MXNet", "mlperf-2021"},
    StackRule{"mlperf_nvidia", "PyTorch/TensorFlow/MxNet", "mlperf-2021"},
    StackRule{"internevo", "", "internevo-2023"},
    StackRule{"nanotron", "", "pytorch-2"},
    StackRule{"mosaicml_mpt", "", "pytorch-2"},
    StackRule{"fms_fsdp", "", "pytorch-2"},
    StackRule{"llama3_torchtitan", "", "pytorch-2"},
    StackRule{"", "DeepSpeed", "deepspeed-2020"},
    StackRule{"hkbu_ddl", "", "pytorch-ddp-2021"},
    StackRule{"", "Horovod", "pytorch-ddp-2021"},
    StackRule{"espresso", "", "pytorch-ddp-2021"},
    StackRule{"bagua_byteps", "", "pytorch-ddp-2021"},
    StackRule{"dgxc", "", "pytorch-2"},
    StackRule{"", "DDP", "pytorch-ddp-2021"},
    StackRule{"", "PyTorch", "pytorch-ddp-2021"},
    StackRule{"dlperf_libai", "", "framework-2020"},
};

}  // namespace

std::string RowReader::stack() const {
  const std::string& text = row_.software ? *row_.software : row_.citation;
  for (const StackRule& rule : rules) {
    const bool source = row_.source.starts_with(rule.source);
    const bool words = rule.words.empty() || text.find(rule.words) != std::string::npos;
    if (source && words) {
      return std::string(rule.stack);
    }
  }
  return "unknown";
}

}  // namespace payoff
