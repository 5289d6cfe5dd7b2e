// SPDX-License-Identifier: Apache-2.0
#include "study/row_names.hpp"

#include <cmath>
#include <string>

#include "model/transformer_xl.hpp"
#include "study/row_catalogue.hpp"
#include "study/row_prior.hpp"
#include "tests/catch.hpp"
#include "tests/study/rows.hpp"

using namespace payoff;
using test::catalogue;

namespace {

TrainingModel named(const std::string& name) {
  TrainingModel model;
  model.name = name;
  return model;
}

std::string convnet(const std::string& name, const std::string& data = "") {
  TrainingModel model = named(name);
  model.dataset = data;
  return convnet_profile(model, catalogue());
}

std::string transformer(const std::string& name) {
  const TransformerShape* shape = named_transformer(named(name), catalogue());
  return shape == nullptr ? "" : shape->name;
}

}  // namespace

TEST_CASE("a network is known by any spelling of its name, but by no other") {
  for (const char* name : {"ResNet-50 v1.5", "resnet50", "ResNet50_v2 ImageNet", "RESNET 50"}) {
    CHECK(convnet(name) == "resnet-50");
  }
  CHECK(convnet("wide_resnet101_2") == "wide-resnet-101-2");
  CHECK(convnet("SE-ResNeXt101-32x4d") == "se-resnext-101-32x4d");
  CHECK(convnet("VGG16") == "vgg-16");
  CHECK(convnet("ResNet18_v2 CIFAR-100") == "resnet-18-cifar100");
  CHECK(convnet("ResNet-18", "CIFAR-10") == "resnet-18-cifar10");
  CHECK(convnet("VGG-19", "CIFAR-100") == "vgg-19-bn-cifar10");  // but for its classifier
  CHECK(convnet("ResNet-500").empty());
  CHECK(convnet("ResNet").empty());
}

TEST_CASE("a transformer is known by its name, where its count of parameters is not another") {
  CHECK(transformer("BERT-Large") == "bert-large");
  CHECK(transformer("bert-base-uncased") == "bert-base");
  CHECK(transformer("GPT-2 medium") == "gpt2-medium");
  CHECK(transformer("Llama-3.1-8B") == "llama-3-8b");
  CHECK(transformer("Llama-2 70b") == "llama-2-70b");
  CHECK(transformer("GPT-1.3B") == "gpt3-1.3b");  // not 13b
  CHECK(transformer("GPT-3 13B") == "gpt3-13b");
  CHECK(transformer("ViT-B/16") == "vit-b-16");
  CHECK(transformer("somebody's model").empty());
  TrainingModel other = named("BERT-Large");
  other.parameters = 110e6;
  CHECK(named_transformer(other, catalogue()) == nullptr);
}

TEST_CASE("a name may say how many parameters a model has, a mixture's says something else") {
  CHECK(parameters_in_name("GPT 7B") == 7e9);
  CHECK(parameters_in_name("opt-350m") == 350e6);
  CHECK(parameters_in_name("Qwen2.5-1.5B-Instruct") == 1.5e9);
  CHECK(parameters_in_name("Llama-3 70B") == 70e9);
  for (const char* name : {"Mixtral-8x7B", "Qwen3-30B-A3B", "GPT 1.3B+MoE-128 52B", "BERT-Large",
                           "GPT-3", "4bit", "ViT-B/16"}) {
    CHECK(parameters_in_name(name) == std::nullopt);
  }
}

// Devlin et al. 2019: 24 layers of 1024 with 16 heads.
TEST_CASE("a row that names its model and states no shape has the shape of that model") {
  TrainingRow row;
  row.model = named("BERT-Large");
  row.model.family = "bert";
  row.model.seq = 128;
  const RowPrior prior = row_prior(row, catalogue());
  CHECK(prior.likely.model.layers == 24);
  CHECK(prior.likely.model.hidden == 1024);
  CHECK(prior.likely.model.heads == 16);
  CHECK(prior.likely.model.ffn == 4096);
  CHECK(prior.likely.model.vocab == 30522);
  CHECK(prior.assumptions.empty());
  row.model.hidden = 768;  // contradicts the name, which then says nothing
  CHECK_FALSE(row_prior(row, catalogue()).likely.model.layers);
}

// Dai et al. 2019 in NVIDIA's configurations: 16 layers of 512 and 2,048 with vectors of one width,
// 18 of 1,024 and 4,096 whose clusters have 1024, 256, 64 and 16. A layer has five square matrices
// (queries, keys, values, distances, output) and two of the feed-forward; the table of words is the
// classifier's too.
TEST_CASE("Transformer-XL has the parameters of its layers and of the clusters of its words") {
  TransformerXlShape base;
  base.layers = 16;
  base.hidden = 512;
  base.heads = 8;
  base.feed_forward = 2048;
  base.sequence = base.memory = 192;
  base.clusters = wikitext_clusters();
  const double h = 512;
  const double blocks = 16 * (5 * h * h + 2 * h * 2048);
  CHECK(std::abs(static_cast<double>(parameter_count(base)) / (blocks + 267735 * h) - 1) < 0.005);
  CHECK(std::abs(static_cast<double>(parameter_count(base)) / 192e6 - 1) < 0.01);  // as printed

  TransformerXlShape large = base;
  large.layers = 18;
  large.hidden = 1024;
  large.heads = 16;
  large.feed_forward = 4096;
  large.narrower = 4;
  CHECK(std::abs(static_cast<double>(parameter_count(large)) / 285e6 - 1) < 0.01);
}

// Keys and values of the memory, and twice as many of them for every query; no parameters.
TEST_CASE("a memory costs Transformer-XL arithmetic, and no parameters") {
  TransformerXlShape shape;
  shape.layers = 2;
  shape.hidden = 512;
  shape.heads = 8;
  shape.feed_forward = 2048;
  shape.sequence = 192;
  shape.clusters = wikitext_clusters();
  const std::int64_t without = parameter_count(shape);
  const auto keys_of = [&] {
    const Workload workload = transformer_xl_workload(shape, 2_B);
    for (const Operator& op : workload.layers.at(1).forward) {
      if (op.kind == OperatorKind::attention) {
        return op.columns;
      }
    }
    return 0.0;
  };
  CHECK(keys_of() == 192);
  shape.memory = 192;
  CHECK(parameter_count(shape) == without);
  CHECK(keys_of() == 384);
}
