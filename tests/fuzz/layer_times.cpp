// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "model/transformer.hpp"
#include "profiles/read_layer_times.hpp"
#include "profiles/read_model.hpp"
#include "tests/fuzz/target.hpp"

namespace payoff::fuzz {
namespace {

Workload gpt2() {
  Reading reading;
  const auto model = read_model("gpt2", std::nullopt, reading.context());
  return transformer_workload(std::get<TransformerShape>(model->value), 1, false, 2_B);
}

}  // namespace

std::string read_layer_table(std::string_view input) {
  static const Workload model = gpt2();
  Reading reading;
  const Span text = reading.file(input);
  const auto times = parse_layer_times(text, model, reading.sources(), reading.diagnostics());
  return reading.verdict(times.has_value());
}

}  // namespace payoff::fuzz
