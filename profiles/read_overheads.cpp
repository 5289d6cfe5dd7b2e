// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_overheads.hpp"

#include "profiles/experiment_keys.hpp"
#include "profiles/quantity_range.hpp"

namespace payoff {
namespace {

constexpr QuantityRules<Seconds> part_of_step{.range = &parts_of_steps};
// Read when the section is there; what is missing is reported, and reads as this.
constexpr Bandwidth unread{1e9};

Bandwidth read_storage_rate(const Value& rate) {
  return rate.quantity<Bandwidth>(
      {.fallback = unread, .sign = Sign::positive, .range = &storage_rates});
}

HostJitter read_jitter(const Section& section) {
  if (!section) {
    return {};
  }
  return {section.optional("distribution").choice(jitter_laws),
          section.required("mean").quantity<Seconds>(part_of_step)};
}

Checkpointing read_checkpoint(const Section& section) {
  if (!section) {
    return {};
  }
  Checkpointing checkpoint;
  checkpoint.every =
      section.required("every").integer({.fallback = 1, .min = 1, .max = most_steps});
  checkpoint.storage = read_storage_rate(section.required("storage"));
  checkpoint.asynchronous = section.optional("asynchronous").boolean();
  if (checkpoint.asynchronous) {
    checkpoint.host_copy = read_storage_rate(section.required("host_copy"));
  } else if (const Value copy = section.optional("host_copy")) {
    copy.error("is of asynchronous checkpoints; this one is written straight to storage", "",
               "asynchronous: true");
  }
  checkpoint.size = section.optional("size").quantity<Bytes>(
      {.sign = Sign::positive, .range = &checkpoint_sizes});
  return checkpoint;
}

}  // namespace

void read_overheads(const Section& section, Training& training) {
  training.data.time = section.optional("data_time").quantity<Seconds>(part_of_step);
  training.data.prefetch = section.optional("data_prefetch").boolean(true);
  training.host_jitter =
      read_jitter(section.optional("host_jitter")
                      .section("write `host_jitter: {mean: 200 us, distribution: exponential}`"));
  training.checkpoint =
      read_checkpoint(section.optional("checkpoint")
                          .section("write `checkpoint: {every: 1000, storage: 20 GB/s}`"));
}

}  // namespace payoff
