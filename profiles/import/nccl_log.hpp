// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "profiles/import/nccl_tables.hpp"

// What nccl-tests itself writes: the text on its standard output (columns are taken from the header
// line, which has changed between versions) and the JSON of `-J FILE` (version 3 of its format, as
// src/util.cu of NVIDIA/nccl-tests at a0b82b2 writes it). A run says nothing of its network:
// `intra`, `transport` and the NICs of the tables stay empty, and so does every field that the log
// lacks. GPUs and nodes are counted from the device list; `provenance` is "log".

namespace payoff {

// One table for each header line of the text; prefixes that MPI puts before lines are ignored. The
// line with which a run gave up is a finding; a text that ends before the last size that its header
// announces, or whose end nothing tells, is doubted.
[[nodiscard]] NcclImport parse_nccl_log(const std::string& text, const std::string& file);
[[nodiscard]] NcclImport parse_nccl_json(const std::string& text, const std::string& file);

// 22803 gives 2.28.3, 2804 gives 2.8.4 (NCCL changed its code at 2.9).
[[nodiscard]] std::string nccl_version_text(int code);

}  // namespace payoff
