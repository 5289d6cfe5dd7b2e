// SPDX-License-Identifier: Apache-2.0
#include "study/engine.hpp"

#include "study/engine_parts.hpp"

namespace payoff {

std::string_view name(Engine engine) {
  switch (engine) {
    case Engine::analytical:
      return "analytical";
    case Engine::simulated:
      return "sim";
    case Engine::agarwal2022:
      return "agarwal2022-reconstructed";
    case Engine::bian2024:
      return "bian2024-reconstructed";
    case Engine::mgwfbp:
      return "mgwfbp";
  }
  return {};
}

std::string_view typed_name(Engine engine) {
  constexpr std::string_view suffix = "-reconstructed";
  std::string_view typed = name(engine);
  typed.remove_suffix(typed.ends_with(suffix) ? suffix.size() : 0);
  return typed;
}

std::optional<Engine> find_engine(std::string_view text) {
  for (const Engine engine : all_engines) {
    if (text == name(engine) || text == typed_name(engine)) {
      return engine;
    }
  }
  return std::nullopt;
}

std::string_view citation(Engine engine) {
  switch (engine) {
    case Engine::analytical:
      return "Payoff's own: docs/model.md, \"Step\"";
    case Engine::simulated:
      return "Payoff's simulator: the same plan run by events, links shared: docs/model.md, "
             "\"Simulation\"";
    case Engine::agarwal2022:
      return "Agarwal et al., MLSys 2022 (arXiv 2103.00543), reconstructed from a reader's note "
             "and "
             "the authors' code: max(1.07 T_backward, (k - 1) T(b)) + T(last) on a flat ring; "
             "compressed, one after the other";
    case Engine::bian2024:
      return "Bian et al., MLSys 2024 (arXiv 2301.02654), reconstructed from a reader's note: sums "
             "of activations take max(c, b Bsh), encoders what they take here, nothing hides";
    case Engine::mgwfbp:
      return "Shi et al., MG-WFBP, TPDS 2021 (arXiv 1912.09268v2): equations 6-8 and 10, algorithm "
             "1, "
             "with a line through Payoff's all-reduce prices";
  }
  return {};
}

EngineAnswer predict(Engine engine, const PreparedExperiment& prepared,
                     const CompressionPlan& compression, const ClusterState& state) {
  switch (engine) {
    case Engine::analytical:
      return {prepared.predict(compression), {}};
    case Engine::simulated:
      return engines::simulated(prepared, compression, state);
    case Engine::agarwal2022:
      return engines::agarwal2022(prepared, compression);
    case Engine::bian2024:
      return engines::bian2024(prepared, compression);
    case Engine::mgwfbp:
      return engines::mgwfbp(prepared, compression);
  }
  return {};
}

}  // namespace payoff
