// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <yaml-cpp/yaml.h>

#include "profiles/import/finding.hpp"

// Typed access to the keys of one YAML mapping for the importers (internal to them: the one header
// here that names yaml-cpp). A key that is absent or null gives no value; one of the wrong type
// gives no value and a finding at its position. Unknown keys are the business of nobody: published
// files carry free text.

namespace payoff::import_detail {

struct YamlSource {
  std::string file;
  Findings& findings;
};

class Fields {
 public:
  // A node that is no mapping reads as one without keys, after a finding.
  Fields(const YAML::Node& node, YamlSource source, std::string entry);

  [[nodiscard]] std::optional<std::string> text(const char* key) const;
  [[nodiscard]] std::optional<double> number(const char* key) const;
  [[nodiscard]] std::optional<int> integer(const char* key) const;
  [[nodiscard]] std::optional<bool> flag(const char* key) const;
  [[nodiscard]] std::vector<std::string> texts(const char* key) const;  // a list, or one text
  [[nodiscard]] Fields child(const char* key) const;                    // absent: no keys
  [[nodiscard]] YAML::Node list(const char* key) const;                 // absent: empty

  // As above, and a finding when the key is absent.
  [[nodiscard]] std::string required_text(const char* key) const;
  [[nodiscard]] int required_integer(const char* key) const;

  void report(const std::string& message, Effect effect = Effect::rejected) const;
  void report_at(const YAML::Node& node, const std::string& message) const;

  [[nodiscard]] const std::string& entry() const { return entry_; }
  void set_entry(std::string entry) { entry_ = std::move(entry); }
  [[nodiscard]] int line() const { return mark_.line + 1; }
  [[nodiscard]] int column() const { return mark_.column + 1; }

 private:
  [[nodiscard]] YAML::Node find(const char* key) const;
  [[nodiscard]] YAML::Node scalar(const char* key, const char* wanted) const;

  YAML::Node node_;
  YAML::Mark mark_;  // of the node; of its parent where the node is absent
  YamlSource source_;
  std::string entry_;
};

// A whole number or decimal as YAML writes it; nothing else may follow.
[[nodiscard]] std::optional<double> plain_number(std::string_view text);

// The document; nothing, with a finding at the place, where it is no YAML.
[[nodiscard]] std::optional<YAML::Node> parse_document(const std::string& text, YamlSource source);

// Content of a file; nothing, with a finding, where it cannot be read or is larger than 256 MiB.
[[nodiscard]] std::optional<std::string> read_file(const std::filesystem::path& path,
                                                   Findings& findings);

// Reads one file's text under its name; false: it has not the list that is wanted.
using ReadYaml = std::function<bool(const std::string& text, const std::string& file)>;

// Reads a file, or every .yaml and .yml of a folder in the order of names. One without the list is
// `skipped` in a folder, and a finding by itself.
void read_yaml_files(const std::filesystem::path& path, const char* list, const ReadYaml& read,
                     std::vector<std::string>& skipped, Findings& findings);

[[nodiscard]] Finding no_list(const std::string& file, const char* list);

}  // namespace payoff::import_detail
