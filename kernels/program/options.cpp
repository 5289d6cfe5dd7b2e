// SPDX-License-Identifier: Apache-2.0
#include "kernels/program/options.hpp"

#include <optional>

namespace payoff::kernels {
namespace {

void add_names(std::string_view list, std::vector<std::string>& names) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view name = list.substr(0, comma);
    if (!name.empty()) {
      names.emplace_back(name);
    }
    list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
  }
}

// Whether the word was one that takes no value.
bool read_flag(std::string_view word, Options& options) {
  if (word == "--list") {
    options.action = Action::list;
  } else if (word == "--dry-run") {
    options.action = Action::dry_run;
  } else if (word == "--check") {
    options.action = Action::check;
  } else if (word == "--help" || word == "-h") {
    options.action = Action::help;
  } else if (word == "--full") {
    options.full = true;
  } else if (word != "--quick") {
    return false;
  }
  return true;
}

}  // namespace

Options read_options(std::span<const char* const> words) {
  Options options;
  bool quick = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    quick = quick || word == "--quick";
    if (read_flag(word, options)) {
      continue;
    }
    if (word != "--only" && word != "--out") {
      options.problems.push_back("unknown argument `" + std::string(word) + "`");
    } else if (i + 1 == words.size()) {
      options.problems.push_back(std::string(word) + " needs a value");
    } else if (word == "--only") {
      add_names(words[++i], options.only);
    } else {
      options.out = words[++i];
    }
  }
  if (quick && options.full) {
    options.problems.emplace_back("`--quick` and `--full` exclude each other");
  }
  if (options.action == Action::measure && options.out.empty()) {
    options.problems.emplace_back("nothing is measured without `--out samples.json`");
  }
  return options;
}

std::string_view help_text() {
  return R"(payoff-kernels: measures codecs, memory and layers on the first GPU of this machine

  payoff-kernels --out samples.json            what there is, in less than two minutes (--quick)
  payoff-kernels --full --out samples.json     to calibrate with, in less than ten
  payoff-kernels --check                       compares every codec with the host reference

  --list              the kernels, their families, and how many points each has
  --dry-run           the points and the time that they would take; launches nothing
  --only NAME,...     kernels or families of them; interference:
                      those beside each other
  --quick, --full     which sizes and variants

Exit status: 0 done, 1 something failed, 2 wrong arguments, 77 no GPU.
)";
}

}  // namespace payoff::kernels
