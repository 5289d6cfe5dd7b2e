// SPDX-License-Identifier: Apache-2.0
#include "cli/calibrate_diff.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/gpu_difference.hpp"
#include "cli/json_output.hpp"
#include "cli/profile_library.hpp"
#include "cli/table.hpp"
#include "profiles/read_hardware.hpp"

namespace payoff {
namespace {

using DiffJson = nlohmann::ordered_json;

constexpr std::string_view points_key = "measured.";  // behind the laws, not in them

// The tree of a profile of a GPU in which nothing is wrong. Laws without a data sheet, which
// `calibrate fit` writes where no --gpu says whose they are, price nothing and have no other
// reader.
std::optional<Document> profile_tree(const Argument& argument, const Library& library,
                                     Session& session) {
  const std::string& name = argument.text;
  std::optional<Document> document;
  if (is_own_file(name) && !std::filesystem::is_directory(name)) {
    try {
      document = load_yaml_file(name, session.sources(), session.diagnostics());
    } catch (const std::runtime_error& error) {
      session.cannot_read(error.what());
      return std::nullopt;
    }
  } else {
    document = library.load(ProfileKind::gpu, name, argument.span, session.sources(),
                            session.diagnostics());
  }
  if (!document) {
    return std::nullopt;
  }
  const Node& root = document->root;
  const Entry* laws = root.find("laws");
  if (root.find("kernels_of") != nullptr) {
    if (laws == nullptr || laws->value.kind != Node::Kind::map) {
      session.diagnostics().error(laws == nullptr ? root.span : laws->value.span,
                                  "there are no laws in this profile", "",
                                  "`payoff calibrate fit SAMPLES -o NAME.yaml` writes them");
      return std::nullopt;
    }
    return document;
  }
  if (root.kind != Node::Kind::map || root.find("gpu") == nullptr) {
    session.diagnostics().error(root.span, "this is no profile of a GPU",
                                "neither `gpu` nor `kernels_of` is there",
                                "`payoff calibrate fit SAMPLES -o NAME.yaml` writes one");
    return std::nullopt;
  }
  const ReadContext context{library, session.sources(), session.diagnostics()};
  return read_gpu(name, argument.span, context) ? std::move(document) : std::nullopt;
}

std::string shown_value(const std::string& text) {
  constexpr std::size_t widest = 40;
  return text.empty() ? "absent" : shortened(text, widest);
}

std::string in_sds(const GpuDifference& difference) {
  return difference.change_sds ? fmt::format("{:+.1f}", *difference.change_sds) : "";
}

std::string in_percent(const GpuDifference& difference) {
  return difference.change_ratio ? fmt::format("{:+.1f} %", 100.0 * *difference.change_ratio) : "";
}

std::string differences_text(const GpuDifferences& differences, const std::string& first,
                             const std::string& second) {
  Table table({{"value", Align::left},
               {first, Align::right},
               {second, Align::right},
               {"change", Align::right},
               {"in joint sd", Align::right}});
  std::size_t points = 0;
  const GpuDifference* largest = nullptr;
  for (const GpuDifference& each : differences.values) {
    if (!each.path.starts_with(points_key)) {
      table.add({each.path, shown_value(each.first), shown_value(each.second), in_percent(each),
                 in_sds(each)});
      continue;
    }
    ++points;
    const auto size = [](const GpuDifference* of) {
      return of == nullptr ? -1.0 : std::abs(of->change_ratio.value_or(0.0));
    };
    largest = size(&each) > size(largest) ? &each : largest;
  }
  std::string text = table.empty() ? fmt::format(
                                         "The profiles are equal to one unit of the third "
                                         "digit in {} values.\n",
                                         differences.compared)
                                   : table.markdown();
  if (largest != nullptr) {
    text += fmt::format("Of the points behind the laws {} values differ, most `{}`: {}\n", points,
                        largest->path.substr(points_key.size()),
                        largest->change_ratio
                            ? in_percent(*largest)
                            : shown_value(largest->first) + ", " + shown_value(largest->second));
  }
  return text;
}

std::string differences_json(const GpuDifferences& differences, const std::string& first,
                             const std::string& second, const Session& session) {
  DiffJson json = json_envelope("gpu_difference", session);
  json["a"] = first;
  json["b"] = second;
  json["compared"] = differences.compared;
  json["differences"] = DiffJson::array();
  const auto text = [](const std::string& value) {
    return value.empty() ? DiffJson(nullptr) : DiffJson(value);
  };
  const auto number = [](const std::optional<double>& value) {
    return value ? DiffJson(*value) : DiffJson(nullptr);
  };
  for (const GpuDifference& each : differences.values) {
    json["differences"].push_back({{"path", each.path},
                                   {"a", text(each.first)},
                                   {"b", text(each.second)},
                                   {"change_ratio", number(each.change_ratio)},
                                   {"change_sds", number(each.change_sds)}});
  }
  return json.dump(2) + "\n";
}

}  // namespace

ExitCode calibrate_diff(const Arguments& arguments, Session& session) {
  const std::vector<Argument>& words = arguments.positionals();
  if (words.size() != 3) {
    session.diagnostics().error(
        words.front().span,
        fmt::format("`diff` takes two profiles, not {} files", words.size() - 1));
    return session.report();
  }
  const Library library = find_library();
  const std::optional<Document> first = profile_tree(words[1], library, session);
  const std::optional<Document> second = profile_tree(words[2], library, session);
  if (!first || !second || session.diagnostics().has_errors()) {
    return session.report();
  }
  const GpuDifferences differences = gpu_differences(first->root, second->root);
  OutputFiles files;
  deliver({differences_text(differences, words[1].text, words[2].text),
           differences_json(differences, words[1].text, words[2].text, session), ""},
          arguments, files, session);
  return session.report();
}

}  // namespace payoff
