// SPDX-License-Identifier: Apache-2.0
#include "model/across_nodes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace payoff {
namespace {

using Opcode = Expression::Operation;
using Instruction = Expression::Instruction;
using Program = std::vector<Instruction>;

Instruction read_variable(formula::Variable of) { return {Opcode::variable, of, 0}; }
Instruction constant_value(double value) { return {Opcode::constant, 0, value}; }
Instruction apply(Opcode operation) { return {operation, 0, 0}; }

Program divided_by_node(formula::Variable of) {
  return {read_variable(of), read_variable(formula::local_workers), apply(Opcode::divide),
          apply(Opcode::ceiling)};
}

// What stands for a variable where a GPU has its part of a tensor, and nodes are the workers.
Program of_a_part(std::uint16_t variable) {
  switch (variable) {
    case formula::elements:
    case formula::rows:
      return divided_by_node(formula::Variable{variable});
    case formula::workers:
      return divided_by_node(formula::workers);
    case formula::local_workers:
      return {constant_value(1)};
    default:
      return {{Opcode::variable, variable, 0}};
  }
}

// Empty where the stack does not hold it, which not_across_nodes() finds.
Expression assembled(std::string text, Program program) {
  return Expression::assemble(std::move(text), std::move(program)).value_or(Expression());
}

Expression of_a_part(const Expression& formula) {
  Program program;
  for (const Instruction& step : formula.program()) {
    if (step.operation == Opcode::variable) {
      const Program other = of_a_part(step.variable);
      program.insert(program.end(), other.begin(), other.end());
    } else {
      program.push_back(step);
    }
  }
  return assembled(formula.text(), std::move(program));
}

constexpr std::array formulas_of_a_pass{&PassFormula::bytes,       &PassFormula::random_bytes,
                                        &PassFormula::flops,       &PassFormula::kernels,
                                        &PassFormula::host_syncs,  &PassFormula::host_seconds,
                                        &PassFormula::block_bytes, &PassFormula::copied};

PassFormula of_a_part(PassFormula pass) {
  for (const auto formula : formulas_of_a_pass) {
    pass.*formula = of_a_part(pass.*formula);
  }
  return pass;
}

std::vector<const Expression*> formulas_of(const Method& method) {
  std::vector<const Expression*> all{&method.worth, &method.state_bytes, &method.wire.as_published};
  const auto add = [&](const PassFormula& pass) {
    for (const auto formula : formulas_of_a_pass) {
      all.push_back(&(pass.*formula));
    }
  };
  for (const Expression& part : method.where) {
    all.push_back(&part);
  }
  for (const RoundFormula& round : method.rounds) {
    all.push_back(&round.message);
    add(round.encode);
  }
  add(method.decode);
  return all;
}

// v * n, and v * ceil(n / L).
Expression whole_tensor() {
  return assembled("v * n", {read_variable(formula::element_size), read_variable(formula::elements),
                             apply(Opcode::multiply)});
}

Expression whole_part() {
  Program program{read_variable(formula::element_size)};
  const Program part = divided_by_node(formula::elements);
  program.insert(program.end(), part.begin(), part.end());
  program.push_back(apply(Opcode::multiply));
  return assembled("v * ceil(n / L)", std::move(program));
}

// In one node nothing is sent between nodes. The condition is the last factor: in front it would be
// one more value below those of `worth`, which may take all of the stack.
Expression worth_between_nodes(const Expression& worth) {
  const Expression part = of_a_part(worth);
  Program program(part.program().begin(), part.program().end());
  program.insert(program.end(), {read_variable(formula::workers),
                                 read_variable(formula::local_workers), apply(Opcode::greater)});
  if (!worth.empty()) {
    program.push_back(apply(Opcode::multiply));
  }
  return assembled("if(W > L, " + (worth.empty() ? "1" : worth.text()) + ", 0)",
                   std::move(program));
}

Expression sum_of_messages(const std::vector<RoundFormula>& rounds) {
  Program program{constant_value(0)};
  std::string text;
  for (const RoundFormula& round : rounds) {
    const auto part = round.message.program();
    if (part.empty()) {
      continue;
    }
    program.insert(program.end(), part.begin(), part.end());
    program.push_back(apply(Opcode::add));
    text += (text.empty() ? "" : " + ") + round.message.text();
  }
  return assembled(std::move(text), std::move(program));
}

std::vector<RoundFormula> rounds_across_nodes(const Method& method) {
  std::vector<RoundFormula> rounds{{{}, Collective::reduce_scatter, whole_tensor(), Among::node}};
  for (const RoundFormula& round : method.rounds) {
    rounds.push_back(
        {of_a_part(round.encode), round.collective, of_a_part(round.message), Among::nodes});
  }
  rounds.push_back({of_a_part(method.decode), Collective::all_gather, whole_part(), Among::node});
  return rounds;
}

}  // namespace

std::string not_across_nodes(const Method& method) {
  const bool divided =
      std::any_of(method.rounds.begin(), method.rounds.end(),
                  [](const RoundFormula& round) { return round.among != Among::all; });
  const std::vector<const Expression*> formulas = formulas_of(method);
  const bool deep = std::any_of(formulas.begin(), formulas.end(),
                                [](const Expression* formula) {
                                  return !formula->empty() && of_a_part(*formula).empty();
                                }) ||
                    sum_of_messages(rounds_across_nodes(method)).empty();
  return divided                ? "says itself which of its rounds are in a node"
         : runs_on_host(method) ? "runs on the host"
         : method.scatters      ? "leaves each worker the sum of its own part"
         : deep                 ? "has a formula that is too long for it"
                                : "";
}

Method across_nodes(const Method& method) {
  Method result = method;
  result.among_nodes = true;
  result.elementwise = false;
  result.sums_in_collective = true;  // what is summed inside a node is not compressed
  for (Expression& part : result.where) {
    part = of_a_part(part);
  }
  result.rounds = rounds_across_nodes(method);
  result.decode = {};
  result.worth = worth_between_nodes(method.worth);
  result.state_bytes = of_a_part(method.state_bytes);
  result.wire = {of_a_part(method.wire.as_published), sum_of_messages(result.rounds)};
  return result;
}

}  // namespace payoff
