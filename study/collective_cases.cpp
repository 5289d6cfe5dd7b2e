// SPDX-License-Identifier: Apache-2.0
#include "study/collective_cases.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "model/group_paths.hpp"
#include "model/units_text.hpp"
#include "study/draws.hpp"
#include "study/network_calibration.hpp"
#include "study/validation_cases.hpp"

namespace payoff {
namespace {

constexpr double least_term = 1e-9;  // of a time: less is rounding

Band band_of(Bytes size) {
  return size <= 64_KiB   ? Band{0, "up to 64 KiB"}
         : size < 512_MiB ? Band{1, "64 KiB to 512 MiB"}
                          : Band{2, "from 512 MiB"};
}

ValidationCase case_of(const NcclTable& table, const NcclRow& row, Half half) {
  ValidationCase result;
  result.id = table.id;
  result.id += " ";
  result.id += exact_text(row.size);
  result.source = table.source;
  result.system = split_system(table);
  result.kind = CaseKind::collective;
  result.half = half;
  result.size = band_of(row.size);
  result.scale = scale_band(table.gpus, table.nodes);
  result.unit = 's';
  result.measured = row.in_place.value_or(row.out_of_place) / 1_s;
  return result;
}

// Latency, the bytes on the wire, and what is left: the pipeline that fills.
void add_terms(const CollectiveCase& priced, ValidationCase& result) {
  const Seconds rest = priced.predicted.time - priced.launches - priced.latency - priced.wire;
  for (const auto& [term, time] :
       {std::pair("launches", priced.launches), std::pair("latency", priced.latency),
        std::pair("filling the pipeline", rest), std::pair("wire", priced.wire)}) {
    if (time > least_term * priced.predicted.time) {
      result.terms.emplace_back(term, time / 1_s);
    }
  }
}

CaseSubject subject_of(const NcclTable& table, const MeasuredCollective& measured) {
  const bool between = paths_of(measured.cluster, measured.group).domains > 1;
  CaseSubject subject;
  subject.gpu = measured.cluster.gpu.name;
  subject.fabric = measured.cluster.fabric.name;
  subject.network = between ? measured.cluster.network.name : "";
  subject.program = table.collective + "_perf";
  subject.gpus = measured.group.ranks;
  subject.nodes = measured.group.nodes();
  return subject;
}

void predict(const CollectiveCase& priced, ValidationCase& result) {
  if (!priced.comparable) {
    result.reasons.emplace_back(
        "measures launches or another kernel: CUDA graph, one process for many GPUs, symmetric "
        "memory");
    return;
  }
  const double time = priced.predicted.time / 1_s;
  const double spread = std::exp(deviations_of_90_percent * priced.predicted.relative_sd);
  result.predicted = time;
  result.subject.call =
      fmt::format("{}, {}", name(priced.predicted.algorithm), name(priced.predicted.protocol));
  add_terms(priced, result);
  result.low = std::max(time / spread, priced.predicted.least / 1_s);
  result.high = time * spread;
  if (priced.tuner) {
    result.rivals.push_back({"NCCL's tuner", *priced.tuner / 1_s, Call::none});
  }
}

}  // namespace

std::vector<ValidationCase> collective_cases(const std::vector<NcclTable>& tables,
                                             const Split& split, const Library& library) {
  const std::vector<CollectiveTable> predicted = predict_collectives(tables, split, library);
  std::vector<ValidationCase> cases;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    for (std::size_t r = 0; r < tables[t].rows.size(); ++r) {
      ValidationCase& result =
          cases.emplace_back(case_of(tables[t], tables[t].rows[r], predicted[t].half));
      result.reasons = predicted[t].reasons;
      if (result.reasons.empty()) {
        result.subject = subject_of(tables[t], predicted[t].measured);
        predict(predicted[t].cases[r], result);
      }
    }
  }
  return cases;
}

}  // namespace payoff
