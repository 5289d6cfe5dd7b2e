// SPDX-License-Identifier: Apache-2.0
#include "kernels/program/options.hpp"

#include <algorithm>
#include <numeric>

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

// Letters to add, drop or change from one word to the other (Levenshtein).
std::size_t steps_between(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  std::size_t fewest = word.size() / 3 + 1;  // beyond a third of the letters it is another word
  std::string closest;
  for (const std::string& each : known) {
    if (const std::size_t steps = steps_between(word, each);
        steps < fewest || (steps == fewest && closest.empty())) {
      fewest = steps;
      closest = each;
    }
  }
  return closest.empty() ? "" : "; did you mean `" + closest + "`?";
}

Options read_options(std::span<const char* const> words) {
  static const std::vector<std::string> known{"--list", "--dry-run", "--check", "--help",
                                              "--full", "--quick",   "--only",  "--out"};
  Options options;
  bool quick = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    quick = quick || word == "--quick";
    if (read_flag(word, options)) {
      continue;
    }
    if (word != "--only" && word != "--out") {
      options.problems.push_back("unknown argument `" + std::string(word) + "`" +
                                 did_you_mean(word, known));
    } else if (i + 1 == words.size()) {
      options.problems.push_back(std::string(word) + " needs a value");
    } else if (word == "--only") {
      const std::size_t before = options.only.size();
      add_names(words[++i], options.only);
      if (options.only.size() == before) {
        options.problems.emplace_back("`--only` names nothing: `--list` shows what there is");
      }
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
