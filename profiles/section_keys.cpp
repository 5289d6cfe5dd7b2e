// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "profiles/section_state.hpp"
#include "profiles/suggest.hpp"

namespace payoff::detail {
namespace {

bool holds(const std::vector<std::string>& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// The keys that the section could have and has not.
std::vector<std::string> free_keys(const SectionState& section) {
  std::vector<std::string> free;
  for (const std::string& key : section.asked) {
    if (section.node->find(key) == nullptr) {
      free.push_back(key);
    }
  }
  return free;
}

// The key that was meant: a foreign name that we know, or the nearest key, best one that is free.
std::string meant_key(const SectionState& section, const std::string& unknown,
                      const std::vector<std::string>& free) {
  for (const auto& [theirs, ours] : section.foreign) {
    if (unknown == theirs) {
      return ours;
    }
  }
  // A foreign name may be misspelt, too.
  std::vector<std::string> foreign;
  foreign.reserve(section.foreign.size());
  for (const auto& [theirs, ours] : section.foreign) {
    foreign.push_back(theirs);
  }
  if (const std::string theirs = closest(unknown, foreign);
      !theirs.empty() && closest(unknown, section.asked).empty()) {
    return std::find_if(section.foreign.begin(), section.foreign.end(),
                        [&](const auto& entry) { return entry.first == theirs; })
        ->second;
  }
  const std::string near = closest(unknown, free);
  return near.empty() ? closest(unknown, section.asked) : near;
}

void report_missing(Span anchor, const std::string& key, const std::string& place,
                    Diagnostics& diagnostics) {
  diagnostics.error(anchor, "missing key " + key + place, key + " is required here");
}

}  // namespace

std::vector<std::string> report_keys(const SectionState& section, Diagnostics& diagnostics) {
  const std::string place = section.path.empty() ? "" : " in `" + section.path + "`";
  const std::string whose = section.path.empty() ? "known keys" : "keys of `" + section.path + "`";
  const std::vector<std::string> free = free_keys(section);
  std::vector<std::string> misspelt;
  for (const Entry& entry : section.node->entries) {
    if (section.keys_are_names || holds(section.asked, entry.key)) {
      continue;
    }
    const std::string meant = meant_key(section, entry.key, free);
    if (!meant.empty()) {
      misspelt.push_back(meant);
    }
    diagnostics.error(entry.key_span, "unknown key " + backquoted(entry.key) + place,
                      did_you_mean(meant),
                      section.asked.empty() ? "" : whose + ": " + listed(section.asked));
  }
  for (const std::string& key : section.missing) {
    // One mistake, one error: the misspelt key was reported already.
    if (!holds(misspelt, key)) {
      report_missing(section.anchor, backquoted(key), place, diagnostics);
    }
  }
  misspelt.insert(misspelt.end(), section.missing.begin(), section.missing.end());
  return misspelt;
}

}  // namespace payoff::detail

namespace payoff {

void Reader::finish() {
  for (const detail::SectionState& section : state_->sections) {
    const std::vector<std::string> wrong = detail::report_keys(section, *state_->diagnostics);
    if (!wrong.empty()) {
      state_->wrong_keys.push_back(section.path);
    }
    for (const std::string& key : wrong) {
      state_->refused.push_back(join_path(section.path, key));
    }
  }
}

bool Reader::keys_are_right(std::string_view path) const {
  return std::none_of(state_->wrong_keys.begin(), state_->wrong_keys.end(),
                      [&](const std::string& wrong) {
                        return wrong == state_->root_path || wrong == path ||
                               wrong.starts_with(std::string(path) + ".");
                      });
}

bool Reader::own_keys_are_right(std::string_view path) const {
  return std::none_of(
      state_->wrong_keys.begin(), state_->wrong_keys.end(),
      [&](const std::string& wrong) { return wrong == state_->root_path || wrong == path; });
}

std::vector<std::string> Reader::refused(std::string_view path) const {
  std::vector<std::string> below;
  const std::string prefix = path.empty() ? "" : std::string(path) + ".";
  for (const std::string& refused : state_->refused) {
    if (refused.starts_with(prefix)) {
      below.push_back(refused.substr(prefix.size()));
    }
  }
  return below;
}

}  // namespace payoff
