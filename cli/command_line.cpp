// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "profiles/suggest.hpp"

namespace payoff {
namespace {

constexpr OptionSpec help_option{"--help", "", "this text", Takes::nothing};

bool is_option(std::string_view word) { return word.starts_with("-") && word != "-"; }

bool is_file_of_results(std::string_view word) {
  return word == "-" || (!is_option(word) && (word.ends_with(".json") || word.ends_with(".jsonl")));
}

bool is_experiment(std::string_view word) {
  return word.ends_with(".yaml") || word.ends_with(".yml") || word.ends_with(".json");
}

// Digits, behind a sign or not.
bool is_number(std::string_view word) {
  word.remove_prefix(word.starts_with("-") ? 1 : 0);
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

// Whether the word can be the value of an unknown option: no option itself, but a negative number.
bool may_be_value(std::string_view word) {
  const bool negative = word.size() > 1 && (word[1] == '.' || (word[1] >= '0' && word[1] <= '9'));
  return !is_option(word) || negative;
}

}  // namespace

// Turns words into arguments with places, and says what is wrong.
class CommandLineParser {
 public:
  CommandLineParser(const Command& command, std::span<const std::string> words, int first_index,
                    SourceMap& sources, Diagnostics& diagnostics)
      : command_(command),
        options_(options_of(command)),
        words_(words),
        first_index_(first_index),
        sources_(sources),
        diagnostics_(diagnostics) {}

  Arguments parse() {
    std::size_t i = 0;
    while (i < words_.size() && words_[i] != "--") {
      i += is_option(words_[i]) ? take_option(i) : take_positional(i);
    }
    for (++i; i < words_.size();) {
      i += take_positional(i);
    }
    if (!arguments_.help_wanted()) {
      check_positionals();
    }
    return std::move(arguments_);
  }

 private:
  // The part of the word from `offset` on.
  Argument argument(std::size_t at, std::size_t offset = 0) {
    const std::string& word = words_[at];
    const int index = first_index_ + static_cast<int>(at);
    const std::size_t source = sources_.add_argument(index, word);
    return {word.substr(offset), index, {source, offset, word.size() - offset}};
  }

  [[nodiscard]] const OptionSpec* find(std::string_view name) const {
    const auto found = std::find_if(options_.begin(), options_.end(),
                                    [&](const OptionSpec& option) { return option.name == name; });
    return found == options_.end() ? nullptr : &*found;
  }

  // The option that a word of the command line is, with its value behind `=` or without.
  [[nodiscard]] const OptionSpec* named_by(std::string_view word) const {
    return find(word == "-h" ? help_option.name : word.substr(0, word.find('=')));
  }

  std::size_t take_positional(std::size_t at) {
    arguments_.positionals_.push_back(argument(at));
    return 1;
  }

  // Returns how many words were read.
  std::size_t take_option(std::size_t at) {
    const std::string& word = words_[at];
    const std::size_t equals = word.find('=');
    const OptionSpec* option = named_by(word);
    if (option == nullptr) {
      return report_unknown(at);
    }
    if (option->takes == Takes::nothing) {
      if (equals == std::string::npos) {
        arguments_.options_.emplace_back(option->name, argument(at));
      } else {
        diagnostics_.error(argument(at, equals + 1).span,
                           fmt::format("`{}` takes no value", option->name));
      }
      return 1;
    }
    if (equals != std::string::npos) {
      take_value(*option, at, argument(at, equals + 1));
      return 1;
    }
    if (has_optional_value(option->takes)) {
      // A lone `--json` takes nothing: the word behind it may be the experiment.
      const bool is_file = option->takes == Takes::optional_file;
      const bool has_value = at + 1 < words_.size() && (is_file ? is_file_of_results(words_[at + 1])
                                                                : is_number(words_[at + 1]));
      take_value(*option, at, has_value ? argument(at + 1) : argument(at, word.size()));
      return has_value ? 2 : 1;
    }
    if (at + 1 == words_.size() || words_[at + 1] == "--" || named_by(words_[at + 1]) != nullptr) {
      report_missing_value(*option, at);
      return 1;
    }
    take_value(*option, at, argument(at + 1));
    return 2;
  }

  void take_value(const OptionSpec& option, std::size_t at, const Argument& value) {
    if (value.text.empty() && !has_optional_value(option.takes)) {
      report_missing_value(option, at);
      return;
    }
    if (const auto first = arguments_.value(option.name); first && option.takes != Takes::values) {
      diagnostics_.add({Severity::error,
                        fmt::format("`{}` is given twice", option.name),
                        value.span,
                        "the second time",
                        {},
                        {"the first is " + sources_.place(first->span)}});
      return;
    }
    arguments_.options_.emplace_back(option.name, value);
    if (option.writes) {
      arguments_.outputs_.emplace_back(option.name, value);
    }
  }

  void report_missing_value(const OptionSpec& option, std::size_t at) {
    diagnostics_.error(argument(at).span, fmt::format("`{}` needs a value", option.name),
                       fmt::format("expected {} behind it", option.value),
                       fmt::format("`payoff {} --help` lists the options", command_.name));
  }

  // The word behind a mistyped option is its value, not one argument too many.
  std::size_t report_unknown(std::size_t at) {
    std::vector<std::string> known;
    known.reserve(options_.size());
    for (const OptionSpec& option : options_) {
      known.emplace_back(option.name);
    }
    const std::string& word = words_[at];
    const std::string name = word.substr(0, word.find('='));
    const std::string nearest = closest(name, known);
    Span span = argument(at).span;
    span.length = name.size();
    diagnostics_.error(span, fmt::format("unknown option {}", backquoted(name)),
                       did_you_mean(nearest),
                       fmt::format("`payoff {} --help` lists the options", command_.name));
    if (name.size() < word.size() || at + 1 == words_.size() || !may_be_value(words_[at + 1])) {
      return 1;
    }
    const OptionSpec* meant = find(nearest);
    const bool takes_value = meant == nullptr
                                 ? !is_experiment(words_[at + 1])
                                 : meant->takes == Takes::value || meant->takes == Takes::values;
    return takes_value ? 2 : 1;
  }

  // `--json out`: the file of an option whose file is optional is known by its ending.
  [[nodiscard]] std::string help_for_extra(const Argument& found) const {
    const auto place = static_cast<std::size_t>(found.index - first_index_);
    for (const OptionSpec& option : options_) {
      if (place > 0 && option.takes == Takes::optional_file && words_[place - 1] == option.name) {
        return fmt::format(
            "a FILE of {0} ends in .json or .jsonl; for any other name write `{0}={1}`",
            option.name, found.text);
      }
    }
    return for_example();
  }

  // The first of its examples.
  [[nodiscard]] std::string for_example() const {
    return fmt::format("for example `{}`", command_.example.substr(0, command_.example.find('\n')));
  }

  void check_positionals() {
    const PositionalSpec& positional = command_.positional;
    const std::size_t count = arguments_.positionals_.size();
    if (count < positional.least) {
      diagnostics_.error(
          std::nullopt,
          fmt::format("`payoff {}` needs {}: {}", command_.name, positional.name, positional.help),
          {}, for_example());
      arguments_.complete_ = false;
    }
    for (std::size_t i = positional.most; i < count; ++i) {
      const Argument& extra = arguments_.positionals_[i];
      diagnostics_.error(
          extra.span,
          fmt::format("`payoff {}` does not take {}", command_.name, backquoted(extra.text)), {},
          help_for_extra(extra));
    }
  }

  const Command& command_;
  std::vector<OptionSpec> options_;
  std::span<const std::string> words_;
  int first_index_;
  SourceMap& sources_;
  Diagnostics& diagnostics_;
  Arguments arguments_;
};

bool Arguments::has(std::string_view option) const {
  return std::any_of(options_.begin(), options_.end(),
                     [&](const auto& entry) { return entry.first == option; });
}

std::optional<Argument> Arguments::value(std::string_view option) const {
  const auto found = std::find_if(options_.begin(), options_.end(),
                                  [&](const auto& entry) { return entry.first == option; });
  return found == options_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Argument> Arguments::values(std::string_view option) const {
  std::vector<Argument> result;
  for (const auto& [name, argument] : options_) {
    if (name == option) {
      result.push_back(argument);
    }
  }
  return result;
}

std::optional<Argument> Arguments::first_of(std::initializer_list<std::string_view> options) const {
  for (const std::string_view option : options) {
    if (auto given = value(option)) {
      return given;
    }
  }
  return std::nullopt;
}

std::vector<std::string> Arguments::behind_action() const {
  std::vector<std::string> texts;
  for (std::size_t i = 1; i < positionals_.size(); ++i) {
    texts.push_back(positionals_[i].text);
  }
  return texts;
}

std::optional<Span> span_of(const std::optional<Argument>& argument) {
  return argument ? std::optional(argument->span) : std::nullopt;
}

std::vector<OptionSpec> options_of(const Command& command) {
  std::vector<OptionSpec> options = command.options;
  options.push_back(error_format_option);
  options.push_back(help_option);
  return options;
}

Arguments parse_arguments(const Command& command, std::span<const std::string> words,
                          int first_index, SourceMap& sources, Diagnostics& diagnostics) {
  return CommandLineParser(command, words, first_index, sources, diagnostics).parse();
}

}  // namespace payoff
