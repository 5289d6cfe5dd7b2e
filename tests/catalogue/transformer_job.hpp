// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/experiment.hpp"

// BERT-Large as MCBench fine-tunes it (uw-mad-dash/MCBench at 117a03e, the fine-tuning scripts): 24
// layers of 1,024, 16 heads, micro-batches of 32 sequences of 512 tokens in fp16, so that 16,384 x
// 1,024 activations travel; on one
// node of the synthetic cluster of tests/study/experiments.hpp.

namespace payoff::test {

[[nodiscard]] Experiment bert_large_job(int tp, int pp, int micro_batches = 4);

}  // namespace payoff::test
