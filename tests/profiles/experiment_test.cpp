// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "model/collective.hpp"
#include "profiles/read_experiment.hpp"
#include "tests/catch.hpp"
#include "tests/profiles/profile_folder.hpp"

using namespace payoff;
using test::ProfileReading;
using test::shipped;

namespace {

// A job whose gradients are scattered: nothing but casts can compress them.
std::string scattered(const std::string& compress) {
  return "cluster: {profile: p3-8xlarge, nodes: 8}\n"
         "model: {profile: bert-large}\n"
         "layout: {zero: 1}\n"
         "compress:\n" +
         compress;
}

ReadExperiment experiment_of(const std::string& text) {
  ProfileReading reading(shipped());
  auto document = load_yaml_text("e.yaml", text, reading.sources, reading.diagnostics);
  REQUIRE(document);
  auto read = read_experiment(std::move(*document), {}, reading.context());
  INFO(reading.errors());
  REQUIRE(read);
  return *std::move(read);
}

std::string errors_of(const std::string& text) {
  ProfileReading reading(shipped());
  auto document = load_yaml_text("e.yaml", text, reading.sources, reading.diagnostics);
  REQUIRE(document);
  const auto read = read_experiment(std::move(*document), {}, reading.context());
  CHECK(read.has_value() != reading.diagnostics.has_errors());
  return reading.errors();
}

constexpr const char* whole_gradient =
    "needs the whole gradient, which zero >= 1 leaves scattered | set layout.zero to 0, or use a "
    "cast\n";

}  // namespace

TEST_CASE("what is wrong with a plan is said at its own entry of the list") {
  CHECK(errors_of(scattered("- bf16\n- topk:ratio=0.01\n- fp16\n- signsgd\n")) ==
        std::string("e.yaml:6:3 `compress.1`: `topk:ratio=0.01` ") + whole_gradient +
            "e.yaml:8:3 `compress.3`: `signsgd` " + whole_gradient);
}

TEST_CASE("an experiment compares at most two hundred strategies, and more are told once") {
  const auto comparing = [](int count) {
    std::string text = "cluster: {profile: p3-8xlarge}\nmodel: {profile: bert-large}\ncompress:\n";
    for (int i = 0; i < count; ++i) {
      text += "- topk:ratio=0.0" + std::to_string(1001 + i) + "\n";
    }
    return text;
  };
  CHECK(experiment_of(comparing(200)).experiment.plans.size() == 201);  // and none
  CHECK(errors_of(comparing(201)) ==
        "e.yaml:4:1 `compress` compares 201 strategies | at most 200\n");
}

TEST_CASE("a cluster that is not known leaves the other keys of its section known") {
  const std::string unknown =
      "e.yaml:1:20 no cluster `dgx-h10` | did you mean `dgx-h100`? | `payoff profiles list "
      "cluster` shows them all\n";
  const auto with = [](const std::string& nodes) {
    return errors_of("cluster: {profile: dgx-h10, gpus_per_node: 4, nodes: " + nodes +
                     "}\nmodel: {profile: bert-base}\n");
  };
  CHECK(with("4") == unknown);
  CHECK(with("0") == unknown + "e.yaml:1:54 `cluster.nodes` is too small | must be at least 1\n");
}

TEST_CASE("files that are not there are told at their keys, with what else is wrong") {
  CHECK(errors_of("cluster: {profile: dgx-a100, nodes: 2, topology: gone.yaml}\n"
                  "model: {file: gone.json}\nlayout: {tp: 0}\n") ==
        "e.yaml:1:50 cannot read `gone.yaml`: No such file or directory\n"
        "e.yaml:2:15 cannot read `gone.json`: No such file or directory\n"
        "e.yaml:3:14 `layout.tp` is too small | must be at least 1\n");
  CHECK(errors_of("cluster: {profile: dgx-a100, nodes: 2}\nmodel: {file: \"\"}\n")
            .starts_with("e.yaml:2:15 cannot read ``"));
}

TEST_CASE("a key that is set below a name alone tells how the name is written") {
  ProfileReading reading(shipped());
  auto document = load_yaml_text("e.yaml", "cluster: dgx-h100\nmodel: {profile: bert-base}\n",
                                 reading.sources, reading.diagnostics);
  REQUIRE(document);
  CHECK_FALSE(read_experiment(std::move(*document), {{1, "cluster.nodes=4"}}, reading.context()));
  CHECK(reading.errors().starts_with(
      "e.yaml:1:10 unknown key `base` in `cluster` | did you mean `profile`? | "));
  CHECK(reading.errors().find("missing key") == std::string::npos);
}

TEST_CASE("a recommender has no lengths, neither of a sequence nor of a decoder's") {
  for (const std::string key : {"sequence", "decoder_sequence"}) {
    CHECK(errors_of("cluster: {profile: dgx-a100, nodes: 2}\nmodel: {" + key +
                    ": 8, profile: dlrm-criteo}\n") ==
          "e.yaml:2:" + std::to_string(11 + key.size()) + " `model." + key +
              "` has no meaning for a recommender\n");
  }
}

TEST_CASE("a reduction that NCCL refuses on a GPU is refused, an exchange is not") {
  const auto on = [](const std::string& cluster, const std::string& plan) {
    return errors_of("cluster: {profile: " + cluster +
                     ", nodes: 2}\nmodel: {profile: bert-base}\nlayout: {dp: 16}\ncompress: [" +
                     plan + "]\n");
  };
  CHECK_THAT(
      on("dgx-a100", "fp8"),
      Catch::Matchers::Contains("`fp8` adds numbers on the way that NCCL adds from hopper on, "
                                "and a100-sxm-80 is older"));
  CHECK(on("dgx-a100", "fp8_block").empty());
  CHECK(on("dgx-h100", "fp8").empty());
}

TEST_CASE("an entry that says none is counted as an entry") {
  CHECK(errors_of(scattered("- bf16\n- none\n- topk:ratio=0.01\n")) ==
        std::string("e.yaml:7:3 `compress.2`: `topk:ratio=0.01` ") + whole_gradient);
}

TEST_CASE("a plan that is there already is refused, however it is written") {
  const std::string job = "cluster: {profile: p3-8xlarge, nodes: 8}\nmodel: {profile: resnet-50}\n";
  CHECK(errors_of(job + "compress: [topk:ratio=1 %, signsgd, topk:ratio=0.01]\n") ==
        "e.yaml:3:37 `topk:ratio=0.01` is compared twice | does what `topk:ratio=1 %` above "
        "does\n");
  CHECK(experiment_of(job + "compress: [signsgd, signsgd:placement=side_stream]\n")
            .experiment.plans.size() == 3);
}

TEST_CASE("a cast to what the gradients already are is no compression under any software") {
  for (const std::string& software : shipped().names(ProfileKind::software)) {
    INFO(software);
    const Experiment job =
        experiment_of(
            "cluster: {profile: dgx-h100, nodes: 8}\nmodel: {profile: resnet-50}\n"
            "layout: {micro_batch: 64}\ntraining: {precision: bf16, gradient: bf16}\nsoftware: " +
            software + "\ncompress: [fp16, bf16]\n")
            .experiment;
    const PreparedExperiment prepared(job);
    const StepPrediction none = prepared.predict(job.plans[0]);
    for (std::size_t plan = 1; plan < job.plans.size(); ++plan) {
      const StepPrediction cast = prepared.predict(job.plans[plan]);
      CHECK(cast.step == none.step);
      CHECK(cast.waterfall.bucket_copy == none.waterfall.bucket_copy);
      CHECK(cast.waterfall.encode + cast.waterfall.decode == 0_s);
    }
  }
}

TEST_CASE("a codec law is published where it was measured, and assumed on every other GPU") {
  const auto kind_on = [](const std::string& cluster) {
    const Facts facts =
        experiment_of("cluster: {profile: " + cluster +
                      ", nodes: 2}\nmodel: {profile: bert-large}\ncompress: [powersgd]\n")
            .facts;
    const auto fact = std::find_if(facts.begin(), facts.end(), [](const Fact& f) {
      return f.path == "compress.powersgd.law.memory_efficiency";
    });
    REQUIRE(fact != facts.end());
    const bool transferred = fact->citation.starts_with("transferred from a100-sxm-40: ");
    CHECK(transferred == (fact->kind == Provenance::assumed));
    return fact->kind;
  };
  CHECK(kind_on("p4d-24xlarge") == Provenance::published);
  CHECK(kind_on("p3-8xlarge") == Provenance::assumed);
}

TEST_CASE("a codec of gathered weights is assumed where its law was not measured, too") {
  // profiles/fitted/codecs.yaml: fused kernels were timed on a100-sxm-40 and b200-sxm.
  const ReadExperiment read = experiment_of(
      "cluster: {profile: dgx-h100, nodes: 2}\nmodel: {profile: bert-large}\n"
      "layout: {zero: 3}\ncompress: [\"qwz:traffic=dp_weights\"]\n");
  const auto fact = std::find_if(read.facts.begin(), read.facts.end(), [](const Fact& f) {
    return f.path == "compress.qwz:traffic=dp_weights.law.memory_efficiency";
  });
  REQUIRE(fact != read.facts.end());
  CHECK(fact->kind == Provenance::assumed);
  CHECK(fact->citation.starts_with("transferred from "));
}

TEST_CASE("a method of two kernels names what was measured of them") {
  const test::ProfileFolder folder;
  const std::string law =
      "{resident_efficiency: {value: 0.8, from: m}, memory_efficiency: {value: 0.4, from: m}, "
      "relative_sd: {value: 0.1, from: m}, streams: {smallest: 1 MB, largest: 1 GB}}\n";
  folder.write("gpu/mine.yaml",
               "gpu: mine\ndescription: x\ndata_of: h100-sxm\n"
               "citations: {m: {kind: measured, text: samples, date: 2026-11-22}}\n"
               "codecs:\n  fused:\n    kernels:\n      quantize_group: " +
                   law + "      dequantize_group: " + law);
  ProfileReading reading(folder.library());
  auto document = load_yaml_text("e.yaml",
                                 "cluster: {profile: dgx-h100, nodes: 2, gpu: mine}\n"
                                 "model: {profile: bert-large}\ncompress: [cgx]\n",
                                 reading.sources, reading.diagnostics);
  REQUIRE(document);
  const auto read = read_experiment(std::move(*document), {}, reading.context());
  INFO(reading.errors());
  REQUIRE(read);
  const auto fact = std::find_if(read->facts.begin(), read->facts.end(), [](const Fact& f) {
    return f.path == "compress.cgx.law.memory_efficiency";
  });
  REQUIRE(fact != read->facts.end());
  CHECK(fact->kind == Provenance::measured);
  CHECK(fact->value_text == "0.4");
}

TEST_CASE("cards that an experiment puts in take the way through host memory, as a cluster's do") {
  const auto reading_of = [](const std::string& gpu, const std::string& fabric) {
    return experiment_of("cluster: {profile: dgx-a100, nodes: 2, gpus_per_node: 2, gpu: " + gpu +
                         ", fabric: " + fabric + "}\nmodel: {profile: resnet-50}\n");
  };
  const auto says_why = [](const ReadExperiment& read) {
    return std::any_of(read.facts.begin(), read.facts.end(), [](const Fact& fact) {
      return fact.path == "cluster.fabric" &&
             fact.citation.find("do not write to each other") != std::string::npos;
    });
  };
  const ReadExperiment geforce = reading_of("rtx3090", "pcie4");
  CHECK(geforce.experiment.cluster.fabric.name == "pcie4-numa");
  CHECK(says_why(geforce));
  for (const ReadExperiment& other :
       {reading_of("a100-pcie", "pcie4"), reading_of("rtx3090", "nvlink-bridge")}) {
    CHECK(other.experiment.cluster.fabric.name.find("numa") == std::string::npos);
    CHECK_FALSE(says_why(other));
  }
}

TEST_CASE("a longer way between nodes adds to every step of a ring that crosses them") {
  // 2 (n - 1) steps of n nodes with a GPU each (Thakur et al. 2005); a send has one.
  const int nodes = GENERATE(2, 4);
  const auto network = [&](const std::string& inter) {
    const std::string text = "cluster: {profile: p3-2xlarge, nodes: " + std::to_string(nodes) +
                             inter + "}\nmodel: {profile: resnet-50}\n";
    const Cluster cluster = experiment_of(text).experiment.cluster;
    return CollectiveModel(cluster, {nodes, 1});
  };
  const CollectiveModel near = network("");
  const CollectiveModel far = network(", inter: {latency: 20 ms}");
  const auto ring = [](const CollectiveModel& model, Bytes size) {
    return model.price_pinned(Collective::all_reduce, size, Algorithm::ring, Protocol::simple)
        .value()
        .time;
  };
  for (const Bytes size : {1_KB, 1_MB, 100_MB}) {
    const Seconds longer = ring(far, size) - ring(near, size);
    CHECK_THAT(longer / 1_ms, Catch::Matchers::WithinRel(2 * (nodes - 1) * 20.0, 1e-9));
    const Seconds send =
        far.price(Collective::send_recv, size).time - near.price(Collective::send_recv, size).time;
    CHECK_THAT(send / 1_ms, Catch::Matchers::WithinRel(20.0, 1e-9));
  }
  CHECK_THAT(errors_of("cluster: {profile: p3-2xlarge, nodes: 2, inter: {latency: 1 min}}\n"
                       "model: {profile: resnet-50}\n"),
             Catch::Matchers::Contains("the way between two nodes"));
}

TEST_CASE("a decoder has a length of its own, and models without one have none") {
  const auto job = [](const std::string& model) {
    return "cluster: {profile: dgx-a100, nodes: 1}\nmodel: " + model + "\n";
  };
  const auto shape = [&](const std::string& model) {
    return std::get<TransformerShape>(experiment_of(job(model)).experiment.model);
  };
  CHECK(shape("{profile: t5-base}").sequence == 512);
  CHECK(shape("{profile: t5-base}").decoder.sequence == 114);
  const TransformerShape longer =
      shape("{profile: t5-base, sequence: 1024, decoder_sequence: 256}");
  CHECK(longer.sequence == 1024);
  CHECK(longer.decoder.sequence == 256);
  CHECK(errors_of(job("{profile: gpt2, decoder_sequence: 256}")) ==
        "e.yaml:2:42 `model.decoder_sequence` has no meaning for a model without an encoder and a "
        "decoder | its tokens are `sequence`\n");
  CHECK(errors_of(job("{profile: resnet-50, decoder_sequence: 256}")) ==
        "e.yaml:2:47 `model.decoder_sequence` has no meaning for a table of layers\n");
  CHECK(errors_of(job("{profile: t5-base, decoder_sequence: 0}")) ==
        "e.yaml:2:45 `model.decoder_sequence` is too small | must be at least 1\n");
}
