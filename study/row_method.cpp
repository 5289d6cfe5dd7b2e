// SPDX-License-Identifier: Apache-2.0
#include "study/row_method.hpp"

#include <algorithm>

#include "study/row_names.hpp"

namespace payoff {
namespace {

constexpr std::array rules{
    MethodRule{"grace", "topk", "topk_sort", {{{"ratio"}, {"error_feedback"}}}},
    MethodRule{"grace", "randomk", "randomk_uniform", {{{"ratio"}, {"error_feedback"}}}},
    MethodRule{"grace", "qsgd", "qsgd_framework", {{{"levels"}}}},
    MethodRule{"grace", "efsignsgd", "efsignsgd"},
    MethodRule{"grace", "onebit", "onebit"},
    MethodRule{"grace", "natural", "natural"},
    MethodRule{"grace", "terngrad", "terngrad"},
    MethodRule{"grace", "powersgd", "powersgd_tensorflow", {{{"rank", std::nullopt, 1.0}}}},
    MethodRule{"grace", "adaq", "adaq", {{{"ratio"}, {"error_feedback"}}}},
    MethodRule{"grace", "dgc", "dgc", {{{"ratio"}}}},
    MethodRule{"grace", "inceptionn", "inceptionn", {{{"bytes_kept"}}}},
    MethodRule{"grace", "signsgd", "signsgd_bytes", {{{"error_feedback"}}}},
    MethodRule{"grace", "signum", "signsgd_bytes", {{{"error_feedback"}, {"momentum", 1.0}}}},
    MethodRule{"grace", "sketch", "sketch", {{{"quantiles"}, {"error_feedback"}}}},
    MethodRule{"grace", "threshold", "threshold", {{{"density"}, {"error_feedback"}}}},
    MethodRule{"grace", "u8", "u8_dynamic", {{{"error_feedback"}}}},
    MethodRule{"deepspeed", "onebitadam", "onebitadam", {}, Placement::after_backward},
    MethodRule{"espresso", "randomk", "randomk_indexed", {{{"ratio"}}}},
    MethodRule{"espresso", "dgc", "dgc_horovod", {{{"ratio"}, {"index_bytes", 4.0}}}},
    MethodRule{"global_qsgd", "globalqsgd", "globalqsgd", {{{"bits"}}}},
    MethodRule{
        "sdp4bit", "sdp4bit", "sdp4bit", {}, Placement::compute_stream, "sdp4bit_weights", 4, 8, 4},
    MethodRule{"zeropp", "zeropp", "qgz", {{{"grad_bits"}}}, Placement::compute_stream, "qwz", 8},
};

// By bare names, those of field notes (cast16) and of papers (1bitadam) too.
struct UsualProfiles {
  std::string_view method;
  std::string_view operators;
  std::string_view kernels;
};
constexpr std::array usual{
    UsualProfiles{"topk", "topk", "topk_fused"}, UsualProfiles{"topkchunk", "", "topk_chunk"},
    UsualProfiles{"topksampled", "", "topk_sampled"}, UsualProfiles{"zen", "", "zen"},
    UsualProfiles{"switchml", "", "switchml"}, UsualProfiles{"bytegrad", "", "bytegrad"},
    UsualProfiles{"qadam", "", "qadam"}, UsualProfiles{"quantization", "qsgd_framework", "qsgd"},
    UsualProfiles{"int8", "u8_dynamic", "qsgd"}, UsualProfiles{"8bit", "u8_dynamic", "qsgd"},
    UsualProfiles{"mstopk", "mstopk", ""}, UsualProfiles{"randomk", "randomk", ""},
    UsualProfiles{"threshold", "threshold", ""}, UsualProfiles{"dgc", "dgc_horovod", ""},
    UsualProfiles{"demo", "demo", ""}, UsualProfiles{"dct", "demo", ""},
    UsualProfiles{"scalecom", "", "scalecom"}, UsualProfiles{"sidco", "sidco", ""},
    UsualProfiles{"gaussiank", "gaussiank", ""}, UsualProfiles{"oktopk", "oktopk", ""},
    UsualProfiles{"gtopk", "gtopk", ""}, UsualProfiles{"sparcml", "", "sparcml"},
    UsualProfiles{"omnireduce", "", "omnireduce"}, UsualProfiles{"dragonn", "", "dragonn"},
    UsualProfiles{"signsgd", "signsgd", "signsgd_fused"},
    UsualProfiles{"signum", "signsgd", "signsgd_fused"},
    UsualProfiles{"efsignsgd", "efsignsgd", "efsignsgd_two_way"},
    UsualProfiles{"onebit", "onebit", "efsignsgd_two_way"},
    UsualProfiles{"1bit", "onebit", "efsignsgd_two_way"},
    UsualProfiles{"1bitsgd", "onebit", "efsignsgd_two_way"},
    UsualProfiles{"onebitadam", "onebitadam", ""}, UsualProfiles{"1bitadam", "onebitadam", ""},
    UsualProfiles{"onebitlamb", "onebitlamb", ""}, UsualProfiles{"1bitlamb", "onebitlamb", ""},
    UsualProfiles{"zerooneadam", "zeroone_adam", ""}, UsualProfiles{"01adam", "zeroone_adam", ""},
    UsualProfiles{"terngrad", "terngrad", ""}, UsualProfiles{"qsgd", "qsgd_framework", "qsgd"},
    UsualProfiles{"cgx", "", "cgx"}, UsualProfiles{"natural", "natural", ""},
    UsualProfiles{"intsgd", "", "intsgd"}, UsualProfiles{"globalqsgd", "", "globalqsgd"},
    UsualProfiles{"thc", "thc", ""}, UsualProfiles{"u8", "u8_dynamic", ""},
    UsualProfiles{"adaq", "adaq", ""}, UsualProfiles{"inceptionn", "inceptionn", ""},
    UsualProfiles{"sketch", "sketch", ""}, UsualProfiles{"sketchml", "sketch", ""},
    UsualProfiles{"fetchsgd", "", "fetchsgd"}, UsualProfiles{"cast16", "fp16", ""},
    UsualProfiles{"fp16", "fp16", ""}, UsualProfiles{"bf16", "bf16", ""},
    UsualProfiles{"fp8", "", "fp8"}, UsualProfiles{"fp8tensor", "", "fp8"},
    UsualProfiles{"fp8block", "", "fp8_block"}, UsualProfiles{"mxfp8", "", "mxfp8"},
    UsualProfiles{"mxfp4", "", "mxfp4"}, UsualProfiles{"nvfp4", "", "nvfp4"},
    UsualProfiles{"powersgd", "powersgd", ""},
    UsualProfiles{"powersgdbatch", "powersgd_batched", ""},
    UsualProfiles{"powersgdbatched", "powersgd_batched", ""}, UsualProfiles{"acpsgd", "acpsgd", ""},
    UsualProfiles{"atomo", "atomo", ""}, UsualProfiles{"gradiveq", "", "gradiveq"},
    UsualProfiles{"cocktail", "cocktail", ""}, UsualProfiles{"qgz", "", "qgz"},
    UsualProfiles{"qwz", "", ""}, UsualProfiles{"loco", "", "loco"},
    UsualProfiles{"localsgd", "local_sgd", ""},
    UsualProfiles{"streamingdiloco", "streaming_diloco", ""}, UsualProfiles{"diloco", "diloco", ""},
    UsualProfiles{"lossless", "", "lossless"},
    // Classes of vineeths96/Gradient-Compression.
    UsualProfiles{"qsgdmaxnorm", "qsgd_maxnorm", ""},
    UsualProfiles{"qsgdmaxnormtwoscale", "qsgd_maxnorm_two_scale", ""},
    UsualProfiles{"globalrandkmaxnorm", "randk_maxnorm", ""},
    UsualProfiles{"globalrandkmaxnormtwoscale", "randk_maxnorm_two_scale", ""}};

bool mentions(const std::optional<std::string>& text, std::string_view bare) {
  return text && bare_name(*text).find(bare) != std::string::npos;
}

// Its algorithms by what the collection calls what they send; a figure of its best one names none.
MethodProfiles bagua_profiles(const std::string& method, const TrainingCompression& stated) {
  if (method == "u8" || method == "bytegrad" || mentions(stated.system, "bytegrad")) {
    return {"", "bytegrad"};
  }
  if (method == "qadam" || mentions(stated.system, "qadam")) {
    return {"", "qadam"};
  }
  return method == "unknown"      ? MethodProfiles{"bytegrad", "qadam"}
         : method == "onebitadam" ? MethodProfiles{"onebitadam", ""}
                                  : MethodProfiles{};
}

}  // namespace

std::string canonical_method(std::string_view name) {
  const std::string bare = bare_name(name);
  const auto is_known = [](std::string_view method) {
    const auto same = [&](const auto& each) { return each.method == method; };
    return std::any_of(usual.begin(), usual.end(), same) ||
           std::any_of(rules.begin(), rules.end(), same);
  };
  if (is_known(bare)) {
    return bare;
  }
  if (name.find("ZeRO++") != std::string_view::npos || bare == "zero") {
    return "zeropp";
  }
  constexpr std::size_t shortest = 4;  // of a name in the midst of others
  std::string_view longest;
  const auto look_for = [&](std::string_view method) {
    const std::size_t at = bare.find(method);
    const bool found = at == 0 || (at != std::string::npos && method.size() >= shortest);
    if (found && method.size() > longest.size()) {
      longest = method;
    }
  };
  for (const UsualProfiles& each : usual) {
    look_for(each.method);
  }
  for (const MethodRule& each : rules) {
    look_for(each.method);
  }
  return longest.empty() ? bare : std::string(longest);
}

const MethodRule* published_rule(const TrainingRow& row) {
  const std::string method = canonical_method(row.compression.method);
  for (const MethodRule& rule : rules) {
    // What compresses weights too is one system's own (DeepSpeed's ZeRO++, SDP4Bit), whoever ran
    // it.
    const bool read = row.source.starts_with(rule.source) || !rule.weights.empty();
    if (read && method == rule.method) {
      return &rule;
    }
  }
  return nullptr;
}

MethodProfiles usual_profiles(const TrainingRow& row) {
  const TrainingCompression& stated = row.compression;
  const std::string method = canonical_method(stated.method);
  if (mentions(stated.library, "bagua") || mentions(row.software, "bagua")) {
    const MethodProfiles own = bagua_profiles(method, stated);
    if (!own.operators.empty() || !own.kernels.empty()) {
      return own;
    }
  }
  const bool cgx = mentions(stated.library, "cgx") || mentions(stated.system, "cgx") ||
                   mentions(row.software, "cgx");
  if (method == "qsgd" && cgx) {
    return {"", "cgx"};
  }
  // L-GreCo chooses a parameter for each layer; how much is sent and how follows its compressor.
  if (method == "lgreco") {
    const bool ranks = stated.rank || mentions(stated.variant, "powersgd");
    const bool bits = stated.bits || stated.levels || mentions(stated.variant, "qsgd");
    const bool share = stated.keep_ratio || mentions(stated.variant, "topk");
    return ranks   ? MethodProfiles{"powersgd", ""}
           : bits  ? MethodProfiles{"", "cgx"}
           : share ? MethodProfiles{"topk", "topk_fused"}
                   : MethodProfiles{};
  }
  // One after another when backward is through, as `bsp` says: the paper's own code.
  if (method == "powersgd" && row.layout.schedule == "bsp") {
    return {"powersgd_reducer", ""};
  }
  if (method == "randomk" && stated.collective == "all-gather") {
    return {"", "randomk_indexed"};
  }
  const auto* found = std::find_if(usual.begin(), usual.end(), [&](const UsualProfiles& known) {
    return known.method == method;
  });
  return found == usual.end()
             ? MethodProfiles{}
             : MethodProfiles{std::string(found->operators), std::string(found->kernels)};
}

std::string usual_weights(const TrainingRow& row) {
  const std::string method = canonical_method(row.compression.method);
  const bool eight = method == "qwz" || method == "quantization" || method == "int8" ||
                     method == "8bit" || method == "u8";
  return eight                       ? "qwz"
         : method.starts_with("fp8") ? "fp8_weights"
         : method == "sdp4bit"       ? "sdp4bit_weights"
                                     : "";
}

std::optional<double> stated_parameter(const TrainingRow& row, std::string_view parameter) {
  const TrainingCompression& compression = row.compression;
  const auto number = [](const auto& field) {
    return field ? std::optional(static_cast<double>(*field)) : std::nullopt;
  };
  if (parameter == "ratio") {
    return compression.keep_ratio;
  }
  if (parameter == "k") {
    return number(compression.kept);
  }
  if (parameter == "levels") {
    return number(compression.levels);
  }
  if (parameter == "rank") {
    return number(compression.rank);
  }
  if (parameter == "quantiles") {
    return number(compression.quantiles);
  }
  if (parameter == "bits") {
    return number(compression.bits);
  }
  if (parameter == "group") {
    return number(compression.grad_group);
  }
  if (parameter == "grad_bits") {
    return number(compression.grad_bits);
  }
  if (parameter == "error_feedback") {
    return number(compression.error_feedback);
  }
  return std::nullopt;
}

}  // namespace payoff
