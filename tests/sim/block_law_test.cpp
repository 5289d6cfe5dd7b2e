// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/interference.hpp"
#include "sim/block_scheduler.hpp"
#include "sim/step.hpp"
#include "sim/trace.hpp"
#include "tests/catch.hpp"
#include "tests/sim/plans.hpp"
#include "tests/sim/random_plans.hpp"

// How far the law of a step is from blocks: the same backward pass, beside the same messages and
// codec calls, by sim::simulate (pieces at the mean of their kernels, streams that take turns) and
// block by block. docs/model.md, section 9, has the figures that this prints.

using namespace payoff;
using sim::BlockScheduler;
using sim::Engine;
using sim::SimTime;

namespace {
constexpr int units = 132;
constexpr int jobs = 300;

struct Launch {
  std::int64_t blocks{};
  SimTime block;

  [[nodiscard]] Seconds alone() const {
    return static_cast<double>(waves(blocks, units)) * to_seconds(block);
  }
};

Seconds alone(const std::vector<Launch>& kernels) {
  Seconds sum;
  for (const Launch& kernel : kernels) {
    sum += kernel.alone();
  }
  return sum;
}

// Gradients that a piece of backward completes: kernels of the codec, then a message.
struct Gradients {
  std::vector<Launch> encode;
  SimTime message;
};
struct Job {
  std::vector<std::vector<Launch>> pieces;  // of backward
  std::vector<Gradients> gradients;         // of each piece
  int channels{};
  Placement placement = Placement::side_stream;  // of the codec
};

struct Ends {  // microseconds
  double backward{};
  double step{};
};
enum class Beside { messages, codec, short_codec, both };
// Products of a transformer, 40 to 2,000 blocks of 5 to 100 us; a codec's kernels about as long as
// those, or a tenth of that, of so many blocks that their own waves do not matter.
Job random_job(std::uint64_t seed, Beside beside) {
  test::Random random(seed);
  const auto log_between = [&](double low, double high) {
    return low * std::pow(high / low, random.between(0, 1));
  };
  const auto date = [](double us) { return SimTime{std::llround(us * 1e6)}; };
  Job job;
  job.channels = random.integer(2, 32);
  for (int p = random.integer(4, 10); p > 0; --p) {
    std::vector<Launch>& piece = job.pieces.emplace_back();
    for (int k = random.integer(4, 12); k > 0; --k) {
      piece.push_back({std::llround(log_between(40, 2000)), date(log_between(5, 100))});
    }
    Gradients& gradients = job.gradients.emplace_back();
    if (beside != Beside::messages) {
      const int parts = beside == Beside::short_codec ? 10 : 1;
      for (int k = parts * random.integer(1, 4); k > 0; --k) {
        gradients.encode.push_back(
            {units * random.integer(20, 40), date(log_between(1, 20) / parts)});
      }
    }
    if (beside == Beside::messages || beside == Beside::both) {
      gradients.message = date(alone(piece) / 1_us * random.between(0.2, 1.2));
    }
  }
  return job;
}

// Three streams of one GPU: compute and codec by blocks, messages one at a time on their units.
class ByBlocks {
 public:
  explicit ByBlocks(const Job& job) : job_(job), gpu_(engine_, units) {}

  Ends run() {
    start_piece();
    while (engine_.advance()) {
      const std::vector<sim::Completion> completed(engine_.completed().begin(),
                                                   engine_.completed().end());
      for (const sim::Completion& done : completed) {
        if ((done.tag & BlockScheduler::tag_bit) == 0) {
          gpu_.release(job_.channels);
          messages_.pop_front();
          start_message();
        } else if (const auto tag = gpu_.block_ended(done)) {
          *tag == codec_tag ? codec_ended() : compute_ended();
        }
        ends_.step = now();
      }
    }
    return ends_;
  }

 private:
  static constexpr std::uint64_t codec_tag = 1;
  struct Call {
    Launch kernel;
    SimTime message;  // handed over when it ends
  };

  [[nodiscard]] double now() const { return to_seconds(engine_.now()) / 1_us; }
  [[nodiscard]] int codec_priority() const {
    return job_.placement == Placement::high_priority_stream  ? 1
           : job_.placement == Placement::low_priority_stream ? -1
                                                              : 0;
  }

  void start_piece() {
    kernel_ = 0;
    launch(job_.pieces[piece_].front(), 0);
  }
  void launch(const Launch& kernel, std::uint64_t tag) {
    gpu_.launch({.blocks = kernel.blocks,
                 .block = kernel.block,
                 .priority = tag == codec_tag ? codec_priority() : 0,
                 .tag = tag});
  }
  void compute_ended() {
    ends_.backward = now();
    if (++kernel_ < job_.pieces[piece_].size()) {
      launch(job_.pieces[piece_][kernel_], 0);
      return;
    }
    const Gradients& ready = job_.gradients[piece_];
    if (++piece_ < job_.pieces.size()) {
      start_piece();
    }
    for (const Launch& kernel : ready.encode) {
      codec_.push_back({kernel, {}});
    }
    if (ready.encode.empty()) {
      hand_over(ready.message);
      return;
    }
    codec_.back().message = ready.message;
    if (codec_.size() == ready.encode.size()) {
      launch(codec_.front().kernel, codec_tag);
    }
  }
  void codec_ended() {
    const Call call = codec_.front();
    codec_.pop_front();
    if (!codec_.empty()) {
      launch(codec_.front().kernel, codec_tag);
    }
    hand_over(call.message);
  }
  void hand_over(SimTime message) {
    if (message.picoseconds > 0) {
      messages_.push_back(message);
      if (messages_.size() == 1) {
        start_message();
      }
    }
  }
  void start_message() {
    if (!messages_.empty()) {
      gpu_.hold(job_.channels);
      engine_.wake_at(engine_.now() + messages_.front(), 0, 0);
    }
  }

  const Job& job_;
  Engine engine_;
  BlockScheduler gpu_;
  std::size_t piece_ = 0;
  std::size_t kernel_ = 0;
  std::deque<Call> codec_;  // the first one runs
  std::deque<SimTime> messages_;
  Ends ends_;
};

StepPlan plan_of(const Job& job) {
  StepPlan plan = test::pipeline(1, 1, 1, 0_s, 0_s);
  auto table = std::make_shared<WaveTable>(units);
  StageCompute compute;
  for (std::size_t p = 0; p < job.pieces.size(); ++p) {
    KernelMix mix{alone(job.pieces[p]), {}};
    for (const Launch& kernel : job.pieces[p]) {
      mix.known.push_back({kernel.blocks, kernel.alone()});
    }
    Piece piece;
    piece.work = {.kind = WorkKind::backward, .alone = mix.all, .mix = table->add(mix)};
    compute.backward.push_back(piece);
    compute.backward_work += mix.all;
    test::add_bucket(plan, 0, static_cast<int>(p), alone(job.gradients[p].encode),
                     test::gradients(to_seconds(job.gradients[p].message)), 0_s);
  }
  plan.stages[0].compute = std::make_shared<const StageCompute>(std::move(compute));
  plan.waves = table;
  plan.placement = job.placement;
  plan.reserved_share = reserved_share(job.channels, units);
  return plan;
}

Ends by_law(const StepPlan& plan) {
  std::ostringstream text;
  sim::TraceWriter trace(text);
  sim::SimOptions options;
  options.trace = &trace;
  Ends ends;
  ends.step = sim::simulate(plan, {}, options).prediction.step / 1_us;
  trace.finish();
  const nlohmann::json timeline = nlohmann::json::parse(text.str());
  for (const nlohmann::json& event : timeline["traceEvents"]) {
    if (event["name"] == "backward") {
      ends.backward =
          std::max(ends.backward, event["ts"].get<double>() + event["dur"].get<double>());
    }
  }
  return ends;
}

struct Errors {
  double mean{};
  double worst{};
  double bias{};

  void add(double ours, double blocks) {
    const double error = ours / blocks - 1;
    mean += std::abs(error) / jobs;
    bias += error / jobs;
    worst = std::max(worst, std::abs(error));
  }
  void print(const char* beside, const char* what) const {
    std::printf("law against blocks, beside %s: %s: mean %.1f %%, worst %.1f %%, bias %+.1f %%\n",
                beside, what, 100 * mean, 100 * worst, 100 * bias);
  }
};

struct Comparison {
  Errors backward;
  Errors step;
};

Comparison compare(const char* name, Beside beside, void (*change)(StepPlan&) = nullptr,
                   Placement placement = Placement::side_stream) {
  Comparison result;
  for (int seed = 1; seed <= jobs; ++seed) {
    Job job = random_job(static_cast<std::uint64_t>(seed), beside);
    job.placement = placement;
    const Ends blocks = ByBlocks(job).run();
    StepPlan plan = plan_of(job);
    if (change != nullptr) {
      change(plan);
    }
    const Ends law = by_law(plan);
    result.backward.add(law.backward, blocks.backward);
    result.step.add(law.step, blocks.step);
  }
  result.backward.print(name, "backward");
  result.step.print(name, "step");
  return result;
}

}  // namespace

TEST_CASE("beside messages a step's law is within a few per cent of what its blocks take") {
  const Comparison messages = compare("messages", Beside::messages);
  CHECK(messages.backward.mean < 0.01);
  CHECK(messages.backward.worst < 0.05);
  CHECK(std::abs(messages.backward.bias) < 0.005);
}

TEST_CASE("beside a codec too, and the tails that it finds are in it") {
  const Comparison codec = compare("a codec", Beside::codec);
  CHECK(codec.step.mean < 0.015);
  CHECK(codec.step.worst < 0.08);
  CHECK(codec.backward.mean < 0.03);
  const Comparison no_tails = compare("a codec, no tails known", Beside::codec,
                                      [](StepPlan& plan) { plan.waves = nullptr; });
  CHECK(codec.step.mean < 0.6 * no_tails.step.mean);
  const Comparison both = compare("a codec and messages", Beside::both);
  CHECK(both.step.mean < 0.02);
  CHECK(both.step.worst < 0.12);
}

TEST_CASE("streams whose kernels are not equally long do not take turns of a half, steps bear it") {
  const Comparison codec = compare("a codec of short kernels", Beside::short_codec);
  CHECK(codec.step.mean < 0.06);
  CHECK(codec.backward.bias > 0);  // the law gives short kernels more than their turn
}

TEST_CASE("a codec of lower priority has the tails of backward, which is as fast as without it") {
  for (const Beside kernels : {Beside::codec, Beside::short_codec}) {
    const Comparison codec =
        compare("a codec of lower priority", kernels, nullptr, Placement::low_priority_stream);
    CHECK(codec.backward.mean < 0.05);  // blocks that run are not taken off
    CHECK(codec.backward.bias < 0);
    CHECK(codec.step.mean < 0.005);
  }
}

TEST_CASE("a codec of higher priority goes first, and backward has what it leaves") {
  for (const Beside kernels : {Beside::codec, Beside::short_codec}) {
    const Comparison codec =
        compare("a codec of higher priority", kernels, nullptr, Placement::high_priority_stream);
    CHECK(codec.backward.mean < 0.07);
    CHECK(codec.step.mean < 0.05);  // of short kernels: their own last waves are not in the law
  }
}
