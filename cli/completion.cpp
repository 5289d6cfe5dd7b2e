// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/command_line.hpp"
#include "cli/completion_words.hpp"
#include "cli/experiment_input.hpp"
#include "cli/own_schemas.hpp"
#include "profiles/record_keys.hpp"
#include "study/engine.hpp"

namespace payoff {
namespace {

class Completer {
 public:
  Completer(std::span<const Command> commands, const Library& library)
      : commands_(commands), library_(library) {}

  Completion complete(std::span<const std::string> words) {
    typed_ = words.back();
    if (words.size() == 1) {
      for (const Command& command : commands_) {
        offer(command.name, command.summary);
      }
      offer("--help", "the commands");
      offer("--version", "the version of the program");
      return std::move(result_);
    }
    const auto command = std::find_if(commands_.begin(), commands_.end(), [&](const Command& each) {
      return each.name == words.front();
    });
    if (command != commands_.end()) {
      command_ = &*command;
      complete_behind(words.subspan(1));
    }
    return std::move(result_);
  }

 private:
  void complete_behind(std::span<const std::string> words) {
    const std::vector<OptionSpec> options = options_of(*command_);
    const auto named = [&](std::string_view name) {
      return std::find_if(options.begin(), options.end(),
                          [&](const OptionSpec& option) { return option.name == name; });
    };
    if (const std::size_t equals = typed_.find('=');
        typed_.starts_with("--") && equals != std::string::npos) {
      if (const auto option = named(std::string_view(typed_).substr(0, equals));
          option != options.end()) {
        offer_values(*option, typed_.substr(0, equals + 1));
      }
      return;
    }
    if (words.size() > 1) {
      const auto before = named(words[words.size() - 2]);
      if (before != options.end() &&
          (before->takes == Takes::value || before->takes == Takes::values)) {
        offer_values(*before, "");
        return;
      }
    }
    if (typed_.starts_with("-")) {
      offer_options(options, words);
    } else if (const std::string_view known = known_of(""); !known.empty()) {
      offer_known(known, "");
    } else if (command_->name == "schema") {
      for (const std::string_view kind : document_kinds()) {
        offer(kind, "");
      }
      for (const std::string_view kind : own_kinds) {
        offer(kind, "");
      }
    } else {
      result_.files = command_->positional.most > 0;
    }
  }

  void offer_options(const std::vector<OptionSpec>& options, std::span<const std::string> words) {
    for (const OptionSpec& option : options) {
      const bool given = std::find(words.begin(), words.end() - 1, option.name) != words.end() - 1;
      if (!given || option.takes == Takes::values) {
        offer(option.name, option.help);
      }
    }
  }

  void offer_values(const OptionSpec& option, const std::string& prefix) {
    if (const std::string_view known = known_of(option.name); !known.empty()) {
      offer_known(known, prefix);
    } else if (option.name == "--compress") {
      offer_plan(prefix);
    } else if (option.name == "--over") {
      offer_axes(prefix);
    } else if (option.name == "--set" || option.name == "--with") {
      offer_keys(prefix);
    } else if (const std::string_view key = key_of_option(option.name.substr(2)); !key.empty()) {
      offer_values_of_key(key, prefix);
    } else {
      result_.files = option.value.find("FILE") != std::string_view::npos ||
                      option.value.find("FOLDER") != std::string_view::npos;
    }
  }

  [[nodiscard]] std::string_view known_of(std::string_view word) const {
    for (const KnownWords& known : known_words) {
      if (known.word == word && (known.command.empty() || known.command == command_->name)) {
        return known.values;
      }
    }
    return {};
  }

  void offer_known(std::string_view words, const std::string& prefix) {
    while (!words.empty()) {
      const std::size_t end = std::min(words.find(' '), words.size());
      const std::string_view word = words.substr(0, end);
      words.remove_prefix(std::min(end + 1, words.size()));
      if (!word.starts_with("@")) {
        offer(prefix + std::string(word), "");
      } else if (word == "@file") {
        result_.files = true;
      } else if (word == "@engine") {
        offer_engines(prefix);
      } else {
        offer_names_of(word.substr(1), prefix);
      }
    }
  }

  // Our own is always there.
  void offer_engines(const std::string& prefix) {
    for (const Engine engine : all_engines) {
      if (engine != Engine::analytical) {
        offer(prefix + std::string(typed_name(engine)), "");
      }
    }
  }

  void offer_names_of(std::string_view kind, const std::string& prefix) {
    for (const ProfileKind each :
         {ProfileKind::gpu, ProfileKind::fabric, ProfileKind::network, ProfileKind::cluster,
          ProfileKind::model, ProfileKind::software, ProfileKind::compression}) {
      if (folder_of(each) == kind) {
        offer_names(each, prefix);
      }
    }
  }

  void offer_plan(const std::string& prefix) {
    if (!offer_parameters(prefix, typed_.substr(prefix.size()))) {
      offer_names(ProfileKind::compression, prefix);
    }
  }

  // False where the last method has no colon yet.
  bool offer_parameters(const std::string& prefix, const std::string& typed) {
    const auto words = completed_parameters(typed, library_);
    for (const CompletedWord& word : words.value_or(std::vector<CompletedWord>())) {
      offer(prefix + word.text, word.help);
    }
    return words.has_value();
  }

  void offer_names(ProfileKind kind, const std::string& prefix) {
    for (const std::string& name : library_.names(kind)) {
      offer(prefix + name, "");
    }
  }

  // "layout.tp=" and, behind it, what that key may be.
  void offer_keys(const std::string& prefix) {
    const std::string typed = typed_.substr(prefix.size());
    const std::size_t equals = typed.find('=');
    if (equals != std::string::npos) {
      const std::string key = typed.substr(0, equals);
      const std::string_view long_name = key_of_option(key);
      offer_values_of_key(long_name.empty() ? std::string_view(key) : long_name,
                          prefix + key + "=");
      return;
    }
    offer_keys_below(keys(), "", prefix);
  }

  // An axis has the key or its option without dashes, and values with commas in between.
  void offer_axes(const std::string& prefix) {
    const std::string typed = typed_.substr(prefix.size());
    const std::size_t equals = typed.find('=');
    if (equals == std::string::npos) {
      for (const OptionSpec& option : command_->options) {
        const std::string key(option.name.substr(2));
        if (key == "compress" || !key_of_option(key).empty()) {
          offer(prefix + key + "=", option.help);
        }
      }
      offer_keys(prefix);
      return;
    }
    const std::string key = typed.substr(0, equals);
    const std::size_t value = std::max(equals + 1, typed.rfind(',') + 1);  // npos + 1 is 0
    const std::string before = prefix + typed.substr(0, value);
    if (key == "compress") {
      offer_parameters(prefix + key + "=", typed.substr(equals + 1));
      if (typed.find(':', value) != std::string::npos) {
        return;
      }
      offer(before + "none", "");
      offer_names(ProfileKind::compression, before);
      return;
    }
    const std::string_view long_name = key_of_option(key);
    offer_values_of_key(long_name.empty() ? std::string_view(key) : long_name, before);
  }

  void offer_keys_below(const KeyRecord& record, const std::string& path,
                        const std::string& prefix) {
    for (const auto& [name, below] : record.keys) {
      const std::string key = join_path(path, name);
      if (below->section && !below->keys.empty() && name != "citations") {
        offer_keys_below(*below, key, prefix);
      } else if (name != "citations" && name != "base") {
        offer(prefix + key + "=", help_of_key(key));
      }
    }
  }

  void offer_values_of_key(std::string_view path, const std::string& prefix) {
    if (path == "model.profile") {
      offer_names(ProfileKind::model, prefix);
      result_.files = prefix.empty();
      return;
    }
    if (path == "software") {
      offer_names(ProfileKind::software, prefix);
      return;
    }
    if (path.starts_with("cluster.")) {
      offer_names_of(path == "cluster.profile" ? "cluster" : path.substr(8), prefix);
    }
    const KeyRecord* record = &keys();
    const std::vector<PathPart> parts = split_path(path).value_or(std::vector<PathPart>{});
    for (const PathPart& part : parts) {
      record = record == nullptr ? nullptr : record->find(part.key);
    }
    if (record != nullptr) {
      for (const std::string& name : record->names) {
        offer(prefix + name, "");
      }
      if (record->boolean) {
        offer(prefix + "true", "");
        offer(prefix + "false", "");
      }
    }
  }

  const KeyRecord& keys() {
    if (!keys_) {
      keys_ = all_keys(document_kinds().front(), library_);
    }
    return *keys_;
  }

  void offer(std::string_view text, std::string_view help) {
    if (text.starts_with(typed_)) {
      result_.candidates.push_back({std::string(text), std::string(help)});
    }
  }

  std::span<const Command> commands_;
  const Library& library_;
  const Command* command_ = nullptr;
  std::string typed_;
  std::optional<KeyRecord> keys_;
  Completion result_;
};

}  // namespace

Completion complete(std::span<const std::string> words, std::span<const Command> commands,
                    const Library& library) {
  return Completer(commands, library).complete(words);
}

}  // namespace payoff
