// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/word_places.hpp"
#include "profiles/suggest.hpp"

namespace payoff {
namespace {

constexpr OptionSpec help_option{"--help", "", "this text", Takes::nothing};

std::vector<OptionSpec> options_of(const Command& command) {
  std::vector<OptionSpec> options = command.options;
  options.push_back(error_format_option);
  options.push_back(help_option);
  return options;
}

// The CLI11 form of a command, and where its values go.
struct Parser {
  CLI::App app;
  std::vector<std::vector<std::string>> values;  // in the order of the options
  std::vector<bool> flags;
  std::vector<std::string> positionals;
};

enum class Purpose { parsing, help };

void describe(const Command& command, const std::vector<OptionSpec>& options, Purpose purpose,
              Parser& parser) {
  CLI::App& app = parser.app;
  app.name("payoff " + std::string(command.name));
  app.description(std::string(command.summary));
  app.set_help_flag();
  app.allow_extras();
  app.footer(std::string(command.details) + (command.details.empty() ? "" : "\n") + "Example:\n  " +
             std::string(command.example));
  parser.values.resize(options.size());
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string name(options[i].name);
    const std::string help(options[i].help);
    if (options[i].takes == Takes::nothing) {
      app.add_flag(name, help);
      continue;
    }
    const bool optional = options[i].takes == Takes::optional_file;
    const bool repeated = options[i].takes == Takes::values;
    app.add_option(name, parser.values[i], help)
        ->type_name(optional ? fmt::format("[{}]", options[i].value)
                             : std::string(options[i].value) + (repeated ? " ..." : ""))
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->expected(1)
        ->allow_extra_args(false);
  }
  if (!command.positional.name.empty()) {
    app.add_option(std::string(command.positional.name), parser.positionals,
                   std::string(command.positional.help))
        ->type_name("")
        // When parsing, one word too many is ours to report.
        ->expected(0, purpose == Purpose::help && command.positional.most == 1 ? 1 : -1);
  }
}

}  // namespace

// Turns what CLI11 found into arguments with places, and says what is wrong.
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
    describe(command_, options_, Purpose::parsing, parser_);
    std::vector<std::string> reversed = with_places(options_, words_, first_index_);
    std::reverse(reversed.begin(), reversed.end());
    try {
      parser_.app.parse(std::move(reversed));
    } catch (const CLI::ArgumentMismatch&) {
      report_missing_value();
    }
    take_options();
    for (const std::string& text : parser_.positionals) {
      arguments_.positionals_.push_back(argument(text));
    }
    report_unknown();
    if (!arguments_.help_wanted() && !diagnostics_.has_errors()) {
      check_positionals();
    }
    return std::move(arguments_);
  }

 private:
  Argument argument(const std::string& text) {
    Argument result = unmarked(text);
    if (result.index == 0) {  // a word that begins with a dash
      const auto word = std::find(words_.begin(), words_.end(), text);
      result.index = first_index_ + static_cast<int>(word - words_.begin());
    }
    result.span = place(result.index, result.text);
    return result;
  }

  // The value's place in the whole word `--name=value`.
  Span place(int index, const std::string& text) {
    const std::string& word = words_[static_cast<std::size_t>(index - first_index_)];
    const std::size_t source = sources_.add_argument(index, word);
    const std::size_t offset = word.ends_with(text) ? word.size() - text.size() : 0;
    return {source, offset, word.size() - offset};
  }

  void take_options() {
    for (std::size_t i = 0; i < options_.size(); ++i) {
      const OptionSpec& option = options_[i];
      if (option.takes == Takes::nothing) {
        if (parser_.app.count(std::string(option.name)) > 0) {
          arguments_.options_.emplace_back(option.name, argument(std::string(option.name)));
        }
        continue;
      }
      for (const std::string& text : parser_.values[i]) {
        take_value(option, argument(text), &text == &parser_.values[i].front());
      }
    }
  }

  void take_value(const OptionSpec& option, const Argument& value, bool first) {
    const bool is_option =
        std::any_of(options_.begin(), options_.end(),
                    [&](const OptionSpec& other) { return value.text == other.name; });
    if (is_option || (value.text.empty() && option.takes != Takes::optional_file)) {
      diagnostics_.error(value.span, fmt::format("`{}` needs a value", option.name),
                         fmt::format("expected {} before this", option.value));
    } else if (!first && option.takes != Takes::values) {
      diagnostics_.error(value.span, fmt::format("`{}` is given twice", option.name));
    } else {
      arguments_.options_.emplace_back(option.name, value);
    }
  }

  void report_missing_value() {
    const Argument last = argument(words_.back());
    diagnostics_.error(last.span, fmt::format("`{}` needs a value", last.text), {},
                       fmt::format("`payoff {} --help` lists the options", command_.name));
  }

  void report_unknown() {
    std::vector<std::string> known;
    known.reserve(options_.size());
    for (const OptionSpec& option : options_) {
      known.emplace_back(option.name);
    }
    for (const std::string& text : parser_.app.remaining()) {
      Argument found = argument(text);
      if (found.text == "--") {
        continue;
      }
      if (!found.text.starts_with("-")) {
        extra_positional(found);
        continue;
      }
      const std::string name = found.text.substr(0, found.text.find('='));
      found.span.length = name.size();
      diagnostics_.error(found.span, fmt::format("unknown option {}", backquoted(name)),
                         did_you_mean(closest(name, known)),
                         fmt::format("`payoff {} --help` lists the options", command_.name));
    }
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
    const std::string_view first = command_.example.substr(0, command_.example.find('\n'));
    return fmt::format("for example `{}`", first);
  }

  void extra_positional(const Argument& found) {
    diagnostics_.error(
        found.span,
        fmt::format("`payoff {}` does not take {}", command_.name, backquoted(found.text)), {},
        help_for_extra(found));
  }

  void check_positionals() {
    const PositionalSpec& positional = command_.positional;
    const std::size_t count = arguments_.positionals_.size();
    if (count < positional.least) {
      diagnostics_.error(
          std::nullopt,
          fmt::format("`payoff {}` needs {}: {}", command_.name, positional.name, positional.help),
          {}, fmt::format("for example `{}`", command_.example));
    }
    for (std::size_t i = positional.most; i < count; ++i) {
      extra_positional(arguments_.positionals_[i]);
    }
  }

  const Command& command_;
  std::vector<OptionSpec> options_;
  std::span<const std::string> words_;
  int first_index_;
  SourceMap& sources_;
  Diagnostics& diagnostics_;
  Parser parser_;
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

Arguments parse_arguments(const Command& command, std::span<const std::string> words,
                          int first_index, SourceMap& sources, Diagnostics& diagnostics) {
  return CommandLineParser(command, words, first_index, sources, diagnostics).parse();
}

std::string help_text(const Command& command) {
  Parser parser;
  describe(command, options_of(command), Purpose::help, parser);
  return parser.app.help();
}

}  // namespace payoff
