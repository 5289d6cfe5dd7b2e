// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

// The keys of a samples file (docs/schema/samples.schema.json) outside its points and what ran
// together (internal to the importers).

namespace payoff::import_detail {

inline constexpr std::array<std::string_view, 15> file_keys{
    "format",  "version",     "provenance", "date",         "seed",
    "program", "device",      "libraries",  "host",         "anchors",
    "points",  "timer_check", "truth",      "interference", "imported_from"};
inline constexpr std::array<std::string_view, 6> program_keys{"name", "version", "binary_fnv1a64",
                                                              "nvcc", "cccl",    "git"};
inline constexpr std::array<std::string_view, 5> library_keys{"cublas", "cusolver", "nccl", "cupti",
                                                              "nvml"};
inline constexpr std::array<std::string_view, 2> host_keys{"cpu", "virtualisation"};
inline constexpr std::array<std::string_view, 18> device_keys{"name",
                                                              "uuid_hash",
                                                              "count",
                                                              "compute_capability",
                                                              "multiprocessors",
                                                              "l2_bytes",
                                                              "shared_bytes_per_multiprocessor",
                                                              "memory_bytes",
                                                              "memory_bus_bits",
                                                              "memory_clock_hz",
                                                              "clock_hz",
                                                              "ecc",
                                                              "mig",
                                                              "power_limit_w",
                                                              "temperature_c",
                                                              "throttle_reasons",
                                                              "driver",
                                                              "runtime"};
inline constexpr std::array<std::string_view, 2> anchor_keys{"after_points", "copy_gb_per_s"};
inline constexpr std::array<std::string_view, 6> timer_keys{
    "not_checked", "kernel", "runs", "moved_bytes", "events_us", "records_us"};
inline constexpr std::array<std::string_view, 2> origin_keys{"file", "format"};

}  // namespace payoff::import_detail
