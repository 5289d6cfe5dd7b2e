// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

// Samples of a GPU that is on nobody's list, whose laws are known.

namespace payoff::test::invented {

struct Invented {
  double speed = 1.0;      // of everything
  double drift = 0.0;      // of the copies between the points
  std::string extra = {};  // points more
  std::string device = "Invented GPU";
  int first = 13;  // sizes: powers of two
};

// Ten samples around `us`, within two per cent: no random numbers, but no two alike.
inline std::string samples_around(double us, int seed) {
  std::string text;
  for (int i = 0; i < 10; ++i) {
    const double wave = std::sin(12.9898 * (seed * 10 + i + 1)) * 43758.5453;
    const double factor = 0.98 + 0.04 * (wave - std::floor(wave));
    text += fmt::format("{}{:.6g}", text.empty() ? "" : ", ", us * factor);
  }
  return "[" + text + "]";
}

inline std::string point(const std::string& kernel, double elements, double bytes, double us,
                         int seed, const std::string& more = {}) {
  return fmt::format(
      "{{\"kernel\": \"{}\", \"family\": \"memory\", \"implementation\": \"fused\", \"input\": "
      "\"gaussian\", \"state\": \"cold\", \"mode\": \"stream\", \"parameters\": {{\"elements\": "
      "{}{}}}, \"read_bytes\": {}, \"written_bytes\": {}, \"flops\": 0, \"launches\": 1, "
      "\"host_syncs\": 0, \"samples_us\": {}, \"discarded\": 0, \"stop\": \"count\"}}",
      kernel, elements, more, bytes / 2, bytes / 2, samples_around(us, seed));
}

// A copy at 3 us + S / (5 TB/s) to 50 MB and S / (3 TB/s) beyond; a cast at 2 us + S / (2 TB/s).
inline std::string samples_of(const Invented& gpu = {}) {
  std::string points;
  for (int exponent = gpu.first; exponent <= 28; ++exponent) {
    const double elements = std::ldexp(1.0, exponent);
    const double copied = 8.0 * elements;
    const double copy = 3.0 + std::min(copied, 50e6) / 5e6 + std::max(0.0, copied - 50e6) / 3e6;
    points += points.empty() ? "" : ",\n";
    points += point("copy", elements, copied, copy / gpu.speed, exponent) + ",\n";
    const double cast = 6.0 * elements;
    points += point("cast_bf16", elements, cast, (2.0 + cast / 2e6) / gpu.speed, 50 + exponent);
  }
  return fmt::format(
      "{{\"format\": \"payoff-samples\", \"version\": 1, \"provenance\": \"synthetic\",\n"
      "\"date\": \"2026-11-22T03:00:00Z\", \"seed\": 1,\n"
      "\"program\": {{\"name\": \"invented\", \"version\": \"1\"}},\n"
      "\"device\": {{\"name\": \"{}\", \"multiprocessors\": 100, \"l2_bytes\": 50000000, "
      "\"memory_bytes\": 80000000000}},\n\"anchors\": [{{\"after_points\": 0, \"copy_gb_per_s\": "
      "3000}}, {{\"after_points\": 9, \"copy_gb_per_s\": {}}}],\n\"points\": [\n{}{}]}}\n",
      gpu.device, 3000.0 * (1.0 + gpu.drift), points, gpu.extra);
}

}  // namespace payoff::test::invented
