// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/units.hpp"
#include "profiles/diagnostics.hpp"
#include "profiles/source_map.hpp"

// Samples files of payoff-kernels and of `payoff calibrate import`
// (docs/schema/samples.schema.json): one device, one day, times of kernels. Everything that is
// wrong with a file is reported at its place, and a file with any error gives nothing: a fit to
// half of a file would look like one to all of it. So is a key that is not known: it is misspelt,
// or says of the numbers what this program would not heed.

namespace payoff {

struct SamplesDevice {
  std::string name;
  std::string uuid_hash;  // empty: not stated, as are the texts below
  std::string compute_capability;
  std::string driver;
  std::string runtime;
  int multiprocessors{};
  Bytes l2{};
  Bytes memory{};

  bool operator==(const SamplesDevice&) const = default;
};

// The same copy at several times of the run.
struct SamplesAnchor {
  std::size_t after_points{};
  Bandwidth copy{};
};

// The same runs of one kernel by the events that samples are timed with, and by the records of the
// driver.
struct SamplesTimer {
  Span place;
  Seconds by_events{};
  Seconds by_records{};

  // How much longer, or shorter, the kernel is by events.
  [[nodiscard]] double error() const { return by_events / by_records - 1.0; }
};

// Times below a nanosecond and above an hour are slips of units.
inline constexpr Seconds shortest_sample = 1_ns;
inline constexpr Seconds longest_sample = 3600_s;

// What a program that keeps no samples tells of those behind the one time of a point.
struct SamplesSpread {
  std::size_t count{1};
  double noise{};  // relative standard deviation of one; 0: not told

  bool operator==(const SamplesSpread&) const = default;
};

struct SamplesPoint {
  Span place;
  std::string kernel, family, implementation, input, state, mode;
  std::map<std::string, double> parameters;
  Bytes read{}, written{};
  Flops flops{};
  double random_accesses{};
  double launches{};
  double host_syncs{};
  std::vector<Seconds> samples;  // none: the clock never recovered
  std::size_t discarded{};       // while the clock was throttled
  double clock_ratio{1.0};       // median, of the clock to expect
  double clock_reference{1.0};   // that clock, of the highest one
  bool gated{true};              // nothing of it ran before all was queued
  std::optional<SamplesSpread> stands_for;

  [[nodiscard]] Bytes traffic() const { return read + written; }
};

// One of several kernels that ran beside each other.
struct SamplesMember {
  std::string kernel;
  std::string role;  // compute, codec, message or copies
  std::map<std::string, double> parameters;
  Bytes traffic{};  // of one run
  int held{};       // compute units, by a message all its life
  int blocks{};     // one a compute unit; 0: not stated
  Seconds alone{};  // of one run
  Seconds together{};
  double alone_clock_ratio{1.0};  // of the time alone, of the clock to expect
};

struct SamplesTogether {
  Span place;
  Seconds window{};                               // in which all of them ran
  double clock_ratio{1.0}, clock_reference{1.0};  // as of a point
  std::vector<SamplesMember> members;
};

enum class SamplesOrigin { measured, synthetic, emulated };

struct SamplesFile {
  std::string file;
  SamplesOrigin origin{};
  std::string date;
  std::string program;  // name, version and, where stated, commit
  std::string binary;   // its hash; empty: not stated
  std::string host_cpu;
  std::map<std::string, std::string> libraries;
  SamplesDevice device;
  std::vector<SamplesAnchor> anchors;
  std::vector<SamplesPoint> points;
  std::vector<SamplesTogether> together;
  std::optional<SamplesTimer> timer;  // none: not checked
};

// "kernel (implementation), state, mode, input, name=value, ...": what no two points share.
[[nodiscard]] std::string title_of(const SamplesPoint& point);

// "gemm k=4096 m=4096 beside ...": likewise.
[[nodiscard]] std::string title_of(const SamplesMember& member);
[[nodiscard]] std::string title_of(const SamplesTogether& together);

[[nodiscard]] std::optional<SamplesFile> parse_samples(Span text, const SourceMap& sources,
                                                       Diagnostics& diagnostics);

// Reports what is there twice, in one file or in two.
void report_twins(const std::vector<SamplesFile>& files, const SourceMap& sources,
                  Diagnostics& diagnostics);

// Throws std::runtime_error where files cannot be read, after what is wrong with the others was
// reported. Several files are one set of measurements:
// the devices have to be the same, and no point may be in two of them.
[[nodiscard]] std::vector<SamplesFile> read_samples(const std::vector<std::string>& paths,
                                                    SourceMap& sources, Diagnostics& diagnostics);

// Whether a file that begins so is meant as such a file, be it sound or not.
[[nodiscard]] bool is_samples_file(std::string_view beginning);

}  // namespace payoff
