// SPDX-License-Identifier: Apache-2.0
#include "study/collective_cases.hpp"

#include <cmath>
#include <cstddef>
#include <string>

#include "model/units_text.hpp"
#include "study/network_calibration.hpp"
#include "study/validation_cases.hpp"

namespace payoff {
namespace {

constexpr double sd_of_90_percent = 1.645;  // half width of the interval

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

void predict(const CollectiveCase& priced, ValidationCase& result) {
  if (!priced.comparable) {
    result.reasons.emplace_back(
        "measures launches or another kernel: CUDA graph, one process for many GPUs, symmetric "
        "memory");
    return;
  }
  const double time = priced.predicted.time / 1_s;
  const double spread = std::exp(sd_of_90_percent * priced.predicted.relative_sd);
  result.predicted = time;
  result.low = time / spread;
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
        predict(predicted[t].cases[r], result);
      }
    }
  }
  return cases;
}

}  // namespace payoff
