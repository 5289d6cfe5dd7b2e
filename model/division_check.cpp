// SPDX-License-Identifier: Apache-2.0
#include "model/division_check.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <variant>

#include "model/append_problems.hpp"

namespace payoff {
namespace {

// Of a model without experts: that nothing is asked of them.
void check_no_experts(const ParallelLayout& layout, Problems& problems, bool has_tables = false) {
  if (layout.ep > 1 && has_tables) {
    problems.push_back({"layout.ep",
                        "the model has no experts, and its embedding tables are divided over all "
                        "ranks of dp",
                        "leave it out"});
  } else if (layout.ep > 1) {
    problems.push_back({"layout.ep", "the model has no experts", "set ep to 1"});
  }
  if (layout.etp > 1) {
    problems.push_back({"layout.etp", "the model has no experts", "set etp to 1"});
  }
  if (layout.expert_imbalance > 1) {
    problems.push_back({"layout.expert_imbalance", "the model has no experts", "leave it out"});
  }
  if (layout.expert_capacity > 0) {
    problems.push_back({"layout.expert_capacity", "the model has no experts", "leave it out"});
  }
}

// What divides the ranks of a stage, as `check_layout` says, has to divide something of the model
// too.
struct Divisor {
  std::string path;
  std::string name;
  int value;
  std::int64_t ranks;  // those to divide; 0: not known
  std::int64_t all;    // of the model
  std::string what;
};

// One field, one problem, whose suggestion holds for both.
void check_divisor(const Divisor& divisor, Problems& problems) {
  const bool divides_ranks = divisor.ranks % divisor.value == 0;
  const bool divides_all = divisor.all % divisor.value == 0;
  if (divides_ranks && divides_all) {
    return;
  }
  const std::string all = "the " + std::to_string(divisor.all) + " " + divisor.what;
  const std::string help =
      "choose a divisor of " + std::to_string(std::gcd(divisor.ranks, divisor.all));
  const auto known = std::find_if(problems.begin(), problems.end(), [&](const Problem& problem) {
    return problem.path == divisor.path;
  });
  if (divides_ranks || known == problems.end()) {
    if (!divides_all) {
      problems.push_back({divisor.path, divisor.name + " does not divide " + all, help});
    }
    return;
  }
  known->message += divides_all ? "" : ", nor " + all;
  known->help = help;
}

void check_experts(const ExpertShape& experts, const ParallelLayout& layout, Problems& problems) {
  if (experts.count == 0) {
    check_no_experts(layout, problems);
    return;
  }
  const std::int64_t ranks = layout.copy_ranks();
  if (layout.ep > 0) {
    const bool sound_etp = layout.etp > 0 && ranks % layout.etp == 0;
    check_divisor({"layout.ep", "ep " + std::to_string(layout.ep), layout.ep,
                   sound_etp ? ranks / layout.etp : 0, experts.count, "experts"},
                  problems);
  }
  if (layout.expert_imbalance > layout.ep) {
    problems.push_back({"layout.expert_imbalance",
                        "the busiest of ep " + std::to_string(layout.ep) +
                            " ranks has at most so many times the mean",
                        "give a number from 1 to ep"});
  }
  if (layout.etp > 0) {
    check_divisor({"layout.etp", "etp " + std::to_string(layout.etp), layout.etp, ranks,
                   experts.width, "columns of an expert"},
                  problems);
  }
  if (layout.tp > 1 && !layout.sequence_parallel && layout.etp != layout.tp) {
    problems.push_back({"layout.sequence_parallel",
                        "experts are not divided as the other layers are, and every rank of a "
                        "tensor group routes its own part of the tokens",
                        "set it to true, or tp to 1, or etp to tp"});
  }
  if (layout.zero == 3 && layout.data_ranks() == 1 && layout.expert_ranks() > 0 &&
      layout.expert_replicas() > 1) {
    problems.push_back({"layout.zero",
                        "dp is 1: only experts, which other ranks share, could be sharded",
                        "use zero 0, 1 or 2"});
  }
}

// Of products and their messages, by the tokens of a micro-batch that a tensor group has.
void check_pieces(std::int64_t sequence, const ParallelLayout& layout, Problems& problems) {
  if (layout.tp_overlap <= 1 || layout.cp < 1 || layout.micro_batch < 1) {
    return;
  }
  const std::int64_t tokens = sequence / layout.cp * layout.micro_batch;
  // Of each piece every rank of the group has as many tokens.
  if (tokens % (std::int64_t{layout.tp_overlap} * layout.tp) != 0) {
    const std::string ranks =
        layout.tp > 1 ? ", each scattered over tp " + std::to_string(layout.tp) : "";
    problems.push_back(
        {"layout.tp_overlap",
         "the " + std::to_string(tokens) + " tokens of a micro-batch cannot be divided into " +
             std::to_string(layout.tp_overlap) + " pieces" + ranks,
         tokens % layout.tp == 0 ? "choose a divisor of " + std::to_string(tokens / layout.tp)
                                 : "leave it out, tp does not divide them"});
  }
}

// Tables are model-parallel over the ranks that are data-parallel for MLPs: one layout.
void check_recommender(const RecommenderShape& shape, const ParallelLayout& layout,
                       Problems& problems) {
  check_no_experts(layout, problems, true);
  const auto add = [&](const char* key, const std::string& message, const char* help) {
    problems.push_back({std::string("layout.") + key, message, help});
  };
  for (const auto& [key, value] : {std::pair{"tp", layout.tp}, {"pp", layout.pp}}) {
    if (value > 1) {
      add(key,
          std::string("a recommender is not split by ") + key +
              ": its tables are divided over all ranks, its MLPs are replicated",
          "leave it out");
    }
  }
  if (layout.cp > 1) {
    add("cp", "a recommender has no sequences whose tokens ranks could share", "leave it out");
  }
  if (layout.zero > 0) {
    add("zero",
        "the tables of a recommender are divided already, and its MLPs are too small to shard",
        "leave it out");
  }
  if (layout.recompute != Recompute::none) {
    add("recompute", "a recommender has no blocks that could be computed again", "leave it out");
  }
  if (layout.dp > 0 && cuts_of(shape.tables, layout.dp) == 0) {
    add("dp",
        "dp " + std::to_string(layout.dp) + " ranks cannot each have a part of " +
            std::to_string(shape.tables.rows.size()) + " tables of " +
            std::to_string(shape.tables.dimension) + " columns",
        "use fewer GPUs");
  }
}

}  // namespace

// A table of layers says nothing about how to divide a layer or where to cut a pipeline.
void check_division(const Experiment& experiment, Problems& problems) {
  const ParallelLayout& layout = experiment.layout;
  if (const auto* shape = std::get_if<TransformerShape>(&experiment.model)) {
    append(problems, check_transformer(*shape, layout.tp, {layout.cp, layout.context_exchange}));
    const std::size_t before = problems.size();
    check_pieces(shape->sequence, layout, problems);
    if (shape->decoder.layers > 0 && problems.size() == before) {
      check_pieces(shape->decoder.sequence, layout, problems);
    }
    check_experts(shape->experts, layout, problems);
    return;
  }
  if (const auto& recommender = table_of(experiment.model)->recommender) {
    check_recommender(*recommender, layout, problems);
    return;
  }
  check_no_experts(layout, problems);
  if (layout.tp > 1) {
    problems.push_back({"layout.tp", "a model given as a table of layers cannot be split by tp",
                        "set tp to 1, or describe the model as a transformer"});
  }
  if (layout.pp > 1) {
    problems.push_back({"layout.pp", "a model given as a table of layers cannot be split by pp",
                        "set pp to 1, or describe the model as a transformer"});
  }
}

}  // namespace payoff
