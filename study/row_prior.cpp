// SPDX-License-Identifier: Apache-2.0
#include "study/row_prior.hpp"

#include <algorithm>
#include <optional>
#include <utility>

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

// Benchmarks fill the memory: NVIDIA's run of ResNet-50 in fp32 has 112 on 16 GB (dle_cnn);
// torchvision's references start from 32, and GRACE's authors later ran ResNet-50 in
// tf_cnn_benchmarks with 256, which needs 32 GB.
void RowFilling::batch_of_images() {
  if (row().layout.global_batch || row().layout.micro_batch || !row().compressed()) {
    return;
  }
  if (is_transformer(row()) && row().layout.pp.value_or(1) == 1 && !row().layout.grad_accum) {
    fill<int>(8, {{1, "1"}, {32, "32"}}, "micro-batch of 8, or of 1 to 32",
              [](TrainingRow& to, int batch) {
                to.layout.micro_batch = batch;
                to.layout.global_batch =
                    product(batch, to.layout.dp.value_or(to.cluster.gpus.value_or(1)));
              });
  }
  if (row().model.family != "cnn") {
    return;
  }
  fill<int>(128, {{32, "32"}, {64, "64"}, {256, "256"}}, "micro-batch of 128, or of 32 to 256",
            [](TrainingRow& to, int batch) {
              to.layout.micro_batch = batch;
              to.layout.global_batch = product(batch, to.cluster.gpus.value_or(1));
            });
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
  const auto set = [&](TrainingRow& to, double depth) {
    const UsualShape shape = usual_shape(parameters, depth);
    to.model.layers = shape.layers;
    to.model.hidden = shape.hidden;
    to.model.heads = shape.heads;
  };
  const UsualShape likely = usual_shape(parameters, 1.0);
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

// The same batch in sequences, where it is a whole number of them.
void RowFilling::batch_of_tokens() {
  if (row().layout.batch_unit != "tokens") {
    return;
  }
  bool whole = true;
  const auto change = [&](TrainingRow& to) {
    const int tokens = to.model.seq.value_or(0);
    for (std::optional<int>* batch : {&to.layout.micro_batch, &to.layout.global_batch}) {
      whole = whole && tokens > 0 && (!*batch || **batch % tokens == 0);
      if (whole && *batch) {
        **batch /= tokens;
      }
    }
    to.layout.batch_unit.reset();
  };
  RowPrior as_it_was = prior_;
  change_all(change);
  if (!whole) {
    prior_ = std::move(as_it_was);
  }
}

// A row that states a micro-batch and no count of them had one in a step, or several. Where weights
// are sharded the speedup of compression hardly depends on it (study/row_prior.hpp).
void RowFilling::accumulation() {
  const TrainingLayout& layout = row().layout;
  if (layout.global_batch || !layout.micro_batch || !layout.dp || layout.grad_accum ||
      layout.num_micro_batches || layout.pp.value_or(1) > 1) {
    return;
  }
  const auto set = [](TrainingRow& to, int count) {
    const auto replica = product(to.layout.micro_batch.value_or(0), count);
    to.layout.global_batch = replica ? product(*replica, to.layout.dp.value_or(0)) : std::nullopt;
  };
  if (row().compressed() && (layout.zero == "3" || layout.zero == "hybrid")) {
    change_all([&](TrainingRow& to) { set(to, 1); });
    prior_.minor.emplace_back("one micro-batch a step");
  } else {
    fill<int>(1, {{2, "2"}, {8, "8"}}, "one micro-batch a step, or up to eight", set);
  }
}

// Language models are trained in 16 bits. What frameworks compute images in unless told otherwise:
// fp32, whose convolutions PyTorch hands to TF32 from Ampere on (torch.backends.cudnn.allow_tf32).
void RowFilling::precision() {
  const bool open = row().precision ? doubts_precision(row()) : row().compressed();
  const bool text = is_transformer(row()) && row().compressed();
  if (!open || (row().model.family != "cnn" && !text)) {
    return;
  }
  const auto set = [](TrainingRow& to, const std::string& name) {
    to.precision = name;
    std::erase_if(to.missing, is_of_precision);
  };
  const Gpu* known = gpu();
  if (known == nullptr) {
    return;
  }
  const std::string fp32("fp32");
  if (text) {
    const bool bf16 = known->architecture >= Architecture::ampere;
    fill<std::string>(bf16 ? "bf16" : "fp16", {{fp32, fp32}}, "16 bits, or fp32", set);
    return;
  }
  if (known->architecture < Architecture::ampere) {
    fill<std::string>(fp32, {{"amp-fp16", "fp16"}}, "fp32, or fp16", set);
  } else {
    fill<std::string>("tf32", {{fp32, fp32}}, "tf32, or fp32", set);
  }
}

RowPrior row_prior(const TrainingRow& row, const RowCatalogue& catalogue) {
  RowFilling filling(row, catalogue);
  filling.unnamed_gpu();
  filling.batch_of_images();
  filling.named_shape();
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
