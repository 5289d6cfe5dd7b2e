// SPDX-License-Identifier: Apache-2.0
#include "tests/profiles/hf_configs.hpp"

#include <cstddef>
#include <utility>

#include "profiles/hf_config.hpp"
#include "tests/catch.hpp"
#include "tests/profiles/profile_folder.hpp"

namespace payoff::test::hf {

Json with(Json config, const Json& changes) {
  config.update(changes);
  return config;
}

Outcome read(const std::string& text) {
  ProfileReading reading(shipped());
  const std::size_t source = reading.sources.add_file("config.json", text);
  auto shape = read_hf_config({source, 0, text.size()}, reading.sources, reading.diagnostics);
  CHECK(shape.has_value() != reading.diagnostics.has_errors());
  return {std::move(shape), reading.errors()};
}

Outcome read(const Json& config) { return read(config.dump(1)); }

std::int64_t parameters(const Json& config) {
  const Outcome outcome = read(config);
  INFO(outcome.errors);
  REQUIRE(outcome.shape);
  return parameter_count(*outcome.shape);
}

}  // namespace payoff::test::hf
