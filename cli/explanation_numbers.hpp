// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/explanation_terms.hpp"

// For each term of the waterfall: its numbers, the equation with them put in, and what it is a sum
// of. The term's time is known when these are called. What the recurrences of docs/model.md, 2.1
// and 2.2, decide (what runs beside what) is given as a number; everything else can be worked out.

namespace payoff {

void forward_numbers(const ExplainedPlan& plan, TermExplanation& term);
void backward_numbers(const ExplainedPlan& plan, TermExplanation& term);
void recompute_numbers(const ExplainedPlan& plan, TermExplanation& term);
void interference_numbers(const ExplainedPlan& plan, TermExplanation& term);
void encode_numbers(const ExplainedPlan& plan, TermExplanation& term);
void decode_numbers(const ExplainedPlan& plan, TermExplanation& term);
void bucket_numbers(const ExplainedPlan& plan, TermExplanation& term);
void tensor_numbers(const ExplainedPlan& plan, TermExplanation& term);
void context_numbers(const ExplainedPlan& plan, TermExplanation& term);
void expert_numbers(const ExplainedPlan& plan, TermExplanation& term);
void pipeline_numbers(const ExplainedPlan& plan, TermExplanation& term);
void gradient_numbers(const ExplainedPlan& plan, TermExplanation& term);
void bubble_numbers(const ExplainedPlan& plan, TermExplanation& term);
void optimizer_numbers(const ExplainedPlan& plan, TermExplanation& term);
void host_numbers(const ExplainedPlan& plan, TermExplanation& term);
void jitter_numbers(const ExplainedPlan& plan, TermExplanation& term);
void data_numbers(const ExplainedPlan& plan, TermExplanation& term);
void checkpoint_numbers(const ExplainedPlan& plan, TermExplanation& term);

// In seconds, with ten digits: terms may be differences of much longer times.
[[nodiscard]] std::string seconds_text(Seconds time);

}  // namespace payoff
