// SPDX-License-Identifier: Apache-2.0
#include "study/row_prior.hpp"

#include <algorithm>
#include <optional>

#include "study/row_filling.hpp"
#include "study/row_names.hpp"
#include "study/shape_law.hpp"

namespace payoff {
namespace {

bool is_transformer(const TrainingRow& row) {
  const std::string family = row.model.family.value_or("");
  return family == "gpt" || family == "llama" || family == "bert";
}

bool is_of_precision(const std::string& missing) { return missing.starts_with("precision"); }

}  // namespace

bool doubts_precision(const TrainingRow& row) {
  return std::any_of(row.missing.begin(), row.missing.end(), is_of_precision);
}

// A model whose name says which it is has the shape of that: what the row does not state, where
// nothing that it states is another number.
void RowFilling::named_shape() {
  const TrainingModel& stated = row().model;
  const std::string family = stated.family.value_or("");
  const bool whole = stated.layers && stated.hidden && stated.heads;
  const TransformerShape* known = whole || !(is_transformer(row()) || family == "vit")
                                      ? nullptr
                                      : named_transformer(stated, catalogue_);
  const auto agrees = [](const std::optional<int>& field, std::int64_t published) {
    return !field || *field == published;
  };
  if (known == nullptr || !agrees(stated.layers, known->layers) ||
      !agrees(stated.hidden, known->hidden) || !agrees(stated.heads, known->heads)) {
    return;
  }
  change_all([&](TrainingRow& to) {
    const auto set = [](std::optional<int>& field, std::int64_t value) {
      field = field.value_or(static_cast<int>(value));
    };
    set(to.model.layers, known->layers);
    set(to.model.hidden, known->hidden);
    set(to.model.heads, known->heads);
    set(to.model.kv_heads, known->kv_heads);
    set(to.model.ffn, known->feed_forward);
    if (known->vocabulary > 0) {
      set(to.model.vocab, known->vocabulary);
    }
  });
  prior_.minor.push_back("shape of " + known->name + ", by its name");
}

// Where neither a shape nor a profile says more.
void RowFilling::parameters() {
  const TrainingModel& stated = row().model;
  const std::optional<double> count = parameters_in_name(stated.name.value_or(""));
  if (stated.parameters || stated.layers || stated.hidden || !is_transformer(row()) || !count) {
    return;
  }
  change_all([&](TrainingRow& to) { to.model.parameters = count; });
  prior_.minor.push_back("as many parameters as its name says: " + *stated.name);
}

// Which products are computed again is a choice of frameworks, and "selective" means attention
// alone in Megatron only (docs/model.md, 1): rows that go into detail name more than that, up to
// everything but one product of two.
void RowFilling::recomputation() {
  if (row().layout.recompute != "selective" || !row().layout.recompute_detail) {
    return;
  }
  fill<std::string>(
      "selective", {{"full", "all of a block"}},
      "attention computed again (" + *row().layout.recompute_detail + "), or up to all of a block",
      [](TrainingRow& to, const std::string& what) { to.layout.recompute = what; });
}

// Depth and width by the parameters, as published families of models have them; half as deep again
// or two thirds as deep at the same count, as published models of one size differ.
void RowFilling::shape() {
  const TrainingModel& model = row().model;
  const bool whole = model.layers && model.hidden && model.heads;
  if (whole || !is_transformer(row())) {
    return;
  }
  if (model.layers && model.hidden) {
    const int heads = usual_heads(*model.hidden);
    fill<int>(heads, {{2 * heads, std::to_string(2 * heads)}},
              std::to_string(heads) + " attention heads, or twice as many",
              [](TrainingRow& to, int count) { to.model.heads = count; });
    return;
  }
  if (!model.parameters || model.layers || model.hidden) {
    return;
  }
  const double parameters = *model.parameters;
  const int tp = row().layout.tp.value_or(1);
  const auto set = [&](TrainingRow& to, double depth) {
    const UsualShape shape = usual_shape(parameters, depth, tp);
    to.model.layers = shape.layers;
    to.model.hidden = shape.hidden;
    to.model.heads = shape.heads;
  };
  const UsualShape likely = usual_shape(parameters, 1.0, tp);
  fill<double>(1.0, {{2.0 / 3.0, "two thirds as deep"}, {1.5, "half as deep again"}},
               std::to_string(likely.layers) + " layers of " + std::to_string(likely.hidden) +
                   ": the usual shape of as many parameters",
               set);
}

namespace {

// The likely length of a sequence, and others. Devlin et al. 2019 train nine steps of ten on 128
// tokens, the tenth on 512; GPT-2's context is 1,024, GPT-3's and the first Llama's 2,048, that of
// Llama 2 4,096 and of Llama 3 8,192.
std::vector<int> usual_sequences(const TrainingModel& model) {
  if (model.family == "bert") {
    return {128, 512};
  }
  if (model.family == "llama") {
    return {2048, 4096, 8192};
  }
  return model.parameters.value_or(1e10) < 2e9 ? std::vector{1024, 2048}
                                               : std::vector{2048, 1024, 4096};
}

}  // namespace

// No longer than what a GPU gets, and a whole number of them in a batch of tokens.
void RowFilling::sequence() {
  if (row().model.seq || !is_transformer(row())) {
    return;
  }
  const TrainingLayout& layout = row().layout;
  const bool by_tokens = layout.batch_unit == "tokens" && layout.micro_batch.value_or(0) > 0;
  const int most = by_tokens ? *layout.micro_batch : 1 << 20;
  const auto divides = [&](int tokens) {
    return tokens > 0 && (!by_tokens || (*layout.micro_batch % tokens == 0 &&
                                         layout.global_batch.value_or(0) % tokens == 0));
  };
  const std::vector<int> usual = usual_sequences(row().model);
  const int likely = std::min(usual.front(), most);
  std::vector<Choice<int>> others;
  std::string text = "sequences of " + std::to_string(likely) + " tokens";
  const auto add = [&](int tokens) {
    if (tokens != likely && tokens <= most && divides(tokens)) {
      others.push_back({tokens, std::to_string(tokens)});
      text += ", or of " + std::to_string(tokens);
    }
  };
  std::for_each(usual.begin() + 1, usual.end(), add);
  if (others.empty()) {
    add(likely / 2);
  }
  fill<int>(likely, others, text, [](TrainingRow& to, int tokens) { to.model.seq = tokens; });
}

namespace {

void set_precision(TrainingRow& row, const std::string& name) {
  row.precision = name;
  std::erase_if(row.missing, is_of_precision);
}

}  // namespace

// What frameworks compute images in unless told otherwise: fp32, whose convolutions PyTorch hands
// to TF32 from Ampere on (torch.backends.cudnn.allow_tf32).
void RowFilling::precision_of_images(const Gpu& gpu) {
  if (gpu.architecture < Architecture::ampere) {
    fill<std::string>("fp32", {{"amp-fp16", "fp16"}}, "fp32, or fp16", set_precision);
  } else {
    fill<std::string>("tf32", {{"fp32", "fp32"}}, "tf32, or fp32", set_precision);
  }
}

// Transformers train in mixed precision where a GPU has units for it, in bf16 once it has those.
// MLPerf's submissions are row_experiment's.
void RowFilling::precision() {
  const bool images = row().model.family == "cnn";
  const bool submission = row().source.starts_with("mlperf");
  const bool open = row().precision ? doubts_precision(row()) : row().compressed() || !submission;
  const bool blocks =
      is_transformer(row()) || row().model.family == "moe" || row().model.family == "vit";
  const Gpu* known = gpu();
  if (!open || known == nullptr || !(images || blocks)) {
    return;
  }
  if (images) {
    precision_of_images(*known);
  } else if (known->architecture < Architecture::ampere) {
    fill<std::string>("fp16", {{"fp32", "fp32"}}, "fp16, or fp32", set_precision);
  } else {
    fill<std::string>("bf16", {{"tf32", "tf32"}}, "bf16, or tf32", set_precision);
  }
}

RowPrior row_prior(const TrainingRow& row, const RowCatalogue& catalogue) {
  RowFilling filling(row, catalogue);
  filling.unnamed_gpu();
  filling.nodes();
  filling.batch_of_images();
  filling.named_shape();
  filling.parameters();
  filling.shape();
  filling.recomputation();
  filling.sequence();
  filling.batch_of_tokens();
  filling.accumulation();
  filling.precision();
  filling.links();
  filling.whole_network();
  filling.network();
  filling.cards();
  filling.servers();
  return filling.take();
}

}  // namespace payoff
