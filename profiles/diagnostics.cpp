// SPDX-License-Identifier: Apache-2.0
#include "profiles/diagnostics.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace payoff {

void Diagnostics::add(Diagnostic diagnostic) {
  std::size_t& counter = diagnostic.severity == Severity::error ? errors_ : warnings_;
  if (counter >= most_kept_) {
    ++counter;
    return;
  }
  const bool known = std::any_of(all_.begin(), all_.end(), [&](const Diagnostic& other) {
    return other.span == diagnostic.span && other.message == diagnostic.message;
  });
  if (!known) {
    ++counter;
    all_.push_back(std::move(diagnostic));
  }
}

void Diagnostics::error(std::optional<Span> span, std::string message, std::string label,
                        std::string help) {
  add({Severity::error, std::move(message), span, std::move(label), std::move(help), {}});
}

void Diagnostics::warning(std::optional<Span> span, std::string message, std::string label,
                          std::string help) {
  add({Severity::warning, std::move(message), span, std::move(label), std::move(help), {}});
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  std::vector<Diagnostic> result = all_;
  const auto key = [](const Diagnostic& diagnostic) {
    const Span span = diagnostic.span.value_or(Span{});
    return std::tuple(!diagnostic.span.has_value(), span.source, span.offset);
  };
  std::stable_sort(result.begin(), result.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return key(a) < key(b); });
  return result;
}

std::string backquoted(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string result = "`";
  std::size_t characters = 0;
  while (!text.empty()) {
    if (++characters > longest) {
      return result + "...`";
    }
    const std::size_t length = character_length(text);
    const auto lead = static_cast<unsigned char>(text[0]);
    const bool printable = length > 1 || (lead >= 0x20 && lead < 0x7f);
    result += printable ? std::string(text.substr(0, length)) : std::string("?");
    text.remove_prefix(length);
  }
  return result + "`";
}

}  // namespace payoff
