// SPDX-License-Identifier: Apache-2.0
#include "cli/diff_input.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/experiment_input.hpp"
#include "cli/input_json.hpp"
#include "cli/option_values.hpp"
#include "cli/output_guard.hpp"
#include "model/units_text.hpp"
#include "profiles/import/json_tree.hpp"
#include "profiles/import/json_values.hpp"
#include "profiles/override.hpp"
#include "sim/topology.hpp"

namespace payoff {
namespace {

using import_detail::JsonValues;

// What a result of `payoff predict --json` says.
struct KeptResult {
  Document document;
  std::map<std::string, Terms> plans;
  std::map<std::string, std::string> profiles;  // digests by file
};

bool is_result(const std::string& file) { return file.ends_with(".json"); }

class KeptReader {
 public:
  KeptReader(const Argument& file, Session& session)
      : file_(file), session_(session), values_(session.diagnostics()) {}

  std::optional<KeptResult> read() {
    std::string text = read_text_file(file_.text);
    if (text.size() > largest_file) {
      session_.diagnostics().error(file_.span, "the file is larger than 1 MiB");
      return std::nullopt;
    }
    const std::size_t length = text.size();
    const std::size_t source = session_.sources().add_file(file_.text, std::move(text));
    const auto root =
        parse_json_tree({source, 0, length}, session_.sources(), session_.diagnostics());
    const std::size_t errors = session_.diagnostics().error_count();
    if (!root || !is_prediction(*root)) {
      return std::nullopt;
    }
    KeptResult kept;
    read_experiment_text(*root, kept);
    read_plans(*root, kept);
    read_profiles(*root, kept);
    return session_.diagnostics().error_count() == errors ? std::optional(std::move(kept))
                                                          : std::nullopt;
  }

 private:
  bool is_prediction(const Node& root) {
    const Entry* kind = root.find("kind");
    if (kind != nullptr && kind->value.text == "predict") {
      return true;
    }
    session_.diagnostics().error(kind != nullptr ? kind->value.span : file_.span,
                                 "this is no result of `payoff predict --json`", {},
                                 "name such a result, or an experiment file");
    return false;
  }

  void read_experiment_text(const Node& root, KeptResult& kept) {
    if (const Node* experiment = values_.find(root, "experiment", Node::Kind::map, true)) {
      auto document =
          load_yaml_text(file_.text + " (experiment)", values_.text(*experiment, "yaml"),
                         session_.sources(), session_.diagnostics());
      if (document) {
        kept.document = std::move(*document);
      }
    }
  }

  void read_plans(const Node& root, KeptResult& kept) {
    const Node* plans = values_.find(root, "plans", Node::Kind::list, true);
    for (const Node& plan : plans != nullptr ? plans->items : std::vector<Node>{}) {
      const std::string label = values_.text(plan, "label");
      values_.set_record("strategy " + label);
      const Node* waterfall = values_.find(plan, "waterfall", Node::Kind::map, true);
      Terms terms;
      for (const auto& [name, term] : step_terms) {
        terms.push_back(1_s * (waterfall != nullptr
                                   ? values_.number(*waterfall, std::string(name) + "_seconds", 0.0,
                                                    !stands_where_stated(name))
                                   : 0.0));
      }
      kept.plans.emplace(label, std::move(terms));
      values_.set_record({});
    }
  }

  void read_profiles(const Node& root, KeptResult& kept) {
    const Node* files = values_.find(root, "profiles", Node::Kind::list, true);
    for (const Node& file : files != nullptr ? files->items : std::vector<Node>{}) {
      kept.profiles.emplace(values_.text(file, "file"), values_.text(file, "sha256"));
    }
  }

  const Argument& file_;
  Session& session_;
  JsonValues values_;
};

class SideReader {
 public:
  SideReader(const Library& library, Session& session)
      : session_(session),
        context_{library, session.sources(), session.diagnostics(), true, sim::find_in_links} {}

  // The other file's mistakes are told with one that cannot be read.
  std::optional<DiffSide> read(const Argument& file, const std::vector<Setting>& settings) {
    try {
      return read_side(file, settings);
    } catch (const std::runtime_error& error) {
      session_.cannot_read(error.what());
      return std::nullopt;
    }
  }

  // The strategy that an option names, or the one that it stands for.
  void choose(const std::optional<Argument>& named, const std::string& otherwise, DiffSide& side) {
    const std::string label = named ? named->text : otherwise;
    std::vector<std::string> known;
    known.reserve(side.read.experiment.plans.size());
    for (const CompressionPlan& plan : side.read.experiment.plans) {
      known.push_back(plan.label);
    }
    if (std::find(known.begin(), known.end(), label) == known.end()) {
      report_missing(named, label, known, side);
      return;
    }
    auto chosen = side_of(side.read, label, context_);
    if (!chosen) {
      session_.diagnostics().error(
          span_of(named), fmt::format("{} of {} cannot be predicted alone", backquoted(label),
                                      backquoted(side.file)));
      return;
    }
    side.side = std::move(*chosen);
    if (const auto kept = side.recorded.find(label); kept != side.recorded.end()) {
      side.side.recorded = kept->second;
    }
  }

 private:
  std::optional<DiffSide> read_side(const Argument& file, const std::vector<Setting>& settings) {
    std::optional<KeptResult> kept;
    std::optional<Document> document;
    if (is_result(file.text)) {
      kept = KeptReader(file, session_).read();
      if (kept) {
        document = kept->document;
      }
    } else {
      document = load_with_base(file.text, session_.sources(), session_.diagnostics());
    }
    auto experiment =
        document ? read_experiment(std::move(*document), settings, context_) : std::nullopt;
    if (!experiment) {
      return std::nullopt;
    }
    refuse_node_kinds(*experiment, session_);
    DiffSide side{file.text, std::move(*experiment), {}, {}, {}};
    if (kept && settings.empty()) {  // with other settings it says nothing of this job
      side.recorded = std::move(kept->plans);
      note_changed(kept->profiles, side);
    }
    return side;
  }

  void report_missing(const std::optional<Argument>& named, const std::string& label,
                      const std::vector<std::string>& known, const DiffSide& side) {
    if (named) {
      report_unknown_name(fmt::format("a strategy of {}", backquoted(side.file)), *named, known,
                          session_);
      return;
    }
    session_.diagnostics().error(
        std::nullopt,
        fmt::format("{} has no strategy {}", backquoted(side.file), backquoted(label)), {},
        "--against names one that it has");
  }

  void note_changed(const std::map<std::string, std::string>& profiles, DiffSide& side) const {
    for (const auto& file : profiles_json(context_.library, session_.sources(), side.read)) {
      const auto kept = profiles.find(file.at("file").get<std::string>());
      if (kept != profiles.end() && kept->second != file.at("sha256").get<std::string>()) {
        side.changed_profiles.push_back(kept->first);
      }
    }
  }

  Session& session_;
  ReadContext context_;
};

std::string first_compressing(const Experiment& experiment) {
  return experiment.plans[experiment.plans.size() > 1 ? 1 : 0].label;
}

}  // namespace

// The reader let both sides have it.
const CompressionPlan& DiffSide::plan() const {
  const std::vector<CompressionPlan>& plans = read.experiment.plans;
  return *std::find_if(plans.begin(), plans.end(),
                       [&](const CompressionPlan& each) { return each.label == side.plan; });
}

PricedUses DiffSide::uses() const {
  return uses_of_plan(PreparedExperiment(read.experiment), plan());
}

std::optional<DiffSides> read_diff_sides(const Arguments& arguments, const Library& library,
                                         Session& session) {
  const std::vector<Argument>& files = arguments.positionals();
  std::vector<Setting> settings;
  for (const Argument& setting : arguments.values(with_option.name)) {
    settings.push_back({setting.index, setting.text});
  }
  const std::size_t errors = session.diagnostics().error_count();
  const bool one_file = files.size() == 1 && settings.empty();
  SideReader reader(library, session);
  auto a = reader.read(files.front(), {});
  auto b = reader.read(files.back(), settings);
  (void)inputs_are_kept(arguments, session);
  if (!a || !b) {
    return std::nullopt;
  }
  const auto plan = arguments.value(diff_plan_option.name);
  const auto against = arguments.value(against_option.name);
  const std::string uncompressed = a->read.experiment.plans.front().label;
  reader.choose(plan, uncompressed, *a);
  reader.choose(against,
                one_file && !plan ? first_compressing(b->read.experiment)
                : one_file        ? uncompressed
                : plan            ? plan->text
                                  : uncompressed,
                *b);
  return session.diagnostics().error_count() > errors
             ? std::nullopt
             : std::optional(DiffSides{std::move(*a), std::move(*b)});
}

}  // namespace payoff
