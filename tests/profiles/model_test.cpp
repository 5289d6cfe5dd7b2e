// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "profiles/read_model.hpp"
#include "tests/catch.hpp"
#include "tests/profiles/profile_folder.hpp"

using namespace payoff;
using test::ProfileFolder;
using test::ProfileReading;
using test::shipped;

namespace {

std::int64_t count(const ModelDescription& model) {
  if (const auto* shape = std::get_if<TransformerShape>(&model)) {
    return parameter_count(*shape);
  }
  if (const auto* recommender = std::get_if<RecommenderShape>(&model)) {
    return parameter_count(*recommender);
  }
  const auto& table = std::get<ConvnetTable>(model);
  return convnet_workload(table.name, table.rows, 4_B).parameters();
}

Profile<ModelDescription> shipped_model(const std::string& name) {
  ProfileReading reading(shipped());
  auto model = read_model(name, std::nullopt, reading.context());
  INFO(reading.errors());
  REQUIRE(model);
  return std::move(*model);
}

const std::string small_table =
    "model: tiny\nfamily: cnn\ndescription: two layers\ninput: {channels: 3, height: 8, width: "
    "8}\nparameters: 260\nlayers:\n"
    "- {name: c, op: conv, in: 3, out: 8, kernel: 3, stride: 1, groups: 1, out_height: 8, "
    "out_width: 8, bias: false}\n"
    "- {name: n, op: norm, channels: 8, height: 8, width: 8}\n"
    "- {name: p, op: pool, channels: 8, kernel: 8, stride: 8, out_height: 1, out_width: 1}\n"
    "- {name: f, op: linear, in: 8, out: 3, bias: true}\n";

// 2 (100 + 7) rows of 8, 4-16-8, and 8 + 5 * 4 / 2 products to 32 and 1.
constexpr std::int64_t small_recommender_parameters =
    2 * 107 * 8 + (5 * 16 + 17 * 8) + (19 * 32 + 33);
const std::string small_recommender =
    "model: tables\nfamily: dlrm\ndescription: four tables\ndense: 4\nbottom: [16, 8]\n"
    "tables: {rows: [100, 7], copies: 2, dimension: 8, lookups: 1.5, optimizer: "
    "rowwise_adagrad}\ninteraction: dot\ntop: [32, 1]\nparameters: " +
    std::to_string(small_recommender_parameters) + "\n";

std::string errors_of(const std::string& text) {
  const ProfileFolder folder;
  folder.write("tiny.yaml", text);
  ProfileReading reading(folder.library());
  const auto model = read_model_file(folder.path() / "tiny.yaml", reading.context());
  CHECK(model.has_value() != reading.diagnostics.has_errors());
  return reading.errors();
}

std::string changed(const std::string& before, const std::string& after) {
  std::string text = small_table;
  const std::size_t at = text.find(before);
  REQUIRE(at != std::string::npos);
  return text.replace(at, before.size(), after);
}

}  // namespace

TEST_CASE("every shipped model reads without a diagnostic") {
  const auto names = shipped().names(ProfileKind::model);
  CHECK(names.size() > 40);
  for (const std::string& name : names) {
    INFO(name);
    ProfileReading reading(shipped());
    const auto model = read_model(name, std::nullopt, reading.context());
    CHECK(reading.errors().empty());
    REQUIRE(model);
    REQUIRE(model->facts.size() == 1);
    CHECK(model->facts[0].path == "shape");
    CHECK_FALSE(model->facts[0].citation.empty());
    CHECK_FALSE(model->facts[0].date.empty());
  }
}

// Counts as their sources state them; a size in a name ("175b") is a rounded count.
TEST_CASE("shipped models have the parameters that their sources state") {
  for (const std::string& name : shipped().names(ProfileKind::model)) {
    INFO(name);
    const auto model = shipped_model(name);
    const auto stated = static_cast<double>(std::stoll(model.facts[0].value_text));
    const auto counted = static_cast<double>(count(model.value));
    const bool rounded = std::fmod(stated, 1e6) == 0;
    CHECK_THAT(counted, Catch::Matchers::WithinRel(stated, rounded ? 0.03 : 0.0));
  }
}

TEST_CASE("well-known counts come out to the digit") {
  const std::map<std::string, std::int64_t> known = {
      {"bert-base", 109'482'240},      {"bert-large", 335'141'888},
      {"gpt2", 124'439'808},           {"gpt2-xl", 1'557'611'200},
      {"llama-2-7b", 6'738'415'616},   {"llama-2-70b", 68'976'648'192},
      {"llama-3-8b", 8'030'261'248},   {"llama-3.1-405b", 405'853'388'800},
      {"vit-b-16", 86'567'656},        {"vit-l-16", 304'326'632},
      {"resnet-50", 25'557'032},       {"resnet-101", 44'549'160},
      {"vgg-16", 138'357'544},         {"mixtral-8x7b", 46'702'792'704},
      {"bloom-176b", 176'247'271'424}, {"t5-3b", 2'851'598'336},
      {"t5-11b", 11'307'321'344}};
  for (const auto& [name, parameters] : known) {
    INFO(name);
    CHECK(count(shipped_model(name).value) == parameters);
  }
}

TEST_CASE("a workload has the parameters of its model, on one GPU and divided") {
  for (const std::string name : {"gpt2", "llama-2-70b", "bert-large"}) {
    INFO(name);
    const auto shape = std::get<TransformerShape>(shipped_model(name).value);
    const std::int64_t whole = parameter_count(shape);
    CHECK(transformer_workload(shape, 1, false, 2_B).parameters() == whole);
    const std::int64_t part = transformer_workload(shape, 2, false, 2_B).parameters();
    CHECK(2 * part >= whole);
    CHECK(2 * part < whole + whole / 50);  // norms and some biases are held twice
  }
}

TEST_CASE("a shipped transformer is trained with the length that its source states") {
  CHECK(std::get<TransformerShape>(shipped_model("llama-3.1-405b").value).sequence == 8192);
  CHECK(std::get<TransformerShape>(shipped_model("bert-base").value).sequence == 512);
  CHECK(std::get<TransformerShape>(shipped_model("vit-b-16").value).sequence == 197);
}

TEST_CASE("a table of one's own is read, and is its own source") {
  const ProfileFolder folder;
  // 3 * 8 * 9 + 2 * 8 + 8 * 3 + 3
  folder.write("tiny.yaml", changed("260", "259"));
  ProfileReading reading(folder.library());
  const auto model =
      read_model((folder.path() / "tiny.yaml").string(), std::nullopt, reading.context());
  CHECK(reading.errors().empty());
  REQUIRE(model);
  CHECK(std::get<ConvnetTable>(model->value).rows.size() == 4);
  REQUIRE(model->facts.size() == 1);
  CHECK(model->facts[0].kind == Provenance::assumed);
}

TEST_CASE("a table that disagrees with its total is refused at the total") {
  CHECK(errors_of(small_table) ==
        "tiny.yaml:5:13 `parameters` is not the sum over the layers | the layers have 259\n");
}

TEST_CASE("mistakes in a table are found together and in their places") {
  std::string text = changed("op: norm, channels: 8", "op: nrom, channels: 8");
  text.replace(text.find("groups: 1"), 9, "groups: 2");
  text.replace(text.find("kernel: 8, stride: 8"), 20, "kernel: 0, strid: 8");
  CHECK(
      errors_of(text) ==
      "tiny.yaml:7:68 `layers.0.groups` do not divide the channels | 3 in, 8 out\n"
      "tiny.yaml:8:17 `layers.1.op` has the unknown value `nrom` | did you mean `norm`? | one of: "
      "conv, norm, linear, elementwise, add, pool\n"
      "tiny.yaml:9:44 `layers.2.kernel` is too small | must be at least 1\n"
      "tiny.yaml:9:47 unknown key `strid` in `layers.2` | did you mean `stride`? | keys of "
      "`layers.2`: name, op, channels, kernel, stride, out_height, out_width\n");
}

TEST_CASE("a table starts with the channels of its input") {
  CHECK_THAT(errors_of(changed("{channels: 3,", "{channels: 1,")),
             Catch::Matchers::Contains("`input.channels` are 1, but the first layer takes 3"));
  CHECK_THAT(errors_of(small_table.substr(0, small_table.find("layers:")) + "layers: []\n"),
             Catch::Matchers::Contains("`layers` has no layer"));
}

TEST_CASE("a recommender of one's own is read, each table as often as it says") {
  const ProfileFolder folder;
  folder.write("tables.yaml", small_recommender);
  ProfileReading reading(folder.library());
  const auto model = read_model_file(folder.path() / "tables.yaml", reading.context());
  INFO(reading.errors());
  REQUIRE(model);
  const auto& shape = std::get<RecommenderShape>(model->value);
  CHECK(shape.tables.rows == std::vector<std::int64_t>{100, 7, 100, 7});
  CHECK(shape.tables.optimizer == RowOptimizer::rowwise_adagrad);
  CHECK(shape.tables.lookups == 1.5);
  CHECK(shape.bottom == std::vector<std::int64_t>{16, 8});
  CHECK(shape.top == std::vector<std::int64_t>{32, 1});
}

TEST_CASE("mistakes in a recommender are found together and in their places") {
  std::string text = small_recommender;
  const auto change = [&](const std::string& before, const std::string& after) {
    const std::size_t at = text.find(before);
    REQUIRE(at != std::string::npos);
    text.replace(at, before.size(), after);
  };
  change("[16, 8]", "[16, 9]");
  change("lookups: 1.5", "lookups: 0");
  change("rowwise_adagrad", "rowwise_adagard");
  change("dot", "cat");
  change("top: [32, 1]", "top: []");
  const std::string errors = errors_of(text);
  for (const char* each :
       {"9 outputs", "`tables.lookups`", "rowwise_adagrad", "`interaction`", "has no layer"}) {
    INFO(each);
    CHECK(errors.find(each) != std::string::npos);
  }
}

TEST_CASE("a size that is refused is held against no other") {
  std::string text = changed("{channels: 3,", "{channels: three,");
  text.replace(text.find("in: 3"), 5, "in: 0");
  text.replace(text.find("groups: 1"), 9, "groups: 3");
  CHECK(errors_of(text) ==
        "tiny.yaml:4:19 `input.channels` is not a whole number | decimal digits only\n"
        "tiny.yaml:7:27 `layers.0.in` is too small | must be at least 1\n");
  text = small_recommender;
  text.replace(text.find("dimension: 8"), 12, "dimension: 0");
  CHECK(errors_of(text) == "tiny.yaml:6:48 `tables.dimension` is too small | must be at least 1\n");
}

TEST_CASE("a recommender that disagrees with its total is refused at the total") {
  std::string text = small_recommender;
  const std::string total = std::to_string(small_recommender_parameters);
  text.replace(text.find(total), total.size(), "5");
  CHECK(errors_of(text).find("`parameters` is not the sum over the layers") != std::string::npos);
}

TEST_CASE("an unknown model is answered with the nearest one") {
  ProfileReading reading(shipped());
  CHECK_FALSE(read_model("resnet50", std::nullopt, reading.context()));
  CHECK(reading.errors() ==
        "no model `resnet50` | did you mean `resnet-50`? | `payoff profiles list model` shows them "
        "all\n");
}

TEST_CASE("a configuration larger than 1 MiB is refused before it is read") {
  const ProfileFolder folder;
  folder.write("large.json", "{\"a\": \"" + std::string(2 << 20, 'x') + "\"}");
  ProfileReading reading(folder.library());
  CHECK_FALSE(read_model_file(folder.path() / "large.json", reading.context()));
  CHECK(reading.errors() == "large.json:1:1 the file is larger than 1 MiB\n");
}

TEST_CASE("a broken entry among the sources of models is an error, not a crash") {
  const ProfileFolder folder;
  folder.replace("model/sources.yaml", "parameters: 124439808, seq: 1024",
                 "parameters: many, seq: 4096");
  ProfileReading reading(folder.library());
  CHECK_FALSE(read_model("gpt2", std::nullopt, reading.context()));
  CHECK_THAT(reading.errors(),
             Catch::Matchers::Contains("`gpt2.parameters` is not a whole number") &&
                 Catch::Matchers::Contains("`gpt2.seq` is too large"));
}
