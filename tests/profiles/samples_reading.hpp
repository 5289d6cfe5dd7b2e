// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "profiles/import/samples.hpp"
#include "tests/catch.hpp"

// A samples file of one point, and what reading a text as one gives.

namespace payoff::test {

inline const std::string point =
    R"({"kernel": "copy", "family": "memory", "implementation": "fused",
   "input": "gaussian", "state": "cold", "mode": "stream", "parameters": {"elements": 4096},
   "read_bytes": 16384, "written_bytes": 16384.0, "flops": 0, "launches": 1, "host_syncs": 0,
   "samples_us": [3.25, 3.5e0, 3], "discarded": 2, "stop": "noise", "clock_ratio": 0.98})";

inline std::string file_of(const std::string& points, const std::string& device = "Some GPU") {
  return R"({"format": "payoff-samples", "version": 1, "provenance": "measured_local",
 "date": "2026-11-22T03:00:00Z", "seed": 1, "program": {"name": "payoff-kernels", "version": "0.1"},
 "device": {"name": ")" +
         device + R"(", "multiprocessors": 132, "l2_bytes": 50000000, "memory_bytes": 80000000000},
 "anchors": [{"after_points": 0, "copy_gb_per_s": 3000.5}],
 "points": [)" +
         points + "]}\n";
}

struct SamplesReading {
  explicit SamplesReading(const std::string& text) {
    const std::size_t source = sources.add_file("samples.json", text);
    file = parse_samples({source, 0, text.size()}, sources, diagnostics);
  }
  [[nodiscard]] std::string errors() const { return render_text(diagnostics, sources); }

  SourceMap sources;
  Diagnostics diagnostics;
  std::optional<SamplesFile> file;
};

inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

}  // namespace payoff::test
