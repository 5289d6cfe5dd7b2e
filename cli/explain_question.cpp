// SPDX-License-Identifier: Apache-2.0
#include "cli/explain_question.hpp"

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace payoff {

ExplainQuestion read_explain_question(const Arguments& arguments) {
  const std::vector<Argument>& words = arguments.positionals();
  const auto is_file = [](const Argument& word) {
    std::error_code unknown;
    return word.text.find_first_of("./") != std::string::npos ||
           std::filesystem::exists(word.text, unknown);
  };
  ExplainQuestion question;
  if (words.size() == 1 && arguments.has("--model") && !is_file(words[0])) {
    question.term = words[0];
    return question;
  }
  if (!words.empty()) {
    question.file = words[0];
  }
  if (words.size() > 1) {
    question.term = words[1];
  }
  return question;
}

}  // namespace payoff
