// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_extrapolation.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace payoff {
namespace {

// More are let go: a sweep has millions of jobs.
constexpr std::size_t most_jobs_asked = 4096;

bool pairs_are_measured(const Cluster& cluster) {
  const PairLaws& pairs = cluster.gpu.pairs;
  return pairs.compute_beside_codec.measured || pairs.codec_beside_compute.measured ||
         pairs.compute_beside_message.measured || pairs.codec_beside_message.measured ||
         std::any_of(cluster.kinds.begin(), cluster.kinds.end(), pairs_are_measured);
}

template <typename Use>
std::size_t extrapolated_of(const std::vector<Use>& uses) {
  return static_cast<std::size_t>(
      std::count_if(uses.begin(), uses.end(), [](const Use& use) { return use.extrapolated(); }));
}

// Whether the count of a key is not zero; and where the line ends before it.
bool take_count(std::string_view key, std::string_view& line) {
  const std::size_t at = line.rfind(key);
  const bool any = at != std::string_view::npos && line[at + key.size()] != '0';
  line = line.substr(0, at == std::string_view::npos ? line.size() : at);
  return any;
}

}  // namespace

std::string extrapolated_text(const ExtrapolatedKinds& kinds) {
  nlohmann::ordered_json json;
  add_extrapolated(kinds, json);
  std::string text = json.dump();
  text.front() = ',';
  text.pop_back();
  return text;
}

ExtrapolatedTexts::Key ExtrapolatedTexts::key_of(const JobNumbers& numbers,
                                                 const Cluster& cluster) {
  const bool rates = pairs_are_measured(cluster) || cluster.is_mixed();
  return {numbers.nodes,
          numbers.dp,
          numbers.micro_batch,
          numbers.micro_batches,
          numbers.bucket.si,
          numbers.first_bucket.si,
          rates ? numbers.nics_per_node : 0,
          rates ? numbers.nic.si : 0.0,
          rates ? numbers.fabric.si : 0.0};
}

void ExtrapolatedTexts::change(const JobNumbers& numbers, const PreparedExperiment& prepared,
                               const StepPlan& uncompressed) {
  const Key key = key_of(numbers, prepared.experiment().cluster);
  if (jobs_.size() >= most_jobs_asked && !jobs_.contains(key)) {
    jobs_.clear();
  }
  const auto [job, is_new] = jobs_.try_emplace(key);
  now_ = &job->second;
  if (!is_new) {
    return;
  }
  now_->texts.resize(prepared.experiment().plans.size());
  const auto [layers, is_first] = layers_.try_emplace(numbers.micro_batch);
  if (is_first) {
    layers->second = extrapolated_of(kernels_of_layers(prepared));
  }
  now_->kernels = layers->second + extrapolated_of(kernels_of_buckets(prepared, uncompressed));
  if (prepared.experiment().cluster.is_mixed()) {  // the slowest nodes decide, by their rates
    models_ = {};
  }
}

const std::string& ExtrapolatedTexts::of(std::size_t place, const PreparedExperiment& prepared,
                                         const StepPlan& plan,
                                         std::span<const CallCost> codec_costs) {
  std::string& text = now_->texts.at(place);
  if (text.empty()) {
    const CompressionPlan& compression = prepared.experiment().plans[place];
    text = extrapolated_text({extrapolated_messages(prepared, plan, models_),
                              now_->kernels + extrapolated_of(kernels_of_codec(
                                                  prepared, compression, plan, codec_costs)),
                              extrapolated_of(pairs_of_plan(plan, compression.label))});
  }
  return text;
}

// They are the last keys of a line, which is searched from its end.
void SweepExtrapolation::add(std::string_view lines) {
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    std::string_view line = lines.substr(begin, end - begin);
    begin = end + 1;
    if (line.ends_with("\"}")) {  // a reason: of no prediction
      continue;
    }
    ++results_;
    pairs_ += take_count(R"("pairs_extrapolated":)", line) ? 1U : 0U;
    kernels_ += take_count(R"("kernels_extrapolated":)", line) ? 1U : 0U;
    messages_ += take_count(R"("messages_extrapolated":)", line) ? 1U : 0U;
  }
}

void SweepExtrapolation::report(Session& session, bool resumed) const {
  std::vector<std::string> parts;
  for (const auto& [count, what] :
       {std::pair(messages_, "messages"), std::pair(kernels_, "kernels"),
        std::pair(pairs_, "pairs of kernels")}) {
    if (count > 0) {
      parts.push_back(fmt::format("{} price {}", count, what));
    }
  }
  if (!parts.empty()) {
    session.note(fmt::format(
        "of {} {}result{} {} beyond what was measured: `messages_extrapolated` and others of each",
        results_, resumed ? "new " : "", results_ == 1 ? "" : "s", fmt::join(parts, ", ")));
  }
}

}  // namespace payoff
