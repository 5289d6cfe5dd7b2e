// SPDX-License-Identifier: Apache-2.0
#include "cli/experiment_input.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/output_guard.hpp"
#include "cli/repeated_keys.hpp"
#include "cli/result_kind.hpp"
#include "profiles/document.hpp"
#include "profiles/override.hpp"
#include "sim/topology.hpp"

namespace payoff {
namespace {

constexpr std::string_view compress_option = "--compress";
constexpr std::string_view set_option = "--set";

bool is_file(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(".json") ||
         name.ends_with(".yaml");
}

class InputReader {
 public:
  InputReader(const Arguments& arguments, std::optional<Argument> file,
              std::vector<WrittenKey> varied, Session& session)
      : arguments_(arguments),
        file_(std::move(file)),
        session_(session),
        varied_(varied.size()),
        written_(std::move(varied)) {}

  std::optional<ExperimentDocument> read() {
    std::optional<Document> document = start();
    if (!document) {
      return std::nullopt;
    }
    for (const KeyOption& option : key_options()) {
      put(option, document->root);
    }
    put_plans(document->root);
    std::vector<Setting> settings;
    for (const Argument& setting : arguments_.values(set_option)) {
      note_setting(setting);
      settings.push_back({setting.index, setting.text});
    }
    report_repeated_keys(written_, session_);
    return ExperimentDocument{std::move(*document), std::move(settings)};
  }

 private:
  // Whether the section of the option's key is among what varies: "cluster" or "cluster.profile".
  [[nodiscard]] bool varies(std::string_view section) const {
    return std::any_of(written_.begin(), written_.begin() + static_cast<std::ptrdiff_t>(varied_),
                       [&](const WrittenKey& key) {
                         return key.path == section ||
                                key.path == std::string(section) + ".profile";
                       });
  }

  // The file, or an empty mapping for the options to fill.
  std::optional<Document> start() {
    if (file_) {
      return refuse_result(*file_, "an experiment", session_)
                 ? std::nullopt
                 : load_with_base(file_->text, session_.sources(), session_.diagnostics());
    }
    bool complete = true;
    for (const char* needed : {"--model", "--cluster"}) {
      if (!arguments_.has(needed) && !varies(std::string_view(needed).substr(2))) {
        session_.diagnostics().error(
            std::nullopt, std::string("neither an experiment file nor ") + needed + " is given", {},
            fmt::format("payoff {0} EXPERIMENT.yaml, or payoff {0} --model bert-large --cluster "
                        "p3-8xlarge --nodes 8 --compress powersgd:rank=4",
                        session_.command()));
        complete = false;
      }
    }
    if (!complete) {
      return std::nullopt;
    }
    Document document;
    document.source = session_.sources().add_argument(0, "payoff");
    document.root.kind = Node::Kind::map;
    document.root.span = {document.source, 0, 0};
    return document;
  }

  void put(const KeyOption& option, Node& root) {
    const std::optional<Argument> given = arguments_.value(option.option);
    if (!given) {
      return;
    }
    Node value = scalar_node(given->span, session_.sources());
    if (option.value.empty()) {  // a flag stands for a value
      value.text = option.text;
    }
    const bool model_file = option.path == "model.profile" && is_file(given->text);
    const std::string_view path = model_file ? "model.file" : option.path;
    written_.push_back({std::string(path), given->span});
    set_value(root, path, std::move(value), given->span, session_.diagnostics());
  }

  // Instead of those of the file.
  void put_plans(Node& root) {
    const std::vector<Argument> plans = arguments_.values(compress_option);
    if (plans.empty()) {
      return;
    }
    Node list;
    list.kind = Node::Kind::list;
    list.span = plans.front().span;
    for (const Argument& plan : plans) {
      list.items.push_back(scalar_node(plan.span, session_.sources()));
    }
    written_.push_back({"compress", list.span});
    set_value(root, "compress", std::move(list), plans.front().span, session_.diagnostics());
  }

  // A key that is no path is told when it is applied.
  void note_setting(const Argument& setting) {
    const std::size_t equals = setting.text.find('=');
    const auto parts = split_path(std::string_view(setting.text).substr(0, equals));
    if (equals == std::string::npos || !parts) {
      return;
    }
    std::string path;
    for (const PathPart& part : *parts) {
      path = join_path(path, part.key);
    }
    Span span = setting.span;
    span.length = equals;
    written_.push_back({std::move(path), span});
  }

  const Arguments& arguments_;
  std::optional<Argument> file_;
  Session& session_;
  std::size_t varied_;               // how many of those written
  std::vector<WrittenKey> written_;  // what varies, then the command line in order of application
};

}  // namespace

std::vector<OptionSpec> experiment_options(std::vector<OptionSpec> own) {
  std::vector<OptionSpec> options;
  options.reserve(key_options().size() + own.size() + 2);
  for (const KeyOption& option : key_options()) {
    options.push_back({option.option, option.value, option.help,
                       option.value.empty() ? Takes::nothing : Takes::value});
  }
  options.push_back({compress_option, "METHOD:KEY=VALUE",
                     "a strategy to compare; several times, instead of the file's", Takes::values});
  options.push_back(
      {set_option, "KEY=VALUE", "sets any key of the file: layout.tp=4", Takes::values});
  options.insert(options.end(), own.begin(), own.end());
  return options;
}

bool has_default_batch(const ReadExperiment& read) {
  const Entry* layout = read.document.root.find("layout");
  const auto given = [layout](std::string_view key) {
    return layout != nullptr && layout->value.find(key) != nullptr;
  };
  return !given("micro_batch") && !given("global_batch");
}

void warn_of_default_batch(const ReadExperiment& read, Session& session) {
  if (has_default_batch(read)) {
    session.diagnostics().warning(
        std::nullopt, "no --micro-batch is given: one sample a GPU at a time is predicted", {},
        "small batches compute little, and flatter compression");
  }
}

std::optional<ReadExperiment> read_experiment_input(const Arguments& arguments,
                                                    const Library& library, Session& session,
                                                    NodeKinds kinds, const TakesPlan& takes_plan) {
  const std::vector<Argument>& words = arguments.positionals();
  return read_experiment_input(arguments, words.empty() ? std::nullopt : std::optional(words[0]),
                               library, session, kinds, takes_plan);
}

void refuse_node_kinds(const ReadExperiment& read, Session& session, std::string_view what) {
  if (read.experiment.cluster.is_mixed()) {
    session.diagnostics().error(
        read.positions.find("cluster.node_kinds"),
        fmt::format("`{}` knows nodes of one kind only",
                    what.empty() ? fmt::format("payoff {}", session.command()) : what),
        {}, "`payoff predict`, `simulate`, `sweep`, `plot` and `report` know several");
  }
}

std::optional<ReadExperiment> read_experiment_input(const Arguments& arguments,
                                                    std::optional<Argument> file,
                                                    const Library& library, Session& session,
                                                    NodeKinds kinds, const TakesPlan& takes_plan) {
  std::optional<ReadExperiment> result;
  try {
    if (std::optional<ExperimentDocument> input =
            InputReader(arguments, std::move(file), {}, session).read();
        input && !refuse_grid(input->document, session)) {
      result = read_experiment(
          std::move(input->document), input->settings,
          {library, session.sources(), session.diagnostics(), true, sim::find_in_links},
          takes_plan);
    }
  } catch (const std::runtime_error& error) {  // the mistakes of other options are told with it
    session.cannot_read(error.what());
  }
  if (result && kinds == NodeKinds::one) {
    refuse_node_kinds(*result, session);
  }
  (void)inputs_are_kept(arguments, session);
  return session.diagnostics().has_errors() ? std::nullopt : std::move(result);
}

void apply_settings(ExperimentDocument& experiment, Session& session) {
  for (const Setting& setting : experiment.settings) {
    apply_override(experiment.document.root, setting.argument, setting.text, session.sources(),
                   session.diagnostics());
  }
}

std::optional<ExperimentDocument> experiment_document(const Arguments& arguments,
                                                      const std::vector<WrittenKey>& varied,
                                                      Session& session) {
  const std::vector<Argument>& words = arguments.positionals();
  return InputReader(arguments, words.empty() ? std::nullopt : std::optional(words[0]), varied,
                     session)
      .read();
}

}  // namespace payoff
