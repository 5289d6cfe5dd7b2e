// SPDX-License-Identifier: Apache-2.0
#include "cli/report_choices.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "profiles/experiment_model.hpp"
#include "profiles/read_method.hpp"
#include "profiles/section.hpp"
#include "sim/topology.hpp"

namespace payoff {
namespace {

const Node* node_at(const Node& root, std::string_view section, std::string_view key) {
  const Entry* entry = root.find(section);
  const Entry* inner = entry == nullptr ? nullptr : entry->value.find(key);
  return inner == nullptr ? nullptr : &inner->value;
}

class ChoiceReader {
 public:
  ChoiceReader(const ReadExperiment& read, const Library& library, SourceMap sources)
      : read_(read), library_(library), sources_(std::move(sources)) {}

  // Many at once, and where some of them cannot be had in this experiment, halves of them.
  void read_methods(std::span<const std::string> names, std::vector<web::MethodChoice>& choices) {
    if (names.empty()) {
      return;
    }
    Diagnostics diagnostics;
    if (const auto experiment = with_methods(names, diagnostics)) {
      for (std::size_t i = 1; i < experiment->experiment.plans.size(); ++i) {
        add_method(experiment->experiment.plans[i], choices);
      }
    } else if (names.size() > 1) {
      read_methods(names.first(names.size() / 2), choices);
      read_methods(names.subspan(names.size() / 2), choices);
    }
  }

  // Of the same kind as the experiment's own: nobody asks what an image model would be as a
  // language model. None where the model is the user's own file, or its layers were measured.
  void read_models(std::vector<web::ModelChoice>& choices) {
    const Node* profile = node_at(read_.document.root, "model", "profile");
    if (profile == nullptr || !read_.experiment.layer_times.empty()) {
      return;
    }
    const Node* sequence = node_at(read_.document.root, "model", "sequence");
    for (const std::string& name : library_.names(ProfileKind::model)) {
      const std::string length = sequence == nullptr ? "" : ", sequence: " + sequence->text;
      if (auto model = read_model_named(name, length)) {
        Experiment job = read_.experiment;
        job.model = *model;
        if (is_alike(job.model, read_.experiment.model) && check(job).empty()) {
          choices.push_back({name, parameter_count(job.model), std::move(*model)});
        }
      }
    }
    std::stable_sort(choices.begin(), choices.end(),
                     [](const auto& a, const auto& b) { return a.parameters < b.parameters; });
  }

 private:
  [[nodiscard]] ReadContext context(Diagnostics& diagnostics) {
    return {library_, sources_, diagnostics, true, sim::find_in_links};
  }

  std::optional<ReadExperiment> with_methods(std::span<const std::string> names,
                                             Diagnostics& diagnostics) {
    std::string list;
    for (const std::string& name : names) {
      list += (list.empty() ? "compress: [" : ", ") + name;
    }
    auto methods = load_yaml_text("methods", list + "]", sources_, diagnostics);
    Document document = read_.document;
    const Entry* written = methods ? methods->root.find("compress") : nullptr;
    if (written == nullptr) {
      return std::nullopt;
    }
    if (Entry* own = document.root.find("compress")) {
      own->value = written->value;
    } else {
      document.root.entries.push_back(*written);
    }
    return read_experiment(std::move(document), {}, context(diagnostics));
  }

  void add_method(const CompressionPlan& plan, std::vector<web::MethodChoice>& choices) {
    if (!plan.method || !plan.activations.empty()) {
      return;
    }
    Diagnostics diagnostics;
    const auto profile = read_method_profile(plan.method->name, std::nullopt, context(diagnostics));
    if (!profile) {
      return;
    }
    web::MethodChoice choice{plan, {}};
    for (const auto& [name, rule] : profile->rules) {
      choice.parameters.push_back({name, rule.min, rule.max, rule.integer});
    }
    choices.push_back(std::move(choice));
  }

  std::optional<Model> read_model_named(const std::string& name, const std::string& length) {
    Diagnostics diagnostics;
    const auto document =
        load_yaml_text("model " + name, "{profile: " + name + length + "}", sources_, diagnostics);
    if (!document) {
      return std::nullopt;
    }
    Reader reader(document->root, sources_, diagnostics);
    auto model = read_model_section(reader.root(), read_.experiment.training.precision,
                                    context(diagnostics));
    return model && !diagnostics.has_errors() ? std::optional<Model>(std::move(model->value))
                                              : std::nullopt;
  }

  [[nodiscard]] static bool is_alike(const Model& a, const Model& b) {
    const auto* one = std::get_if<TransformerShape>(&a);
    const auto* other = std::get_if<TransformerShape>(&b);
    if (one == nullptr || other == nullptr) {
      const auto has_tables = [](const Model& model) {
        const auto* table = table_of(model);
        return table != nullptr && table->recommender.has_value();
      };
      return a.index() == b.index() && has_tables(a) == has_tables(b);
    }
    const auto is_decoder = [](const TransformerShape& shape) {
      return shape.family == TransformerFamily::gpt || shape.family == TransformerFamily::llama;
    };
    return one->family == other->family || (is_decoder(*one) && is_decoder(*other));
  }

  const ReadExperiment& read_;
  const Library& library_;
  SourceMap sources_;
};

}  // namespace

web::WhatIf what_if_of(const ReadExperiment& read, double band, const Library& library,
                       SourceMap sources) {
  web::WhatIf page{read.experiment, read.limits, band, {}, {}};
  ChoiceReader reader(read, library, std::move(sources));
  reader.read_methods(library.names(ProfileKind::compression), page.methods);
  reader.read_models(page.models);
  return page;
}

}  // namespace payoff
