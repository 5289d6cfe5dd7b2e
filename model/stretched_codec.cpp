// SPDX-License-Identifier: Apache-2.0
#include "model/stretched_codec.hpp"

#include <vector>

#include "model/changed_computes.hpp"

namespace payoff {
namespace {

void stretch_codec(HostWork& work, double factor) {
  work.copy *= factor;
  work.work *= factor;
}

void stretch_codec(std::vector<Piece>& pieces, double factor) {
  for (Piece& piece : pieces) {
    if (is_codec(piece.work.kind)) {
      stretch_codec(piece.work, factor);
    }
  }
}

}  // namespace

void stretch_codec(Work& work, double factor) {
  work.alone = work.codec() * factor + work.bucket_copy + work.update;
}

StepPlan stretched_codec(StepPlan plan, double factor) {
  for (BucketKind& kind : plan.kinds) {
    stretch_codec(kind.decode, factor);
    stretch_codec(kind.host_decode, factor);
    for (BucketRound& round : kind.rounds) {
      stretch_codec(round.encode, factor);
      stretch_codec(round.host, factor);
    }
  }
  if (plan.compresses_activations) {
    change_computes(plan, [&](StageCompute& compute) {
      stretch_codec(compute.forward, factor);
      stretch_codec(compute.backward, factor);
      for (CodecTime* time : {&compute.forward_codec, &compute.backward_codec}) {
        time->encode *= factor;
        time->decode *= factor;
      }
    });
  }
  return plan;
}

}  // namespace payoff
