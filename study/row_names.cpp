// SPDX-License-Identifier: Apache-2.0
#include "study/row_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include "model/decimal_text.hpp"

namespace payoff {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string without(std::string text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (const auto at = text.find(word); at != std::string::npos) {
      text.erase(at, word.size());
    }
  }
  return text;
}

std::string replaced(std::string text, std::string_view word, std::string_view by) {
  if (const auto at = text.find(word); at != std::string::npos) {
    text.replace(at, word.size(), by);
  }
  return text;
}

// Releases of an architecture that differ in the order of its layers, not in their shapes: v1.5 has
// the stride elsewhere, v2 the norms in front.
std::string without_release(std::string name) {
  for (const std::string_view release : {"v1.5", "v15", "v1", "v2"}) {
    if (name.ends_with(release)) {
      name.resize(name.size() - release.size());
      break;
    }
  }
  return name;
}

// Names of other spellings, and networks of the same shapes.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> aliases{
    {{"wrn1012", "wideresnet1012"},
     {"wideresnet101", "wideresnet1012"},
     {"resnext101", "resnext10132x4d"},
     {"seresnext101", "seresnext10132x4d"},
     {"vitbase", "vitb16"},
     {"vitlarge", "vitl16"},
     {"robertabase", "bertbase"},  // the same encoder, another vocabulary
     {"robertalarge", "bertlarge"},
     {"gpt2small", "gpt2"},
     {"gpt21.5b", "gpt2xl"},
     {"mixtral", "mixtral8x7b"}}};

// The profile whose name is one of these, the first that there is.
template <class Profiles>
typename Profiles::const_iterator find_any(const Profiles& profiles,
                                           const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto* alias = std::find_if(aliases.begin(), aliases.end(),
                                     [&](const auto& a) { return a.first == name; });
    for (auto each = profiles.begin(); each != profiles.end(); ++each) {
      const std::string bare = bare_name(each->first);
      if (bare == name || (alias != aliases.end() && bare == alias->second)) {
        return each;
      }
    }
  }
  return profiles.end();
}

std::vector<std::string> transformer_names(const TrainingModel& model) {
  const std::string name =
      without(bare_name(model.name.value_or("")), {"uncased", "cased", "cut", "dense"});
  std::vector<std::string> names{name};
  for (const std::string_view llama : {"llama3.1", "llama3.2", "llama3.3"}) {
    names.push_back(replaced(name, llama, "llama3"));
  }
  // The first Llama has the shapes of Llama 2, but for grouped queries of the largest.
  if (name == "llama7b" || name == "llama13b") {
    names.push_back(replaced(name, "llama", "llama2"));
  }
  // GPT-3's by their size.
  if (name.starts_with("gpt") && name.size() > 3 && is_digit(name[3])) {
    names.push_back(replaced(name, "gpt", "gpt3"));
  }
  return names;
}

bool differs(const TrainingModel& model, const TransformerShape& shape) {
  constexpr double tolerance = 0.1;  // sources round, or leave the embeddings out
  return model.parameters &&
         std::abs(*model.parameters / static_cast<double>(parameter_count(shape)) - 1) > tolerance;
}

}  // namespace

std::string bare_name(std::string_view name) {
  std::string bare;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool point =
        c == '.' && i > 0 && is_digit(name[i - 1]) && i + 1 < name.size() && is_digit(name[i + 1]);
    if (point || std::isalnum(static_cast<unsigned char>(c)) != 0) {
      bare += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return bare;
}

std::optional<double> parameters_in_name(std::string_view name) {
  std::optional<double> found;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char before = i == 0 ? ' ' : name[i - 1];
    if (!is_digit(name[i]) || is_digit(before) || before == '.') {
      continue;
    }
    std::size_t end = i;
    while (end < name.size() && (is_digit(name[end]) || name[end] == '.')) {
      ++end;
    }
    const auto letter = end < name.size() ? std::tolower(static_cast<unsigned char>(name[end])) : 0;
    const bool ends =
        end + 1 >= name.size() || std::isalnum(static_cast<unsigned char>(name[end + 1])) == 0;
    if ((letter != 'b' && letter != 'm') || !ends) {
      continue;
    }
    // Experts by their number and size, or how many of all parameters a token meets.
    if (found || std::tolower(static_cast<unsigned char>(before)) == 'x' || before == 'A') {
      return std::nullopt;
    }
    found = detail::read_decimal(std::string(name.substr(i, end - i))).number *
            (letter == 'b' ? 1e9 : 1e6);
  }
  return found;
}

std::string convnet_profile(const TrainingModel& model, const RowCatalogue& catalogue) {
  std::string name = bare_name(model.name.value_or(""));
  // Whose benchmarks name the data set first and the network, R100, somewhere behind it.
  if (name.find("lresnet100e") != std::string::npos ||
      (name.find("insightface") != std::string::npos && name.find("r100") != std::string::npos)) {
    name = "iresnet100";
  }
  const std::string data = bare_name(model.dataset.value_or(""));
  std::string images;
  for (const std::string_view cifar : {"cifar100", "cifar10"}) {
    if (name.find(cifar) != std::string::npos || data == cifar) {
      images = cifar;
      break;
    }
  }
  name = without(name, {"imagenet1k", "imagenet", "ilsvrc2012", "cifar100", "cifar10"});
  std::vector<std::string> names;
  for (const std::string& base : {name, without_release(name)}) {
    if (images.empty()) {
      names.push_back(base);
    } else {
      // Tables of VGG for small images have batch normalisation; a hundred classes for ten are a
      // hundredth of the parameters of the smallest.
      for (const std::string& classes : {images, std::string("cifar10")}) {
        names.push_back(std::string(base).append(classes));
        names.push_back(std::string(base).append("bn").append(classes));
      }
    }
  }
  const auto found = find_any(catalogue.convnets, names);
  return found == catalogue.convnets.end() ? "" : found->first;
}

const TransformerShape* named_transformer(const TrainingModel& model,
                                          const RowCatalogue& catalogue) {
  const auto found = find_any(catalogue.transformers, transformer_names(model));
  return found == catalogue.transformers.end() || differs(model, found->second) ? nullptr
                                                                                : &found->second;
}

const TransformerShape* named_mixture(const TrainingModel& model, const RowCatalogue& catalogue) {
  const auto found = find_any(catalogue.mixtures, transformer_names(model));
  return found == catalogue.mixtures.end() ? nullptr : &found->second;
}

}  // namespace payoff
