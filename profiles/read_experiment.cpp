// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_experiment.hpp"

#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "model/experiment_check.hpp"
#include "profiles/experiment_keys.hpp"
#include "profiles/experiment_model.hpp"
#include "profiles/meant_layouts.hpp"
#include "profiles/override.hpp"
#include "profiles/read_cluster_state.hpp"
#include "profiles/read_layout.hpp"
#include "profiles/read_measured_codecs.hpp"
#include "profiles/read_nodes.hpp"
#include "profiles/read_plans.hpp"
#include "profiles/read_run.hpp"
#include "profiles/read_software.hpp"
#include "profiles/read_training.hpp"
#include "profiles/section.hpp"

namespace payoff {
namespace {

std::string as_profile(std::string_view key) {
  return "write a profile's name as `" + std::string(key) + ": {profile: NAME}`";
}

class ExperimentReader {
 public:
  ExperimentReader(ReadExperiment& result, const ReadContext& context, const TakesPlan& takes_plan)
      : result_(result),
        experiment_(result.experiment),
        context_(context),
        takes_plan_(takes_plan) {}

  void read(const Section& root) {
    for (const auto& [there, here] : misplaced) {
      root.known_elsewhere_as(there, here);
    }
    experiment_.name = root.optional("experiment").text("experiment");
    (void)root.optional("base").text();  // resolved when the file was loaded
    sound_.cluster =
        is_clean([&] { read_cluster(root.required("cluster").section(as_profile("cluster"))); }) &&
        !experiment_.cluster.name.empty();
    sound_.training = is_clean([&] {
      const Section training = root.optional("training").section();
      read_training(training, oldest_gpu(experiment_.cluster), experiment_.training);
      optimizer_in_backward_ = training.optional("optimizer_in_backward");
    });
    bool has_model = false;
    sound_.model = is_clean([&] {
                     has_model = read_model(root.required("model").section(as_profile("model")));
                   }) &&
                   has_model;
    sound_.layout = is_clean([&] {
      const Section layout = root.optional("layout").section();
      has_dp_ = layout.has("dp");
      read_layout(layout, experiment_.cluster, sound_.gpus, experiment_.layout);
    });
    read_software_name(root.optional("software"));
    read_plans(root.optional("compress"));
    read_run(root.optional("run"));
    read_limits(root.optional("limits").section());
  }

  // What is wrong with combinations of what was read well.
  [[nodiscard]] Problems check(const Reader& reader, const Node& root) const {
    SoundParts sound = sound_;
    sound.cluster = sound.cluster && reader.keys_are_right("cluster");
    sound.gpus = sound.gpus && reader.own_keys_are_right("cluster");
    sound.training = sound.training && reader.keys_are_right("training");
    sound.model = sound.model && reader.keys_are_right("model");
    sound.layout = sound.layout && reader.keys_are_right("layout");
    if (const Entry* layout = root.find("layout"); layout != nullptr && !sound.layout) {
      sound.meant_layouts = meant_layouts(layout->value, reader.refused("layout"),
                                          experiment_.cluster, sound.gpus, context_.sources);
    }
    // Without a dp of its own the layout takes all GPUs of the cluster.
    sound.plans = sound.gpus || has_dp_;
    Problems problems = in_the_list(
        takes_plan_ ? check_each_plan(sound) : payoff::check(experiment_, sound), plans_);
    Problems of_state =
        payoff::check(cluster_state_, experiment_.cluster, sound.gpus, reader, context_);
    append(problems, std::move(of_state));
    if (run_) {
      append(problems, run_->check(experiment_, sound));
    }
    return problems;
  }

 private:
  // Of plans, each by itself, those alone that are not wanted.
  [[nodiscard]] Problems check_each_plan(const SoundParts& sound) const {
    SoundParts without_plans = sound;
    without_plans.plans = false;
    Problems problems = payoff::check(experiment_, without_plans);
    const bool all_sound =
        sound.cluster && sound.gpus && sound.training && sound.model && sound.layout && sound.plans;
    if (!problems.empty() || !all_sound) {
      return problems;
    }
    Experiment alone = experiment_;
    constexpr std::string_view first = "compress.0";
    for (std::size_t i = 1; i < experiment_.plans.size(); ++i) {
      const CompressionPlan& plan = experiment_.plans[i];
      if (takes_plan_(experiment_, plan)) {
        continue;
      }
      alone.plans = {experiment_.plans.front(), plan};
      for (Problem& problem : payoff::check(alone, sound)) {
        problem.message += "; no layout that is tried can have it";
        if (problem.path.starts_with(first)) {
          problem.path.replace(0, first.size(), "compress." + std::to_string(i - 1));
        }
        problems.push_back(std::move(problem));
      }
    }
    return problems;
  }

  template <class Read>
  [[nodiscard]] bool is_clean(Read read) const {
    const std::size_t errors = context_.diagnostics.error_count();
    read();
    return context_.diagnostics.error_count() == errors;
  }

  static void append(Problems& problems, Problems more) {
    problems.insert(problems.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
  }

  // Of a number that the user states instead of the profile's.
  void forget(std::string_view path) {
    std::erase_if(result_.facts, [path](const Fact& fact) { return fact.path == path; });
  }

  void read_cluster(const Section& section) {
    ReadNodes read = read_experiment_nodes(section, context_);
    sound_.gpus = read.sound_counts;
    experiment_.cluster = std::move(read.cluster);
    result_.facts.insert(result_.facts.end(), std::make_move_iterator(read.facts.begin()),
                         std::make_move_iterator(read.facts.end()));
    gpu_ = std::move(read.gpu);
    if (!section.has("node_kinds")) {
      cluster_state_ = read_cluster_state(section, experiment_.cluster, context_);
      result_.cluster_state = cluster_state_.state;
      place_in_cube(cluster_state_.state, experiment_.cluster);
    }
  }

  bool read_model(const Section& section) {
    auto read = read_model_section(section, experiment_.training.precision, context_);
    if (read) {
      experiment_.model = std::move(read->value);
      experiment_.layer_times = std::move(read->layer_times);
      add_below("model", read->facts, result_.facts);
    }
    return read.has_value();
  }

  void read_software_name(const Value& name) {
    const std::string chosen = name.text(std::string(default_software));
    if (auto read = read_software(chosen, name.span(), context_)) {
      experiment_.software = std::move(read->value);
      add_below("software", read->facts, result_.facts);
    }
    if (optimizer_in_backward_) {
      experiment_.software.optimizer_in_backward = optimizer_in_backward_.boolean();
      forget("software.optimizer_in_backward");
    }
  }

  void read_plans(const Value& list) {
    plans_ = payoff::read_plans(list, oldest_gpu(experiment_.cluster), context_);
    if (gpu_) {
      use_measured_codecs(*gpu_, context_, plans_);
    }
    experiment_.plans = std::move(plans_.plans);
    result_.notes = std::move(plans_.notes);
    add_below("compress", plans_.facts, result_.facts);
  }

  void read_run(const Value& value) {
    run_ = payoff::read_run(value, oldest_gpu(experiment_.cluster), context_);
    if (!run_) {
      return;
    }
    if (gpu_) {
      use_measured_codecs(*gpu_, context_, run_->plans);
      run_->schedule.plans = run_->plans.plans;
    }
    result_.run = run_->schedule;
    add_below("run", run_->plans.facts, result_.facts);
  }

  void read_limits(const Section& section) {
    RemedyLimits& limits = result_.limits;
    limits.global_batch =
        section.optional("global_batch").number({.fallback = 0.0, .min = 1.0, .max = 1e12});
    limits.change_gradient_precision = section.optional("change_gradient_precision").boolean(true);
    limits.change_buckets = section.optional("change_buckets").boolean(true);
    limits.change_algorithm = section.optional("change_algorithm").boolean(true);
  }

  ReadExperiment& result_;
  Experiment& experiment_;
  const ReadContext& context_;
  const TakesPlan& takes_plan_;
  ReadPlans plans_;
  std::optional<ReadRun> run_;
  std::optional<NamedPart> gpu_;
  SoundParts sound_;
  ReadClusterState cluster_state_;
  bool has_dp_ = false;
  Value optimizer_in_backward_;  // of the training; else the software says
};

}  // namespace

std::optional<ReadExperiment> read_experiment(Document document,
                                              const std::vector<Setting>& settings,
                                              const ReadContext& context,
                                              const TakesPlan& takes_plan) {
  const std::size_t errors = context.diagnostics.error_count();
  for (const Setting& setting : settings) {
    apply_override(document.root, setting.argument, setting.text, context.sources,
                   context.diagnostics);
  }
  context.sources.mark_users_own(document.source);
  ReadExperiment result;
  Reader reader(document.root, context.sources, context.diagnostics);
  ExperimentReader experiment(result, context, takes_plan);
  experiment.read(reader.root());
  reader.finish();
  result.positions = PositionMap(document.root);
  result.document = std::move(document);
  report(experiment.check(reader, result.document.root), result.positions, context.diagnostics);
  return context.diagnostics.error_count() > errors ? std::nullopt
                                                    : std::optional(std::move(result));
}

std::optional<ReadExperiment> read_experiment(const std::filesystem::path& file,
                                              const std::vector<Setting>& settings,
                                              const ReadContext& context) {
  auto document = load_with_base(file.string(), context.sources, context.diagnostics);
  return document ? read_experiment(std::move(*document), settings, context) : std::nullopt;
}

}  // namespace payoff
