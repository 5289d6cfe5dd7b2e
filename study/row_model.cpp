// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "model/recommender.hpp"
#include "model/transformer_xl.hpp"
#include "study/row_names.hpp"
#include "study/row_parts.hpp"

namespace payoff {
namespace {

// The largest number of "3x224x224", or "224 crop"; 0: there is none.
std::int64_t side_of(const std::string& input) {
  std::int64_t largest = 0;
  std::int64_t number = 0;
  for (const char c : input) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    number = digit ? std::min<std::int64_t>(10 * number + (c - '0'), 1 << 20) : 0;
    largest = std::max(largest, number);
  }
  return largest;
}

std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

Model RowReader::model(const Training& training) const {
  const std::string family = row_.model.family.value_or("unknown");
  if (bare_name(row_.model.name.value_or("")).find("transformerxl") != std::string::npos) {
    return transformer_xl(training);
  }
  if (family == "gpt" || family == "llama" || family == "bert") {
    return transformer();
  }
  if (family == "moe") {
    return mixture();
  }
  if (family == "vit") {
    return vision_transformer();
  }
  if (family == "dlrm") {
    return recommender(training);
  }
  if (const std::string name = convnet_profile(row_.model, catalogue_); !name.empty()) {
    return name.starts_with("iresnet") ? face_network(name, training) : convnet(name, training);
  }
  if (const TransformerShape* known = named_transformer(row_.model, catalogue_)) {
    TransformerShape shape = *known;
    shape.sequence = row_.model.seq.value_or(static_cast<int>(shape.sequence));
    assume("shape of " + shape.name + ", by its name");
    return shape;
  }
  reason("no layer table of " + row_.model.name.value_or("unknown"));
  return Workload{};
}

// As NVIDIA's configurations have it (wt103_base.yaml, wt103_large.yaml): a memory as long as the
// segment, WikiText-103's clusters, and vectors of rare words a quarter as wide in the large one,
// which is what its count of parameters needs.
Workload RowReader::transformer_xl(const Training& training) const {
  const TransformerShape stated = stated_counts(row_.model.seq);
  TransformerXlShape shape;
  shape.name = stated.name;
  shape.layers = stated.layers;
  shape.hidden = stated.hidden;
  shape.heads = stated.heads;
  shape.feed_forward = row_.model.ffn.value_or(static_cast<int>(4 * shape.hidden));
  shape.sequence = stated.sequence;
  shape.memory =
      stated_or(row_.model.memory, static_cast<int>(shape.sequence), "memory as long as a segment");
  shape.clusters = wikitext_clusters();
  assume("tokens in clusters of words by Zipf's law");
  shape.narrower = shape.hidden >= 1024 ? 4 : 1;
  if (shape.heads < 1 || shape.hidden % shape.heads != 0) {
    reason("heads do not divide the hidden size");
    return {};
  }
  return transformer_xl_workload(shape, activation_size(training.precision));
}

// The one whose layers all of its sources share. Subsets of the data ("small", "large") leave rare
// categories out: fewer rows of a table, and as many look-ups.
Model RowReader::recommender(const Training& training) const {
  const std::string name = row_.model.name.value_or("unknown");
  if (name != "DLRM (Criteo 1TB)") {
    reason("no layer table of " + name);
    return Workload{};
  }
  if (bare_name(row_.software.value_or("") + row_.citation).find("hugectr") != std::string::npos) {
    reason("no software profile of HugeCTR");
  }
  assume("layers and tables of MLPerf's DLRM");
  return recommender_workload(catalogue_.recommenders.at("dlrm-criteo"), 1,
                              activation_size(training.precision));
}

// Tables have images of one size, and a classifier that every rank holds.
Workload RowReader::convnet(const std::string& name, const Training& training) const {
  const std::vector<ConvnetRow>& rows = catalogue_.convnets.at(name);
  const std::int64_t side = rows.front().height * rows.front().stride;
  const std::int64_t stated = side_of(row_.model.input.value_or(""));
  if (stated > 0 && stated != side) {
    reason("images of " + std::to_string(stated) + ", the table of " + name + " has " +
           std::to_string(side));
  }
  if (row_.layout.mode.value_or("Data Parallelism") != "Data Parallelism") {
    reason("spread over ranks: " + *row_.layout.mode);
  }
  return convnet_workload(name, rows, activation_size(training.precision));
}

// By name: rows state widths and counts, but neither the low ranks of attention nor how many blocks
// have an ordinary feed-forward. What they state must be the published model's, but for its depth,
// its length and its vocabulary.
TransformerShape RowReader::mixture() const {
  std::string name = row_.model.name.value_or("unknown");
  if (name.ends_with(" (cut)")) {  // with fewer blocks
    name.resize(name.size() - std::string_view(" (cut)").size());
  }
  const TransformerShape* profile = named_mixture(row_.model, catalogue_);
  if (profile == nullptr) {
    return stated_mixture(name);
  }
  TransformerShape shape = *profile;
  const TrainingModel& stated = row_.model;
  const auto differs = [](const std::optional<int>& field, std::int64_t published) {
    return field && *field != published;
  };
  if (differs(stated.hidden, shape.hidden) || differs(stated.heads, shape.heads) ||
      differs(stated.ffn, shape.feed_forward) || differs(stated.experts, shape.experts.count) ||
      differs(stated.top_k, shape.experts.per_token) ||
      differs(stated.expert_ffn, shape.experts.width) ||
      differs(stated.shared_ffn, shape.experts.shared_width)) {
    reason("other widths than those of " + name);
  }
  shape.layers = stated.layers.value_or(static_cast<int>(shape.layers));
  shape.sequence = stated.seq.value_or(static_cast<int>(shape.sequence));
  shape.vocabulary = stated.vocab.value_or(static_cast<int>(shape.vocabulary));
  if (shape.latent.key_rank > 0) {
    assume("low ranks of attention and first blocks as published for " + name);
  }
  assume("all experts get as many tokens");
  return shape;
}

// A mixture that no profile describes: Llama's blocks, each with the experts that the row states.
// Low ranks of attention cannot be stated.
TransformerShape RowReader::stated_mixture(const std::string& name) const {
  const TrainingModel& stated = row_.model;
  const std::optional<int> width = stated.expert_ffn ? stated.expert_ffn : stated.ffn;
  const bool latent = name.find("DeepSeek") != std::string::npos;
  if (!stated.experts || !stated.top_k || !width || latent) {
    reason("no profile of the mixture " + name);
    return {};
  }
  TransformerShape shape = stated_counts(stated.seq);
  llama_details(shape);
  transformer_widths(shape);
  shape.experts = {*stated.experts, *stated.top_k, *width, stated.shared_ffn.value_or(0), 0};
  assume("experts in all blocks, Llama's attention");
  assume("all experts get as many tokens");
  return shape;
}

// Dosovitskiy et al. 2021 (arXiv:2010.11929): "/16" is the side of a patch; images of 224 x 224.
TransformerShape RowReader::vision_transformer() const {
  constexpr int image = 224;
  const std::string name = row_.model.name.value_or("");
  const auto slash = name.rfind('/');
  int patch = 0;
  for (std::size_t i = slash == std::string::npos ? name.size() : slash + 1;
       i < name.size() && std::isdigit(static_cast<unsigned char>(name[i])) != 0 && patch < image;
       ++i) {
    patch = 10 * patch + (name[i] - '0');
  }
  if (patch == 0 || image % patch != 0) {
    patch = 16;
    assume("patches of 16 x 16");
  }
  const int patches = (image / patch) * (image / patch);
  TransformerShape shape = stated_counts(row_.model.seq.value_or(patches + 1));
  if (!row_.model.seq) {
    assume("images of 224 x 224");
  }
  shape.family = TransformerFamily::vit;
  shape.causal = false;
  shape.positions = shape.sequence;
  shape.feed_forward = row_.model.ffn.value_or(static_cast<int>(4 * shape.hidden));
  shape.image_patch = patch;
  shape.image_channels = 3;
  shape.classes = row_.model.vocab.value_or(1000);
  return shape;
}

// A count that a model needs and the row does not state is in the way.
TransformerShape RowReader::stated_counts(const std::optional<int>& sequence) const {
  TransformerShape shape;
  shape.name = row_.model.name.value_or("transformer");
  const auto needed = [&](const std::optional<int>& field, const char* what) -> std::int64_t {
    if (!field) {
      reason(std::string(what) + " not stated");
      return 1;
    }
    return *field;
  };
  shape.layers = needed(row_.model.layers, "layers");
  shape.hidden = needed(row_.model.hidden, "hidden size");
  shape.heads = needed(row_.model.heads, "attention heads");
  shape.sequence = needed(sequence, "sequence length");
  shape.kv_heads = row_.model.kv_heads.value_or(static_cast<int>(shape.heads));
  if (shape.heads < 1 || shape.hidden % shape.heads != 0) {
    reason("attention heads do not divide the hidden size");
    shape.heads = 1;
  }
  if (shape.kv_heads < 1) {
    reason("no heads of keys and values");
    shape.kv_heads = shape.heads;
  }
  shape.head_size = shape.hidden / shape.heads;
  return shape;
}

TransformerShape RowReader::transformer() const {
  TransformerShape shape = stated_counts(row_.model.seq);
  if (row_.model.experts && *row_.model.experts > 1) {
    reason("mixture of experts");
  }
  family_details(shape);
  transformer_widths(shape);
  return shape;
}

void RowReader::transformer_widths(TransformerShape& shape) const {
  if (row_.model.vocab) {
    shape.vocabulary = *row_.model.vocab;
  } else {
    shape.vocabulary = shape.family == TransformerFamily::bert ? 30522 : 51200;
    assume("vocabulary of " + std::to_string(shape.vocabulary));
  }
  if (row_.model.ffn) {
    shape.feed_forward = *row_.model.ffn;
  } else if (shape.gated) {
    shape.feed_forward = rounded_up(8 * shape.hidden / 3, 256);
    assume("feed-forward of 8/3 hidden, rounded up to 256");
  } else {
    shape.feed_forward = 4 * shape.hidden;
    assume("feed-forward of 4 hidden");
  }
}

void RowReader::llama_details(TransformerShape& shape) const {
  shape.family = TransformerFamily::llama;
  shape.gated = true;
  shape.biases = false;
  shape.tied_embeddings = row_.model.tied.value_or(false);
}

// Pre-training predicts 20 of 128 and 80 of 512 tokens (max_predictions_per_seq of Devlin et al.'s
// scripts); fine-tuning on SQuAD has two outputs a token.
void RowReader::family_details(TransformerShape& shape) const {
  if (*row_.model.family == "llama") {
    llama_details(shape);
    return;
  }
  shape.tied_embeddings = row_.model.tied.value_or(true);
  if (*row_.model.family == "gpt") {
    shape.family = TransformerFamily::gpt;
    shape.positions = shape.sequence;
    return;
  }
  shape.family = TransformerFamily::bert;
  shape.causal = false;
  shape.positions = 512;
  shape.token_types = 2;
  if (row_.task && row_.task->find("SQuAD") != std::string::npos) {
    return;
  }
  shape.pooler = true;
  shape.masked_head = true;
  shape.head_positions = std::max<std::int64_t>(1, shape.sequence * 20 / 128);
  assume("masked language model on " + std::to_string(shape.head_positions) + " tokens a sequence");
}

}  // namespace payoff
