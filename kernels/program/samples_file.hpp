// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/harness/measure.hpp"
#include "kernels/harness/point.hpp"
#include "kernels/program/machine.hpp"
#include "kernels/program/neighbours.hpp"
#include "kernels/program/timer_check.hpp"

// The samples file, docs/schema/samples.schema.json.

namespace payoff::kernels {

struct MeasuredPoint {
  Point point;
  Mode mode{Mode::stream};
  Measurement measurement;
  std::optional<std::uint64_t> checksum;
};

struct Anchor {
  std::size_t after_points{};
  Bandwidth copied{};  // read and written
};

struct SamplesFile {
  Machine machine;
  bool emulated{};  // then times mean nothing, and the file says so
  std::string date;
  std::uint64_t seed{1};
  std::string program_version;
  std::string compiler;
  std::string git;
  std::optional<std::uint64_t> binary_hash;
  std::string host_cpu;
  std::vector<Library> libraries;
  std::vector<Anchor> anchors;
  std::vector<MeasuredPoint> points;
  std::vector<MeasuredNeighbours> neighbours;
  std::optional<TimerCheck> timer;
};

[[nodiscard]] std::string text_of(const SamplesFile& file);

}  // namespace payoff::kernels
