// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_training.hpp"

#include "profiles/experiment_keys.hpp"
#include "profiles/precision_names.hpp"
#include "profiles/read_numbers.hpp"
#include "profiles/read_overheads.hpp"

namespace payoff {
namespace {

// What people train in on this GPU unless they say otherwise.
Precision usual_precision(const Gpu& gpu) {
  for (const Precision precision : {Precision::bf16, Precision::fp16}) {
    if (gpu.peak[precision] > FlopRate{}) {
      return precision;
    }
  }
  return gpu.peak[Precision::fp32] > FlopRate{} ? Precision::fp32 : Precision::bf16;
}

}  // namespace

void read_training(const Section& section, const Gpu& gpu, Training& training) {
  training.precision = section.optional("precision").choice(precision_names, usual_precision(gpu));
  // What is reduced unless the user says otherwise: what is stored.
  const Precision stored = training.precision == Precision::tf32  ? Precision::fp32
                           : training.precision == Precision::fp8 ? Precision::bf16
                                                                  : training.precision;
  training.gradient = section.optional("gradient").choice(precision_names, stored);
  training.bucket = read_bucket(section.optional("bucket"), 25_MiB);
  training.first_bucket = read_bucket(section.optional("first_bucket"), 1_MiB);
  training.overlap = section.optional("overlap").boolean(true);
  training.codec_speed =
      section.optional("codec_speed").number({.fallback = 1.0, .min = 1e-3, .max = 1e3});
  const Optimizer optimizer = section.optional("optimizer").choice(optimizers, Optimizer::adam);
  const OptimizerCost cost = optimizer_cost(optimizer, training.precision, training.gradient);
  training.optimizer_bytes_per_parameter = cost.state_per_parameter;
  training.optimizer_traffic_per_parameter = cost.traffic_per_parameter;
  training.memory_margin = section.optional("memory_margin").ratio();
  read_overheads(section, training);
}

}  // namespace payoff
