// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/compression.hpp"
#include "model/compression_effect.hpp"
#include "model/formula_limits.hpp"
#include "model/host_codec.hpp"
#include "model/units_text.hpp"

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
  FormulaLimit limit{};
};

void list_pass(const std::string& path, const PassFormula& pass, std::vector<NamedFormula>& out) {
  out.push_back({path + ".bytes", &pass.bytes, most_bytes});
  out.push_back({path + ".random_bytes", &pass.random_bytes, most_bytes});
  out.push_back({path + ".block_bytes", &pass.block_bytes, most_bytes});
  out.push_back({path + ".flops", &pass.flops, most_operations});
  out.push_back({path + ".kernels", &pass.kernels, most_times});
  out.push_back({path + ".host_syncs", &pass.host_syncs, most_times});
  out.push_back({path + ".host_seconds", &pass.host_seconds, most_seconds});
  out.push_back({path + ".copied", &pass.copied, most_bytes});
}

void list_rounds(const std::string& path, const std::vector<RoundFormula>& rounds,
                 std::vector<NamedFormula>& out) {
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const std::string round = path + "rounds[" + std::to_string(i) + "]";
    list_pass(round + ".encode", rounds[i].encode, out);
    out.push_back({round + ".message", &rounds[i].message, most_bytes});
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
  all.push_back({"state", &method.state_bytes, most_bytes});
  all.push_back({"saved", &method.saved_bytes, most_bytes});
  all.push_back({"wire.as_published", &method.wire.as_published, most_bytes});
  all.push_back({"wire.as_implemented", &method.wire.as_implemented, most_bytes});
  return all;
}

// The values of `formula_variables`, then the parameters.
std::vector<double> values_for(const Method& method, const ParameterTensor& tensor, Bytes element,
                               const Workers& group) {
  std::vector<double> values{static_cast<double>(tensor.elements()),
                             static_cast<double>(tensor.rows),
                             static_cast<double>(tensor.columns),
                             element / 1_B,
                             static_cast<double>(group.all),
                             static_cast<double>(group.in_node),
                             1.0};
  for (const auto& [name, value] : method.parameters) {
    values.push_back(value);
  }
  for (const Expression& part : method.where) {
    values.push_back(part.evaluate(values));
  }
  return values;
}

// Why a formula's value cannot be priced; empty: it can.
std::string fault_of(double value, const FormulaLimit& limit) {
  if (!std::isfinite(value)) {
    return "not finite";
  }
  if (value < 0.0) {
    return "negative";
  }
  return value > limit.most ? "more than " + number_text(limit.most) + std::string(limit.unit) : "";
}

std::string for_tensor(const ParameterTensor& tensor) {
  return " for a tensor of " + std::to_string(tensor.rows) + " x " + std::to_string(tensor.columns);
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
  constexpr Workers nodes_of_four{8, 4};
  for (const auto& [path, formula, limit] : list_formulas(method)) {
    for (const ParameterTensor& probe : probes) {
      if (method.matrices_only && !probe.is_matrix) {
        continue;
      }
      const double value = formula->evaluate(values_for(method, probe, 4_B, nodes_of_four));
      if (const std::string fault = fault_of(value, limit); !fault.empty()) {
        problems.push_back({path, fault + for_tensor(probe), ""});
        break;
      }
    }
  }
  return problems;
}

bool suits(const Method& method, const ParameterTensor& tensor, Bytes element,
           const Workers& group) {
  return method.fits.empty() ||
         method.fits.evaluate(values_for(method, tensor, element, group)) > 0.0;
}

std::optional<Problem> check_amounts(const Method& method, std::span<const ParameterTensor> tensors,
                                     Bytes element, const Workers& group) {
  const std::vector<NamedFormula> formulas = list_formulas(method);
  for (const ParameterTensor& tensor : tensors) {
    const std::vector<double> values = values_for(method, tensor, element, group);
    if ((method.matrices_only && !tensor.is_matrix) ||
        (!method.worth.empty() && method.worth.evaluate(values) <= 0.0)) {
      continue;
    }
    for (const auto& [path, formula, limit] : formulas) {
      if (const std::string fault = fault_of(formula->evaluate(values), limit); !fault.empty()) {
        return Problem{path, fault + for_tensor(tensor), ""};
      }
    }
  }
  return std::nullopt;
}

}  // namespace payoff
