// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <span>
#include <vector>

#include "model/compute.hpp"
#include "model/experiment.hpp"
#include "model/groups.hpp"
#include "model/stage_messages.hpp"
#include "model/transformer.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

// Ranks that share the tokens of a sequence (layout.cp).

namespace {

constexpr std::int64_t tokens = 4096;
constexpr std::int64_t hidden = 1024;

// 16 GPUs on nodes of four; keys and values of a token: 2 x 1,024 elements of 2 bytes.
Experiment job_with(int cp, ContextExchange exchange, Bandwidth nic = 100_Gbps) {
  Experiment job = test::small_job({.nic = nic});
  job.model = test::gpt(12, hidden, 16, tokens, 32000);
  job.training.precision = Precision::fp16;
  job.software.fused_attention = true;
  job.layout.micro_batch = 1;
  job.layout.cp = cp;
  job.layout.dp = 16 / cp;
  job.layout.context_exchange = exchange;
  return job;
}

std::vector<Message> context_messages(const std::vector<Piece>& pieces) {
  std::vector<Message> messages;
  for (const Piece& piece : pieces) {
    if (piece.message.kind == MessageKind::cp_activations) {
      messages.push_back(piece.message);
    }
  }
  return messages;
}

const StageCompute& compute_of(const StepPlan& plan) { return *plan.stages.front().compute; }

Flops work_of(const Layer& layer) {
  Flops sum;
  for (const Operator& op : layer.forward) {
    sum += forward_flops(op);
  }
  return sum;
}

Seconds attention_time(const PreparedExperiment& prepared, bool backward) {
  const Experiment& job = prepared.experiment();
  const ComputeContext context{job.cluster.gpu, job.software, job.training.precision};
  const Layer& block = prepared.workload().layers.at(1);
  const std::span<const Operator> attention(&block.forward.at(block.contexts.at(0).attention), 1);
  return backward ? price_backward(attention, 1, context).time
                  : price_forward(attention, 1, context).time;
}

}  // namespace

TEST_CASE("ranks of a context divide the arithmetic of a sequence and its activations evenly") {
  const auto exchange = GENERATE(ContextExchange::ring, ContextExchange::all_to_all);
  const TransformerShape shape = test::gpt(2, hidden, 16, tokens, 32000);
  const Workload whole = transformer_workload(shape, 1, false, 2_B);
  const Workload part = transformer_workload(shape, 1, false, 2_B, {8, exchange});
  for (std::size_t layer = 0; layer < whole.layers.size(); ++layer) {
    CHECK_THAT(8 * (work_of(part.layers[layer]) / 1_flop),
               WithinRel(work_of(whole.layers[layer]) / 1_flop, 1e-12));
    CHECK_THAT(8 * (part.layers[layer].activation_per_sample / 1_B),
               WithinRel(whole.layers[layer].activation_per_sample / 1_B, 1e-12));
  }
  CHECK(part.parameters() == whole.parameters());
  CHECK(part.tokens_per_sample == whole.tokens_per_sample);
}

TEST_CASE("gradients are summed over the ranks of a context and over replicas") {
  for (const int cp : {1, 2, 4, 16}) {
    const Experiment job = job_with(cp, ContextExchange::ring);
    CHECK(data_group(job.layout, 4).ranks == 16);
    CHECK(data_group(job.layout, 4).ranks_per_node == 4);
    const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
    Bytes sent;
    for (const Bucket& bucket : plan.buckets(0)) {
      sent += plan.kind(bucket).rounds.front().message.size;
    }
    // Whoever holds them: 12 blocks, two embeddings and the last norm, in 32 bits.
    const auto parameters =
        static_cast<double>(parameter_count(std::get<TransformerShape>(job.model)));
    CHECK_THAT(sent / 4_B, WithinRel(parameters, 1e-12));
  }
}

// 1,024 tokens of keys and values a rank: 4 MiB, at 1.25 GB/s longer than a block of scores takes.
TEST_CASE("of cp - 1 hops of keys and values a step waits for what is longer than a block") {
  const Experiment job = job_with(16, ContextExchange::ring, 10_Gbps);
  const PreparedExperiment prepared(job);
  const StepPlan plan = prepared.plan(job.plans[0]);
  const CollectiveModel network(job.cluster, context_group(job.layout, 4));
  const auto hop = [&](double tensors) {
    return network.price(Collective::send_recv, tensors * (tokens / 16) * hidden * 2_B).time;
  };
  const Seconds block = attention_time(prepared, false) / 16;
  REQUIRE(hop(2) > block);

  const auto forward = context_messages(compute_of(plan).forward);
  REQUIRE(forward.size() == 12);
  CHECK_THAT(forward.front().alone / 1_s, WithinRel(15 * (hop(2) - block) / 1_s, 1e-12));

  // Keys, values and their gradients go round; the gradients then go home.
  const auto backward = context_messages(compute_of(plan).backward);
  REQUIRE(backward.size() == 24);
  const Seconds longer = attention_time(prepared, true) / 16;
  CHECK_THAT(backward[0].alone / 1_s, WithinRel(15 * (hop(4) - longer) / 1_s, 1e-12));
  CHECK_THAT(backward[1].alone / 1_s, WithinRel(hop(2) / 1_s, 1e-12));
}

TEST_CASE("keys and values that travel faster than a block is computed cost nothing forward") {
  Experiment job = job_with(4, ContextExchange::ring);
  std::get<TransformerShape>(job.model).sequence = 65536;
  const PreparedExperiment prepared(job);
  const StepPlan plan = prepared.plan(job.plans[0]);
  CHECK(context_messages(compute_of(plan).forward).empty());
  CHECK(context_messages(compute_of(plan).backward).size() == 12);  // the way home
}

// Jacobs et al. 2023, section 3.2: each rank contributes its queries, keys and values before
// attention and its output after it, 4 N h / p elements in all; twice that in a step's backward.
TEST_CASE("an exchange of heads moves four tensors of a rank's tokens in each direction") {
  const Experiment job = job_with(4, ContextExchange::all_to_all);
  const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
  const Bytes tensor = tokens / 4.0 * hidden * 2_B;
  for (const auto* pieces : {&compute_of(plan).forward, &compute_of(plan).backward}) {
    const auto messages = context_messages(*pieces);
    REQUIRE(messages.size() == 24);
    Bytes of_block;
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(messages[i].collective == Collective::all_to_all);
      of_block += messages[i].size;
    }
    CHECK_THAT(of_block / tensor, WithinRel(4.0, 1e-12));
  }
  CHECK(context_messages(compute_of(plan).forward).front().size == 3 * tensor);
  CHECK(context_messages(compute_of(plan).backward).front().size == tensor);
}

TEST_CASE("a ring of ranks leaves its node where they do not fit into one") {
  const auto group = [](int tp, int cp) {
    ParallelLayout layout;
    layout.tp = tp;
    layout.cp = cp;
    return context_group(layout, 8);
  };
  CHECK(group(4, 2).ranks_per_node == 2);
  CHECK(group(4, 2).rivals == 8);  // every GPU sends
  CHECK(group(1, 8).ranks_per_node == 2);
  CHECK(group(4, 4).ranks_per_node == 1);
  CHECK(group(4, 4).rivals == 4);  // one hop of each of the rings leaves the node
  CHECK(group(8, 2).ranks_per_node == 1);
  CHECK(group(8, 2).rivals == 8);
}

TEST_CASE("terms of a step with context parallelism add up, and sharing a sequence saves time") {
  Seconds before{1e9};
  for (const int cp : {1, 2, 4}) {
    Experiment job = job_with(cp, ContextExchange::ring, 400_Gbps);
    job.layout.dp = 4;
    job.cluster.nodes = cp;
    const PreparedExperiment prepared(job);
    const StepPrediction step = prepared.predict(job.plans[0]);
    CHECK_THAT(step.waterfall.total() / step.step, WithinRel(1.0, 1e-12));
    CHECK((step.waterfall.exposed_cp > 0_s) == (cp > 1));
    CHECK((step.cp_bytes > 0_B) == (cp > 1));
    CHECK(step.waterfall.exposed_tp == 0_s);
    CHECK(step.waterfall.forward < before);
    before = step.waterfall.forward;
  }
}

TEST_CASE("a step that accumulates gradients exchanges keys and values for each micro-batch") {
  const auto exposed = [](int accumulation) {
    Experiment job = job_with(4, ContextExchange::ring, 25_Gbps);
    job.layout.dp = 4;
    job.cluster.nodes = 4;
    job.layout.micro_batches = accumulation;
    return PreparedExperiment(job).predict(job.plans[0]).waterfall.exposed_cp;
  };
  REQUIRE(exposed(1) > 0_s);
  CHECK_THAT(exposed(3) / exposed(1), WithinRel(3.0, 1e-12));
}

TEST_CASE("sequences and heads that the ranks cannot share are refused") {
  const auto paths = [](const Experiment& job) {
    std::vector<std::string> found;
    for (const Problem& problem : check(job)) {
      found.push_back(problem.path);
    }
    return found;
  };
  const std::vector<std::string> none;
  const std::vector<std::string> cp{"layout.cp"};
  CHECK(paths(job_with(4, ContextExchange::ring)) == none);
  Experiment odd = job_with(4, ContextExchange::ring);
  std::get<TransformerShape>(odd.model).sequence = 4 * 1025;  // not 2 x 4 parts
  CHECK(paths(odd) == cp);
  Experiment few = job_with(16, ContextExchange::all_to_all);
  std::get<TransformerShape>(few.model).kv_heads = 8;
  CHECK(paths(few) == cp);
  few.layout.context_exchange = ContextExchange::ring;
  CHECK(paths(few) == none);
  Experiment encoder = job_with(4, ContextExchange::ring);
  encoder.model = test::bert_base();
  CHECK(paths(encoder) == none);
  std::get<TransformerShape>(encoder.model).sequence = 508;  // no mask: as many parts as ranks
  CHECK(paths(encoder) == none);
  std::get<TransformerShape>(encoder.model).sequence = 510;
  CHECK(paths(encoder) == cp);
  std::get<TransformerShape>(encoder.model).family = TransformerFamily::vit;
  CHECK(paths(encoder) == cp);
}
