// SPDX-License-Identifier: Apache-2.0
#include "study/row_method.hpp"

#include <algorithm>

#include "study/row_names.hpp"

namespace payoff {
namespace {

constexpr std::array method_rules{
    MethodRule{"grace", "topk", "topk_sort", {{{"ratio"}, {"error_feedback"}}}},
    MethodRule{"grace", "randomk", "randomk_uniform", {{{"ratio"}, {"error_feedback"}}}},
    MethodRule{"grace", "qsgd", "qsgd_framework", {{{"levels"}}}},
    MethodRule{"grace", "efsignsgd", "efsignsgd"},
    MethodRule{"grace", "onebit", "onebit"},
    MethodRule{"grace", "natural", "natural"},
    MethodRule{"grace", "terngrad", "terngrad"},
    MethodRule{"grace", "powersgd", "powersgd_gram_schmidt", {{{"rank"}}}},
    MethodRule{"grace", "adaq", "adaq", {{{"ratio"}, {"error_feedback"}}}},
    MethodRule{"grace", "dgc", "dgc", {{{"ratio"}}}},
    MethodRule{"grace", "inceptionn", "inceptionn", {{{"bytes_kept"}}}},
    MethodRule{"grace", "signsgd", "signsgd_bytes", {{{"error_feedback"}}}},
    MethodRule{"grace", "signum", "signsgd_bytes", {{{"error_feedback"}, {"momentum", 1.0}}}},
    MethodRule{"grace", "sketch", "sketch", {{{"quantiles"}, {"error_feedback"}}}},
    MethodRule{"grace", "threshold", "threshold", {{{"density"}, {"error_feedback"}}}},
    MethodRule{"grace", "u8", "u8_dynamic", {{{"error_feedback"}}}},
    MethodRule{"deepspeed", "onebitadam", "onebitadam"},
    MethodRule{"espresso", "randomk", "randomk_indexed", {{{"ratio"}}}},
    MethodRule{"espresso", "dgc", "dgc_horovod", {{{"ratio"}, {"index_bytes", 4.0}}}},
    MethodRule{"global_qsgd", "globalqsgd", "globalqsgd", {{{"bits"}}}},
    MethodRule{"sdp4bit", "sdp4bit", "sdp4bit", {}, "sdp4bit_weights", 4, 8, 4},
    MethodRule{"zeropp", "zeropp", "qgz", {{{"grad_bits"}}}, "qwz", 8},
};

// By bare names, those of field notes (cast16) and of papers (1bitadam) too.
struct UsualProfiles {
  std::string_view method;
  std::string_view operators;
  std::string_view kernels;
};
constexpr std::array usual{
    UsualProfiles{"topk", "topk", "topk_fused"},
    UsualProfiles{"topkchunk", "", "topk_chunk"},
    UsualProfiles{"mstopk", "mstopk", ""},
    UsualProfiles{"randomk", "randomk", ""},
    UsualProfiles{"threshold", "threshold", ""},
    UsualProfiles{"dgc", "dgc_horovod", ""},
    UsualProfiles{"demo", "demo", ""},
    UsualProfiles{"dct", "demo", ""},
    UsualProfiles{"scalecom", "", "scalecom"},
    UsualProfiles{"sidco", "sidco", ""},
    UsualProfiles{"gaussiank", "gaussiank", ""},
    UsualProfiles{"oktopk", "oktopk", ""},
    UsualProfiles{"gtopk", "gtopk", ""},
    UsualProfiles{"sparcml", "", "sparcml"},
    UsualProfiles{"omnireduce", "", "omnireduce"},
    UsualProfiles{"dragonn", "", "dragonn"},
    UsualProfiles{"signsgd", "signsgd", "signsgd_fused"},
    UsualProfiles{"signum", "signsgd", "signsgd_fused"},
    UsualProfiles{"efsignsgd", "efsignsgd", "efsignsgd_two_way"},
    UsualProfiles{"onebit", "onebit", "efsignsgd_two_way"},
    UsualProfiles{"1bit", "onebit", "efsignsgd_two_way"},
    UsualProfiles{"1bitsgd", "onebit", "efsignsgd_two_way"},
    UsualProfiles{"onebitadam", "onebitadam", ""},
    UsualProfiles{"1bitadam", "onebitadam", ""},
    UsualProfiles{"onebitlamb", "onebitlamb", ""},
    UsualProfiles{"1bitlamb", "onebitlamb", ""},
    UsualProfiles{"zerooneadam", "zeroone_adam", ""},
    UsualProfiles{"01adam", "zeroone_adam", ""},
    UsualProfiles{"terngrad", "terngrad", ""},
    UsualProfiles{"qsgd", "qsgd_framework", "qsgd"},
    UsualProfiles{"cgx", "", "cgx"},
    UsualProfiles{"natural", "natural", ""},
    UsualProfiles{"intsgd", "", "intsgd"},
    UsualProfiles{"globalqsgd", "", "globalqsgd"},
    UsualProfiles{"thc", "thc", ""},
    UsualProfiles{"u8", "u8_dynamic", ""},
    UsualProfiles{"adaq", "adaq", ""},
    UsualProfiles{"inceptionn", "inceptionn", ""},
    UsualProfiles{"sketch", "sketch", ""},
    UsualProfiles{"sketchml", "sketch", ""},
    UsualProfiles{"fetchsgd", "", "fetchsgd"},
    UsualProfiles{"cast16", "fp16", ""},
    UsualProfiles{"fp16", "fp16", ""},
    UsualProfiles{"bf16", "bf16", ""},
    UsualProfiles{"fp8", "", "fp8"},
    UsualProfiles{"fp8tensor", "", "fp8"},
    UsualProfiles{"fp8block", "", "fp8_block"},
    UsualProfiles{"mxfp8", "", "mxfp8"},
    UsualProfiles{"mxfp4", "", "mxfp4"},
    UsualProfiles{"nvfp4", "", "nvfp4"},
    UsualProfiles{"powersgd", "powersgd", ""},
    UsualProfiles{"powersgdbatch", "powersgd_batched", ""},
    UsualProfiles{"powersgdbatched", "powersgd_batched", ""},
    UsualProfiles{"acpsgd", "acpsgd", ""},
    UsualProfiles{"atomo", "atomo", ""},
    UsualProfiles{"gradiveq", "", "gradiveq"},
    UsualProfiles{"cocktail", "cocktail", ""},
    UsualProfiles{"qgz", "", "qgz"},
    UsualProfiles{"loco", "", "loco"},
    UsualProfiles{"localsgd", "local_sgd", ""},
    UsualProfiles{"diloco", "diloco", ""},
    UsualProfiles{"lossless", "", "lossless"},
};

bool mentions(const std::optional<std::string>& text, std::string_view bare) {
  return text && bare_name(*text).find(bare) != std::string::npos;
}

}  // namespace

const MethodRule* published_rule(const TrainingRow& row) {
  for (const MethodRule& rule : method_rules) {
    // What compresses weights too is one system's own (DeepSpeed's ZeRO++, SDP4Bit), whoever ran
    // it.
    const bool read = row.source == rule.source || !rule.weights.empty();
    if (read && row.compression.method == rule.method) {
      return &rule;
    }
  }
  return nullptr;
}

MethodProfiles usual_profiles(const TrainingRow& row) {
  const TrainingCompression& stated = row.compression;
  const std::string method = bare_name(stated.method);
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

std::string unmodelled_system(const TrainingRow& row) {
  const TrainingCompression& stated = row.compression;
  const auto named = [&](std::string_view bare) {
    return mentions(stated.library, bare) || mentions(stated.system, bare) ||
           mentions(row.software, bare);
  };
  return named("bagua")    ? "Bagua: compressed between nodes only, by one GPU of each"
         : named("byteps") ? "BytePS: compressed for servers of its own"
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
