// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <string>
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
  bool dated{true};  // false: the framework is known, its version and what it fuses are not
};

constexpr std::array stack_rules{
    StackRule{"vtrain_single", "", "megatron-2022", false},
    StackRule{"vtrain_multi", "", "megatron-2022", false},
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
    StackRule{"dle_", "Recommendation/DLRM", "ngc-dlrm-2021"},
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
    StackRule{"", "torchtitan", "torchtitan-2025"},
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

// NVIDIA's pre-training of BERT of January 2022: native AMP and DistributedDataParallel,
// TorchScript with NVFuser (change log of PyTorch/LanguageModeling/BERT). Its fine-tuning stayed as
// it was.
bool is_ngc_pytorch_2022(const TrainingRow& row) {
  return row.source == "dle_bert" && row.id.starts_with("dle_bert_2022") &&
         row.citation.find("PyTorch/") != std::string::npos &&
         row.task.value_or("").find("pre-training") != std::string::npos;
}

// bf16 and fp8 came to frameworks with FlashAttention or shortly before it.
bool is_recent(const TrainingRow& row) { return row.precision == "bf16" || row.precision == "fp8"; }

bool names_any(const std::string& text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

}  // namespace

Architecture RowReader::architecture() const {
  const auto gpu = catalogue_.gpus.find(gpu_profile(row_.cluster.gpu.value_or("")));
  return gpu == catalogue_.gpus.end() ? Architecture::volta : gpu->second.architecture;
}

// Words that no line knows: the generation by what the row computes in and on which GPU.
std::string RowReader::stack_by_generation(const std::string& words) const {
  const Architecture gpu = architecture();
  const bool recent = is_recent(row_) || gpu >= Architecture::ada;
  std::string text = words;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (names_any(text, {"megatron", "transformer engine", "transformerengine"})) {
    return gpu >= Architecture::hopper   ? "nemo-2024"
           : gpu == Architecture::ampere ? "megatron-2022"
                                         : "megatron-2020";
  }
  if (names_any(text, {"tensorflow", "mxnet", "oneflow", "libai"}) ||
      (!recent && names_any(text, {"paddle", "jax"}))) {
    return "framework-2020";
  }
  return recent ? "pytorch-2" : "pytorch-ddp-2021";
}

std::string RowReader::stack() const {
  const std::string& text = row_.software ? *row_.software : row_.citation;
  if (is_ngc_pytorch_2022(row_)) {
    return "ngc-pytorch-2022";
  }
  const bool recent = is_recent(row_) || architecture() >= Architecture::ada;
  for (const StackRule& rule : stack_rules) {
    const bool source = row_.source.starts_with(rule.source);
    const bool words = rule.words.empty() || text.find(rule.words) != std::string::npos;
    // PyTorch or DeepSpeed without a version.
    const bool old = rule.stack == "pytorch-ddp-2021" || rule.stack == "deepspeed-2020";
    const bool too_old = rule.source.empty() && old && recent;
    if (source && words && !too_old) {
      if (!rule.dated) {
        assume("software as " + std::string(rule.stack));
      }
      return std::string(rule.stack);
    }
  }
  std::string stack = stack_by_generation(text);
  assume("software as " + stack);
  return stack;
}

}  // namespace payoff
