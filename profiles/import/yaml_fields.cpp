// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/yaml_fields.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "profiles/document.hpp"

namespace payoff::import_detail {
namespace {

std::vector<std::filesystem::path> yaml_files_in(const std::filesystem::path& folder,
                                                 Findings& findings) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  for (const std::filesystem::directory_iterator end; !error && entries != end;
       entries.increment(error)) {
    const std::string extension = entries->path().extension().string();
    if ((extension == ".yaml" || extension == ".yml") && entries->is_regular_file(error)) {
      files.push_back(entries->path());
    }
  }
  if (error) {
    findings.push_back(
        {folder.string(), 0, 0, "", "cannot be read: " + error.message(), Effect::rejected});
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

Fields::Fields(const YAML::Node& node, YamlSource source, std::string entry)
    : node_(node), mark_(node_.Mark()), source_(std::move(source)), entry_(std::move(entry)) {
  if (!node_.IsMap() && !node_.IsNull()) {
    report_at(node_, "expected a mapping of keys to values");
    node_.reset(YAML::Node());  // an assignment would change the document
  }
}

YAML::Node Fields::find(const char* key) const {
  if (!node_.IsMap()) {
    return YAML::Node();
  }
  const YAML::Node& constant = node_;  // the mutable operator would insert the key
  const YAML::Node found = constant[key];
  return found.IsDefined() ? found : YAML::Node();
}

YAML::Node Fields::scalar(const char* key, const char* wanted) const {
  YAML::Node found = find(key);
  if (!found.IsNull() && !found.IsScalar()) {
    report_at(found, fmt::format("{}: expected {}", key, wanted));
    return YAML::Node();
  }
  return found;
}

std::optional<std::string> Fields::text(const char* key) const {
  const YAML::Node found = scalar(key, "a text");
  return found.IsNull() ? std::nullopt : std::optional(found.Scalar());
}

std::optional<double> Fields::number(const char* key) const {
  const YAML::Node found = scalar(key, "a number");
  if (found.IsNull()) {
    return std::nullopt;
  }
  const std::optional<double> value = plain_number(found.Scalar());
  if (!value) {
    report_at(found, fmt::format("{}: expected a number, found '{}'", key, found.Scalar()));
  }
  return value;
}

std::optional<int> Fields::integer(const char* key) const {
  const std::optional<double> value = number(key);
  if (!value) {
    return std::nullopt;
  }
  const double largest = std::numeric_limits<int>::max();
  if (std::floor(*value) != *value || std::abs(*value) > largest) {
    report_at(find(key), fmt::format("{}: expected a whole number, found {}", key, *value));
    return std::nullopt;
  }
  return static_cast<int>(*value);
}

std::optional<bool> Fields::flag(const char* key) const {
  const YAML::Node found = scalar(key, "true or false");
  if (found.IsNull()) {
    return std::nullopt;
  }
  bool value = false;
  if (!YAML::convert<bool>::decode(found, value)) {
    report_at(found, fmt::format("{}: expected true or false, found '{}'", key, found.Scalar()));
    return std::nullopt;
  }
  return value;
}

std::vector<std::string> Fields::texts(const char* key) const {
  const YAML::Node found = find(key);
  std::vector<std::string> values;
  if (found.IsScalar()) {
    values.push_back(found.Scalar());
  } else if (found.IsSequence()) {
    for (const YAML::Node& item : found) {
      if (item.IsScalar()) {
        values.push_back(item.Scalar());
      } else {
        report_at(item, fmt::format("{}: expected a list of texts", key));
      }
    }
  } else if (!found.IsNull()) {
    report_at(found, fmt::format("{}: expected a list of texts", key));
  }
  return values;
}

Fields Fields::child(const char* key) const {
  Fields fields(find(key), source_, entry_);
  if (fields.mark_.is_null()) {
    fields.mark_ = mark_;
  }
  return fields;
}

YAML::Node Fields::list(const char* key) const {
  YAML::Node found = find(key);
  if (!found.IsSequence()) {
    if (!found.IsNull()) {
      report_at(found, fmt::format("{}: expected a list", key));
    }
    return YAML::Node(YAML::NodeType::Sequence);
  }
  return found;
}

std::string Fields::required_text(const char* key) const {
  const std::optional<std::string> value = text(key);
  const bool blank = !value || value->find_first_not_of(" \t\r\n") == std::string::npos;
  if (blank) {
    report(fmt::format("{} is missing", key));
  }
  return value.value_or("");
}

int Fields::required_integer(const char* key) const {
  const bool absent = find(key).IsNull();
  if (absent) {
    report(fmt::format("{} is missing", key));
  }
  return integer(key).value_or(0);
}

void Fields::report(const std::string& message, Effect effect) const {
  source_.findings.push_back(
      {source_.file, mark_.line + 1, mark_.column + 1, entry_, message, effect});
}

void Fields::report_at(const YAML::Node& node, const std::string& message) const {
  const YAML::Mark mark = node.Mark();
  source_.findings.push_back(
      {source_.file, mark.line + 1, mark.column + 1, entry_, message, Effect::rejected});
}

std::optional<double> plain_number(std::string_view text) {
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<YAML::Node> parse_document(const std::string& text, YamlSource source) {
  try {
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    source.findings.push_back({source.file, error.mark.line + 1, error.mark.column + 1, "",
                               "not readable as YAML: " + error.msg, Effect::rejected});
    return std::nullopt;
  }
}

std::optional<std::string> read_file(const std::filesystem::path& path, Findings& findings) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    findings.push_back({path.string(), 0, 0, "", "cannot be opened", Effect::rejected});
    return std::nullopt;
  }
  errno = 0;
  std::string text = read_at_most(stream, largest_measurements);
  if (stream.bad()) {
    const std::string why = errno != 0 ? ": " + std::string(std::strerror(errno)) : "";
    findings.push_back({path.string(), 0, 0, "", "cannot be read" + why, Effect::rejected});
    return std::nullopt;
  }
  if (text.size() > largest_measurements) {
    findings.push_back({path.string(), 0, 0, "", "is larger than 256 MiB", Effect::rejected});
    return std::nullopt;
  }
  return text;
}

Finding no_list(const std::string& file, const char* list) {
  return {file, 0, 0, "", fmt::format("has no list `{}:`", list), Effect::rejected};
}

void read_yaml_files(const std::filesystem::path& path, const char* list, const ReadYaml& read,
                     std::vector<std::string>& skipped, Findings& findings) {
  std::error_code unknown;
  const bool is_folder = std::filesystem::is_directory(path, unknown);
  for (const std::filesystem::path& file :
       is_folder ? yaml_files_in(path, findings) : std::vector{path}) {
    const std::optional<std::string> text = read_file(file, findings);
    if (!text || read(*text, file.string())) {
      continue;
    }
    if (is_folder) {
      skipped.push_back(file.string());
    } else {
      findings.push_back(no_list(file.string(), list));
    }
  }
}

}  // namespace payoff::import_detail
