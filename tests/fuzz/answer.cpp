// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/read_experiment.hpp"
#include "tests/fuzz/answer_keys.hpp"
#include "tests/fuzz/answer_laws.hpp"
#include "tests/fuzz/target.hpp"

// The whole path of a prediction. The first byte chooses a job, and whether it is also assessed by
// draws; every further pair of bytes sets one key to a value (answer_keys.hpp). An input that
// starts with "job" says the same in words, for people: "job 2" or "job 2 assessed", and a line for
// each KEY=VALUE. What the reader accepts has to be answered (answer_laws.hpp).

namespace payoff::fuzz {
namespace {

constexpr std::size_t most_settings = 24;

struct Asked {
  std::size_t job{};
  bool assessed{};
  std::vector<Setting> settings{};
};

void set(const std::string& setting, std::size_t place, Asked& asked) {
  const std::string key = setting.substr(0, setting.find('=') + 1);
  std::erase_if(asked.settings, [&](const Setting& other) { return other.text.starts_with(key); });
  asked.settings.push_back({static_cast<int>(place), setting});
}

Asked of_bytes(std::string_view input) {
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(input[at]); };
  Asked asked;
  if (input.empty()) {
    return asked;
  }
  asked.job = byte(0) % answer_jobs().size();
  asked.assessed = byte(0) >= 0xf0;
  for (std::size_t i = 1; i + 1 < input.size() && asked.settings.size() < most_settings; i += 2) {
    const AnswerKey& key = answer_keys()[byte(i) % answer_keys().size()];
    set(std::string(key.path) + "=" + key.values[byte(i + 1) % key.values.size()], i, asked);
  }
  return asked;
}

Asked of_words(std::string_view input) {
  Asked asked;
  for (std::size_t begin = 0; begin < input.size() && asked.settings.size() < most_settings;) {
    const std::size_t end = std::min(input.find('\n', begin), input.size());
    const std::string line(input.substr(begin, end - begin));
    if (begin == 0) {
      asked.job = line.size() < 5 ? 0 : static_cast<std::uint8_t>(line[4] - '0');
      asked.job %= answer_jobs().size();
      asked.assessed = line.ends_with(" assessed");
    } else if (line.find('=') != std::string::npos) {
      set(line, begin, asked);
    }
    begin = end + 1;
  }
  return asked;
}

// For whoever looks at a broken law: the job as words, and as they can be kept in the corpus.
void show(const Asked& asked) {
  if (std::getenv("PAYOFF_FUZZ_SHOW") != nullptr) {
    std::fprintf(stderr, "job %zu%s\n", asked.job, asked.assessed ? " assessed" : "");
    for (const Setting& setting : asked.settings) {
      std::fprintf(stderr, "%s\n", setting.text.c_str());
    }
  }
}

}  // namespace

std::string answer_experiment(std::string_view input) {
  const Asked asked = input.starts_with("job") ? of_words(input) : of_bytes(input);
  show(asked);
  Reading reading;
  auto document = load_yaml_text("job.yaml", std::string(answer_jobs()[asked.job]),
                                 reading.sources(), reading.diagnostics());
  const auto read = read_experiment(std::move(*document), asked.settings, reading.context());
  std::string told = reading.verdict(read.has_value());
  return read ? told + answers_of(*read, asked.assessed) : told;
}

}  // namespace payoff::fuzz
