// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "model/compression.hpp"
#include "model/host_codec.hpp"

namespace payoff {
namespace {

// A probe of each kind that formulas meet: tiny, wide, tall, square, a vector, a bucket.
constexpr std::array<ParameterTensor, 6> probes{{{1, 1, false},
                                                 {2, 768, true},
                                                 {50257, 1600, true},
                                                 {64, 64, true},
                                                 {4096, 1, false},
                                                 {6553600, 1, false}}};

struct NamedFormula {
  std::string path;
  const Expression* formula;
};

void list_pass(const std::string& path, const PassFormula& pass, std::vector<NamedFormula>& out) {
  out.push_back({path + ".bytes", &pass.bytes});
  out.push_back({path + ".random_bytes", &pass.random_bytes});
  out.push_back({path + ".block_bytes", &pass.block_bytes});
  out.push_back({path + ".flops", &pass.flops});
  out.push_back({path + ".kernels", &pass.kernels});
  out.push_back({path + ".host_syncs", &pass.host_syncs});
  out.push_back({path + ".host_seconds", &pass.host_seconds});
  out.push_back({path + ".copied", &pass.copied});
}

void list_rounds(const std::string& path, const std::vector<RoundFormula>& rounds,
                 std::vector<NamedFormula>& out) {
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const std::string round = path + "rounds[" + std::to_string(i) + "]";
    list_pass(round + ".encode", rounds[i].encode, out);
    out.push_back({round + ".message", &rounds[i].message});
  }
}

std::vector<NamedFormula> list_formulas(const Method& method) {
  std::vector<NamedFormula> all;
  list_rounds("", method.rounds, all);
  list_pass("decode", method.decode, all);
  list_pass("dense", method.dense, all);
  const auto list_other = [&](const std::string& name, const std::optional<OtherFormulas>& other) {
    if (other) {
      list_rounds(name + ".", other->rounds, all);
      list_pass(name + ".decode", other->decode, all);
    }
  };
  list_other("sent", method.sent);
  list_other("backward", method.backward);
  all.push_back({"state", &method.state_bytes});
  all.push_back({"saved", &method.saved_bytes});
  all.push_back({"wire.as_published", &method.wire.as_published});
  all.push_back({"wire.as_implemented", &method.wire.as_implemented});
  return all;
}

// The values of `formula_variables`, then the parameters: 8 workers in nodes of 4, fp32.
std::vector<double> probe_values(const Method& method, const ParameterTensor& probe) {
  std::vector<double> values{static_cast<double>(probe.elements()),
                             static_cast<double>(probe.rows),
                             static_cast<double>(probe.columns),
                             4.0,
                             8.0,
                             4.0,
                             1.0};
  for (const auto& [name, value] : method.parameters) {
    values.push_back(value);
  }
  for (const Expression& part : method.where) {
    values.push_back(part.evaluate(values));
  }
  return values;
}

bool sums(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::reduce_scatter ||
         collective == Collective::reduce;
}

}  // namespace

Problems check_method(const Method& method) {
  Problems problems;
  for (std::size_t i = 0; i < method.rounds.size(); ++i) {
    if (sums(method.rounds[i].collective) && !method.sums_in_collective) {
      problems.push_back({"rounds[" + std::to_string(i) + "].collective",
                          "sums what workers send, but the payload is not one that can be summed",
                          "set sums_in_collective: true, or gather"});
    }
  }
  check_host_passes(method, problems);
  if (method.rounds.empty()) {
    problems.push_back({"rounds", "a method sends at least one message", ""});
  }
  if (method.parameters.size() + method.where.size() > formula_parameter_limit) {
    problems.push_back(
        {"parameters",
         "more than " + std::to_string(formula_parameter_limit) + " with the names under `where`",
         ""});
    return problems;
  }
  if (method.granularity == Granularity::bucket && method.matrices_only) {
    problems.push_back({"matrices_only", "a bucket has no matrices", "use granularity: tensor"});
  }
  for (const auto& [path, formula] : list_formulas(method)) {
    for (const ParameterTensor& probe : probes) {
      if (method.matrices_only && !probe.is_matrix) {
        continue;
      }
      const double value = formula->evaluate(probe_values(method, probe));
      if (std::isfinite(value) && value >= 0.0) {
        continue;
      }
      const std::string shape = std::to_string(probe.rows) + " x " + std::to_string(probe.columns);
      problems.push_back({path,
                          std::string(std::isfinite(value) ? "negative" : "not finite") +
                              " for a tensor of " + shape,
                          ""});
      break;
    }
  }
  return problems;
}

}  // namespace payoff
