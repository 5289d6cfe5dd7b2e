// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profiles/import/kineto_trace.hpp"

// Who launched what the GPU did (internal to what is made of traces).

namespace payoff::import_detail {

struct LaunchPoint {
  std::int64_t time{};
  int thread{};
};

class TraceLaunches {
 public:
  explicit TraceLaunches(const KinetoTrace& trace);

  // The call with the event's correlation, on a thread that also has operators; else the operator
  // with its external id. Nothing where the trace has neither.
  [[nodiscard]] std::optional<LaunchPoint> of(const GpuEvent& event) const;

 private:
  struct Numbered {
    std::int64_t number;
    LaunchPoint point;
  };
  [[nodiscard]] static std::optional<LaunchPoint> find(const std::vector<Numbered>& sorted,
                                                       std::int64_t number);

  std::vector<Numbered> calls_;      // by correlation
  std::vector<Numbered> operators_;  // by external id
  std::vector<bool> has_operators_;  // by thread
};

}  // namespace payoff::import_detail
